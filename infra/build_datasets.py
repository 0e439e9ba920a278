"""Build the data files of benchcore.datasets from folders of scores with their prompts, and from leaderboards.

    python infra/build_datasets.py --data DIR [--cache DIR] [--into DIR]

    DIR/scores/NAME/            prompts.jsonl and correct.parquet, as `benchcore lab compare` takes them
    DIR/leaderboards/NAME/      one CSV file: a row a model, a column a task

What is built is what benchcore/datasets/files/index.json names; that file and NOTICE.txt are written by hand. Vectors
come from the default encoder, or from --cache where `benchcore lab compare --cache` left them. The same data gives the
same bytes. Texts of prompts do not get into the files: see docs/datasets.md.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from benchcore.cli.lab import default_encoder
from benchcore.datasets.index import SCORES, Entry, entries
from benchcore.datasets.scores import packed, write_arrays
from benchcore.lab.features import BLOCKS, default_cache, features_of
from benchcore.lab.suites import Suite, read_folder

log = logging.getLogger(__name__)

FILES = Path(__file__).resolve().parents[1] / "benchcore" / "datasets" / "files"
LIMIT = 20_000_000


def main() -> None:
    """Build all files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="folder with scores/ and leaderboards/")
    parser.add_argument("--cache", type=Path, default=default_cache(), metavar="DIR", help="of feature blocks")
    parser.add_argument("--into", type=Path, default=FILES, metavar="DIR", help="where the files go")
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    build(given.data, given.cache, given.into)


def build(data: Path, cache: Path, into: Path) -> None:
    """Write every file of the index.

    Args:
        data: folder with `scores` and `leaderboards`.
        cache: of feature blocks.
        into: folder of the files.

    Raises:
        SystemExit: the files are too large to ship.
    """
    into.mkdir(parents=True, exist_ok=True)
    encoder = default_encoder()
    for name, entry in entries().items():
        if entry.kind == SCORES:
            suite = read_folder(data / "scores" / name)
            write_arrays(into / entry.file, arrays_of(suite, features_of(suite, encoder, cache, BLOCKS)))
        else:
            (into / entry.file).write_bytes(leaderboard_of(data, name))
        log.info("%s", _told(entry, into))
    total = sum(file.stat().st_size for file in into.iterdir())
    log.info("%s bytes in all", f"{total:,}")
    if total > LIMIT:
        raise SystemExit(f"{total:,} bytes are too much to ship: at most {LIMIT:,}")


def arrays_of(suite: Suite, features: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """What ships of a suite: everything but its texts.

    Raises:
        ValueError: an id looks like a text.
    """
    if max(map(len, suite.ids)) > 40 or any(" " in identity for identity in suite.ids):
        raise ValueError(f"{suite.name}: ids that could be texts do not ship")
    return packed(
        ids=suite.ids,
        groups=suite.groups,
        models=suite.models,
        scores=suite.scores,
        features=features,
        lengths=suite.lengths,
    )


def leaderboard_of(data: Path, name: str) -> bytes:
    """The CSV file of a leaderboard, as it is."""
    (file,) = (data / "leaderboards" / name).glob("*.csv")
    return file.read_bytes()


def _told(entry: Entry, into: Path) -> str:
    return f"{entry.file}: {(into / entry.file).stat().st_size:,} bytes"


if __name__ == "__main__":
    main()

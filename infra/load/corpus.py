"""A made-up corpus: benchmarks of very unequal sizes in files of many formats; equal arguments, equal bytes."""

from __future__ import annotations

import csv
import gzip
import json
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

Record = dict[str, Any]

_VERSION = 2  # raised whenever the same arguments give another corpus
_DUPLICATES, _EMPTY = 20, 1000  # one record in so many repeats the one before, or holds no prompt
VERBS = ["describe", "compare", "translate", "repair", "measure", "paint", "forecast", "summarize"]
NOUNS = [
    "river",
    "engine",
    "garden",
    "comet",
    "violin",
    "market",
    "glacier",
    "theorem",
    "harbour",
    "lantern",
    "recipe",
]


@dataclass(frozen=True)
class Wanted:
    """What a corpus is.

    Attributes:
        rows: records of all files.
        files: at least one a benchmark.
        benchmarks: of sizes that fall as 1 / rank.
        largest: the share of the first benchmark; None: as the others' sizes say.
    """

    rows: int
    files: int = 500
    benchmarks: int = 60
    largest: float | None = None

    def sizes(self) -> list[int]:
        """Records of each benchmark."""
        weights = [1 / rank for rank in range(1, self.benchmarks + 1)]
        if self.largest is not None:
            weights[0] = self.largest / (1 - self.largest) * sum(weights[1:])
        shares = [int(self.rows * weight / sum(weights)) for weight in weights]
        return [self.rows - sum(shares[1:]), *shares[1:]]


def write(folder: Path, wanted: Wanted) -> Path:
    """Write raw files, declarations and a configuration, unless the folder holds them; returns the configuration."""
    conf, note = folder / "load.yaml", folder / "written.json"
    content = {"version": _VERSION, **vars(wanted)}
    if note.is_file():
        if json.loads(note.read_text()) != content:
            raise FileExistsError(f"{folder} holds another corpus; remove it")
        return conf
    (folder / "sources").mkdir(parents=True, exist_ok=True)
    for number, rows in enumerate(wanted.sizes()):
        files = min(rows, max(1, round(wanted.files * rows / wanted.rows)))
        _write_benchmark(folder, number, rows, files)
    conf.write_text(yaml.safe_dump({"registry": {"root": "registry"}, "sources": _SOURCES}))
    note.write_text(json.dumps(content))
    return conf


_SOURCES = {"include": ["sources/*.yaml"], "data": "data"}


def _write_benchmark(folder: Path, number: int, rows: int, files: int) -> None:
    """All its files; every second benchmark has ids, the others are known by their content."""
    name, form = f"made_up_{number:02}", _FORMS[number % len(_FORMS)]
    place = folder / "data" / name
    place.mkdir(parents=True, exist_ok=True)
    records = _records(number, rows)
    for part in range(files):
        size = rows * (part + 1) // files - rows * part // files
        form.write(place / f"{part:04}.{form.ending}", islice(records, size))
    mapped = {"prompt": "{{ question }}", "answer": "{{ answer }}"} | ({"id": "{{ key }}"} if number % 2 else {})
    source = {"benchmark": name, "category": f"category_{number % 7}", "licence": "CC0-1.0"}
    source |= {"path": f"{name}/*.{form.ending}", "format": form.name, "map": mapped}
    (folder / "sources" / f"{name}.yaml").write_text(yaml.safe_dump(source))
    sys.stderr.write(f"load: {name}: {rows:,} records in {files} files\n")


def _records(number: int, rows: int) -> Iterator[Record]:
    draw = random.Random(number)
    question = answer = ""
    for row in range(rows):
        if row % _DUPLICATES != _DUPLICATES - 1:
            verb, first, second = draw.choice(VERBS), draw.choice(NOUNS), draw.choice(NOUNS)
            question = f"Task {row} of set {number}: {verb} the {first} beside the {second}, in {row % 89} words."
            answer = str(draw.randrange(1000))
        yield {"key": row, "question": " " if row % _EMPTY == _EMPTY - 1 else question, "answer": answer}


def _json_lines(path: Path, records: Iterator[Record]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)


def _gzipped_lines(path: Path, records: Iterator[Record]) -> None:
    with gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)


def _json_list(path: Path, records: Iterator[Record]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for number, record in enumerate(records):
            file.write(("," if number else "[") + json.dumps(record))
        file.write("]")


def _csv(path: Path, records: Iterator[Record]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ("key", "question", "answer"))
        writer.writeheader()
        writer.writerows(records)


def _parquet(path: Path, records: Iterator[Record]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(list(records)), path, row_group_size=20_000)


@dataclass(frozen=True)
class _Form:
    """A format, as a source names it, and how a file of it is written."""

    name: str
    ending: str
    write: Callable[[Path, Iterator[Record]], None]


_FORMS = (
    _Form("json-lines", "jsonl", _json_lines),
    _Form("csv", "csv", _csv),
    _Form("parquet", "parquet", _parquet),
    _Form("json-lines", "jsonl.gz", _gzipped_lines),
    _Form("json-list", "json", _json_list),
)

"""A small registry with made-up benchmarks, for tests of ingestion."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchcore.config import Config, IngestSection, RegistrySection, SourceSpec, SourcesSection
from benchcore.ingest.job import IngestOutcome, ingest
from benchcore.registry import tables
from benchcore.registry.root import Registry
from benchcore.registry.schemas import KEYS

INGESTED = ("prompts", "quarantine", "sources")


@dataclass
class Corpus:
    """Raw files, the sources that describe them, and the registry they go into."""

    data: Path
    root: Path
    specs: dict[str, SourceSpec] = field(default_factory=dict)
    limits: IngestSection = field(default_factory=IngestSection)

    @property
    def registry(self) -> Registry:
        return Registry.at(self.root)

    @property
    def config(self) -> Config:
        return Config(
            sources=SourcesSection(data=str(self.data)),
            registry=RegistrySection(root=str(self.root)),
            ingest=self.limits,
        )

    def source(self, name: str, **declared: Any) -> None:
        """Declare a source; by default JSON lines in `NAME.jsonl` with the fields q and a."""
        mapping = {"prompt": "{{ q }}", "answer": "{{ a }}"} | declared.pop("map", {})
        default = {"benchmark": name, "path": f"{name}.jsonl", "format": "json-lines"}
        self.specs[name] = SourceSpec.model_validate({"name": name, **default, **declared, "map": mapping})

    def write(self, path: str, records: Iterable[Any]) -> Path:
        """Write JSON lines; a record that is a string is written as it is."""
        file = self.data / path
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = (record if isinstance(record, str) else json.dumps(record) for record in records)
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return file

    def ingest(self, run_id: str = "run") -> IngestOutcome:
        return ingest(self.config, list(self.specs.values()), self.registry, run_id)

    def versions(self) -> dict[str, int]:
        return tables.pin(self.registry, INGESTED)

    def rows(self, table: str, *columns: str, **equal: Any) -> list[dict[str, Any]]:
        """Rows of a table in the order of its key; of those whose columns equal the values given."""
        found = tables.read(self.registry, table).sort_by([(key, "ascending") for key in KEYS[table]])
        rows = [row for row in found.to_pylist() if all(row[name] == value for name, value in equal.items())]
        return [{name: row[name] for name in columns} for row in rows] if columns else rows


def contents(registry: Registry) -> dict[str, pa.Table]:
    """All that ingestion wrote, run ids and times replaced by whether they are set: what two runs must agree on."""
    found = {}
    for name in INGESTED:
        table = tables.read(registry, name).sort_by([(key, "ascending") for key in KEYS[name]])
        for column in {"run_id", "first_run", "retired_at", "superseded_by"} & set(table.column_names):
            table = table.set_column(table.column_names.index(column), column, table[column].is_valid())
        found[name] = table
    return found


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """An empty corpus beside an empty registry; the tests that ingest it ask for `spark` too."""
    data = tmp_path / "data"
    data.mkdir()
    return Corpus(data, tmp_path / "registry")

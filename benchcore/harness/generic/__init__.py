"""No harness in particular: the picks as JSON lines or Parquet, and scores as tables with one row a result."""

from __future__ import annotations

from benchcore.harness.entry import Harness
from benchcore.harness.generic.results import read_results
from benchcore.harness.generic.subset import write_jsonl, write_parquet

JSONL = Harness(title="JSON lines for your own script", results=read_results, export=write_jsonl, by_record_id=True)
PARQUET = Harness(title="Parquet for your own script", results=read_results, export=write_parquet, by_record_id=True)

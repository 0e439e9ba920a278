"""Sample details of lighteval."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

_DATE = "2026-03-01T10-00-00.000000"


def log_of_prompts(folder: Path, rows: Sequence[Mapping[str, Any]], scores: Sequence[float], model: str) -> Path:
    """A details file with a row a prompt."""
    place = folder / "details" / model / _DATE
    place.mkdir(parents=True)
    records = [_record(at, row, score) for at, (row, score) in enumerate(zip(rows, scores, strict=True))]
    pq.write_table(pa.Table.from_pylist(records), place / f"details_tides|0_{_DATE}.parquet")
    return folder


def _record(at: int, row: Mapping[str, Any], score: float) -> dict[str, Any]:
    doc = {
        "id": str(at),
        "task_name": "tides|0",
        "query": row["prompt"],
        "choices": row["choices"],
        "gold_index": row["choices"].index(row["answer"]),
    }
    return {"doc": doc, "metric": {"acc": score}, "model_response": {"text": ["no idea"]}}

"""The picks as one table: all that a script needs to run a model on them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from benchcore.harness.picks import Exported, Pick

_COLUMNS = pa.schema(
    [
        ("prompt_id", pa.string()),
        ("benchmark", pa.string()),
        ("category", pa.string()),
        ("prompt", pa.string()),
        ("choices", pa.list_(pa.string())),
        ("answer", pa.string()),
        ("weight", pa.float64()),
        ("rank", pa.int64()),
        ("role", pa.string()),
        ("metadata", pa.string()),
        ("record_id", pa.string()),
        ("content_hash", pa.string()),
    ]
)
_REMARKS = (
    "One row is a pick: send `prompt` (and `choices`) to the model, judge its output by `answer`.",
    "Write one row a result with the columns prompt_id, model and score in [0, 1] (JSON lines, CSV or Parquet); "
    "metric, run, epoch, filter and content_hash may come along (content_hash: which version of the prompt was run).",
    "`weight` is that of the whole suite: the weighted sum of a model's scores estimates its mean over all benchmarks.",
)


def write_jsonl(coreset_id: str, picks: Sequence[Pick], folder: Path) -> Exported:
    """Write `picks.jsonl`, one pick a line."""
    file = folder / "picks.jsonl"
    file.write_bytes(b"".join(orjson.dumps(_row(pick)) + b"\n" for pick in picks))
    return Exported((file,), "your-script picks.jsonl > results.jsonl", _REMARKS)


def write_parquet(coreset_id: str, picks: Sequence[Pick], folder: Path) -> Exported:
    """Write `picks.parquet`; metadata is JSON text."""
    file = folder / "picks.parquet"
    rows = [row | {"metadata": orjson.dumps(row["metadata"]).decode()} for row in map(_row, picks)]
    pq.write_table(pa.Table.from_pylist(rows, _COLUMNS), file)
    return Exported((file,), "your-script picks.parquet > results.jsonl", _REMARKS)


def _row(pick: Pick) -> dict[str, Any]:
    values = {name: getattr(pick, name) for name in _COLUMNS.names}
    return values | {"choices": list(pick.choices), "metadata": dict(pick.metadata)}

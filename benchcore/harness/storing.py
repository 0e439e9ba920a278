"""The scores of an import and those that are stored already: what differs, what is added, what is replaced."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from benchcore.harness.notes import EXAMPLES, Notes
from benchcore.registry.root import Registry
from benchcore.registry.schemas import KEYS
from benchcore.registry.scores import age, dated
from benchcore.registry.tables import among, append_missing, read, upsert


def store_scores(registry: Registry, rows: pa.Table, replacing: pa.Table) -> int:
    """Add the rows whose key is not stored, and those that replace a stored one, in one commit; gives how many."""
    if not rows.num_rows:
        return 0
    models = among("model", rows["model"].unique().to_pylist())
    if not replacing.num_rows:
        return append_missing(registry, "scores", rows, models)
    keys = list(KEYS["scores"])
    stored = read(registry, "scores", columns=keys, where=models)
    new = rows.join(stored, keys, join_type="left anti")
    changed = pa.concat_tables([new, rows.join(replacing.select(keys), keys, join_type="left semi")])
    upsert(registry, "scores", changed)
    return int(changed.num_rows)


def differing_scores(registry: Registry, rows: pa.Table) -> pa.Table:
    """Rows whose key is stored with another score or of another version of the prompt, and what is stored."""
    keys = list(KEYS["scores"])
    models = among("model", rows["model"].unique().to_pylist())
    stored = read(registry, "scores", columns=(*keys, "score", "content_hash"), where=models)
    stored = stored.rename_columns({"score": "stored_score", "content_hash": "stored_hash"})
    both = rows.select([*keys, "score", "content_hash", "source_path"]).join(stored, keys, join_type="inner")
    other = pc.field("score") != pc.field("stored_score")
    return both.filter(other | (pc.field("content_hash") != pc.field("stored_hash"))).sort_by(
        [(key, "ascending") for key in keys]
    )


def examples_of(rows: pa.Table) -> list[str]:
    """What the first of some rows are of."""
    columns = ("model", "run", "metric", "epoch", "prompt_id")
    return [
        f"{row['source_path']}: " + ", ".join(f"{name} {row[name]}" for name in columns)
        for row in rows.slice(0, EXAMPLES).to_pylist()
    ]


def differences_of(rows: pa.Table) -> list[str]:
    """What a log says and what is stored, of the first rows whose scores differ."""
    columns = ("stored_score", "score", "stored_hash", "content_hash")
    values = rows.slice(0, EXAMPLES).select(columns).to_pylist()
    return [
        f"{where}: {one['score']} in the log, {one['stored_score']} stored"
        + ("" if one["content_hash"] == one["stored_hash"] else " of another version of the prompt")
        for where, one in zip(examples_of(rows), values, strict=True)
    ]


def note_runs(registry: Registry, models: Sequence[str], notes: Notes) -> None:
    """Say which models have several runs, the newest first: their scores are kept apart."""
    stored = read(registry, "scores", columns=("model", "run", "measured_at"), where=among("model", models))
    runs: dict[str, list[tuple[str, datetime | None]]] = defaultdict(list)
    for row in stored.group_by(["model", "run"]).aggregate([("measured_at", "max")]).to_pylist():
        runs[row["model"]].append((row["run"], row["measured_at_max"]))
    for model, found in sorted(runs.items()):
        if len(found) > 1:
            newest = sorted(found, key=lambda one: age(*one), reverse=True)
            more = f" and {len(found) - 3} older ones" if len(found) > 3 else ""
            notes.add("several runs", f"{model}: {', '.join(dated(*one) for one in newest[:3])}{more}")

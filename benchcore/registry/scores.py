"""Reading stored scores: which model got what on which prompt."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc

from benchcore.registry.root import Registry
from benchcore.registry.schemas import KEYS
from benchcore.registry.tables import among, read

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


def read_scores(
    registry: Registry,
    *,
    prompt_ids: Collection[str] | None = None,
    models: Collection[str] | None = None,
    version: int | None = None,
    columns: Sequence[str] | None = None,
) -> pa.Table:
    """Rows of `scores`, in the order of their key.

    Scores are stored with the copy of a prompt that stands for its equals when they come in. With `prompt_ids` they
    are given to whichever copies are asked for: the same benchmark and content.

    Args:
        registry: holds the tables `scores` and `prompts`.
        prompt_ids: the prompts that are asked for; None for all rows as they are stored.
        models: as the logs name them; None for all.
        version: of the table `scores`.
        columns: of the table; None for all.
    """
    where = among("model", models) if models is not None else None
    if prompt_ids is None:
        return _sorted(read(registry, "scores", version, columns, where))
    copies = _copies(registry, prompt_ids)
    stored = among("prompt_id", copies["stored"].unique().to_pylist())
    found = read(registry, "scores", version, None, stored if where is None else stored & where)
    if not found.num_rows:
        return found.select(list(columns)) if columns is not None else found
    own = found.filter(among("prompt_id", prompt_ids))
    given = found.join(copies, ["prompt_id", "content_hash"], ["stored", "content_hash"], join_type="inner")
    given = given.filter(pc.field("prompt_id") != pc.field("asked")).drop_columns("prompt_id")
    rows = _once(own, given.rename_columns({"asked": "prompt_id"}).select(own.column_names))
    return _sorted(rows.select(list(columns)) if columns is not None else rows)


def age(run: str, measured_at: datetime | None) -> tuple[datetime, str]:
    """What the runs of a model are ordered by, the newest last: when they were measured, then their names.

    A table that was written before it had times has none: such runs are older than all others.
    """
    return (_LONG_AGO if measured_at is None else measured_at, run)


def dated(run: str, measured_at: datetime | None) -> str:
    """The name of a run with its time, in UTC, for people."""
    return run if measured_at is None else f"{run} of {measured_at.astimezone(UTC):%Y-%m-%d %H:%M}"


def _copies(registry: Registry, prompt_ids: Collection[str]) -> pa.Table:
    """Which stored prompts have the benchmark and content of those asked for: columns asked, stored, content_hash."""
    prompts = read(registry, "prompts", columns=("prompt_id", "benchmark", "content_hash"))
    asked = prompts.filter(among("prompt_id", prompt_ids)).rename_columns({"prompt_id": "asked"})
    copies = asked.join(
        prompts.rename_columns({"prompt_id": "stored"}), ["benchmark", "content_hash"], join_type="inner"
    )
    return copies.select(["asked", "stored", "content_hash"])


def _once(own: pa.Table, given: pa.Table) -> pa.Table:
    """Each key once: its own score, or else that of one of its copies, which is a measurement of the same content."""
    keys = list(KEYS["scores"])
    lacking = given.join(own.select(keys), keys, join_type="left anti")
    order = [(name, "ascending") for name in (*keys, "score", "raw_score", "source_path")]
    lacking = lacking.select(own.column_names).sort_by(order)
    numbered = lacking.select(keys).append_column("row", pa.array(range(lacking.num_rows), pa.int64()))
    first = numbered.group_by(keys).aggregate([("row", "min")])["row_min"]
    return pa.concat_tables([own, lacking.take(first.sort())])


def _sorted(rows: pa.Table) -> pa.Table:
    keys = [key for key in KEYS["scores"] if key in rows.column_names]
    return rows.sort_by([(key, "ascending") for key in keys]) if keys else rows

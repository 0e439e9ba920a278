"""The scores of an import, in little memory until all are there: rows of names, each name kept once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchcore.ingest.readers.records import raw_text
from benchcore.registry.schemas import KEYS, SCHEMAS

_FLUSH = 50_000
_RAW_CHARACTERS = 200
_NAMES = ("model", "run", "metric", "filter", "path")
_SCHEMA = pa.schema(
    [
        ("place", pa.int32()),
        *((name, pa.int32()) for name in _NAMES),
        ("epoch", pa.int32()),
        ("score", pa.float64()),
        ("raw_score", pa.string()),
        ("measured_at", SCHEMAS["scores"].field("measured_at").type),
    ]
)


@dataclass
class Tally:
    """Scores as they come: each of a document (its place in the binder's list), a model, a run, a metric, an epoch."""

    count: int = 0
    _ids: dict[str, int] = field(default_factory=dict)
    _names: list[str] = field(default_factory=list)
    _rows: list[tuple[object, ...]] = field(default_factory=list)
    _batches: list[pa.Table] = field(default_factory=list)

    def add(
        self,
        place: int,
        *,
        model: str,
        run: str,
        metric: str,
        filter: str,
        path: str,
        epoch: int,
        score: float,
        raw_score: str,
        time: datetime,
    ) -> None:
        """Take in one score."""
        names = (self._id(name) for name in (model, run, metric, filter, path))
        self._rows.append((place, *names, epoch, score, raw_text(raw_score[:_RAW_CHARACTERS]), time))
        self.count += 1
        if len(self._rows) >= _FLUSH:
            self._flush()

    def rows(self, prompt_ids: Sequence[str | None], content_hashes: Sequence[str | None], harness: str) -> pa.Table:
        """The rows of the table `scores`, and their `place`, in the order in which they came.

        Those of documents that are bound to no prompt are left out.

        Args:
            prompt_ids: of each place; None where its document is bound to no prompt.
            content_hashes: of each place.
            harness: the name of the harness.
        """
        self._flush()
        found = pa.concat_tables(self._batches) if self._batches else _SCHEMA.empty_table()
        texts = {"prompt_id": pa.array(prompt_ids, pa.string()), "content_hash": pa.array(content_hashes, pa.string())}
        names = pa.array(self._names, pa.string())
        columns = {name: values.take(found["place"]) for name, values in texts.items()}
        columns |= {name: names.take(found[name]) for name in _NAMES}
        columns |= {name: found[name] for name in ("epoch", "score", "raw_score", "measured_at")}
        columns["filter"] = pc.if_else(pc.equal(columns["filter"], ""), pa.scalar(None, pa.string()), columns["filter"])
        columns["harness"] = pa.array(np.full(found.num_rows, harness, dtype=object), pa.string())
        columns["source_path"] = columns.pop("path")
        made = pa.table({name: columns[name] for name in SCHEMAS["scores"].names}).cast(SCHEMAS["scores"])
        return made.append_column("place", found["place"]).filter(pc.is_valid(made["prompt_id"]))

    def _id(self, written: str) -> int:
        name = raw_text(written)  # what no table can hold comes out escaped
        number = self._ids.get(name)
        if number is None:
            self._ids[name] = number = len(self._names)
            self._names.append(name)
        return number

    def _flush(self) -> None:
        if self._rows:
            columns = zip(*self._rows, strict=True)
            arrays = [pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=True)]
            self._batches.append(pa.Table.from_arrays(arrays, schema=_SCHEMA))
            self._rows = []


def last_of_each(rows: pa.Table) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Each key once, as it came last.

    Returns:
        The rows that are left; those that a later one of the same document replaces; and the others that were
        replaced, by one of another document of the same prompt, whose place stands in the column `by`.
    """
    keys = list(KEYS["scores"])
    numbered = rows.select([*keys, "place"]).append_column("row", pa.array(np.arange(rows.num_rows)))
    last = np.sort(numbered.group_by(keys).aggregate([("row", "max")])["row_max"].to_numpy())
    of_document = np.sort(numbered.group_by([*keys, "place"]).aggregate([("row", "max")])["row_max"].to_numpy())
    kept, doubled = rows.take(pa.array(last)), rows.take(pa.array(np.setdiff1d(np.arange(rows.num_rows), of_document)))
    others = rows.take(pa.array(np.setdiff1d(of_document, last)))
    if not others.num_rows:
        return kept, doubled, others.append_column("by", others["place"])
    by = kept.select([*keys, "place"]).rename_columns([*keys, "by"])
    return kept, doubled, others.join(by, keys, join_type="inner")

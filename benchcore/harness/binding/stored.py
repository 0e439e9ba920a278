"""The table `bindings`: what was bound is kept, so that a harness's documents need be shown only once."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from benchcore.harness.binding.binder import Binder, Binding
from benchcore.ingest.readers.records import raw_text
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import append_missing, read, upsert


def stored_bindings(registry: Registry, harness: str) -> dict[tuple[str, str], tuple[str, str]]:
    """(task, document hash) -> (prompt id, content hash) of one harness."""
    columns = ("task", "document_hash", "prompt_id", "content_hash")
    rows = read(registry, "bindings", columns=columns, where=pc.field("harness") == harness)
    values = zip(*(column.to_pylist() for column in rows.columns), strict=True)
    return {(task, hashed): (prompt_id, content) for task, hashed, prompt_id, content in values}


def store_bindings(registry: Registry, binder: Binder) -> int:
    """Write what a binder has bound and the table lacks or has otherwise, in one commit; gives how many rows.

    The caller holds the registry's lock.
    """
    new = [binding for binding in binder.bindings if binder.is_new(binding)]
    rows = pa.Table.from_pylist([_row(binder, binding) for binding in new], SCHEMAS["bindings"])
    changed = _differing(binder, new)
    if changed:
        upsert(registry, "bindings", rows)
        return len(new)
    return append_missing(registry, "bindings", rows)


def _row(binder: Binder, binding: Binding) -> dict[str, str | None]:
    known = binder.known(binding)
    return {
        "harness": binder.harness,
        "task": raw_text(binding.task),  # what no table can hold comes out escaped
        "document_hash": raw_text(binding.document_hash),
        "prompt_id": known.prompt_id,
        "content_hash": known.content_hash,
        "document_id": raw_text(binding.document_id),
        "harness_version": None if binding.version is None else raw_text(binding.version),
    }


def _differing(binder: Binder, bindings: Iterable[Binding]) -> int:
    """How many are stored already, with another prompt or another version of it: such a row is void."""
    return sum((binding.task, binding.document_hash) in binder.stored for binding in bindings)

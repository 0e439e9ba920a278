"""The user's own vectors, from a Parquet file with the columns prompt_id and vector, as an encoder of its own kind."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchcore.embedding.encoder import Encoded, Vectors
from benchcore.embedding.staging import rows_of
from benchcore.errors import UsageError
from benchcore.registry.identity import text_hash

_ROWS = 4096
_NAMED = 5


def check_vectors(path: str, wanted: Collection[str]) -> int:
    """Check a file of vectors as a whole before anything is taken from it.

    Args:
        path: the file.
        wanted: ids of the prompts that need a vector.

    Returns:
        The dimension of the vectors.

    Raises:
        UsageError: the file, a column or a wanted prompt is missing, a prompt stands twice, or a vector is not
            finite, zero or of another dimension; names the prompts.
    """
    seen: set[str] = set()
    twice: list[str] = []
    dimension: int | None = None
    for ids, vectors in _read(path):
        dimension = dimension or vectors.shape[1]
        if vectors.shape[1] != dimension:
            raise UsageError(f"vectors have {dimension} and {vectors.shape[1]} dimensions", where=path)
        for identity in ids:
            (twice.append if identity in seen else seen.add)(identity)
        usable = np.isfinite(vectors).all(axis=1) & vectors.any(axis=1)
        if not usable.all():
            bad = [ids[row] for row in np.flatnonzero(~usable)]
            raise UsageError(f"vectors that are not finite or are zero: {_some(bad)}", where=path)
    if twice:
        raise UsageError(f"prompts that stand twice: {_some(twice)}", where=path)
    absent = sorted(set(wanted) - seen)
    if absent:
        raise UsageError(
            f"prompts without a vector: {_some(absent)}", where=path, mend="Add them to the file, for all prompts."
        )
    return dimension or 0


def rows_of_vectors(path: str, encoder: str, wanted: Collection[str], buckets: int) -> Iterator[pa.Table]:
    """Turn a checked file into rows of the table `embeddings`, those of the wanted prompts."""
    for ids, vectors in _read(path):
        rows = [row for row, identity in enumerate(ids) if identity in wanted]
        if rows:
            kept = Encoded(vectors[rows], np.zeros(len(rows), bool), 0)
            yield rows_of([text_hash(ids[row]) for row in rows], encoder, kept, buckets)


def _read(path: str) -> Iterator[tuple[list[str], Vectors]]:
    try:
        file = pq.ParquetFile(path)
    except (OSError, pa.ArrowException) as error:
        raise UsageError(f"is no Parquet file that can be read ({error})", where=path) from None
    missing = [column for column in ("prompt_id", "vector") if column not in file.schema_arrow.names]
    if missing:
        raise UsageError(
            f"has no column '{missing[0]}'", where=path, mend=f"It has {', '.join(file.schema_arrow.names)}."
        )
    for batch in file.iter_batches(batch_size=_ROWS, columns=["prompt_id", "vector"]):
        ids = batch.column("prompt_id").cast(pa.string()).to_pylist()
        yield ids, _matrix(batch.column("vector"), ids, path)


def _matrix(column: pa.Array, ids: list[str], path: str) -> Vectors:
    try:
        lists = column.cast(pa.list_(pa.float32()))
    except pa.ArrowException:
        raise UsageError(f"the column 'vector' holds {column.type}, not lists of numbers", where=path) from None
    lengths = lists.value_lengths().fill_null(0).to_numpy()
    if len(set(lengths.tolist())) > 1:
        counts = np.bincount(lengths)
        counts[0] = 0  # a missing vector sets no standard
        common = int(counts.argmax())
        other = [ids[row] for row in np.flatnonzero(lengths != common)]
        raise UsageError(f"vectors that have not {common} dimensions: {_some(other)}", where=path)
    values = lists.flatten().to_numpy(zero_copy_only=False)
    return np.asarray(values, np.float32).reshape(len(ids), -1)


def _some(ids: list[str]) -> str:
    return ", ".join(ids[:_NAMED]) + (f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else "")

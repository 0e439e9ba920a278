"""Units that are encoded but not yet in the table: one Parquet file each, whole or not there."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from benchcore.embedding.encoder import Encoded, Vectors
from benchcore.embedding.files import list_files, read_bytes, remove_folder, write_atomically
from benchcore.embedding.units import unit_id
from benchcore.registry.identity import bucket
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS

log = logging.getLogger(__name__)

SCHEMA = SCHEMAS["embeddings"]


def folder(registry: Registry, encoder: str) -> str:
    """Where the staged units of an encoder lie."""
    return registry.sidecar("_staging", "embeddings", encoder)


def rows_of(hashes: Sequence[str], encoder: str, encoded: Encoded, buckets: int) -> pa.Table:
    """Put vectors into rows of the table `embeddings`."""
    n, dimension = encoded.vectors.shape
    return pa.table(
        {
            "text_hash": pa.array(hashes, pa.string()),
            "encoder": pa.array([encoder] * n, pa.string()),
            "dimension": pa.array([dimension] * n, pa.int32()),
            "vector": lists_of(encoded.vectors),
            "truncated": pa.array(encoded.truncated, pa.bool_()),
            "bucket": pa.array([bucket(hashed, buckets) for hashed in hashes], pa.int32()),
        },
        schema=SCHEMA,
    )


def lists_of(vectors: Vectors) -> pa.ListArray:
    """Turn (n, d) vectors into a column of lists."""
    n, dimension = vectors.shape
    ends = pa.array(range(0, (n + 1) * dimension, dimension) if dimension else [0] * (n + 1), pa.int32())
    return pa.ListArray.from_arrays(ends, pa.array(vectors.reshape(-1), pa.float32()))


def write_unit(registry: Registry, encoder: str, name: str, rows: pa.Table) -> None:
    """Store the rows of a unit; storing them twice is harmless."""
    content = io.BytesIO()
    pq.write_table(rows, content, compression="none", use_dictionary=False, write_page_checksum=True)
    write_atomically(registry, f"{folder(registry, encoder)}/{name}.parquet", content.getvalue())


def read_unit(registry: Registry, encoder: str, name: str) -> pa.Table:
    """Read the rows of a unit back."""
    content = read_bytes(registry, f"{folder(registry, encoder)}/{name}.parquet")
    return pq.read_table(io.BytesIO(content), schema=SCHEMA, page_checksum_verification=True)


def staged_units(registry: Registry, encoder: str) -> dict[str, list[str]]:
    """List the units that an earlier run left, with their texts' hashes; what is no whole unit is removed.

    Temporary files of writers that were killed are removed, too; a writer that still lives on makes its unit anew.
    """
    units: dict[str, list[str]] = {}
    for path in list_files(registry, folder(registry, encoder)):
        name = path.rsplit("/", 1)[-1]
        stem = name.removesuffix(".parquet")
        try:
            hashes = read_unit(registry, encoder, stem)["text_hash"].to_pylist()
            if name.startswith(".") or stem == name or unit_id(hashes) != stem:
                raise ValueError("it does not hold what its name says")
        except (OSError, ValueError, pa.ArrowException) as error:
            log.warning("%s is no whole unit of work and is removed (%s)", path, str(error).splitlines()[0])
            registry.filesystem().rm_file(path)
            continue
        units[stem] = hashes
    return units


def read_units(registry: Registry, encoder: str, names: Iterable[str]) -> Iterator[pa.Table]:
    """Read units one after the other, in the order of their names."""
    for name in sorted(names):
        yield read_unit(registry, encoder, name)


def remove(registry: Registry, encoder: str) -> None:
    """Remove all that is staged for an encoder."""
    remove_folder(registry, folder(registry, encoder))

"""Parquet, by batches of rows."""

from __future__ import annotations

from collections.abc import Iterator

from benchcore.ingest.readers.opening import open_bytes, unreadable
from benchcore.ingest.readers.records import RawRecord, ReadUnit

BATCH_ROWS = 1024


def read_parquet(unit: ReadUnit) -> Iterator[RawRecord]:
    """Yield one record a row.

    Raises:
        BenchcoreError: the file is no Parquet, or cannot be read to its end.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    row = 0
    with open_bytes(unit.uri, unit.path) as stream:
        try:
            for batch in pq.ParquetFile(stream).iter_batches(batch_size=BATCH_ROWS):
                for value in batch.to_pylist():
                    yield RawRecord(row, value)
                    row += 1
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise unreadable(f"not Parquet that can be read: {error}", unit.path, row) from None

"""Reading the formats that benchmarks come in, one record at a time, losing none."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchcore.ingest.readers.columnar import read_parquet
from benchcore.ingest.readers.delimited import read_delimited
from benchcore.ingest.readers.documents import read_document, too_large
from benchcore.ingest.readers.inspect_logs import read_inspect
from benchcore.ingest.readers.lines import line_splits, read_lines, splittable
from benchcore.ingest.readers.lm_eval_log import read_lm_eval
from benchcore.ingest.readers.opening import require_encoding
from benchcore.ingest.readers.records import RawRecord, ReadUnit

__all__ = ["WHOLE_FORMATS", "RawRecord", "ReadUnit", "line_splits", "read_records", "splittable", "too_large"]

WHOLE_FORMATS = ("json-list", "json-object", "json", "text")  # parsed whole: `max_document_bytes` bounds the file

_READERS: dict[str, Callable[[ReadUnit], Iterator[RawRecord]]] = {
    "json-lines": read_lines,
    "lm-eval": read_lm_eval,
    "csv": read_delimited,
    "tsv": read_delimited,
    "parquet": read_parquet,
    "inspect": read_inspect,
    **dict.fromkeys(WHOLE_FORMATS, read_document),
}


def read_records(unit: ReadUnit) -> Iterator[RawRecord]:
    """Yield the records of a unit in order; what cannot be parsed comes out as a record with `error`.

    Raises:
        UsageError: the location's file system is not installed (names the extra), or the encoding is unknown.
        BenchcoreError: the file is gone, or larger than `max_document_bytes` and must be parsed whole.
    """
    require_encoding(unit.encoding, unit.path)
    yield from _READERS[unit.format](unit)

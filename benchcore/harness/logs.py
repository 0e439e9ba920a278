"""Finding and opening log files: plain, gzip or zstd; lines stream, documents are bounded."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchcore.errors import BenchcoreError, UsageError
from benchcore.harness.notes import Notes
from benchcore.ingest.readers import json_text
from benchcore.ingest.readers.lines import read_lines
from benchcore.ingest.readers.opening import DAMAGED, damaged, decompressed, open_bytes
from benchcore.ingest.readers.records import ReadUnit

LARGEST_DOCUMENT = 512 * 1024**2  # bytes, after decompression; a JSON document is parsed whole
LARGEST_LINE = 256 * 1024**2
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+:/", re.IGNORECASE)  # one slash of two is left in a path
_COMPRESSED = (".gz", ".zst")


def plain_name(file: Path) -> str:
    """A file's name without the ending of its compression."""
    return file.name.removesuffix(file.suffix) if file.suffix in _COMPRESSED else file.name


def require_readable(path: Path) -> None:
    """Check that a path is a file or a folder.

    Raises:
        UsageError: it is neither, as a pipe, which cannot be read twice; or it may not be looked at.
    """
    try:
        there, readable = path.exists(), path.is_file() or path.is_dir()
    except OSError as error:
        raise UsageError(f"cannot be read ({error.strerror})", where=str(path)) from None
    if not there and _ADDRESS.match(str(path)):  # not shown: it may hold a password
        raise UsageError("addresses of stores are not read here", where="PATH", mend="Fetch the logs into a folder.")
    if not there:
        raise UsageError("there is no such file or folder", where=str(path))
    if not readable:
        raise UsageError("is neither a file nor a folder", where=str(path), mend="Write it to a file first.")


def files_at(path: Path, wanted: Callable[[str], bool]) -> list[Path]:
    """The file itself, or all files below a folder whose plain name is wanted, in the order of their paths.

    Raises:
        UsageError: there is nothing at the path.
    """
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise UsageError("does not exist", where=str(path))
    return [file for file in files_below(path) if wanted(plain_name(file))]


def files_below(folder: Path) -> list[Path]:
    """All files below a folder, in the order of their paths; links to folders are not followed.

    Raises:
        UsageError: a folder in it may not be read, so that files would go missing without a word.
    """

    def refuse(error: OSError) -> None:
        raise UsageError(f"cannot be read ({error.strerror})", where=str(error.filename)) from None

    walked = os.walk(folder, onerror=refuse)
    return sorted(file for below, _, names in walked for name in names if (file := Path(below, name)).is_file())


def read_document(file: Path) -> Any:
    """One JSON document, however it is compressed.

    Raises:
        BenchcoreError: it cannot be read to its end, is no JSON, or is larger than `LARGEST_DOCUMENT`.
    """
    try:
        with open_bytes(str(file), str(file)) as stream:
            content = decompressed(stream).read(LARGEST_DOCUMENT + 1)
        if len(content) > LARGEST_DOCUMENT:
            raise BenchcoreError(f"is larger than {LARGEST_DOCUMENT:,} bytes", where=str(file))
        return json_text.parse(content.decode("utf-8-sig"))
    except DAMAGED as error:
        raise BenchcoreError(damaged(error), where=str(file)) from None
    except (UnicodeDecodeError, json_text.NotJson) as error:
        raise BenchcoreError(str(error), where=str(file)) from None


def read_json_lines(file: Path, notes: Notes) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file of JSON lines with the numbers of their lines, from 1; what is none is noted."""
    unit = ReadUnit(uri=str(file), path=str(file), format="json-lines", max_document_bytes=LARGEST_LINE)
    for record in read_lines(unit):
        if isinstance(record.value, dict):
            yield record.row + 1, record.value
        else:
            notes.add("unreadable", f"{file} row {record.row + 1}: {record.error or 'no JSON object'}")

"""Opening a file wherever it lies, and looking through its compression."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from typing import IO, Any, cast

from benchcore.errors import BenchcoreError, UsageError
from benchcore.registry.root import is_uri

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
MAGIC_BYTES = 4
DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile)  # what reading a damaged or truncated compressed file raises

# A zstd file of some kilobytes can hold terabytes (gzip reaches a thousand times its size at most). Texts seldom shrink
# to a thirtieth.
_MOST_EXPANDED = 1000
_ALWAYS_EXPANDED = 256 * 1024**2  # bytes

_EXTRAS = {"s3": "s3", "s3a": "s3", "hf": "hf"}


def open_bytes(uri: str, path: str) -> IO[bytes]:
    """Open a local path or fsspec address for reading; `path` names it in messages.

    Raises:
        UsageError: the package that reads such addresses is not installed.
        BenchcoreError: there is no such file, or it may not be read.
    """
    try:
        if not is_uri(uri):
            return open(uri, "rb")  # noqa: PTH123 (the caller closes it; a Path would mangle odd names)
        import fsspec

        # Buffered as a local file is: the files of s3fs and others read no line up to a length.
        return io.BufferedReader(fsspec.open(uri, "rb").open())
    except FileNotFoundError:
        raise BenchcoreError(
            "there is no such file", where=path, mend="It may have been moved while reading."
        ) from None
    except OSError as error:
        raise BenchcoreError(
            f"cannot be opened ({error.strerror or error})", where=path, mend="Mend its access."
        ) from error
    except (ImportError, ValueError) as error:  # fsspec: ImportError for a known, ValueError for an unknown scheme
        raise _no_backend(uri, error) from error


def _no_backend(uri: str, error: Exception) -> UsageError:
    scheme = uri.partition("://")[0]
    extra = _EXTRAS.get(scheme)
    mend = f"pip install 'benchcore[{extra}]'" if extra else "Install the fsspec file system for it."
    return UsageError(f"addresses that begin with {scheme}:// cannot be read ({error})", where=uri, mend=mend)


def is_compressed(head: bytes) -> bool:
    """Say from a file's first bytes (`MAGIC_BYTES` are enough) whether it is gzip or zstd, whatever its name."""
    return head.startswith((GZIP_MAGIC, ZSTD_MAGIC))


def decompressed(stream: IO[bytes]) -> IO[bytes]:
    """The stream behind gzip or zstd, known by its magic bytes; any other stream as it is, at its start."""
    head = stream.read(MAGIC_BYTES)
    stream.seek(0)
    if head.startswith(GZIP_MAGIC):
        return cast(IO[bytes], gzip.GzipFile(fileobj=stream, mode="rb"))
    if head.startswith(ZSTD_MAGIC):
        return io.BufferedReader(_Zstd(stream))
    return stream


class _Zstd(io.RawIOBase):
    """A zstd stream that says so when it is cut short, as the gzip module does, or when it has no end."""

    def __init__(self, stream: IO[bytes]) -> None:
        import pyarrow as pa

        self._left = max(_ALWAYS_EXPANDED, _MOST_EXPANDED * stream.seek(0, io.SEEK_END))
        stream.seek(0)
        self._stream = pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "zstd")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            read = int(self._stream.readinto(buffer))
        except OSError as error:
            raise EOFError(str(error)) from error
        self._left -= read
        if self._left < 0:
            raise EOFError(f"it expands to more than {_MOST_EXPANDED:,} times its size")
        return read


def require_encoding(encoding: str, path: str) -> None:
    """Check that an encoding exists.

    Raises:
        UsageError: it does not.
    """
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise UsageError(
            f"there is no encoding '{encoding}'", where=path, mend="Mend `encoding` in its source."
        ) from None


def newline_is_one_byte(encoding: str) -> bool:
    """Say whether the byte 0x0A is always a newline (true of UTF-8 and all single-byte encodings, not of UTF-16)."""
    return not codecs.lookup(encoding).name.startswith(("utf-16", "utf-32"))


def undecodable(data: bytes, encoding: str, error: UnicodeDecodeError) -> str:
    """Say why bytes are not text in an encoding, and which encoding a byte-order mark speaks for."""
    reason = f"not {encoding}: byte 0x{error.object[error.start]:02x} at position {error.start}"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return reason + "; the file begins like UTF-16 (set encoding: utf-16)"
    return reason + " (set `encoding` in the source if it has another)"


def damaged(error: BaseException) -> str:
    """Say that a compressed file could not be read to its end."""
    return f"the compressed file is damaged or cut short ({error})"


def unreadable(reason: str, path: str, row: int) -> BenchcoreError:
    """The error for a file that cannot be read to its end, from which nothing may be concluded.

    Were it taken for a shorter file, the prompts that it no longer shows would be retired.
    """
    return BenchcoreError(
        f"cannot be read to its end: {reason}",
        where=f"{path} row {row}",
        mend="Nothing was changed. Mend the file, or name it in the source's 'exclude'.",
    )

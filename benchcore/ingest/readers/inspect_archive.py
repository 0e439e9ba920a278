"""Members of an `.eval` log, which is a zip file: one at a time, bounded, and never written to disk."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import IO

from benchcore.errors import BenchcoreError
from benchcore.ingest.readers.opening import decompressed

ZIP_MAGIC = b"PK"
_ZSTANDARD = 93  # Inspect's default; Python's zipfile reads it from 3.14 on
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, _ZSTANDARD)
_ENCRYPTED = 0x1
_HEADER = 30  # bytes of a local header before the name
_DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, NotImplementedError, ValueError)


class TooLarge(ValueError):
    """A member holds more than may be read at once."""


class Archive:
    """The members of a log by name, from a stream that can seek; where a name stands twice, the last one counts.

    Names are labels only: they may hold anything, and no path is ever made of them.

    Raises:
        BenchcoreError: the stream is no whole zip file.
    """

    def __init__(self, stream: IO[bytes], path: str, limit: int) -> None:
        self.path = path
        self.limit = limit
        self._stream = stream
        try:
            self._zip = zipfile.ZipFile(stream)
        except _DAMAGED as error:
            raise self._damaged(error) from None
        self.members = {info.filename: info for info in self._zip.infolist()}

    def read(self, name: str) -> bytes:
        """Read one member.

        Raises:
            KeyError: there is none of that name.
            TooLarge: it is larger than the limit.
            BenchcoreError: it is damaged, or holds another number of bytes than the directory says.
        """
        info = self.members[name]
        if max(info.file_size, info.compress_size) > self.limit:
            raise TooLarge(f"larger than {self.limit} bytes")
        try:
            if info.compress_type not in _METHODS or info.flag_bits & _ENCRYPTED:
                raise zipfile.BadZipFile(f"it is encrypted, or compressed by method {info.compress_type}")
            data = self._zstandard(info) if info.compress_type == _ZSTANDARD else self._other(info)
            if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
                raise zipfile.BadZipFile("its size or check sum is wrong")
        except _DAMAGED as error:
            raise self._damaged(error, name) from None
        return data

    def _other(self, info: zipfile.ZipInfo) -> bytes:
        with self._zip.open(info) as member:
            return member.read(info.file_size + 1)

    def _zstandard(self, info: zipfile.ZipInfo) -> bytes:
        self._stream.seek(info.header_offset)
        header = self._stream.read(_HEADER)
        if len(header) < _HEADER or not header.startswith(b"PK\x03\x04"):
            raise zipfile.BadZipFile("a member does not begin where the directory says")
        name_and_extra = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        self._stream.seek(info.header_offset + _HEADER + name_and_extra)
        packed = self._stream.read(info.compress_size)
        return decompressed(io.BytesIO(packed)).read(info.file_size + 1)

    def _damaged(self, error: Exception, name: str | None = None) -> BenchcoreError:
        member = f" (in the member {name[:80]!r})" if name is not None else ""
        return BenchcoreError(
            f"is no whole .eval log: {error}{member}",
            where=self.path,
            mend="Nothing was taken from it. Copy it again once the evaluation has ended, or leave it out.",
        )

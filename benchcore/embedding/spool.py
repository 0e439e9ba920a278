"""Texts that wait to be encoded, in a file without a name: memory holds their hashes and places only."""

from __future__ import annotations

import tempfile
from types import TracebackType


class Spool:
    """Distinct texts by row number, in the order in which they were added; gone when closed or when the process dies.

    Attributes:
        hashes: of each text.
        sizes: bytes of each text in UTF-8.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="benchcore-texts-")  # noqa: SIM115
        self._ends: list[int] = [0]
        self._rows: dict[str, int] = {}
        self.sizes: list[int] = []

    @property
    def hashes(self) -> list[str]:
        """Hashes in the order of the rows."""
        return list(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, hashed: str) -> bool:
        return hashed in self._rows

    def add(self, hashed: str, text: str) -> None:
        """Keep a text, once."""
        if hashed in self._rows:
            return
        content = text.encode()
        self._rows[hashed] = len(self._rows)
        self.sizes.append(len(content))
        self._ends.append(self._ends[-1] + len(content))
        self._file.write(content)

    def text(self, row: int) -> str:
        """Read a text back."""
        self._file.seek(self._ends[row])
        return self._file.read(self.sizes[row]).decode()

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

"""Finished pieces of a comparison, kept so that one that was interrupted goes on where it stopped."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[Any]]

# All that a damaged archive can raise, as some thousand random damages showed.
DAMAGES = (OSError, ValueError, EOFError, KeyError, NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error)
_NAMES = "names of all"


@dataclass(frozen=True)
class Pieces:
    """A folder of arrays by the hash of all that they depend on.

    Attributes:
        folder: made when something is kept; None keeps nothing.
    """

    folder: Path | None

    def load(self, key: str) -> Arrays | None:
        """Arrays that were kept, or None where they were not, or are damaged."""
        file = self._file(key)
        if file is None or not file.is_file():
            return None
        try:
            with np.load(file, allow_pickle=False) as stored:
                return {str(name): stored[str(name)] for name in stored[_NAMES]}
        except DAMAGES:
            return None

    def save(self, key: str, arrays: Arrays) -> None:
        """Keep arrays; another process may keep the same at the same time."""
        file = self._file(key)
        if file is None:
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = file.with_suffix(f".{os.getpid()}.tmp")
        with partial.open("wb") as stream:
            named = {**arrays, _NAMES: np.array(list(arrays), np.str_)}
            np.savez(stream, **named)  # type: ignore[arg-type]  # numpy takes any name for an array
        partial.replace(file)

    def _file(self, key: str) -> Path | None:
        return None if self.folder is None else self.folder / key[:2] / f"{key}.npz"

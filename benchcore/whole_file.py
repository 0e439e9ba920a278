"""Files for users, written as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from benchcore.errors import UsageError


def write_file(file: Path, content: bytes) -> None:
    """Write a file as a whole or not at all; makes its folder.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        replace_file(file, content)
    except OSError as error:
        raise UsageError(f"cannot be written ({error.strerror})", where=str(file)) from None


def replace_file(file: Path, content: bytes) -> None:
    """The same for those who tell an OSError in words of their own: written beside and renamed."""
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    try:
        partial.write_bytes(content)
        partial.replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise

"""Files for users, written as a whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from benchcore.errors import UsageError


def write_file(file: Path, content: bytes) -> None:
    """Write a file as a whole or not at all; makes its folder.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = file.with_name(f".{file.name}.{os.getpid()}.tmp")
        partial.write_bytes(content)
        partial.replace(file)
    except OSError as error:
        raise UsageError(f"cannot be written ({error.strerror})", where=str(file)) from None

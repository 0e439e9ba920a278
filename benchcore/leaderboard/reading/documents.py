"""JSON documents below a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson

from benchcore.errors import UsageError


def json_files(folder: Path) -> list[Path]:
    """All JSON files below a folder, in the order of their names."""
    return sorted(file for file in folder.rglob("*.json") if file.is_file())


def load(file: Path) -> Any:
    """Read a document; NaN, which some writers put into JSON, is taken as it is.

    Raises:
        UsageError: the file cannot be read, or holds no JSON.
    """
    try:
        content = file.read_bytes()
        try:
            return orjson.loads(content)
        except orjson.JSONDecodeError:
            return json.loads(content)
    except (OSError, ValueError) as error:
        reason = str(getattr(error, "strerror", None) or error).splitlines()[0]
        raise UsageError(f"cannot be read ({reason})", where=str(file)) from None

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
    except (OSError, ValueError, RecursionError) as error:
        reason = str(getattr(error, "strerror", None) or error).splitlines()[0]
        raise UsageError(f"cannot be read ({reason})", where=str(file)) from None


def parsed(text: str) -> Any:
    """What a JSON text says; a name that comes twice in one object is an error, since one of the two would be lost.

    Raises:
        ValueError: it is no JSON, or says something twice.
    """
    try:
        return json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"'{next(name for name in names if names.count(name) > 1)}' comes twice in one object")
    return found

"""What ships: the data sets by name, each with its licence and its source."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

import orjson

from benchcore.errors import UsageError

SCORES, LEADERBOARD = "scores", "leaderboard"
_INDEX = "index.json"


@dataclass(frozen=True)
class Entry:
    """A data set that ships.

    Attributes:
        name: by which it is asked for.
        kind: SCORES (prompts x models) or LEADERBOARD (models x tasks).
        file: its file's name.
        title: what it holds, in a few words.
        licence: of the figures.
        source: where they come from.
        note: what a user must know about them.
    """

    name: str
    kind: str
    file: str
    title: str
    licence: str
    source: str
    note: str


def folder() -> Traversable:
    """Where the files lie, inside the package."""
    return files(__package__) / "files"


def entries() -> dict[str, Entry]:
    """All data sets by name."""
    return {name: Entry(name, **fields) for name, fields in orjson.loads((folder() / _INDEX).read_bytes()).items()}


def names(kind: str | None = None) -> list[str]:
    """Names of the data sets, of one kind or of both."""
    return [entry.name for entry in entries().values() if kind in (None, entry.kind)]


def entry_of(name: str, kind: str) -> Entry:
    """Find a data set.

    Raises:
        UsageError: none of this kind has that name.
    """
    found = entries().get(name)
    if found is None or found.kind != kind:
        raise UsageError(f"no {kind} data set is named '{name}'", mend=f"There are {', '.join(names(kind))}.")
    return found

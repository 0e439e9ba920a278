"""Aggregates, one JSON a model and benchmark: they go where leaderboards are kept."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from benchcore.errors import UsageError
from benchcore.harness.logs import read_document
from benchcore.leaderboard.reading.every_eval_ever import is_every_eval_ever

if TYPE_CHECKING:
    from benchcore.leaderboard.matrix import ScoreMatrix

log = logging.getLogger(__name__)


def read_aggregates(path: Path) -> ScoreMatrix | None:
    """The aggregates in a file or below a folder as a leaderboard of the folder's name; None: there are none.

    Where there are instances beside aggregates whose scales cannot be told, only a warning says so: scores of single
    prompts do not wait for those of whole tasks.

    Raises:
        UsageError: there are aggregates alone, and they cannot be understood without guessing.
    """
    from benchcore.leaderboard.reading.declared import Declared
    from benchcore.leaderboard.reading.documents import json_files
    from benchcore.leaderboard.reading.read import read_aggregates as read_files
    from benchcore.leaderboard.reading.read import tell

    if path.is_file() and path.suffix != ".json":
        return None
    folder, files = (path.parent, [path]) if path.is_file() else (path, json_files(path))
    wanted = [file for file in files if is_every_eval_ever(read_document(file))]
    if not wanted:
        return None
    try:
        matrix = read_files(folder, wanted, Declared())
    except UsageError as error:
        told = f"{error.what}; `benchcore leaderboard store` takes what can be declared"
        if not any(folder.rglob("*.jsonl*")):
            raise UsageError(told, where=error.where) from None
        log.warning("%s: scores of whole tasks were not stored: %s", folder, told)
        return None
    tell(matrix)
    return matrix

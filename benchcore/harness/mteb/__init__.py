"""MTEB runs whole tasks: nothing to export or import prompt by prompt; the pointer to what does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from benchcore.errors import UsageError
from benchcore.harness.entry import Harness
from benchcore.harness.picks import Pick


def _export(coreset_id: str, picks: Sequence[Pick], folder: Path) -> NoReturn:
    raise UsageError(
        "MTEB runs whole tasks, and prompts are no tasks",
        where="--harness mteb",
        mend="`benchcore leaderboard select RESULTS -k K --export mteb` picks tasks and prints an mteb.Benchmark.",
    )


MTEB = Harness(title="MTEB", export=_export)

"""What a user declares about a leaderboard, so that nothing about it need be guessed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Repeated = Literal["refuse", "mean", "first", "last"]
Bounds = tuple[float, float]


@dataclass(frozen=True)
class Declared:
    """What is known of a leaderboard beside its figures.

    Attributes:
        name: of the leaderboard; None: told by its place.
        model_column: column with the names of models; None: recognised.
        family_column: column with their families; None: told by the names.
        tasks: columns that are tasks; empty: all with numbers.
        ignore: columns that are not.
        scale: worst and best score of every task; None: recognised.
        scales: the same of single tasks; wins.
        lower_is_better: tasks where a lower score is better; `all` stands for all.
        higher_is_better: tasks where it is not, whatever their names say.
        transpose: whether rows are tasks; None: an error where they look like it.
        repeated: what to do with a model that comes twice with different scores.
        costs: file with what each task costs.
        groups: file with groups of tasks, from each of which at most one is picked.
        split: of MTEB result files; None: test.
        revisions: of models in MTEB result files; for others the newest.
        leaderboard: name in a registry that holds several.
    """

    name: str | None = None
    model_column: str | None = None
    family_column: str | None = None
    tasks: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    scale: Bounds | None = None
    scales: Mapping[str, Bounds] = field(default_factory=dict)
    lower_is_better: tuple[str, ...] = ()
    higher_is_better: tuple[str, ...] = ()
    transpose: bool | None = None
    repeated: Repeated = "refuse"
    costs: Path | None = None
    groups: Path | None = None
    split: str | None = None
    revisions: Mapping[str, str] = field(default_factory=dict)
    leaderboard: str | None = None

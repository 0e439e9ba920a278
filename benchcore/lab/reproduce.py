"""The README's table from what ships: which suites, methods and estimators it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchcore.lab.compare import BUDGETS, compare
from benchcore.lab.contestants import USUAL_ESTIMATORS, USUAL_METHODS
from benchcore.lab.protocol import Protocol
from benchcore.lab.rows import Findings
from benchcore.methods.names import require_known

SUITES = {
    "mmlu_pro": "dataset:mmlu_pro",
    "mmlu_pro:odd": "dataset:mmlu_pro:odd",
    "mmlu_pro:even": "dataset:mmlu_pro:even",
    "zeroeval": "dataset:zeroeval_gsm+dataset:zeroeval_crux+dataset:zeroeval_math_l5",
    "ifeval": "dataset:ifeval",
}
REPEATS = 20
DRAWS = 5  # seeds a sub-pool: a hundred in all
# What a first look takes: about a minute.
QUICK_SUITES = ("zeroeval", "ifeval")
QUICK_REPEATS = 5


@dataclass(frozen=True)
class Extent:
    """How much of it is measured.

    Attributes:
        suites: names in SUITES.
        repeats: sub-pools of each.
        methods: names; None: all.
        estimators: names; None: all.
    """

    suites: Sequence[str]
    repeats: int
    methods: Sequence[str] | None = USUAL_METHODS
    estimators: Sequence[str] | None = USUAL_ESTIMATORS


def extent(suites: Sequence[str] | None, repeats: int | None, *, quick: bool = False, full: bool = False) -> Extent:
    """Settle what is measured.

    Args:
        suites: names in SUITES; None: all, or the quick ones.
        repeats: sub-pools; None: as many as the README's table has, or the quick number.
        quick: a first look.
        full: all methods and estimators.

    Raises:
        UsageError: there is no such suite.
    """
    for name in suites or ():
        require_known(name, SUITES, "suite", "--suites")
    return Extent(
        suites=suites or (QUICK_SUITES if quick else tuple(SUITES)),
        repeats=repeats or (QUICK_REPEATS if quick else REPEATS),
        methods=None if full else USUAL_METHODS,
        estimators=None if full else USUAL_ESTIMATORS,
    )


def reproduce(
    of: Extent,
    *,
    ks: Sequence[int] = BUDGETS,
    out: Path | None = None,
    workers: int = 1,
    ray: bool = False,
) -> Findings:
    """Measure on the suites that ship: no encoder, no network.

    Args:
        of: what is measured.
        ks: budgets.
        out: folder of finished pieces, so that an interrupted run goes on; None: nothing is kept.
        workers: processes.
        ray: run on Ray instead.

    Raises:
        UsageError: a budget is wrong.
    """
    return compare(
        [SUITES[name] for name in of.suites],
        Protocol(ks=tuple(ks), repeats=of.repeats, draws=DRAWS),
        methods=of.methods,
        estimators=of.estimators,
        out=out,
        workers=workers,
        ray=ray,
    )

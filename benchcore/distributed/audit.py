"""The audit slice: picks drawn at random before the method picks, so that its picks can be held against chance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchcore.methods import METHODS
from benchcore.methods.problem import Problem, Selection, require_feasible
from benchcore.methods.unvalued import unvalued
from benchcore.registry.identity import digest

AUDIT = "audit"


def set_apart(problem: Problem, audit: int) -> tuple[Selection, Problem]:
    """Draw the slice, and leave the rest of the picks to the method.

    The draw is stratified random: as balanced as the problem is, each free prompt of a benchmark at the same chance. It
    depends on the pool, the seed and the size of the slice, and not on k, so that smaller selections stay prefixes.

    Args:
        problem: with `k` picks in all.
        audit: of them, how many are drawn; 0 for none.

    Returns:
        The slice with its inclusion probabilities, and the problem of the other picks, whose candidates it is not
        among; it is still represented by them.

    Raises:
        UsageError: the includes and the slice are more than k, or than the pool has.
    """
    none = np.zeros(0, np.int64)
    if not audit:
        return unvalued(none), problem
    core = replace(problem, k=problem.k - audit)
    require_feasible(core, where="select.")
    taken = np.concatenate([problem.exclude, problem.include])
    seed = int(digest(AUDIT, problem.seed)[:12], 16)  # another stream than the method's own draws
    drawn = METHODS["random"](replace(problem, k=audit, include=none, exclude=taken, seed=seed))
    drawn = replace(drawn, roles=np.full(audit, AUDIT))
    return drawn, replace(core, exclude=np.concatenate([problem.exclude, drawn.indices]))


def joined(core: Selection, audit: Selection) -> Selection:
    """The method's picks in their order, then the slice; what was not drawn has no probability (NaN)."""
    if not len(audit.indices):
        return core
    own, drawn = core.inclusion_probabilities, audit.inclusion_probabilities
    unknown = np.full(len(core.indices), np.nan)
    chances = [unknown if own is None else own, np.full(len(audit.indices), np.nan) if drawn is None else drawn]
    return replace(
        core,
        indices=np.concatenate([core.indices, audit.indices]),
        gains=np.concatenate([core.gains, np.zeros(len(audit.indices))]),
        roles=np.concatenate([core.roles, audit.roles]),
        inclusion_probabilities=np.concatenate(chances),
    )

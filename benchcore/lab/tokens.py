"""Equal numbers of tokens: a method whose picks are longer than the control's gets fewer of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchcore.lab.protocol import Trial
from benchcore.methods.problem import Selection
from benchcore.submodular.constraints.rounds import shares

Lengths = NDArray[np.float64]

# How often a method that picks anew for every budget is asked for one of them.
_ASKED = 10


def allowance(trial: Trial, k: int) -> float:
    """Expected length of the control's k picks, relative to the mean prompt's: an equal draw from each benchmark."""
    sizes = np.bincount(trial.groups)
    share = shares(np.zeros(len(sizes), np.int64), sizes, k)
    expected = share.sure + np.where(share.waiting, share.extra / max(1, int(share.waiting.sum())), 0.0)
    return float(expected @ (np.bincount(trial.groups, trial.relative_lengths) / sizes))


def equally_long(ask: Callable[[int], Selection], trial: Trial, *, nested: bool) -> list[Selection]:
    """For each budget of the control, the most picks of a method that are no longer in all than the control's.

    Characters stand for tokens. One pick for each benchmark is the least that a method gets.

    Args:
        ask: for k picks of the method.
        trial: the sub-pool.
        nested: whether its picks are prefixes of each other; of one that weighs them, they are not.
    """
    lengths, ks = trial.relative_lengths, trial.protocol.ks
    limits = [allowance(trial, k) * (1 + 1e-9) for k in ks]
    largest = ask(ks[-1])
    if not nested or largest.weights is not None:
        return [_longest(ask, lengths, limit, k, trial) for k, limit in zip(ks, limits, strict=True)]
    while (asked := len(largest.indices)) < len(lengths) and lengths[largest.indices].sum() <= limits[-1]:
        largest = ask(min(2 * asked, len(lengths)))
        if len(largest.indices) == asked:
            break
    total = np.cumsum(lengths[largest.indices])
    counts = [max(int(np.searchsorted(total, limit, "right")), _least(trial)) for limit in limits]
    return [replace(largest, indices=largest.indices[:count]) for count in counts]


def _longest(ask: Callable[[int], Selection], lengths: Lengths, limit: float, k: int, trial: Trial) -> Selection:
    """The largest budget that was found to fit, in ten attempts at most: that of the control first, then in proportion.

    Between one that fits and one that does not, the next is interpolated or halfway in turn. Picks of a larger budget
    need not be longer, so that a larger one yet may fit: it is not the largest there is.
    """
    least, best = _least(trial), None
    fits, shorter, beyond, longer = 0, 0.0, len(lengths) + 1, float("inf")
    for attempt in range(_ASKED):
        selection = ask(k)
        total = float(lengths[selection.indices].sum())
        if total <= limit:
            best, fits, shorter = selection, k, total
        else:
            beyond, longer = k, total
        if beyond - fits < 2 or beyond <= least:
            break
        if longer == float("inf"):
            k = int(k * limit / max(total, 1e-12))
        elif attempt % 2:
            k = (fits + beyond) // 2
        else:
            k = fits + int((beyond - fits) * (limit - shorter) / (longer - shorter))
        k = min(max(k, fits + 1, least), beyond - 1)
    return ask(least) if best is None else best


def _least(trial: Trial) -> int:
    return int(trial.groups.max()) + 1

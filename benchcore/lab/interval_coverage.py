"""How often the intervals that `estimate` gives hold the true score, by suite and by where they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.estimator import Sample
from benchcore.estimation.intervals import Intervals, stratified_intervals
from benchcore.estimation.panel_intervals import aipw_intervals
from benchcore.lab.coverage import held
from benchcore.lab.features import TextEncoder, default_cache, features_of
from benchcore.lab.protocol import Protocol, Scores, Trial, trial_of
from benchcore.lab.splits import smallest_pool
from benchcore.lab.suites import Suite, load_suite
from benchcore.methods import DEFAULT, METHODS
from benchcore.methods.problem import Problem
from benchcore.methods.stratified_random import stratified_random
from benchcore.progress import progress

Indices = NDArray[np.int64]

AUDIT_SHARE = 0.2  # of the picks
AUDIT_LEAST = 400  # picks, below which there is no audit slice
BUDGETS = (100, 200, 400)


@dataclass(frozen=True)
class IntervalRow:
    """Intervals of one kind on one suite.

    Attributes:
        suite: its name.
        kind: where the interval comes from; a name in `KINDS`.
        k: picks.
        intervals: how many there were: sub-pools x draws x models.
        coverage: share of them that hold the true macro score.
        spread: standard error of the coverage over sub-pools, which overlap.
        width: mean width, in points.
        error: mean absolute error of the estimate, in points.
    """

    suite: str
    kind: str
    k: int
    intervals: int
    coverage: float
    spread: float
    width: float
    error: float


@dataclass(frozen=True, eq=False)
class _Told:
    """Intervals of one draw, the estimates that are printed with them, and the truth, of the same models."""

    intervals: Intervals
    estimate: Scores
    truth: Scores


@dataclass(frozen=True, eq=False)
class _Pool:
    """A sub-pool, and what was picked from it.

    Attributes:
        trial: the sub-pool.
        largest: the largest budget: a nested method is asked for it, and smaller ones are its beginnings.
        asked: method and draw -> picks of a nested method.
    """

    trial: Trial
    largest: int
    asked: dict[tuple[str, int], Indices]

    def picks(self, method: str, k: int, draw: int) -> Indices:
        """(k,) rows of the sub-pool."""
        entry = METHODS[method]
        if not entry.nested:
            return np.asarray(entry(self.problem(k, draw)).indices)
        if (method, draw) not in self.asked:
            self.asked[method, draw] = np.asarray(entry(self.problem(self.largest, draw)).indices)
        return self.asked[method, draw][:k]

    def problem(self, k: int, draw: int) -> Problem:
        """What a method is given."""
        return self.trial.problem(k, draw, balanced=True, with_scores=False)


Told = Callable[[_Pool, int, int], _Told]


def design(pool: _Pool, k: int, draw: int) -> _Told:
    """A random draw that is spread over the vectors: what a draw inside benchmarks promises."""
    return _stratified(pool.trial, pool.picks("local_pivotal", k, draw))


def model(pool: _Pool, k: int, draw: int) -> _Told:
    """The default method's picks, taken as if they had been drawn at random inside benchmarks."""
    return _stratified(pool.trial, pool.picks(DEFAULT, k, draw))


def audit(pool: _Pool, k: int, draw: int) -> _Told:
    """A slice that was drawn before the default method picked the rest: what the draw promises."""
    problem = pool.problem(k, draw)
    drawn = stratified_random(replace(problem, k=round(AUDIT_SHARE * k))).indices
    core = METHODS[DEFAULT](replace(problem, k=k - len(drawn), exclude=drawn)).indices
    whole = _stratified(pool.trial, np.concatenate([core, drawn]))
    return replace(whole, intervals=_stratified(pool.trial, drawn).intervals)


def panel(size: int) -> Told:
    """The default method's picks, leaning on a panel of some other models (AIPW)."""

    def told(pool: _Pool, k: int, draw: int) -> _Told:
        trial, picks = pool.trial, pool.picks(DEFAULT, k, draw)
        held_out = trial.split.held
        sample = Sample(picks, trial.groups, trial.mass, {}, panel=trial.source[:, :size])
        scores = trial.known[trial.rows][picks][:, held_out]
        found = aipw_intervals(sample, scores)
        return _Told(found, found.estimate, trial.truth(0)[held_out])

    return told


PANELS = {"panel of 3": 3, "panel of 10": 10}
KINDS: Mapping[str, Told] = {
    "design": design,
    "model": model,
    "audit": audit,
    **{kind: panel(size) for kind, size in PANELS.items()},
}


def interval_coverage(
    specs: Sequence[str],
    *,
    ks: Sequence[int] = BUDGETS,
    repeats: int = 20,
    draws: int = 5,
    kinds: Sequence[str] = tuple(KINDS),
    encoder: Callable[[], TextEncoder] | None = None,
    seed: int = 0,
) -> list[IntervalRow]:
    """Measure on sub-pools of suites whose true scores are known.

    Args:
        specs: of suites, as `suites.load_suite` takes them.
        ks: budgets; those that a suite has no room for are left out.
        repeats: sub-pools of each suite.
        draws: seeds on each sub-pool.
        kinds: names in KINDS.
        encoder: makes the encoder; called only where vectors are needed.
        seed: of all that is drawn.

    Raises:
        UsageError: a suite cannot be read.
    """
    suites = [load_suite(spec) for spec in specs]
    rows: list[IntervalRow] = []
    with progress("intervals", len(suites) * repeats, "sub-pools") as advance:
        for suite in suites:
            lacks = "embedding" not in suite.blocks and suite.texts
            encodes = encoder() if encoder and lacks else None
            features = features_of(suite, encodes, default_cache(), ("embedding", "surface", "ngrams"))
            protocol = Protocol(ks=tuple(sorted(ks)), repeats=repeats, draws=draws, seed=seed)
            trials = (trial_of(suite, features, protocol, repeat) for repeat in range(repeats))
            rows += _measured(suite, protocol, trials, kinds, advance)
    return rows


def _measured(
    suite: Suite, protocol: Protocol, trials: Iterator[Trial], kinds: Sequence[str], advance: Callable[[int], None]
) -> list[IntervalRow]:
    groups = np.unique(suite.groups, return_inverse=True)[1]
    room = smallest_pool(groups, protocol.least)
    fitting = [kind for kind in kinds if 2 * PANELS.get(kind, 0) <= len(suite.models)]
    least = {kind: max(len(suite.benchmarks), AUDIT_LEAST if kind == "audit" else 1) for kind in fitting}
    cells = [(kind, k) for kind in fitting for k in protocol.ks if least[kind] <= k <= room]
    found: dict[tuple[str, int], list[NDArray[np.float64]]] = {cell: [] for cell in cells}
    for trial in trials:
        pool = _Pool(trial, max((k for _, k in cells), default=1), {})
        for kind, k in cells:
            told = [KINDS[kind](pool, k, draw) for draw in range(protocol.draws)]
            found[kind, k].append(np.stack([_judged(one) for one in told]))
        advance(1)
    return [_row(suite.name, kind, k, judged) for (kind, k), judged in found.items()]


def _judged(told: _Told) -> NDArray[np.float64]:
    """(3, models) whether the interval holds the truth, its width and the error, both in points."""
    width = 100 * (told.intervals.high - told.intervals.low)
    return np.stack([held(told.intervals, told.truth), width, 100 * np.abs(told.estimate - told.truth)])


def _row(suite: str, kind: str, k: int, judged: Sequence[NDArray[np.float64]]) -> IntervalRow:
    """Sum up by sub-pool first: models and draws on one sub-pool hang together."""
    pools = np.array([np.nanmean(one, axis=(0, 2)) for one in judged])
    means = pools.mean(axis=0)
    spread = pools[:, 0].std(ddof=1) / np.sqrt(len(pools)) if len(pools) > 1 else float("nan")
    count = sum(int(np.isfinite(one[:, 0]).sum()) for one in judged)
    return IntervalRow(suite, kind, k, count, float(means[0]), float(spread), float(means[1]), float(means[2]))


def _stratified(trial: Trial, picks: Indices) -> _Told:
    """Intervals of a draw inside benchmarks, which count the same."""
    sizes = np.bincount(trial.groups).astype(np.float64)
    shares = np.full(len(sizes), 1 / len(sizes))
    found = stratified_intervals(trial.scores(0)[picks], trial.groups[picks], sizes, shares)
    return _Told(found, found.estimate, trial.truth(0))

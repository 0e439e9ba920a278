"""Every method that picks whole tasks with every estimator, on models that neither has seen."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError
from benchcore.estimation.task_estimators import TASK_ESTIMATORS
from benchcore.estimation.task_source import TaskSource
from benchcore.leaderboard.default import ESTIMATOR, METHOD
from benchcore.leaderboard.judging import RESAMPLES, judge, known_mean, resampled, spread
from benchcore.leaderboard.matrix import ScoreMatrix
from benchcore.leaderboard.splits import SPLITS, Split, Splitter
from benchcore.methods import METHODS
from benchcore.methods.names import require_known
from benchcore.methods.problem import Problem

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

CONTROL, CONTROL_ESTIMATOR = "random", "ridge"
KS = tuple(range(1, 21))
INDEX_SPLITS, INDEX_KS = ("random", "strongest"), (3, 5, 8, 10, 15, 20)
_CONTROL_DRAWS, _DRAWS = 20, 5


@dataclass(frozen=True)
class Plan:
    """What is compared, and how.

    Attributes:
        ks: how many tasks are picked; none: 1 to 20, where there are as many.
        splits: kinds of split.
        repeats: splits of each kind.
        methods: names; random picks take part in any case.
        estimators: names; ridge takes part in any case.
        seed: of all draws.
    """

    ks: tuple[int, ...] = ()
    splits: tuple[str, ...] = SPLITS
    repeats: int = 50
    methods: tuple[str, ...] = ()
    estimators: tuple[str, ...] = ()
    seed: int = 0


@dataclass(frozen=True)
class Row:
    """A method with an estimator in one cell of the comparison; errors in points of a hundred.

    Attributes:
        matrix: name of the leaderboard.
        method: name.
        estimator: name.
        split: kind of split.
        k: picks.
        mae: mean absolute error of the predicted mean over tasks.
        mae_low: of the interval in which 90 % of the errors of single splits and draws lie; with the strongest held
            out, which are the same in every split, of errors over bootstrap samples of them.
        mae_high: of it.
        kendall_tau: of the predicted ranking of the models that were held out.
        top1_regret: how far the model predicted best is behind the best.
        ratio: `mae` over that of random picks with ridge in the same cell.
        is_default: whether this is the default method with the default estimator.
        repeats: splits.
        seconds: to pick once; where smaller k are the first picks of a larger one, the time for the largest.
        scored: picks on which a model that was held out has a score, the mean over models, draws and splits. Every
            model is judged, from the picks that it has: so that all methods are judged on the same ones.
    """

    matrix: str
    method: str
    estimator: str
    split: str
    k: int
    mae: float
    mae_low: float
    mae_high: float
    kendall_tau: float
    top1_regret: float
    ratio: float
    is_default: bool
    repeats: int
    seconds: float
    scored: float


@dataclass
class _Cell:
    """Verdicts of a method with an estimator, one for each split: means over its draws, and each draw alone."""

    mae: list[float] = field(default_factory=list)
    single: list[float] = field(default_factory=list)
    scored: list[float] = field(default_factory=list)
    tau: list[float] = field(default_factory=list)
    regret: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def compare(
    matrices: Sequence[ScoreMatrix],
    plan: Plan,
    *,
    transfer: Mapping[str, Floats] | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> list[Row]:
    """Compare methods and estimators on leaderboards.

    Args:
        matrices: with distinct names.
        plan: what is compared.
        transfer: (tasks, tasks) in-context transfer of leaderboards by their names: methods that need it take part
            where there is one.
        advance: told after each split that one more is done; there are `len(matrices) * len(splits) * repeats`.

    Raises:
        UsageError: a name, a number of picks or a leaderboard is wrong.
    """
    names = [matrix.name for matrix in matrices]
    if len(set(names)) < len(names):
        raise UsageError(f"two leaderboards are named '{max(names, key=names.count)}'", "MATRIX", "Rename a file.")
    blocks = transfer or {}
    rows: list[Row] = []
    for matrix in matrices:
        methods = method_names(plan.methods, matrix.name in blocks)
        estimators = estimator_names(plan.estimators)
        ks = _fitting(plan.ks, matrix)
        for kind in plan.splits:
            splitter = Splitter(matrix, kind, plan.seed)
            cells: dict[tuple[str, str, int], _Cell] = {}
            for number in range(plan.repeats):
                trial = _Trial(matrix, kind, splitter.draw(number), plan.seed + number, blocks.get(matrix.name))
                trial.measure(methods, estimators, ks, cells)
                advance(1)
            rows += _rows(matrix.name, kind, cells)
    return rows


def method_names(wanted: Sequence[str], has_transfer: bool) -> list[str]:
    """Methods that take part: those that were asked for, or all for whole tasks, and random picks first.

    Raises:
        UsageError: a name is not known, or a method needs transfer matrices that are not there.
    """
    known = [name for name, entry in METHODS.items() if entry.whole_tasks]
    for name in wanted:
        require_known(name, [CONTROL, *known], "method", "--methods")
        if "transfer" in METHODS[name].needs and not has_transfer:
            raise UsageError(f"'{name}' needs in-context transfer matrices", "--methods", "Give them by --transfer.")
    found = [name for name in wanted or known if has_transfer or "transfer" not in METHODS[name].needs]
    return list(dict.fromkeys([CONTROL, *found]))


def estimator_names(wanted: Sequence[str]) -> list[str]:
    """Estimators that take part: those that were asked for, or all, and ridge first.

    Raises:
        UsageError: a name is not known.
    """
    for name in wanted:
        require_known(name, TASK_ESTIMATORS, "estimator", "--estimators")
    return list(dict.fromkeys([CONTROL_ESTIMATOR, *(wanted or TASK_ESTIMATORS)]))


def _fitting(ks: Sequence[int], matrix: ScoreMatrix) -> list[int]:
    tasks = len(matrix.tasks)
    for k in ks:
        if not 1 <= k < tasks:
            raise UsageError(f"cannot predict from {k} of {tasks} tasks", "--k", f"Choose from 1 to {tasks - 1}.")
    return sorted(set(ks)) or [k for k in KS if k < tasks]


class _Trial:
    """One split of a leaderboard's models."""

    def __init__(self, matrix: ScoreMatrix, kind: str, split: Split, seed: int, transfer: Floats | None) -> None:
        self._source = TaskSource(matrix.scores[split.source])
        held = matrix.scores[split.held]
        self._truth = held[~np.isnan(held).all(axis=1)]
        self._centre = self._source.complete.mean(axis=0)
        self._resample = kind == "strongest"
        self._tasks = np.array(matrix.tasks)
        self._features = {"scores": np.ascontiguousarray(self._source.scores.T)}
        if transfer is not None:
            self._features["transfer"] = transfer
        self._seed = seed

    def measure(
        self,
        methods: Sequence[str],
        estimators: Sequence[str],
        ks: Sequence[int],
        cells: dict[tuple[str, str, int], _Cell],
    ) -> None:
        """Add one verdict to the cell of every method, estimator and k."""
        for method in methods:
            draws = 1 if not METHODS[method].drawn else _CONTROL_DRAWS if method == CONTROL else _DRAWS
            found = [self._picks(method, ks, draw) for draw in range(draws)]
            for estimator in estimators:
                for place, k in enumerate(ks):
                    cell = cells.setdefault((method, estimator, k), _Cell())
                    self._judge(estimator, [picks[place] for picks, _ in found], cell)
                    cell.seconds.append(float(np.mean([seconds[place] for _, seconds in found])))

    def _picks(self, method: str, ks: Sequence[int], draw: int) -> tuple[list[Indices], list[float]]:
        """Picks for each k and the seconds they took."""
        entry, picks, seconds = METHODS[method], list[Indices](), list[float]()
        for k in [max(ks)] if entry.nested else ks:
            started = time.perf_counter()
            picks.append(entry(self._problem(k, draw)).indices)
            seconds.append(time.perf_counter() - started)
        if entry.nested:
            return [picks[0][:k] for k in ks], seconds * len(ks)
        return picks, seconds

    def _problem(self, k: int, draw: int) -> Problem:
        n = len(self._tasks)
        return Problem(
            ids=self._tasks,
            groups=np.full(n, "all"),
            mass=np.full(n, 1 / n),
            features=self._features,
            k=k,
            balanced=False,
            seed=int(np.random.default_rng([self._seed, draw]).integers(2**31)),
        )

    def _judge(self, estimator: str, draws: Sequence[Indices], cell: _Cell) -> None:
        verdicts = [judge(self._predicted(estimator, picks), self._truth, self._centre) for picks in draws]
        cell.mae.append(known_mean(np.array([verdict.mae for verdict in verdicts])))
        cell.tau.append(known_mean(np.array([verdict.kendall_tau for verdict in verdicts])))
        cell.regret.append(known_mean(np.array([verdict.top1_regret for verdict in verdicts])))
        cell.scored += [float((~np.isnan(self._truth[:, picks])).sum(axis=1).mean()) for picks in draws]
        if not self._resample:
            cell.single += [verdict.mae for verdict in verdicts]
            return
        times = max(1, RESAMPLES // len(draws))
        for draw, verdict in enumerate(verdicts):
            cell.single += resampled(verdict.models, [self._seed, draw], times).tolist()

    def _predicted(self, estimator: str, picks: Indices) -> Floats:
        """(models, tasks); a model without a score on any pick is taken to be average."""
        predicted = TASK_ESTIMATORS[estimator](self._source, picks, self._truth[:, picks])
        return np.where(np.isnan(predicted).all(axis=1, keepdims=True), self._centre, predicted)


def _rows(matrix: str, kind: str, cells: Mapping[tuple[str, str, int], _Cell]) -> Iterator[Row]:
    for (method, estimator, k), cell in cells.items():
        errors = np.array(cell.mae)
        low, high = spread(np.array(cell.single))
        control = known_mean(np.array(cells[CONTROL, CONTROL_ESTIMATOR, k].mae))
        mae = known_mean(errors)
        yield Row(
            matrix=matrix,
            method=method,
            estimator=estimator,
            split=kind,
            k=k,
            mae=mae,
            mae_low=low,
            mae_high=high,
            kendall_tau=known_mean(np.array(cell.tau)),
            top1_regret=known_mean(np.array(cell.regret)),
            ratio=mae / control if control > 0 else float("nan"),
            is_default=(method, estimator) == (METHOD, ESTIMATOR),
            repeats=len(errors),
            seconds=float(np.median(cell.seconds)),
            scored=known_mean(np.array(cell.scored)),
        )


@dataclass(frozen=True)
class Standing:
    """A method with an estimator over many cells.

    Attributes:
        method: name.
        estimator: name.
        index: geometric mean of the ratios over the cells of both judged splits.
        worst: the largest ratio among them.
        cells: how many.
        is_default: whether this is the default.
    """

    method: str
    estimator: str
    index: float
    worst: float
    cells: int
    is_default: bool


def standings(rows: Sequence[Row]) -> list[Standing]:
    """The best first, over random splits and those with the strongest held out, at k of 3, 5, 8, 10, 15 and 20."""
    ratios: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        if row.split in INDEX_SPLITS and row.k in INDEX_KS and np.isfinite(row.ratio) and row.ratio > 0:
            ratios.setdefault((row.method, row.estimator), []).append(row.ratio)
    found = [
        Standing(
            method, estimator, float(np.exp(np.mean(np.log(values)))), max(values), len(values),
            (method, estimator) == (METHOD, ESTIMATOR),
        )
        for (method, estimator), values in ratios.items()
    ]  # fmt: skip
    return sorted(found, key=lambda standing: standing.index)

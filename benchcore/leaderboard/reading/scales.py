"""Scores on their own scales as scores in [0, 1] with more being better: declared or recognised, never guessed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError
from benchcore.leaderboard.matrix import Scale, Scores, counted, named
from benchcore.leaderboard.reading.declared import Declared
from benchcore.leaderboard.reading.names import says_lower_is_better
from benchcore.leaderboard.reading.raw import RawScores
from benchcore.methods.names import require_known

_SHARE, _PERCENT, _ANY = "between 0 and 1", "between 0 and 100", "any"
_DECLARE = "Declare it, for example --scale 100, --scale TASK=0:10, or leave columns out with --ignore."
ROUNDING = 1e-6  # how far a score may lie outside of its scale
_LEAST_MODELS = 20  # for a correlation to say something about direction
_ALL = "all"


def on_one_scale(raw: RawScores, declared: Declared) -> tuple[Scores, tuple[Scale, ...], tuple[str, ...]]:
    """Put all scores on one scale.

    Args:
        raw: scores as the source has them.
        declared: by the user, which wins over what the source says, which wins over what can be recognised.

    Returns:
        (models, tasks) scores in [0, 1], the scale of each task, and what was recognised and mended.

    Raises:
        UsageError: scales are mixed or cannot be recognised, or scores lie outside of what was declared.
    """
    for task in declared.scales:
        require_known(task, raw.tasks, "task", "--scale")
    told = {task: Scale(*bounds) for task, bounds in declared.scales.items()}
    if declared.scale is not None:
        _refuse_far_below(raw, declared)
        told = {task: told.get(task, Scale(*declared.scale)) for task in raw.tasks}
    told = {**raw.known, **told}
    values, notes = raw.values.copy(), []
    open_tasks = [at for at, task in enumerate(raw.tasks) if task not in told]
    unit, lines = _recognised(raw, open_tasks)
    notes += lines
    for at in open_tasks:
        told[raw.tasks[at]] = Scale(0.0, 100.0 if unit[at] == _PERCENT else 1.0)
    for at, task in enumerate(raw.tasks):  # a percent sign says what its number is, whatever the column's scale
        put_signed(values[:, at], raw.signed[:, at], told[task])
    notes += mend_negative(values, open_tasks, raw.tasks)
    _refuse_outside(values, raw, told)
    scales, lines = _directed(values, raw, told, declared)
    scores = np.column_stack([scale.inward(values[:, at]) for at, scale in enumerate(scales)])
    return np.clip(scores, 0.0, 1.0), scales, (*notes, *lines)


def _refuse_far_below(raw: RawScores, declared: Declared) -> None:
    """A scale that is said of all tasks is hardly meant for columns of shares."""
    if declared.scale is None or declared.scale[1] < 100:
        return
    shares = []
    for at, task in enumerate(raw.tasks):
        held = raw.values[~np.isnan(raw.values[:, at]) & ~raw.signed[:, at], at]
        if task not in declared.scales and held.size and held.max() <= 1 and held.any():
            shares.append(task)
    if shares:
        raise UsageError(
            f"no score is above 1 in {counted(len(shares), 'column')} ({named(shares)}), and the scale that was "
            f"declared for all goes to {declared.scale[1]:g}",
            where=raw.where,
            mend=f"{_over_again(raw, [raw.tasks.index(task) for task in shares])}Say what they are with "
            "--scale TASK=0:1, or leave them out with --ignore.",
        )


def _recognised(raw: RawScores, tasks: Sequence[int]) -> tuple[dict[int, str], list[str]]:
    """The unit of each task whose scale was not declared, told by the range of its scores."""
    unit = {at: _unit(raw.values[~raw.signed[:, at], at], bool(raw.signed[:, at].any())) for at in tasks}
    _refuse_unclear(raw, unit)
    by_sign = [at for at in tasks if raw.signed[:, at].any() and np.isnan(raw.values[~raw.signed[:, at], at]).all()]
    shares = [at for at in tasks if unit[at] == _SHARE]
    percents = [at for at in tasks if unit[at] == _PERCENT and at not in by_sign]
    if shares and percents:
        few, many = sorted((shares, percents), key=len)
        raise UsageError(
            f"scores are on mixed scales: {unit[few[0]]} in {_told(raw, few)}, {unit[many[0]]} in {_told(raw, many)}",
            where=raw.where,
            mend=f"{_over_again(raw, few)}Say which is which with --scale TASK=0:1 or --scale TASK=0:100, or leave "
            "columns out with --ignore.",
        )
    common = _PERCENT if percents else _SHARE
    lines = []
    if percents:
        lines.append(f"scores of {counted(len(percents), 'task')} lie between 0 and 100: read as percent")
    if raw.signed.any():
        lines.append(f"read {counted(int(raw.signed.sum()), 'cell')} with a percent sign as percent")
    return {at: common if kind == _ANY else kind for at, kind in unit.items()}, lines


def _unit(values: NDArray[np.float64], signed: bool) -> str:
    """The unit of a column's cells that have no percent sign; a reason if there is none that is certain."""
    held = values[~np.isnan(values)]
    if held.size == 0 or not held.any():
        return _PERCENT if held.size == 0 and signed else _ANY
    low, high = held.min(), held.max()
    if high <= 1 + ROUNDING and low >= -1 - ROUNDING and np.median(held) >= 0:
        return _SHARE
    if not (low >= -100 and high <= 100 and np.median(held) >= 0):
        return f"outside: {low:.4g} to {high:.4g}"
    fractions = ((held > 0) & (held <= 1)).any()
    if fractions and not ((held > 1) & (held <= 3)).any() and not _whole(held):
        return f"both below 1 and above 3: {held[held > 0].min():.4g} to {high:.4g}"
    if high <= 10:
        return f"unclear: {low:.4g} to {high:.4g}"
    return _PERCENT


def _whole(held: NDArray[np.float64]) -> bool:
    return bool((held == np.round(held)).all())


def _refuse_unclear(raw: RawScores, unit: dict[int, str]) -> None:
    for reason, what in (
        ("outside", "scores lie neither in 0-1 nor in 0-100"),
        ("both", "scores on mixed scales inside a column"),
        ("unclear", "scores could be on a scale of 10 or percentages"),
    ):
        found = [at for at, kind in unit.items() if kind.startswith(reason)]
        if found:
            spans = [f"{raw.tasks[at]} ({unit[at].partition(': ')[2]})" for at in found]
            raise UsageError(f"{what}: {named(spans)}", where=raw.where, mend=_DECLARE)


def _told(raw: RawScores, tasks: Sequence[int]) -> str:
    return f"{counted(len(tasks), 'column')} ({named([raw.tasks[at] for at in tasks])})"


def _over_again(raw: RawScores, columns: Sequence[int]) -> str:
    """How to leave out columns that are named like others with a word more (IFEval, IFEval Raw)."""
    mine = {raw.tasks[at] for at in columns}
    more = [task for task in raw.tasks if task in mine and any(task.startswith(f"{o} ") for o in raw.tasks)]
    return f"Some may be others over again: --ignore '{','.join(more)}'. " if more else ""


def put_signed(column: NDArray[np.float64], signed: NDArray[np.bool_], scale: Scale) -> None:
    """Turn numbers with a percent sign into numbers on the column's scale, in place."""
    if scale.high != 100:
        column[signed] = scale.low + column[signed] / 100 * (scale.high - scale.low)


def mend_negative(values: NDArray[np.float64], tasks: Iterable[int], names: Sequence[str]) -> list[str]:
    """Correlations can fall a little below nothing: set these scores to 0, in place, and say so."""
    columns = [at for at in tasks if (values[:, at] < 0).any()]
    if not columns:
        return []
    below = values[:, columns] < 0
    lowest = float(values[:, columns][below].min())
    values[:, columns] = np.where(below, 0.0, values[:, columns])
    told = f"set {counted(int(below.sum()), 'score')} below 0 (lowest {lowest:.3g}) to 0"
    return [f"{told}: {named([names[at] for at in columns])}"]


def _refuse_outside(values: NDArray[np.float64], raw: RawScores, told: dict[str, Scale]) -> None:
    found = []
    for at, task in enumerate(raw.tasks):
        scale, held = told[task], values[~np.isnan(values[:, at]), at]
        slack = ROUNDING * (scale.high - scale.low)
        if held.size and (held.min() < scale.low - slack or held.max() > scale.high + slack):
            found.append(f"{task} ({held.min():.4g} to {held.max():.4g}, not in {scale.low:g}-{scale.high:g})")
    if found:
        raise UsageError(
            f"scores lie outside of the declared scale: {named(found)}",
            where=raw.where,
            mend="Declare the tasks' own scales with --scale TASK=LOW:HIGH, or leave them out with --ignore.",
        )


def _directed(
    values: NDArray[np.float64], raw: RawScores, told: dict[str, Scale], declared: Declared
) -> tuple[tuple[Scale, ...], list[str]]:
    """Say where lower is better: declared, or told by the task's name and confirmed by the other tasks."""
    for option, tasks in (
        ("--lower-is-better", declared.lower_is_better),
        ("--higher-is-better", declared.higher_is_better),
    ):
        for task in tasks:
            if task != _ALL:
                require_known(task, raw.tasks, "task", option)
    lower = _declared_lower(raw, declared)
    higher = raw.tasks if _ALL in declared.higher_is_better else declared.higher_is_better
    settled = lower | set(higher) | set(raw.known)
    shares = np.column_stack(
        [Scale(told[t].low, told[t].high, t in lower).inward(values[:, at]) for at, t in enumerate(raw.tasks)]
    )
    lines: list[str] = []
    by_name, falling = _falling(shares, raw, settled)
    lower |= set(by_name)
    if by_name:
        lines.append(f"lower is better, as the names say and the other tasks confirm: {named(by_name)}")
    if falling:
        lines.append(
            f"models that are good elsewhere score low on {named(falling)}: "
            "if lower is better there, say so with --lower-is-better"
        )
    return tuple(Scale(told[task].low, told[task].high, task in lower) for task in raw.tasks), lines


def _declared_lower(raw: RawScores, declared: Declared) -> set[str]:
    """Tasks where lower is better, as the user says, or else the source; a task's own name wins over `all`."""
    lower, higher = set(declared.lower_is_better), set(declared.higher_is_better)
    if both := sorted(lower & higher):
        raise UsageError(
            f"lower and higher are both said to be better: {named(both)}", "--lower-is-better and --higher-is-better"
        )
    if _ALL in lower:
        return set(raw.tasks) - higher
    if _ALL in higher:
        return lower
    return (lower | {task for task, scale in raw.known.items() if scale.lower_is_better}) - higher


def _falling(shares: Scores, raw: RawScores, settled: set[str]) -> tuple[list[str], list[str]]:
    """Tasks whose scores fall while those of the others rise: with a name that says so, and without."""
    by_name, falling = [], []
    standard = _standard(shares)
    scored, total = (~np.isnan(standard)).sum(axis=1), np.nansum(standard, axis=1)
    for at, task in enumerate(raw.tasks):
        if task in settled:
            continue
        held = ~np.isnan(shares[:, at]) & (scored > 1)  # a task is no evidence of its own direction
        general = (total - np.nan_to_num(standard[:, at])) / np.maximum(scored - 1, 1)
        varied = held.sum() > 2 and np.ptp(shares[held, at]) > 0 and np.ptp(general[held]) > 0
        r = float(np.corrcoef(shares[held, at], general[held])[0, 1]) if varied else 0.0
        if says_lower_is_better(task):
            if r > -0.3:
                raise UsageError(
                    f"task '{task}' is named as if lower were better, and its scores do not show it",
                    where=raw.where,
                    mend=f"Say --lower-is-better '{task}' or --higher-is-better '{task}'.",
                )
            by_name.append(task)
        elif r < -0.5 and held.sum() >= _LEAST_MODELS:
            falling.append(task)
    return by_name, falling


def _standard(shares: Scores) -> Scores:
    """Columns with mean 0 and deviation 1, missing cells kept."""
    counts = np.maximum((~np.isnan(shares)).sum(axis=0), 1)
    centred = shares - np.nansum(shares, axis=0) / counts
    deviation = np.sqrt(np.nansum(centred**2, axis=0) / counts)
    return np.asarray(centred / np.where(deviation > 0, deviation, 1.0), np.float64)

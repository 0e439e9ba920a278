"""Which tasks of a leaderboard say the same, which say nothing, and which say what no other does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from threadpoolctl import threadpool_limits

from benchcore.leaderboard.matrix import ScoreMatrix, named

SAME, NOISE, ALONE, SHARED = "same", "noise", "alone", "shared"
_PREDICTORS = 30  # other tasks that a task is predicted from: those that correlate most
_FOLDS = 5
_PERMUTATIONS = 200
_LEAST_COMMON = 10  # models that two tasks must have in common for a correlation to count, where there are as many
_FEW_COMMON = 20  # below it a correlation is uncertain

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Cluster:
    """Tasks that all correlate with each other.

    Attributes:
        tasks: at least two, the one that stands best for the others first.
        least: smallest correlation between two of them.
    """

    tasks: tuple[str, ...]
    least: float


@dataclass(frozen=True)
class TaskFinding:
    """What a task shares with the others.

    Attributes:
        task: its name.
        closest: the task that it correlates with most.
        correlation: with that one.
        explained: share of its variance that other tasks explain on models not used for fitting (R2; below 0: none).
        of_family: share of its variance that lies between families of models; None: no family has two models.
        verdict: `same` (in a cluster), `noise` (neither other tasks nor families explain anything), `alone` (other
            tasks explain less than half), or `shared`.
    """

    task: str
    closest: str
    correlation: float
    explained: float
    of_family: float | None
    verdict: str


@dataclass(frozen=True)
class Redundancy:
    """What there is to say about a leaderboard's tasks.

    Attributes:
        clusters: the largest first.
        tasks: in the matrix's order.
        notes: what to mind, a sentence each.
    """

    clusters: tuple[Cluster, ...]
    tasks: tuple[TaskFinding, ...]
    notes: tuple[str, ...] = ()

    def of(self, verdict: str) -> list[TaskFinding]:
        """Tasks of a verdict, the least explained first."""
        return sorted((task for task in self.tasks if task.verdict == verdict), key=lambda task: task.explained)


def redundancy(matrix: ScoreMatrix, *, same: float = 0.95, noise: float = 0.1, alone: float = 0.5) -> Redundancy:
    """Find clusters of tasks, noise, and tasks that nothing else says.

    Clusters come from complete linkage, so that every pair inside one correlates by at least `same`. A task is noise if
    other tasks explain less than `noise` of it and models of one family agree on it no more than any others do
    (a permutation test at 5 %): a task that measures something must at least tell families apart.

    Args:
        matrix: scores; correlations use the models that two tasks have in common.
        same: least correlation inside a cluster.
        noise: see above.
        alone: a task that others explain less of says something of its own.
    """
    together = correlations(matrix.scores)
    clusters = _clusters(matrix, together, same)
    clustered = {task for cluster in clusters for task in cluster.tasks}
    explained = explained_by_others(matrix.scores)
    groups = np.unique(matrix.families, return_inverse=True)[1]
    found = []
    for at, task in enumerate(matrix.tasks):
        others = np.where(np.arange(len(matrix.tasks)) == at, -np.inf, together[at])
        closest = int(np.argmax(others))
        of_family, chance = between_families(matrix.scores[:, at], groups)
        verdict = SHARED
        if task in clustered:
            verdict = SAME
        elif explained[at] < noise and chance > 0.05:
            verdict = NOISE
        elif explained[at] < alone:
            verdict = ALONE
        found.append(
            TaskFinding(task, matrix.tasks[closest], float(others[closest]), float(explained[at]), of_family, verdict)
        )
    return Redundancy(tuple(clusters), tuple(found), _few_in_common(matrix))


def _few_in_common(matrix: ScoreMatrix) -> tuple[str, ...]:
    """A sentence about tasks that have too few models in common with most others."""
    held = (~np.isnan(matrix.scores)).astype(np.float64)
    least = min(_FEW_COMMON, len(held))
    few = np.flatnonzero(np.median(held.T @ held, axis=1) < least)
    if not few.size:
        return ()
    tasks = named([matrix.tasks[task] for task in few])
    return (f"correlations are uncertain for tasks with fewer than {least} models in common with most others: {tasks}",)


def correlations(scores: Array) -> Array:
    """(tasks, tasks) Pearson correlations over the models that two tasks have in common; 0 where there are too few."""
    held = (~np.isnan(scores)).astype(np.float64)
    centre = np.nansum(scores, axis=0) / np.maximum(held.sum(axis=0), 1.0)
    filled = np.nan_to_num(scores - centre)
    counts = held.T @ held
    safe = np.maximum(counts, 1.0)
    sums, squares = filled.T @ held, (filled**2).T @ held  # of the first task, over models that have the second
    covariance = filled.T @ filled - sums * sums.T / safe
    variances = np.maximum(squares - sums**2 / safe, 0.0)
    scale = np.sqrt(variances * variances.T)
    usable = (counts >= min(_LEAST_COMMON, max(4, len(scores)))) & (scale > 1e-12)
    found = np.where(usable, covariance / np.where(usable, scale, 1.0), 0.0)
    np.fill_diagonal(found, 1.0)
    return np.asarray(np.clip(found, -1.0, 1.0), np.float64)


def explained_by_others(scores: Array, seed: int = 0) -> Array:
    """(tasks,) share of each task's variance that the other tasks explain, on models that were not used for fitting.

    Ridge regression on the tasks that correlate most and on the model's level over all others, in five folds of models.

    Args:
        scores: (models, tasks), NaN where missing.
        seed: of the folds.
    """
    folds = np.random.default_rng(seed).permutation(len(scores)) % _FOLDS
    errors, totals = np.zeros(scores.shape[1]), np.zeros(scores.shape[1])
    for fold in range(_FOLDS):
        train, test = scores[folds != fold], scores[folds == fold]
        if not len(test):
            continue
        counts = np.maximum((~np.isnan(train)).sum(axis=0), 1)
        centre = np.nansum(train, axis=0) / counts
        deviation = np.sqrt(np.nansum((train - centre) ** 2, axis=0) / counts)
        deviation = np.where(deviation > 0, deviation, 1.0)
        inside, outside = (train - centre) / deviation, (test - centre) / deviation
        with threadpool_limits(limits=1, user_api="blas"):  # matrices of thirty rows: threads only wait for each other
            predicted = _predicted(inside, outside)
        scored = ~np.isnan(outside)
        errors += np.where(scored, (np.nan_to_num(outside) - predicted) ** 2, 0.0).sum(axis=0)
        totals += np.nansum(outside**2, axis=0)
    return np.asarray(1.0 - errors / np.where(totals > 0, totals, 1.0), np.float64)


def _predicted(inside: Array, outside: Array) -> Array:
    """(models outside, tasks) each standardised column of `outside` from the others, learnt from `inside`.

    A score that is missing counts as the model's level over the tasks it has, never the predicted one among them.
    """
    held = (~np.isnan(inside)).astype(np.float64)
    # A correlation over a few models can be high by chance: it counts by the share of models that it is seen on.
    strengths = np.abs(correlations(inside)) * (held.T @ held) / len(inside)
    np.fill_diagonal(strengths, -1.0)
    kept = min(_PREDICTORS, len(strengths) - 1)
    levels, levels_outside, predicted = _level(inside), _level(outside), np.zeros_like(outside)
    for task, strength in enumerate(strengths):
        models = held[:, task] > 0
        if not models.any():
            continue
        chosen = np.argsort(-strength, kind="stable")[:kept]
        predictors = _filled(inside[np.ix_(models, chosen)], levels[models, task])
        target = inside[models, task]
        centre = predictors.mean(axis=0)
        predictors = predictors - centre
        penalty = max(kept, 0.01 * len(target)) * np.eye(kept + 1)
        slopes = np.linalg.solve(predictors.T @ predictors + penalty, predictors.T @ target)
        new = _filled(outside[:, chosen], levels_outside[:, task]) - centre
        predicted[:, task] = target.mean() + new @ slopes
    return predicted


def _level(rows: Array) -> Array:
    """(models, tasks) each model's mean over the scores that it has on the tasks other than this one."""
    held = ~np.isnan(rows)
    total, count = np.nansum(rows, axis=1)[:, None], held.sum(axis=1)[:, None]
    return np.asarray((total - np.where(held, rows, 0.0)) / np.maximum(count - held, 1), np.float64)


def _filled(own: Array, level: Array) -> Array:
    """(models, predictors + 1) predictors and the level, which fills their gaps."""
    return np.column_stack([np.where(np.isnan(own), level[:, None], own), level])


def between_families(scores: Array, groups: NDArray[np.int64], seed: int = 0) -> tuple[float | None, float]:
    """Share of a task's variance that lies between families (omega squared), and how often chance gives as much.

    Args:
        scores: (models,) NaN where missing.
        groups: (models,) family numbers.
        seed: of the permutations.

    Returns:
        The share (None where no family has two models with scores), and the probability (1 in that case).
    """
    held = ~np.isnan(scores)
    values, members = scores[held], np.unique(groups[held], return_inverse=True)[1]
    if values.size == 0 or np.bincount(members).max() < 2 or np.bincount(members).size < 2 or np.ptp(values) == 0:
        return None, 1.0
    centred = values - values.mean()
    sizes = np.bincount(members)

    def share(own: Array) -> float:
        return float((np.bincount(members, own) ** 2 / sizes).sum() / (own**2).sum())

    observed = share(centred)
    random = np.random.default_rng(seed)
    as_much = sum(share(random.permutation(centred)) >= observed for _ in range(_PERMUTATIONS))
    inside = (1.0 - observed) / (values.size - sizes.size)  # mean square inside families, of a total of 1
    return (observed - (sizes.size - 1) * inside) / (1.0 + inside), (1 + as_much) / (1 + _PERMUTATIONS)


def _clusters(matrix: ScoreMatrix, together: Array, same: float) -> list[Cluster]:
    if len(matrix.tasks) < 2:
        return []
    distances = np.clip(1.0 - together, 0.0, 2.0)
    np.fill_diagonal(distances, 0.0)
    tree = linkage(squareform((distances + distances.T) / 2, checks=False), method="complete")
    labels = fcluster(tree, 1.0 - same, criterion="distance")
    clusters = []
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        if members.size < 2:
            continue
        inner = together[np.ix_(members, members)]
        order = members[np.argsort(-inner.sum(axis=1), kind="stable")]
        clusters.append(Cluster(tuple(matrix.tasks[task] for task in order), float(inner.min())))
    return sorted(clusters, key=lambda cluster: (-len(cluster.tasks), cluster.tasks))

"""From scores on the picked tasks to scores on all: parameters that fit into a file, whatever estimator learnt them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchcore.estimation.task_source import EDGE
from benchcore.leaderboard.matrix import Scores

Link = Literal["identity", "logit"]


@dataclass(frozen=True, eq=False)
class Term:
    """A linear prediction of every task from the picks, on the scale of a link.

    Attributes:
        link: `identity`, or `logit` of scores that are kept `edge` away from 0 and 1.
        intercept: (tasks,) on the link's scale.
        slopes: (k, tasks) on the link's scale.
        weight: of this term among those of a predictor.
        edge: see `link`.
    """

    link: Link
    intercept: NDArray[np.float64]
    slopes: NDArray[np.float64]
    weight: float = 1.0
    edge: float = EDGE

    def predict(self, picked: Scores) -> Scores:
        """Scores on all tasks, (models, tasks), from scores on the picks, (models, k)."""
        if self.link == "identity":
            return np.asarray(self.intercept + picked @ self.slopes, np.float64)
        inside = np.clip(picked, self.edge, 1 - self.edge)
        linear = self.intercept + np.log(inside / (1 - inside)) @ self.slopes
        return np.asarray(1 / (1 + np.exp(-linear)), np.float64)


@dataclass(frozen=True, eq=False)
class Predictor:
    """The weighted mean of some terms; a picked task keeps its own score.

    Attributes:
        picks: (k,) indices of the picked tasks.
        n_tasks: of the matrix.
        terms: at least one.
    """

    picks: tuple[int, ...]
    n_tasks: int
    terms: tuple[Term, ...]

    def predict(self, picked: Scores) -> Scores:
        """Scores on all tasks, (models, tasks) in [0, 1], from scores on the picks, (models, k)."""
        total = sum(term.weight for term in self.terms)
        predicted = sum((term.weight / total * term.predict(picked) for term in self.terms), np.zeros(()))
        predicted = np.clip(predicted, 0.0, 1.0)
        predicted[:, list(self.picks)] = picked
        return np.asarray(predicted, np.float64)

    def predict_mean(self, picked: Scores) -> NDArray[np.float64]:
        """(models,) the mean over all tasks."""
        return np.asarray(self.predict(picked).mean(axis=1), np.float64)

    def as_document(self) -> list[dict[str, Any]]:
        """The terms, as JSON can hold them."""
        return [
            {
                "link": term.link,
                "weight": term.weight,
                "edge": term.edge,
                "intercept": term.intercept.tolist(),
                "slopes": term.slopes.tolist(),
            }
            for term in self.terms
        ]


def predictor_from(document: Sequence[Mapping[str, Any]], picks: Sequence[int], n_tasks: int) -> Predictor:
    """The predictor that `as_document` wrote.

    Raises:
        ValueError: it is not one for so many picks and tasks.
    """
    terms = tuple(
        Term(
            "logit" if entry["link"] == "logit" else "identity",
            np.asarray(entry["intercept"], np.float64),
            np.asarray(entry["slopes"], np.float64).reshape(len(picks), -1),
            float(entry["weight"]),
            float(entry["edge"]),
        )
        for entry in document
    )
    if not terms or any(t.intercept.shape != (n_tasks,) or t.slopes.shape != (len(picks), n_tasks) for t in terms):
        raise ValueError(f"the terms are not for {len(picks)} picks and {n_tasks} tasks")
    return Predictor(tuple(int(pick) for pick in picks), n_tasks, terms)

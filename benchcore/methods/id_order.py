"""Solve a problem in the order of its ids, so that nothing depends on the order its rows came in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchcore.methods.problem import Method, Problem, Selection

SQUARE = frozenset({"transfer"})  # blocks whose columns are the items, too


def solve_in_id_order(method: Method, problem: Problem) -> Selection:
    """The method's picks of the problem sorted by id, as positions in the problem as it was given."""
    ids = problem.ids
    if (ids[:-1] <= ids[1:]).all():
        return method(problem)
    order = np.argsort(ids, kind="stable")
    place = np.empty(problem.n, np.int64)
    place[order] = np.arange(problem.n)
    ordered = replace(
        problem,
        ids=ids[order],
        groups=problem.groups[order],
        mass=problem.mass[order],
        features={
            name: block[np.ix_(order, order)] if name in SQUARE else block[order]
            for name, block in problem.features.items()
        },
        costs=None if problem.costs is None else problem.costs[order],
        include=place[problem.include],
        exclude=place[problem.exclude],
    )
    found = method(ordered)
    return replace(found, indices=order[found.indices].astype(np.int64))

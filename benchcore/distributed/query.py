"""From `select.toward` or `select.away` to the prompts that coverage is held against."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.config import SelectSection
from benchcore.distributed.crew import Crew
from benchcore.distributed.merge import rows_of
from benchcore.distributed.on_actors.query import Query, windows
from benchcore.distributed.pool import Pool
from benchcore.methods.names import require_known
from benchcore.submodular.similarities.window import Window


def query_of(section: SelectSection, pool: Pool, crew: Crew, centre: Any) -> Query | None:
    """The query of a configuration, with its rows; None where it has none.

    Raises:
        UsageError: it names what is not among the selectable prompts.
    """
    wanted = section.toward or section.away
    if wanted is None:
        return None
    rows = rows_of(crew, centre, query_positions(section, pool))
    return Query(rows, toward=section.toward is not None, weight=wanted.weight)


def query_positions(section: SelectSection, pool: Pool) -> NDArray[np.int64]:
    """(q,) the prompts of the query, ascending; none without a query.

    Raises:
        UsageError: it names what is not among the selectable prompts.
    """
    wanted, key = section.toward or section.away, "toward" if section.toward else "away"
    if wanted is None:
        return np.zeros(0, np.int64)
    chosen = np.zeros(pool.n, bool)
    for kind, names, column in (
        ("benchmark", wanted.benchmarks, pool.benchmark),
        ("category", wanted.categories, pool.category),
    ):
        known = np.unique(column).tolist()
        for name in names:
            require_known(name, known, kind, f"select.{key}")
        chosen |= np.isin(column, names)
    chosen[pool.positions(wanted.prompts, f"{key}.prompts")] = True
    return np.flatnonzero(chosen)


def window_of_pool(crew: Crew, centre: Any, query: Query, n: int) -> Window:
    """Between what the coverage of all n prompts counts."""
    low, high = np.zeros(n, np.float32), np.zeros(n, np.float32)
    for answer in crew.ask_all(windows, centre, crew.share(query)):
        low[answer.positions], high[answer.positions] = answer.window.low, answer.window.high
    return Window(low, high)

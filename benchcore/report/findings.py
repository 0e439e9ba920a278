"""What the vectors say of a coreset: who stands for whom, where nobody does, and what is asked more than once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.report.ground import Ground
from benchcore.report.nearness import Territories, territories
from benchcore.report.redundancy import closest_pair, near_duplicates, places, shares
from benchcore.report.regions import Region, least_covered
from benchcore.submodular.quantise import Rows

REGIONS = 10
CANDIDATES = 2000  # prompts that may be the centre of a region; all where there are few
PAIRS = 20

_FEW = 4000  # prompts

_WORTH_A_LINE = 0.01  # share of near duplicates from which on two benchmarks are shown
_SAME_PLACE = 0.8  # cosine of means from which on they are
_COMPARED = 40_000_000  # prompts of one benchmark times those of the other, to find the nearest two


@dataclass(frozen=True)
class Alike:
    """Two benchmarks that ask much the same.

    Attributes:
        one: its name.
        other: its name.
        of_one: share of its prompts with a near duplicate in the other, in [0, 1].
        of_other: the same the other way round.
        place: cosine between the means of their vectors.
        pair: rows of two prompts: near duplicates where there are any, else the nearest two that were compared.
        similarity: of these.
    """

    one: str
    other: str
    of_one: float
    of_other: float
    place: float
    pair: tuple[int, int]
    similarity: float


@dataclass(frozen=True, eq=False)
class Findings:
    """All of it.

    Attributes:
        picks: (k,) rows of the picks, by rank.
        territories: nearest picks, coverage and the curve.
        regions: the least covered, the worst first.
        alike: pairs of benchmarks, the most alike first, at most `PAIRS`.
        more_alike: how many more there are.
        repeated: benchmark -> shares of its prompts with a near duplicate inside it, and in any other.
        copies: exact copies: (benchmark, benchmark of the original) -> prompts.
    """

    picks: NDArray[np.int64]
    territories: Territories
    regions: Sequence[Region]
    alike: Sequence[Alike]
    more_alike: int
    repeated: Mapping[str, tuple[float, float]]
    copies: Counter[tuple[str, str]]


def find(
    ground: Ground, rows: Rows, picked: Sequence[str], masses: Mapping[str, float], copies: Counter[tuple[str, str]]
) -> Findings:
    """Look at the vectors of a coreset's prompts.

    Args:
        ground: the prompts.
        rows: (n, d) their vectors, as `quantise` makes them.
        picked: prompt ids by rank.
        masses: benchmark -> its share of the suite.
        copies: as the registry marks them; passed on.
    """
    names, groups = np.unique(ground.benchmark, return_inverse=True)
    groups = groups.astype(np.int64)
    picks = np.searchsorted(ground.prompt_id, np.array(picked, dtype=np.str_)).astype(np.int64)
    mass = _mass(ground, names, groups, masses)
    reached = territories(rows, picks, mass)
    found = near_duplicates(rows, groups)
    alike, more_alike = _alike(rows, groups, names, found)
    return Findings(
        picks=picks,
        territories=reached,
        regions=least_covered(rows, mass, reached.coverage, _candidates(ground), REGIONS),
        alike=alike,
        more_alike=more_alike,
        repeated=_repeated(found, groups, names),
        copies=copies,
    )


def _mass(
    ground: Ground, names: NDArray[np.str_], groups: NDArray[np.int64], masses: Mapping[str, float]
) -> NDArray[np.float64]:
    sizes = np.bincount(groups, weights=ground.copies)
    each = np.array([masses[str(name)] for name in names]) / sizes
    mass: NDArray[np.float64] = each[groups] * ground.copies
    return mass / float(mass.sum())


def _candidates(ground: Ground) -> NDArray[np.int64]:
    """All distinct texts where they are few, else a random sample: the first by hash."""
    _, first = np.unique(ground.text_hash, return_index=True)
    return first[: len(first) if len(first) <= _FEW else CANDIDATES].astype(np.int64)


def _alike(
    rows: Rows, groups: NDArray[np.int64], names: NDArray[np.str_], found: NDArray[np.bool_]
) -> tuple[list[Alike], int]:
    """The pairs of benchmarks most alike, and how many more are worth a line."""
    share, place = shares(found, groups), places(rows, groups)
    most = np.maximum(share, share.T)
    one, other = np.nonzero(np.triu((most >= _WORTH_A_LINE) | (place >= _SAME_PLACE), 1))
    order = np.lexsort((other, one, -place[one, other], -np.round(most[one, other], 9)))
    pairs = []
    for a, b in zip(one[order[:PAIRS]].tolist(), other[order[:PAIRS]].tolist(), strict=True):
        row, twin, similarity = _near_pair(rows, groups, found, a, b)
        pairs.append(
            Alike(
                one=str(names[a]),
                other=str(names[b]),
                of_one=float(share[a, b]),
                of_other=float(share[b, a]),
                place=float(place[a, b]),
                pair=(row, twin),
                similarity=similarity,
            )
        )
    return pairs, len(order) - len(pairs)


def _near_pair(
    rows: Rows, groups: NDArray[np.int64], found: NDArray[np.bool_], a: int, b: int
) -> tuple[int, int, float]:
    """The nearest prompts of two benchmarks, of which one may be compared in part: its first."""
    ours, theirs = np.flatnonzero(groups == a), np.flatnonzero(groups == b)
    if found[ours, b].any():
        ours, theirs = ours[found[ours, b]], theirs[found[theirs, a]]
    return closest_pair(rows, ours[: max(1, _COMPARED // len(theirs))], theirs)


def _repeated(
    found: NDArray[np.bool_], groups: NDArray[np.int64], names: NDArray[np.str_]
) -> dict[str, tuple[float, float]]:
    inside = found[np.arange(len(groups)), groups]
    elsewhere = found.sum(axis=1) > inside
    sizes = np.bincount(groups)
    within, across = np.bincount(groups, weights=inside) / sizes, np.bincount(groups, weights=elsewhere) / sizes
    return {str(name): (float(within[row]), float(across[row])) for row, name in enumerate(names)}

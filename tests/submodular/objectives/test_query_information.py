"""What sets the functions of a query set apart, beyond the laws that every objective passes."""

from __future__ import annotations

import numpy as np
import pytest

from benchcore.submodular.constraints.constraint import Cardinality
from benchcore.submodular.objectives.avoidance import avoidance_floor
from benchcore.submodular.objectives.facility_location import FacilityLocation
from benchcore.submodular.objectives.objective import Objective
from benchcore.submodular.objectives.query_blocks import blocks, highest, sums
from benchcore.submodular.objectives.query_information import COM, FLQMI, FLVMI, GCMI
from benchcore.submodular.optimizers.lazy import lazy_greedy
from benchcore.submodular.quantise import UNIT, quantise
from benchcore.submodular.similarities.capped import CappedSimilarity
from benchcore.submodular.similarities.dot import DotSimilarity
from benchcore.submodular.similarities.precomputed import DenseSimilarity
from benchcore.submodular.similarities.similarity import TOP

EACH = np.ones(4)


def given(matrix: list[list[float]], *, same: bool = False) -> DenseSimilarity:
    return DenseSimilarity(np.array(matrix), same=same)


def picks(objective: Objective, k: int) -> list[int]:
    order: list[int] = lazy_greedy(objective, Cardinality(np.ones(objective.n, bool), k)).order.tolist()
    return order


def random_query(n: int = 50, q: int = 7) -> DotSimilarity:
    random = np.random.default_rng(0)
    return DotSimilarity(
        quantise(random.normal(size=(n, 4)), np.zeros(4)), quantise(random.normal(size=(q, 4)), np.zeros(4))
    )


# Two candidates are like the first query row, one is a little like the second, one like none.
LIKENESS = [[0.5, 0.0], [0.5, 0.0], [0.0, 0.25], [0.0, 0.0]]
SELF = [[1.0, 0.9375, 0.0, 0.0], [0.9375, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]


@pytest.mark.parametrize(
    ("objective", "expected"),
    [
        (FLVMI(given(SELF, same=True), given(LIKENESS), EACH), [0, 2, 1, 3]),  # covered once, the query is satisfied
        (FLQMI(given(LIKENESS), eta=0.0), [0, 2, 1, 3]),  # coverage of the query alone
        (FLQMI(given(LIKENESS), eta=1.0), [0, 1, 2, 3]),  # .5 of its own ties with .25 + .25: the smaller index
        (GCMI(given(LIKENESS)), [0, 1, 2, 3]),  # likeness alone
        (COM(given(LIKENESS), eta=0.5), [0, 2, 1, 3]),  # .35 + .29 for more of the same, .25 + .5 for the other row
        (COM(given(LIKENESS), eta=4.0), [0, 1, 2, 3]),
    ],
    ids=["FLVMI", "FLQMI 0", "FLQMI 1", "GCMI", "COM 0.5", "COM 4"],
)
def test_a_planted_query_is_served_in_the_known_order(objective: Objective, expected: list[int]):
    """From diversity (each query row once) to retrieval (what is most alike first)."""
    assert expected == picks(objective, 4)


def test_a_larger_cap_saturates_later():
    """With eta = 1 the query is satisfied by one of the twins; with eta = 2 the other one's own similarity counts."""
    first, second = (FLVMI(given(SELF, same=True), given(LIKENESS), EACH, eta) for eta in (1.0, 2.0))
    for objective in (first, second):
        objective.add(0)

    assert first.gains(np.array([1]))[0] == 0
    assert second.gains(np.array([1]))[0] == 0.0625 * TOP


def test_blocks_of_any_size_add_up_to_the_same(monkeypatch: pytest.MonkeyPatch):
    """A query is read in blocks of candidates; whole numbers do not mind."""
    query, rows = random_query(), np.arange(50)
    whole = query.block(slice(None), slice(None))
    objectives = [FLQMI(query, 0.3), COM(query, 0.3), GCMI(query, 0.3)]
    expected = [objective.gains(rows).tolist() for objective in objectives]
    monkeypatch.setattr("benchcore.submodular.objectives.query_blocks._PAIRS", 20)

    assert len(list(blocks(query, rows))) == 25
    assert np.array_equal(whole.max(axis=1), highest(query))
    assert np.array_equal(whole.sum(axis=1, dtype=np.float64), sums(query))
    assert expected == [objective.gains(rows).tolist() for objective in objectives]


def test_wrong_arguments_are_refused():
    """Weights that are none, similarities that may be negative, a psi that is unknown, shapes that do not fit."""
    query, signed = given(LIKENESS), given([[-0.5], [0.5]])

    for build in (FLQMI, GCMI, COM, lambda query, eta: FLVMI(given(SELF, same=True), query, EACH, eta)):
        for weight in (-0.1, np.nan, np.inf):
            with pytest.raises(ValueError, match="at least 0"):
                build(query, weight)
    for build in (FLQMI, COM):
        with pytest.raises(ValueError, match="not negative"):
            build(signed)
    with pytest.raises(ValueError, match="psi must be one of sqrt"):
        COM(query, psi="cube")
    with pytest.raises(ValueError, match="each of 4 represented rows, got 2"):
        FLVMI(given(SELF, same=True), signed, EACH)


def test_likeness_alone_may_fall():
    """The modular function takes signed similarities, and says that it is not monotone then."""
    objective = GCMI(given([[-0.5], [0.5]]))

    assert not objective.monotone
    assert GCMI(given(LIKENESS)).monotone
    assert picks(objective, 2) == [1, 0]
    assert objective.value == 0


def test_a_cap_is_the_smaller_of_the_two_in_any_block():
    """For slices, indices and the diagonal."""
    rows = quantise(np.random.default_rng(1).normal(size=(20, 3)), np.zeros(3))
    similarity = DotSimilarity(rows, clipped=False)
    caps = np.random.default_rng(2).integers(0, UNIT, 20).astype(np.float32)
    expected = np.minimum(similarity.block(slice(None), slice(None)), caps)
    capped, some = CappedSimilarity(similarity, caps), np.array([7, 3, 3])

    assert np.array_equal(expected, capped.block(slice(None), slice(None)))
    assert np.array_equal(expected[some, 2:9], capped.block(some, slice(2, 9)))
    assert np.array_equal(expected[2:9][:, some], capped.block(slice(2, 9), some))
    assert np.array_equal(np.diagonal(expected), capped.diagonal())
    assert (capped.candidates, capped.represented, capped.unit) == (20, 20, similarity.unit)
    assert capped.signed
    assert not capped.symmetric


def test_avoiding_picks_is_what_more_picks_would_add():
    """With nu = 1 the gains over the floor are exactly those over a set that is picked already."""
    rows = quantise(np.random.default_rng(3).normal(size=(40, 4)), np.zeros(4))
    mass, avoided, rest = np.arange(40.0), np.array([4, 9, 21]), np.setdiff1d(np.arange(40), [4, 9, 21])
    picked = FacilityLocation(DotSimilarity(rows), mass)
    for row in avoided:
        picked.add(int(row))

    floor = avoidance_floor(DotSimilarity(rows, rows[avoided]))
    away = FacilityLocation(DotSimilarity(rows), mass, floor)

    assert picked.gains(rest).tolist() == away.gains(rest).tolist()


def test_caps_and_floors_are_on_the_scale_of_what_they_limit():
    """Given matrices have units of their own: the same figures on another scale give the same caps and floors."""
    likeness = np.array(LIKENESS)
    one, two = given(LIKENESS), DotSimilarity(np.float32(likeness * 2**24), np.eye(2, dtype=np.float32))

    expected, found = (FLVMI(given(SELF, same=True), query, EACH).gains(np.arange(4)) for query in (one, two))

    assert one.unit == 2 * two.unit
    assert expected.tolist() == found.tolist()
    assert avoidance_floor(two).tolist() == avoidance_floor(one, unit=two.unit).tolist()
    assert avoidance_floor(two, 2.0).tolist() == avoidance_floor(one).tolist()


def test_a_floor_is_rounded_down_and_never_negative():
    """Within one whole number of the formula, at most TOP, and 0 where nothing is to be avoided."""
    similarity = DotSimilarity(quantise(np.random.default_rng(4).normal(size=(40, 4)), np.zeros(4)), clipped=False)
    nearest = np.maximum(similarity.block(slice(None), slice(5)).max(axis=1), 0).astype(np.float64)
    rows = quantise(np.random.default_rng(4).normal(size=(40, 4)), np.zeros(4))
    floor = avoidance_floor(DotSimilarity(rows, rows[:5], clipped=False), 0.3)

    assert np.all(floor <= 0.3 * nearest)
    assert np.all(floor > 0.3 * nearest - 1)
    assert np.array_equal(floor, np.rint(floor))
    assert avoidance_floor(DotSimilarity(rows, rows[:5]), 1e9).max() == TOP
    assert not avoidance_floor(DotSimilarity(rows, rows[:0])).any()
    for nu in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="nu"):
            avoidance_floor(similarity, nu)

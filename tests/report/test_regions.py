"""Least covered regions: where one more pick would help most."""

import numpy as np

from benchcore.report.nearness import territories
from benchcore.report.regions import least_covered
from benchcore.submodular.quantise import quantise
from tests.report.planted import clustered


def planted(n: int = 300) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    vectors, member = clustered(n, 24, 6)
    return quantise(vectors, np.zeros(24)), member, np.full(n, 1 / n)


def test_clusters_without_a_pick_are_found_and_no_others_before_them():
    """Picks in four of six planted clusters leave two regions."""
    rows, member, mass = planted()
    picks = np.array([np.flatnonzero(member == cluster)[0] for cluster in range(4)])
    coverage = territories(rows, picks, mass).coverage

    found = least_covered(rows, mass, coverage, np.arange(len(rows)), 2)

    assert {int(member[region.centre]) for region in found} == {4, 5}
    for region in found:
        assert np.mean(member[region.members] == member[region.centre]) > 0.7
        assert region.before < region.after


def test_a_crowd_without_a_pick_leaves_room_for_other_places():
    """A hundred prompts nearly alike are one place, however much any of them would add."""
    random = np.random.default_rng(0)
    crowd, others = np.ones((100, 24)) + random.normal(size=(100, 24)) * 0.01, np.eye(24)[:6] * 5 - 1
    rows = quantise(np.r_[crowd, others].astype(np.float32), np.zeros(24))
    coverage = territories(rows, np.array([105]), np.full(106, 1 / 106)).coverage

    found = least_covered(rows, np.full(106, 1 / 106), coverage, np.arange(106), 4)

    assert [region.centre < 100 for region in found] == [True, False, False, False]


def test_the_gain_is_what_the_pick_would_add():
    """To the value of the objective; gains do not grow from region to region."""
    rows, _, mass = planted()
    picks = np.array([0, 150])
    before = territories(rows, picks, mass)

    found = least_covered(rows, mass, before.coverage, np.arange(0, 300, 3), 4)

    assert [region.gain for region in found] == sorted((region.gain for region in found), reverse=True)
    after = territories(rows, np.r_[picks, found[0].centre], mass)
    assert np.isclose(found[0].gain, after.prefixes[-1] - before.prefixes[-1])


def test_where_all_is_covered_there_is_no_region():
    """Every prompt picked."""
    rows, _, mass = planted(20)
    coverage = territories(rows, np.arange(20), mass).coverage

    assert least_covered(rows, mass, coverage, np.arange(20), 5) == []

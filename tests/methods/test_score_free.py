"""What each score-free method is for, on pools where the right answer is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchcore.methods import METHODS
from benchcore.methods.geometry.directions import directions
from benchcore.methods.kernel_mean.mean_kernel import embedding_kernel
from benchcore.methods.problem import Problem
from benchcore.methods.score_free.kmedoids import faster_pam

SIZES = np.array([30, 20, 12, 8, 6, 4])


def planted(**changes: object) -> Problem:
    """Six clusters of directions in two groups, a to c and d to f."""
    random = np.random.default_rng(3)
    which = np.repeat(np.arange(6), SIZES)
    vectors = 5 * np.eye(8)[which] + 0.2 * random.normal(size=(len(which), 8))
    made = Problem(
        ids=np.array([f"{row:04d}" for row in range(len(which))]),
        groups=np.where(which < 3, "x", "y"),
        mass=np.full(len(which), 1 / len(which)),
        features={"embedding": vectors.astype(np.float32), "cluster": which},
        k=6,
    )
    return replace(made, **changes)


@pytest.mark.parametrize(
    "name", ["kmeans", "kmedoids", "kcenter", "dpp", "facility_location", "facility_location_free"]
)
@pytest.mark.parametrize("balanced", [True, False])
def test_each_planted_cluster_gives_one_pick(name: str, balanced: bool):
    """From a lucky start, so the best of a few seeds."""
    posed = planted(balanced=balanced)
    found = [METHODS[name](replace(posed, seed=seed)).indices for seed in range(5)]

    clusters = [len(set(posed.features["cluster"][picks].tolist())) for picks in found]

    assert max(clusters) == posed.k


@pytest.mark.parametrize("name", ["kmeans", "kmedoids", "facility_location_free"])
def test_own_weights_are_the_mass_of_clusters(name: str):
    """Where each cluster has its pick."""
    posed = planted(balanced=False)
    for seed in range(10):
        found = METHODS[name](replace(posed, seed=seed))
        clusters = posed.features["cluster"][found.indices]
        if len(set(clusters.tolist())) == 6:
            assert np.allclose(SIZES[clusters] / SIZES.sum(), found.weights)
            return
    pytest.fail("no seed found the clusters")


@pytest.mark.parametrize("seed", range(4))
def test_no_swap_of_a_medoid_lowers_the_sum_of_distances(seed: int):
    """What FasterPAM ends with is a local optimum of PAM."""
    random = np.random.default_rng(seed)
    distances = np.abs(random.normal(size=(40, 1)) - random.normal(size=(1, 50))).astype(np.float32)
    mass = random.random(50)

    medoids = faster_pam(distances, mass, np.arange(5))

    reached = distances[medoids].min(axis=0) @ mass
    assert len(set(medoids.tolist())) == 5
    for position in range(5):
        for other in np.setdiff1d(np.arange(40), medoids):
            changed = np.where(np.arange(5) == position, other, medoids)
            assert distances[changed].min(axis=0) @ mass > reached - 1e-4


def test_kcenter_takes_the_farthest():
    """After the item nearest to the mean."""
    posed = planted(balanced=False, k=9)
    vectors = directions(posed).astype(np.float64)
    squares = ((vectors[:, None] - vectors) ** 2).sum(axis=2)
    expected = [int(np.argmax(vectors @ (posed.mass @ vectors)))]
    while len(expected) < 9:
        expected.append(int(np.argmax(squares[:, expected].min(axis=1))))

    assert expected == METHODS["kcenter"](posed).indices.tolist()


def test_dpp_takes_the_largest_determinant():
    """Greedily, of I + 100 K with K the centred cosine."""
    posed = planted(balanced=False, k=12)
    vectors = posed.features["embedding"] - posed.features["embedding"].mean(axis=0)
    vectors = (vectors / np.linalg.norm(vectors, axis=1)[:, None]).astype(np.float64)
    kernel = np.eye(posed.n) + 100 * vectors @ vectors.T
    picks = METHODS["dpp"](posed).indices.tolist()

    for place in range(1, 12):
        values = [np.linalg.slogdet(kernel[np.ix_(p, p)])[1] for p in ([*picks[:place], i] for i in range(posed.n))]
        assert values[picks[place]] > max(values) - 0.02


def test_mmd_critic_takes_prototypes_by_herding_and_every_fifth_where_these_fail():
    """The first criticism has the largest witness function."""
    posed = planted(balanced=False, k=10)
    kernel = embedding_kernel(posed)
    whole = kernel.rows(slice(None)).astype(np.float64)
    picks = METHODS["mmd_critic"](posed).indices.tolist()
    witness = np.abs(whole @ posed.mass - whole[:, picks[:4]].mean(axis=1))
    witness[picks[:4]] = -1

    assert picks[:4] == METHODS["kernel_herding"](replace(posed, k=4)).indices.tolist()
    assert picks[4] == np.argmax(witness)


def test_near_duplicates_are_drawn_only_when_nothing_else_is_left():
    """Six clusters of near-duplicates: six picks from six clusters, whatever the seed."""
    for seed in range(10):
        picks = METHODS["semdedup"](planted(seed=seed, balanced=False)).indices
        assert set(planted().features["cluster"][picks].tolist()) == set(range(6))


def test_plain_random_is_not_balanced():
    """Large groups give more."""
    counts = np.zeros(2)
    for seed in range(200):
        picks = METHODS["plain_random"](planted(seed=seed)).indices
        counts += np.bincount(planted().group_numbers[picks], minlength=2)

    assert counts[0] / counts.sum() == pytest.approx(62 / 80, abs=0.06)

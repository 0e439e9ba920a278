"""One byte for each pair never says less than the pair is worth."""

from __future__ import annotations

import numpy as np
import pytest

from benchcore.submodular.objectives.facility_location import FacilityLocation
from benchcore.submodular.pairs import loops
from benchcore.submodular.pairs.code_scale import CodeScale, choose_scale
from benchcore.submodular.pairs.codes import Codes
from benchcore.submodular.pairs.threads import Threads
from benchcore.submodular.similarities.dot import DotSimilarity
from benchcore.submodular.similarities.similarity import TOP
from tests.submodular.pairs.conftest import instance

RANDOM = np.random.default_rng(0)
SAMPLES = {
    "narrow": np.abs(RANDOM.normal(0, 0.05 * TOP, 5000)),
    "wide": RANDOM.uniform(0, TOP, 5000),
    "two humps": np.concatenate([np.abs(RANDOM.normal(0, 1e5, 5000)), RANDOM.normal(1e7, 1e6, 50)]),
    "one value": np.full(10, 12345.0),
    "tiny": np.array([1.0, 2.0, 3.0]),
    "nothing positive": np.array([-5.0, 0.0]),
}


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_no_level_lies_below_its_similarity(sample: np.ndarray):
    """For whole numbers all over the range and next to every level; what is not positive stays 0."""
    scale = choose_scale(np.rint(sample).astype(np.float32))
    around = (levels(scale)[:, None] + np.arange(-2, 3)).ravel()
    similarities = np.concatenate([np.arange(0, TOP, 997), around, [1, TOP - 1, TOP, 0, -1, -TOP]])
    similarities = np.clip(similarities, -TOP, TOP).astype(np.float32)[None, :]
    codes = np.empty(similarities.shape, np.uint8)

    loops.encode(similarities, *scale.encoding, codes)

    assert (levels(scale)[codes] >= similarities).all()
    assert not codes[similarities <= 0].any()


def levels(scale: CodeScale) -> np.ndarray:
    fine, coarse, knee, limit = scale.decoding
    codes = np.arange(256, dtype=np.float32)
    return np.maximum(codes * fine, (codes - knee) * coarse + limit)


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("seed", range(4))
def test_bounds_hold_at_every_coverage_and_gains_are_exact(seed: int):
    """With a similarity of rows to themselves and of candidates to other rows."""
    made, other = instance(seed), instance(seed + 100, n=190)
    for similarity in (made.similarity, DotSimilarity(other.rows, made.rows, clipped=False)):
        floor = np.random.default_rng(seed).integers(0, TOP // 2, made.n).astype(np.float32)
        objective = FacilityLocation(similarity, made.mass, floor, memory=0)
        everything = np.arange(objective.n)
        codes = Codes(similarity, Threads(), floor, made.mass)

        assert codes.gains.tolist() == objective.gains(everything).tolist()
        for pick in (3, 77, 5, 149):
            objective.add(pick)
            bounds = codes.bounds(objective.coverage)
            gains = objective.gains(everything)
            assert (bounds >= gains).all()
            assert bounds.mean() < gains.mean() + 0.01 * objective.unit  # and says something


@pytest.mark.usefixtures("small_tiles")
def test_counts_are_at_least_the_pairs_that_can_still_raise_a_coverage():
    """Of either of the two; and not all pairs."""
    made = instance(9)
    codes = Codes(made.similarity, Threads(), np.zeros(made.n, np.float32), made.mass)
    coverage = np.random.default_rng(1).integers(0, TOP, made.n).astype(np.float32)
    exact = made.rows @ made.rows.T > np.minimum(coverage, coverage[:, None])

    counts = codes.counts(coverage)

    assert (counts >= exact.sum(axis=1)).all()
    assert counts.sum() < 1.5 * exact.sum()

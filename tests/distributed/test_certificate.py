"""A sampled certificate holds as often as it says, costs no engine more than exact figures, and is told as sampled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from benchcore.config import Config
from benchcore.distributed import job
from benchcore.distributed.certificate import SAMPLED_ROWS, Drawn, upper_limit
from benchcore.distributed.pool import Pool
from benchcore.registry.manifests import certainty, find_manifest
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import pin
from benchcore.submodular.constraints.constraint import Cardinality
from benchcore.submodular.pairs.passes import Passes
from benchcore.submodular.quantise import UNIT, integer_mass, mass_weighted_mean, quantise
from benchcore.submodular.similarities.dot import DotSimilarity

Make = Callable[..., tuple[Config, Registry, Pool]]


@pytest.mark.parametrize("risk", [0.01, 0.3])
@pytest.mark.parametrize("draws", [1, 40, 20_000])
def test_the_upper_limit_keeps_the_risk_where_draws_vary_most(draws: int, risk: float):
    """Coins vary most; a sample as low as this one is no likelier than the risk at the limit, nor far less."""
    heads = sorted({0, 1, draws // 7, draws // 2, draws})
    limits = [upper_limit(count / draws, draws, risk) for count in heads]

    assert limits == sorted(limits)
    assert limits[0] == pytest.approx(1 - risk ** (1 / draws), abs=1e-11)
    assert limits[-1] == 1
    assert all(binom.cdf(count, draws, limit) <= risk for count, limit in zip(heads[:-1], limits, strict=False))
    assert all(limit > count / draws for count, limit in zip(heads[:-1], limits, strict=False))


class Small:
    """An include, and a pool so small that every pick beside it can be tried."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        near = random.normal(size=(5, 6))[random.choice(5, 26, p=[0.6, 0.1, 0.1, 0.1, 0.1])]
        vectors = (near + 0.2 * random.normal(size=(26, 6))).astype(np.float32)
        self.mass = integer_mass(random.dirichlet(np.ones(26)), np.zeros(26, np.int64))
        self.rows = quantise(vectors, mass_weighted_mean(vectors, self.mass))
        self.coverage = np.maximum(self.rows @ self.rows[random.integers(26)], 0.0)
        self.value = self.mass @ self.coverage
        self.optimum = max(self.mass @ np.maximum(self.coverage, self.rows @ row) for row in self.rows)

    def bound(self, draws: int, risk: float, seed: int = 0) -> float:
        drawn = Drawn.of(self.mass, self.coverage, draws, seed)
        similarity = DotSimilarity(self.rows, self.rows[drawn.rows], clipped=False)
        gains = Passes(similarity, drawn.weights).all_gains(self.coverage[drawn.rows])
        return float(self.value + drawn.limit(Cardinality(np.ones(26, bool), 1).best_sum(gains), risk))


def test_no_set_of_as_many_is_worth_more_but_for_the_risk():
    """In 200 pools that were tried out as a whole; what the sample gains by itself is no bound."""
    pools = [Small(seed) for seed in range(200)]

    below = [pool.optimum > pool.bound(60, risk=0.01, seed=number) for number, pool in enumerate(pools)]
    unguarded = [pool.optimum > pool.bound(60, risk=1.0, seed=number) for number, pool in enumerate(pools)]

    assert sum(below) <= 2
    assert sum(unguarded) > 50


def test_many_draws_come_near_the_exact_bound():
    """From above, within what 2^16 draws leave open; whole numbers all the way."""
    pool = Small(3)
    drawn = Drawn.of(pool.mass, pool.coverage, 2**16, seed=1)
    gains = Passes(DotSimilarity(pool.rows), pool.mass).all_gains(pool.coverage)
    exact = pool.value + Cardinality(np.ones(26, bool), 1).best_sum(gains)
    whole = np.append(drawn.weights, drawn.weights.sum() * UNIT)

    assert exact < pool.bound(2**16, risk=0.01, seed=1) < exact + 0.02 * drawn.room
    assert (whole == np.rint(whole)).all()
    assert (drawn.weights * (UNIT - pool.coverage[drawn.rows])).sum() < 2**53


def test_equal_rows_leave_nothing_to_gain():
    """A pool that its picks cover wholly is certified without a draw."""
    drawn = Drawn.of(np.ones(4), np.full(4, UNIT, np.float32), 100, seed=0)

    assert (len(drawn.rows), drawn.limit(0.0, 0.01)) == (0, 0.0)


@pytest.mark.usefixtures("ray_instance")
def test_a_large_pool_gets_a_sampled_certificate_that_no_worker_changes(made: Make, tmp_path: Path):
    """Labelled so, above the exact bound, the same for one worker and two, and for good replaced by an exact one."""

    def certificate(name: str, workers: int, **select: Any) -> dict[str, Any]:
        config, registry, pool = made(name=name, workers=workers, **select)
        chosen = job.select(config, registry, pool, "r", pin(registry, ["embeddings"])).coreset_id
        manifest = find_manifest(registry, chosen)
        assert manifest is not None
        assert np.isclose(manifest.value, manifest.certificate["ratio"] * manifest.certificate["upper_bound"])
        return manifest.certificate

    exact = certificate("exact", 1)
    one, two = (certificate(f"{workers}", workers, exact_rows=100) for workers in (1, 2))

    assert one == two
    assert exact["upper_bound"] < one["upper_bound"] < exact["upper_bound"] + 0.05
    assert (one["kind"], one["confidence"], one["rows"]) == ("sampled", 0.99, SAMPLED_ROWS)
    assert (certainty(one), certainty(exact)) == (", 99 % confidence", "")
    assert certificate("1", 1) == exact
    versions = pin(Registry.at(tmp_path / "1"), list(SCHEMAS))
    assert (
        certificate("1", 1, exact_rows=100) == certificate("1", 1) == certificate("1", 1, certificate="none") == exact
    )
    assert pin(Registry.at(tmp_path / "1"), list(SCHEMAS)) == versions

"""Orders and the coverage of their prefixes: what a selection of each k would store, without selecting it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchcore.config import Config
from benchcore.distributed import whole_pool
from benchcore.distributed.job import orders, select
from benchcore.distributed.pool import Pool
from benchcore.distributed.posed import problem_of
from benchcore.distributed.prefixes import coverage_of
from benchcore.distributed.whole_pool import WholePool
from benchcore.methods import DEFAULT
from benchcore.registry.manifests import find_manifest, read_picks
from benchcore.registry.root import Registry
from benchcore.registry.tables import current_version, pin
from tests.distributed.test_audit import with_select

Make = Callable[..., tuple[Config, Registry, Pool]]


def checkpoint_files(registry: Registry) -> list[Path]:
    return sorted(Path(registry.root, "_checkpoints", "select").iterdir())


@pytest.mark.parametrize(("method", "k_max", "sizes"), [(DEFAULT, 90, (37,)), ("facility_location", 270, (7, 270))])
def test_prefixes_are_the_coresets_of_their_size(
    made: Make, ray_instance: None, method: str, k_max: int, sizes: tuple[int, ...]
):
    """Picks, value and coverage by benchmark to the last bit; and their selection has nothing left to pick."""
    config, registry, pool = made(n=300, k=k_max, method=method, shard_size=100)
    pinned = pin(registry, ["embeddings"])

    found = orders(config, registry, pool, pinned)
    vectors = WholePool(config, registry, pool, pinned["embeddings"]).vectors()
    coverage = coverage_of(found, pool, problem_of(config, pool)[0], vectors)

    assert current_version(registry, "coresets") is None
    kept = checkpoint_files(registry)
    for k in sizes:
        outcome = select(with_select(config, k=k), registry, pool, "r1", pinned)
        manifest = find_manifest(registry, outcome.coreset_id)
        assert manifest is not None
        ids = read_picks(registry, outcome.coreset_id)["prompt_id"].to_pylist()
        assert pool.prompt_id[found.picks(k)].tolist() == ids
        assert float(coverage.suite[k]) == manifest.value
        assert coverage.benchmarks[:, k].tolist() == [row["coverage"] for row in manifest.coverage]
    assert checkpoint_files(registry) == kept


def test_coverage_grows_from_nothing_and_a_slice_is_part_of_it(made: Make, monkeypatch: pytest.MonkeyPatch):
    """Each pick adds; with an audit slice no prefix is worse than the slice alone; read in parts it is the same."""
    config, registry, pool = made(n=450, k=420, method="random", audit=20)
    found = orders(config, registry, pool, {})
    vectors = WholePool(config, registry, pool, 0).vectors()
    problem, _ = problem_of(config, pool)

    coverage = coverage_of(found, pool, problem, vectors)
    plain = coverage_of(orders(with_select(config, audit=0), registry, pool, {}), pool, problem, vectors)

    assert plain.suite[0] == 0
    assert (np.diff(plain.suite) >= 0).all()
    assert (np.diff(plain.benchmarks, axis=1) >= 0).all()
    assert 0 < coverage.suite[0] < coverage.suite[-1] <= 1
    assert coverage.suite.shape == (401,)
    monkeypatch.setattr(whole_pool, "_READ_AT_ONCE", 40)
    parts = WholePool(config, registry, pool, 0).vectors()
    in_parts = coverage_of(found, pool, problem, parts)
    assert max(len(part.positions) for part in parts.parts) < pool.n / 5
    assert in_parts.suite.tolist() == coverage.suite.tolist()
    assert in_parts.benchmarks.tolist() == coverage.benchmarks.tolist()


def test_a_longer_order_takes_the_place_of_a_shorter_one(made: Make):
    """And serves both; a shorter one asked for afterwards is read."""
    config, registry, pool = made(method=DEFAULT, k=10)
    pinned = pin(registry, ["embeddings"])
    short = orders(config, registry, pool, pinned)
    longer = orders(with_select(config, k=40), registry, pool, pinned)
    (kept,) = checkpoint_files(registry)
    before = kept.stat().st_mtime_ns

    again = orders(config, registry, pool, pinned)

    assert longer.picks(10).tolist() == short.picks(10).tolist() == again.picks(10).tolist()
    assert kept.stat().st_mtime_ns == before


def test_a_method_without_an_order_says_so(made: Make):
    """A random draw of as many stands for what it would cost."""
    config, registry, pool = made(method="balanced_swaps", k=30)

    found = orders(config, registry, pool, pin(registry, ["embeddings"]))

    assert not found.nested
    assert len(set(found.picks(30).tolist())) == 30

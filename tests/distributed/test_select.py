"""Selection on real Ray actors and real tables: parity, determinism, deaths, and what is left behind."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pytest

from benchcore.config import Config
from benchcore.distributed import job, whole_pool
from benchcore.distributed.crew import Crew
from benchcore.distributed.job import SelectOutcome, select
from benchcore.distributed.pool import Block, Pool
from benchcore.distributed.posed import problem_of
from benchcore.distributed.vectors import Embeddings
from benchcore.errors import BenchcoreError, UsageError
from benchcore.methods import DEFAULT, METHODS
from benchcore.methods.facility_location import facility_location
from benchcore.methods.problem import Problem
from benchcore.registry.manifests import find_manifest, read_picks, read_weights
from benchcore.registry.root import Registry
from benchcore.registry.tables import current_version, pin, read
from benchcore.submodular.constraints.rounds import Rounds, follows_rounds
from benchcore.submodular.objectives.facility_location import FacilityLocation
from benchcore.submodular.quantise import integer_mass, mass_weighted_mean, quantise
from benchcore.submodular.similarities.dot import DotSimilarity

pytestmark = pytest.mark.usefixtures("ray_instance")
Make = Callable[..., tuple[Config, Registry, Pool]]


def run(made: tuple[Config, Registry, Pool], run_id: str = "r1") -> SelectOutcome:
    config, registry, pool = made
    return select(config, registry, pool, run_id, pin(registry, ["embeddings"]))


def picks(made: tuple[Config, Registry, Pool]) -> pa.Table:
    return read_picks(made[1], run(made).coreset_id)


def local(config: Config, registry: Registry, pool: Pool) -> Any:
    """The method on one array, as on a laptop."""
    problem, _ = problem_of(config, pool)
    vectors = Embeddings(registry, None, pool.encoder).read(tuple(range(16)), pool.text_hash)
    features = {"embedding": vectors}
    return facility_location(Problem(**{**problem.__dict__, "features": features}))


def bound_at_the_end(config: Config, registry: Registry, pool: Pool, order: np.ndarray) -> float:
    """What the picks are worth and what could best be gained from there on."""
    problem, _ = problem_of(config, pool)
    vectors = Embeddings(registry, None, pool.encoder).read(tuple(range(16)), pool.text_hash)
    mass = integer_mass(problem.mass, problem.group_numbers)
    objective = FacilityLocation(DotSimilarity(quantise(vectors, mass_weighted_mean(vectors, mass))), mass)
    for pick in order:
        objective.add(int(pick))
    rounds = Rounds(problem.turns, problem.available, problem.k - len(problem.include), problem.given)
    return (objective.value + rounds.best_sum(objective.gains(np.arange(pool.n)))) / objective.unit


def changed(made: tuple[Config, Registry, Pool], **select: Any) -> tuple[Config, Registry, Pool]:
    """The same registry and pool under another configuration."""
    config, registry, pool = made
    tree = config.model_dump()
    return Config.model_validate({**tree, "select": {**tree["select"], **select}}), registry, pool


@pytest.mark.parametrize("rounds", ["benchmark", "category", None])
def test_one_shard_is_the_centralized_greedy(made: Make, rounds: str | None):
    """Pick by pick, with gains, value and certificate, with includes and excludes."""
    plain = made(shard_size=500, constraint={"rounds": rounds})
    ids = plain[2].prompt_id.tolist()
    config, registry, pool = changed(plain, include=[ids[3], ids[50]], exclude=ids[9:30])
    expected = local(config, registry, pool)

    outcome = run((config, registry, pool))
    found, manifest = read_picks(registry, outcome.coreset_id), find_manifest(registry, outcome.coreset_id)

    assert pool.prompt_id[expected.indices].tolist() == found["prompt_id"].to_pylist()
    assert expected.gains.tolist() == found["gain"].to_pylist()
    assert manifest is not None
    assert expected.value == manifest.value
    assert bound_at_the_end(config, registry, pool, expected.indices) == manifest.certificate["upper_bound"]
    assert expected.value <= expected.certificate.upper_bound <= manifest.certificate["upper_bound"]


def test_shards_come_close_to_the_centralized_value_and_keep_the_balance(made: Make):
    """Three shards, merged against every prompt; gains add up and the certificate holds for both."""
    config, registry, pool = made()
    central = local(config, registry, pool)

    outcome = run((config, registry, pool))
    found, manifest = read_picks(registry, outcome.coreset_id), find_manifest(registry, outcome.coreset_id)
    assert manifest is not None
    order = np.searchsorted(pool.prompt_id, found["prompt_id"].to_pylist())

    assert manifest.semantic_configuration["plan"]["shards"] == 3
    assert 0.97 * central.value < manifest.value <= manifest.certificate["upper_bound"]
    assert central.value <= manifest.certificate["upper_bound"]
    assert np.isclose(manifest.value, np.sum(found["gain"].to_pylist()))
    assert follows_rounds(order, problem_of(config, pool)[0].turns)


def test_a_second_run_writes_nothing_and_starts_nothing(made: Make, monkeypatch: pytest.MonkeyPatch):
    """The coreset is found by its id; another k, seed or shard size is another coreset only where picks change."""
    config, registry, pool = made()
    first = run((config, registry, pool))
    versions = {table: current_version(registry, table) for table in ("coresets", "coreset_weights", "manifests")}
    monkeypatch.setattr(job, "Crew", None)

    again = run((config, registry, pool), "r2")

    assert first.changed
    assert (first.coreset_id, False) == (again.coreset_id, again.changed)
    assert versions == {table: current_version(registry, table) for table in versions}


def test_a_smaller_k_is_a_prefix_whatever_was_asked_for_first(made: Make):
    """And after the larger one it is served from the stored order, without a local round."""
    large = made(name="large", k=20)
    found = picks(large)["prompt_id"].to_pylist()
    stored = checkpoint_files(large[1])

    served = picks(changed(large, k=8))

    assert served["prompt_id"].to_pylist() == found[:8]
    assert served.equals(picks(made(name="small", k=8)))
    assert stored == checkpoint_files(large[1])


def checkpoint_files(registry: Registry) -> list[Path]:
    return sorted(Path(registry.root, "_checkpoints", "select").iterdir())


def test_another_tree_of_merges_repeats_no_local_round(made: Make, monkeypatch: pytest.MonkeyPatch):
    """It depends on no merge; of a finished tree only the whole order is left."""
    flat = made(shard_size=30)
    run(flat)
    stored, begun = checkpoint_files(flat[1]), []
    begin = Crew.begin
    monkeypatch.setattr(Crew, "begin", lambda crew, shard, *asked: (begun.append(shard), begin(crew, shard, *asked))[1])
    tree = changed(flat, merge_gb=3.2e-6)

    outcome = run(tree)

    manifest = find_manifest(flat[1], outcome.coreset_id)
    assert manifest is not None
    assert manifest.semantic_configuration["plan"]["merges"] == [2]
    assert not begun
    assert len(stored) == 4 + 1
    assert len(set(checkpoint_files(flat[1])) - set(stored)) == 1


def test_a_broken_checkpoint_is_ignored(made: Make, caplog: pytest.LogCaptureFixture):
    """Cut off, changed, another's or empty: its work is done again, and a log line says so."""
    broken = made()
    expected = picks(broken)
    files = checkpoint_files(broken[1])
    for number, path in enumerate(files):
        whole = path.read_bytes()
        path.write_bytes([whole[:50], whole.replace(b'"order":[', b'"order":[1,'), b"[]", b""][number])
    for table in ("manifests", "coresets"):
        shutil.rmtree(Path(broken[1].root, table))

    assert picks(broken).equals(expected)
    assert caplog.text.count("its work is done again") == len(files) == 4
    assert checkpoint_files(broken[1]) == files


def test_what_is_left_behind_fits_together(made: Make):
    """Picks, weights and manifest agree with each other and with the pool."""
    config, registry, pool = made(k=3)
    outcome = run((config, registry, pool))
    found, manifest = read_picks(registry, outcome.coreset_id), find_manifest(registry, outcome.coreset_id)
    assert manifest is not None
    weights = read(registry, "coreset_weights").to_pandas()
    rows = {row["benchmark"]: row for row in manifest.coverage}
    absent = {name for name, row in rows.items() if not row["picks"]}

    assert pool.copies.sum() == sum(found["represents"].to_pylist()) == sum(row["prompts"] for row in rows.values())
    assert pool.n == sum(row["distinct"] for row in rows.values())
    assert len(absent) == 2
    assert absent == {name for name, row in rows.items() if row["borrowed"]}
    assert np.allclose(1, weights.groupby("target")["weight"].sum(), atol=1e-12)
    assert not {f"benchmark:{name}" for name in absent} & set(weights["target"])
    assert np.isclose(1, sum(read_weights(registry, outcome.coreset_id).values()))
    assert all(0 <= row["coverage"] <= 1 for row in rows.values())
    assert np.isclose(manifest.value, np.mean([row["coverage"] for row in rows.values()]), atol=1e-6)
    assert (pool.copies * pool.truncated).sum() == sum(row["truncated"] for row in rows.values())
    assert manifest.table_versions == {"embeddings": 0}
    assert manifest.encoders["embedding"]["name"] == "made up"
    assert len(read(registry, "manifests")["centre"][0].as_py()) == 16
    assert {"centre", "local", "merge 1", "coverage", "certificate"} == set(manifest.timings)
    orjson.dumps(manifest.library_versions)


def test_the_control_is_drawn_in_balance(made: Make):
    """`random` runs through the same tables, with its probabilities and without a certificate."""
    config, registry, pool = made(method="random", k=20)
    outcome = run((config, registry, pool))
    found, manifest = read_picks(registry, outcome.coreset_id), find_manifest(registry, outcome.coreset_id)
    assert manifest is not None

    assert all(0 < chance <= 1 for chance in found["inclusion_probability"].to_pylist())
    assert 0 < manifest.value < 1
    assert manifest.certificate == {}
    assert not run((config, registry, pool)).changed


def test_a_method_that_sees_the_whole_pool_runs_at_once(made: Make):
    """The picks of the method on one array with its blocks, however many workers measure them; run again, kept ones."""
    plain = made(method=DEFAULT, k=20, seed=3)
    config, registry, pool = changed(plain, include=[plain[2].prompt_id[5]], workers=1)
    other = changed((config, registry, pool), workers=2, shard_size=60)
    problem, _ = problem_of(config, pool)
    encoders = {name: block.encoder for name, block in ({"embedding": pool.embedding} | pool.blocks).items()}
    tables = {name: Embeddings(registry, None, encoder) for name, encoder in encoders.items()}
    blocks = {name: table.read(tuple(range(16)), pool.text_hash) for name, table in tables.items()}
    expected = METHODS[DEFAULT](replace(problem, features=blocks))

    outcome = run((config, registry, pool))
    found, manifest = read_picks(registry, outcome.coreset_id), find_manifest(registry, outcome.coreset_id)
    assert manifest is not None
    for table in ("manifests", "coresets"):
        shutil.rmtree(Path(registry.root, table))

    assert pool.prompt_id[expected.indices].tolist() == found["prompt_id"].to_pylist()
    assert picks(other).equals(found)
    assert manifest.semantic_configuration["features"] == encoders
    assert {name: row["fingerprint"] for name, row in manifest.encoders.items()} == encoders
    assert manifest.certificate == {}
    assert not any(found["gain"].to_pylist())


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"k": 121}, "cannot pick 121 of 120"),
        ({"include": ["nobody"]}, "not among the 120 selectable prompts: nobody"),
        ({"method": "nothing"}, "unknown method 'nothing'"),
        ({"method": "anchor_points"}, "'anchor_points' needs scores of models"),
        ({"mass": {"z": 2.0}}, "'z'"),
        ({"spoil": float("nan")}, "1 of"),
        ({"spoil": 0.0}, "all zeros"),
        ({"spoil": 0.0, "method": "kmeans"}, "all zeros"),
    ],
)
def test_bad_input_is_told_in_one_line_and_nothing_is_written(made: Make, changes: dict[str, Any], told: str):
    """Naming figures and ids, also from inside an actor."""
    config, registry, pool = made(**changes)

    with pytest.raises(BenchcoreError) as error:
        run((config, registry, pool))

    assert told in str(error.value)
    assert "spoil" not in changes or str(pool.prompt_id[7]) in str(error.value)
    assert current_version(registry, "coresets") is None


def test_missing_vectors_and_an_empty_pool_are_told(made: Make):
    """With what to do about it."""
    config, registry, pool = made()
    strange = Pool(**{**pool.__dict__, "encoder": "never run"})
    empty = Pool(**{key: value[:0] if isinstance(value, np.ndarray) else value for key, value in pool.__dict__.items()})

    with pytest.raises(BenchcoreError, match="embed"):
        run((config, registry, strange))
    featureless = Pool(**{**pool.__dict__, "blocks": {"ngrams": Block("never run", {})}})
    with pytest.raises(
        BenchcoreError, match=r"120 of 120 prompts lack the block 'ngrams' \(a .*\)\. Run `benchcore embed"
    ):
        run(changed((config, registry, featureless), method="balanced_swaps"))
    with pytest.raises(UsageError, match=r"select\.filter"):
        run((config, registry, empty))
    with pytest.raises(BenchcoreError, match=r"2 of .* texts have no vector"):
        run(
            (
                config,
                registry,
                Pool(**{**pool.__dict__, "text_hash": np.array(["0" * 32, "1" * 32, *pool.text_hash[2:]])}),
            )
        )


def test_a_plan_that_does_not_fit_says_what_would(made: Make, monkeypatch: pytest.MonkeyPatch):
    """With figures."""
    monkeypatch.setattr(job, "_free_memory", lambda config: 2**20)

    with pytest.raises(BenchcoreError, match=r"120 prompts in 3 shards on 2 workers need \d\.\d GiB"):
        run(made(workers=2))

    monkeypatch.setattr(whole_pool, "free_memory", lambda: 2**20)
    with pytest.raises(BenchcoreError, match=r"balanced_swaps on 120 prompts in one process needs 0.2 GiB"):
        run(changed(made(), method="balanced_swaps"))

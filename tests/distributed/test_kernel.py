"""The default method beyond the pools whose pairs one process looks at: candidates, and means that workers measure."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benchcore.config import Config
from benchcore.distributed.crew import Crew
from benchcore.distributed.job import coreset_id_of, orders
from benchcore.distributed.pool import Pool
from benchcore.distributed.posed import problem_of
from benchcore.distributed.vectors import Embeddings
from benchcore.errors import UsageError
from benchcore.methods import DEFAULT
from benchcore.methods.kernel_mean.candidates import drawn_candidates
from benchcore.methods.kernel_mean.mean_kernel import full_kernel
from benchcore.methods.kernel_mean.swaps import equal_weights
from benchcore.methods.stratified_random import stratified_random
from benchcore.registry.identity import bucket, digest
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import append_missing, pin, read
from benchcore.submodular.constraints.rounds import follows_rounds
from tests.distributed.test_audit import with_select
from tests.distributed.test_deaths import pid_of
from tests.distributed.test_select import changed, picks
from tests.standing import Standing

Made = tuple[Config, Registry, Pool]
Make = Callable[..., Made]


def large(made: Make, **select: Any) -> Made:
    """300 prompts in five shards, more than are looked at as a whole: 120 of them are candidates."""
    settings = {"n": 300, "k": 30, "method": DEFAULT, "shard_size": 60, "exact_rows": 299, "candidates": 120}
    config, registry, pool = made(**{**settings, **select})
    ids = pool.prompt_id.tolist()
    return changed((config, registry, pool), include=[ids[50], ids[3]], exclude=ids[9:20])


def under_other_texts(posed: Made) -> Made:
    """The same with other blocks than the vectors under other hashes: vectors are the user's own, say."""
    config, registry, pool = posed
    stored = read(registry, "embeddings").to_pylist()
    for row in stored:
        if row["encoder"] != pool.encoder:
            row["text_hash"] = digest("said", row["text_hash"])
            row["bucket"] = bucket(row["text_hash"], 16)
    shutil.rmtree(Path(registry.root, "embeddings"))
    append_missing(registry, "embeddings", pa.Table.from_pylist(stored, schema=SCHEMAS["embeddings"]))
    return config, registry, replace(pool, feature_text=np.array([digest("said", text) for text in pool.text_hash]))


def test_workers_deaths_and_where_features_lie_change_nothing(
    made: Make, standing: Standing, monkeypatch: pytest.MonkeyPatch
):
    """One, two or four workers; actors killed while they read and while they measure; features under other texts."""
    posed = large(made, name="one", workers=1)
    with standing.at_work():
        expected = picks(posed)
        require_good(posed, np.searchsorted(posed[2].prompt_id, expected["prompt_id"].to_pylist()))
        elsewhere = picks(under_other_texts(large(made, name="four", workers=4)))
    assert elsewhere.drop(["coreset_id"]).equals(expected.drop(["coreset_id"]))

    killed: list[str] = []
    begin = Crew.begin

    def deadly(crew: Crew, shard: int, question: Callable[..., Any], *arguments: Any) -> Any:
        pid = pid_of(crew, len(killed)) if shard == 3 and question.__name__ in ("survey", "mean_part") else None
        call = begin(crew, shard, question, *arguments)
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
            killed.append(question.__name__)
        return call

    monkeypatch.setattr(Crew, "begin", deadly)

    assert picks(large(made, name="deadly", workers=2)).equals(expected)
    assert killed == ["survey", "mean_part"]


def require_good(posed: Made, found: np.ndarray) -> None:
    """Nearer to the pool than draws, from the candidates, includes first; smaller selections are kept prefixes."""
    config, registry, pool = posed
    problem, _ = problem_of(config, pool)
    blocks = {"embedding": pool.embedding} | dict(pool.blocks)
    tables = {name: Embeddings(registry, None, block.encoder) for name, block in blocks.items()}
    features = {name: table.read(tuple(range(16)), pool.text_hash) for name, table in tables.items()}
    kernel = full_kernel(replace(problem, features=features))
    mean = kernel.mean(problem.mass)

    def discrepancy(order: np.ndarray) -> float:
        weights, own = equal_weights(problem, order), kernel.rows(order)[:, order].astype(np.float64)
        return float(weights @ own @ weights - 2 * weights @ mean[order] + problem.mass @ mean)

    draws = [stratified_random(replace(problem, seed=seed)).indices for seed in range(20)]
    assert discrepancy(found) < 0.75 * min(discrepancy(draw) for draw in draws)
    assert set(found) <= set(drawn_candidates(problem, 120))
    assert found[:2].tolist() == [50, 3]
    assert follows_rounds(found[2:], problem.turns, problem.available, problem.given)
    kept = checkpoint_files(registry)
    fewer = orders(with_select(config, k=11), registry, pool, pin(registry, ["embeddings"]))
    assert fewer.picks(11).tolist() == found[:11].tolist()
    assert checkpoint_files(registry) == kept
    assert len(kept) == 1


def checkpoint_files(registry: Registry) -> list[Path]:
    return sorted(Path(registry.root, "_checkpoints", "select").iterdir())


@pytest.mark.parametrize("method", [DEFAULT, "balanced_swaps", "kmeans", "facility_location"])
def test_what_changes_picks_changes_the_name(made: Make, method: str):
    """And nothing else: below the limit coresets keep the names that they had before there were candidates."""
    config, _, pool = large(made, method=method)
    below, more = with_select(config, exact_rows=300), with_select(config, candidates=140)
    takes = method in (DEFAULT, "balanced_swaps")

    assert (coreset_id_of(config, pool) != coreset_id_of(below, pool)) == takes
    assert (coreset_id_of(config, pool) != coreset_id_of(more, pool)) == takes
    assert coreset_id_of(below, pool) == coreset_id_of(with_select(more, exact_rows=300), pool)


@pytest.mark.usefixtures("standing_workers")
def test_more_picks_than_candidates_allow_are_refused(made: Make):
    """With what would do."""
    with pytest.raises(UsageError, match=r"at most 30 of 120 candidates.* 31 are wanted. Set select.candidates to 124"):
        picks(large(made, k=31))

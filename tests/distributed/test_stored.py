"""What lies in the registry and is not as a selection needs it: vectors that are gone or mixed, checkpoints' places."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from benchcore.config import Config
from benchcore.distributed import checkpoints
from benchcore.distributed.job import select
from benchcore.distributed.pool import Pool
from benchcore.distributed.vectors import Embeddings, by_benchmark
from benchcore.errors import BenchcoreError
from benchcore.registry.manifests import read_picks
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import pin, read
from benchcore.submodular.optimizers.result import Greedy

Make = Callable[..., tuple[Config, Registry, Pool]]
ALL = tuple(range(16))


def picks(made: tuple[Config, Registry, Pool]) -> pa.Table:
    config, registry, pool = made
    return read_picks(registry, select(config, registry, pool, "r", pin(registry, ["embeddings"])).coreset_id)


def test_texts_without_a_vector_are_found_one_by_one(made: Make):
    """Among those of another encoder, and equal texts each for itself."""
    _, registry, pool = made()
    asked = np.array(["0" * 32, pool.text_hash[3], "0" * 32, pool.text_hash[3]])
    stored = Embeddings(registry, 0, pool.encoder)

    assert stored.lacking(asked).tolist() == [True, False, True, False]
    assert Embeddings(registry, 0, "never run").lacking(asked).all()
    assert (stored.read(ALL, asked[1::2]) == stored.read(ALL, pool.text_hash)[3]).all()
    assert by_benchmark("aabbbcd") == "b 3, a 2, c 1 and 1 more benchmarks"


def test_vectors_of_several_lengths_are_refused_with_the_lengths(made: Make):
    """Before a worker starts, and where a shard is read."""
    _, registry, pool = made()
    row = {"text_hash": "f" * 32, "encoder": pool.encoder, "dimension": 3, "vector": [1.0, 0.0, 0.0], "bucket": 15}
    more = pa.Table.from_pylist([row], schema=SCHEMAS["embeddings"])
    write_deltalake(registry.uri("embeddings"), more, mode="append", partition_by=["encoder", "bucket"])
    mixed = Embeddings(registry, 1, pool.encoder)

    with pytest.raises(BenchcoreError, match=r"fingerprint differ in length: 3 and 16\. .*benchcore embed CONF"):
        mixed.dimension()
    with pytest.raises(BenchcoreError, match="differ in length: 3 and 16"):
        mixed.read(ALL, np.append(pool.text_hash, "f" * 32))
    assert Embeddings(registry, 0, pool.encoder).dimension() == 16


def test_a_version_that_vacuum_removed_is_told_with_what_to_do(made: Make):
    """The log still has it; its files are gone."""
    _, registry, pool = made()
    write_deltalake(registry.uri("embeddings"), read(registry, "embeddings"), mode="overwrite")
    removed = DeltaTable(registry.uri("embeddings")).vacuum(0, dry_run=False, enforce_retention_duration=False)
    gone = Embeddings(registry, 0, pool.encoder)

    assert removed
    for question in (gone.dimension, lambda: gone.read(ALL, pool.text_hash), lambda: gone.lacking(pool.text_hash)):
        with pytest.raises(BenchcoreError, match=r"lacks one of its data files.*vacuum.*run the command again"):
            question()
    assert len(Embeddings(registry, 1, pool.encoder).read(ALL, pool.text_hash)) == pool.n


def test_a_checkpoint_is_read_whole_and_by_its_own_name_only(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """Cut short or of another selection: none, and a line that says which."""
    registry = Registry.at(tmp_path)
    checkpoints.save(registry, "one", Greedy(np.array([4, 2]), np.array([9.0, 2.0**52])))
    found = checkpoints.load(registry, "one")
    folder = tmp_path / "_checkpoints" / "select"
    whole = (folder / "one.json").read_bytes()
    (folder / "two.json").write_bytes(whole)
    (folder / "three.json").write_bytes(whole[:-9])
    (folder / "four.json").write_bytes(orjson.dumps({"body": {"key": "four"}, "digest": "?"}))

    assert found is not None
    assert (found.order.tolist(), found.gains.tolist()) == ([4, 2], [9.0, 2.0**52])
    assert [checkpoints.load(registry, name) for name in ("two", "three", "four", "five")] == [None] * 4
    assert "two.json belongs to another selection" in caplog.text
    assert "three.json cannot be read" in caplog.text
    assert "four.json is broken" in caplog.text
    assert len(caplog.records) == 3


@pytest.mark.usefixtures("ray_instance")
def test_without_a_place_for_checkpoints_a_selection_goes_on_with_one_warning(
    made: Make, caplog: pytest.LogCaptureFixture
):
    """The same picks; a file stands where the folder would be."""
    expected = picks(made(name="with"))
    hindered = made(name="without")
    Path(hindered[1].root, "_checkpoints").write_text("in the way")
    caplog.clear()

    assert picks(hindered).equals(expected)
    told = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert ["no checkpoint can be written" in record.getMessage() for record in told] == [True]

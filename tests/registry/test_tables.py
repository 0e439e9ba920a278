"""Pinned reads and writes that can be done twice."""

import resource
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from benchcore.errors import BenchcoreError
from benchcore.registry.root import Registry
from benchcore.registry.schemas import KEYS, PARTITIONS, SCHEMAS
from benchcore.registry.tables import append_missing, current_version, open_table, pin, read, replace_where
from tests.registry.stored import prompt, store


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry.at(tmp_path / "registry")


def vectors(*texts: str, encoder: str = "e", bucket: int = 0) -> pa.Table:
    rows = [
        {
            "text_hash": text,
            "encoder": encoder,
            "dimension": 2,
            "vector": [1.0, 2.0],
            "truncated": False,
            "bucket": bucket,
        }
        for text in texts
    ]
    return pa.Table.from_pylist(rows, SCHEMAS["embeddings"])


def weights(coreset: str, **values: float) -> pa.Table:
    rows = [{"coreset_id": coreset, "target": "suite", "prompt_id": p, "weight": w} for p, w in values.items()]
    return pa.Table.from_pylist(rows, SCHEMAS["coreset_weights"])


def test_every_table_has_a_key_and_partitions_that_are_columns():
    """The declarations fit together."""
    assert SCHEMAS.keys() == KEYS.keys()
    for name in SCHEMAS:
        assert set(KEYS[name]) | set(PARTITIONS.get(name, ())) <= set(SCHEMAS[name].names)


def test_a_table_that_does_not_exist_reads_as_empty(registry: Registry):
    """Nobody has to ask first, and asking creates nothing."""
    assert read(registry, "prompts").num_rows == 0
    assert read(registry, "prompts").schema == SCHEMAS["prompts"]
    assert current_version(registry, "prompts") is None
    assert not Path(registry.root).exists()


def test_appending_twice_adds_once(registry: Registry):
    """The second time there is no commit; a batch that is partly there adds the rest, in its order."""
    assert append_missing(registry, "embeddings", vectors("b", "a")) == 2
    assert append_missing(registry, "embeddings", vectors("a", "b")) == 0
    assert current_version(registry, "embeddings") == 0
    assert append_missing(registry, "embeddings", vectors("a", "c")) == 1
    assert append_missing(registry, "embeddings", vectors("a", encoder="f")) == 1

    found = read(registry, "embeddings", columns=["text_hash", "encoder"]).sort_by("text_hash").to_pylist()
    assert sorted((row["text_hash"], row["encoder"]) for row in found) == [
        ("a", "e"),
        ("a", "f"),
        ("b", "e"),
        ("c", "e"),
    ]


def test_replacing_with_the_same_rows_makes_no_commit(registry: Registry):
    """Whatever order they come in; other values of the column are left alone."""
    assert replace_where(registry, "coreset_weights", "coreset_id", "one", weights("one", a=0.5, b=0.5))
    assert replace_where(registry, "coreset_weights", "coreset_id", "two", weights("two", a=1.0))
    version = current_version(registry, "coreset_weights")

    assert not replace_where(registry, "coreset_weights", "coreset_id", "one", weights("one", b=0.5, a=0.5))
    assert current_version(registry, "coreset_weights") == version


def test_replacing_leaves_exactly_the_new_rows(registry: Registry):
    """No row of an earlier, longer attempt stays behind."""
    replace_where(registry, "coreset_weights", "coreset_id", "o'ne", weights("o'ne", a=0.5, b=0.5))
    replace_where(registry, "coreset_weights", "coreset_id", "two", weights("two", a=1.0))

    assert replace_where(registry, "coreset_weights", "coreset_id", "o'ne", weights("o'ne", c=1.0))

    found = read(registry, "coreset_weights").sort_by("coreset_id").to_pylist()
    assert [(row["coreset_id"], row["prompt_id"]) for row in found] == [("o'ne", "c"), ("two", "a")]


def test_a_pinned_version_does_not_see_later_rows(registry: Registry):
    """A job reads what was there when it started."""
    append_missing(registry, "embeddings", vectors("a"))
    pinned = pin(registry, ("embeddings", "prompts"))
    append_missing(registry, "embeddings", vectors("b"))

    assert pinned == {"embeddings": 0}
    assert read(registry, "embeddings", pinned["embeddings"])["text_hash"].to_pylist() == ["a"]
    assert read(registry, "embeddings").num_rows == 2


def test_rows_and_columns_can_be_chosen(registry: Registry):
    """Types are the schema's, whichever engine wrote the files."""
    append_missing(registry, "embeddings", vectors("a", "b"))
    found = read(registry, "embeddings", columns=["text_hash"], where=pc.field("text_hash") == "b")

    assert found == pa.table({"text_hash": ["b"]}, schema=pa.schema([SCHEMAS["embeddings"].field("text_hash")]))
    assert read(registry, "embeddings").schema == SCHEMAS["embeddings"]


def test_a_version_that_does_not_exist_is_told_in_one_line(registry: Registry):
    """With the table, the version, and what to do."""
    append_missing(registry, "embeddings", vectors("a"))

    with pytest.raises(BenchcoreError, match=r"'embeddings' cannot be read at version 7.*run the command anew"):
        open_table(registry, "embeddings", 7)


def test_a_table_without_one_of_its_files_is_told_in_one_line(registry: Registry):
    """With the table, and what can be made again."""
    append_missing(registry, "embeddings", vectors("a"))
    next(Path(registry.uri("embeddings")).rglob("*.parquet")).unlink()

    with pytest.raises(BenchcoreError, match=r"'embeddings' lacks one of its data files.*run the command again"):
        read(registry, "embeddings")


def test_a_data_file_that_was_cut_short_is_told_in_one_line(registry: Registry):
    """With the table, and what can be done."""
    append_missing(registry, "embeddings", vectors("a"))
    file = next(Path(registry.uri("embeddings")).rglob("*.parquet"))
    file.write_bytes(file.read_bytes()[:-20])

    with pytest.raises(BenchcoreError, match=r"'embeddings' has a damaged data file.*Bring the file back from a copy"):
        read(registry, "embeddings")


def test_a_damaged_log_is_told_in_one_line(registry: Registry):
    """Without the native backtrace that comes with it."""
    append_missing(registry, "embeddings", vectors("a"))
    log = next(Path(registry.uri("embeddings"), "_delta_log").glob("*.json"))
    log.write_bytes(log.read_bytes()[:-40])

    with pytest.raises(BenchcoreError, match=r"'embeddings' cannot be read.*_delta_log is damaged") as caught:
        open_table(registry, "embeddings")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


def test_a_table_that_cannot_be_written_is_told_and_stays_as_it_was(registry: Registry):
    """As on a full disk: here no file may grow beyond 1,000 bytes."""
    rows = [prompt("tides", number) for number in range(50)]
    store(registry, "prompts", rows[:1])
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(BenchcoreError, match=r"table 'prompts' cannot be written: .*File too large"):
            store(registry, "prompts", rows)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert read(registry, "prompts").num_rows == 1
    store(registry, "prompts", rows)
    assert read(registry, "prompts").num_rows == 50


def test_tables_stay_readable_by_ray(registry: Registry):
    """No deletion vectors, no column mapping, the lowest reader version."""
    append_missing(registry, "embeddings", vectors("a"))
    table = open_table(registry, "embeddings")

    assert table.protocol().min_reader_version == 1
    assert table.metadata().configuration["delta.enableDeletionVectors"] == "false"
    assert table.metadata().partition_columns == ["encoder", "bucket"]

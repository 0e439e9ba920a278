"""Too little of something is told before anything starts."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchcore import machine
from benchcore.config import Config
from benchcore.errors import BenchcoreError, UsageError
from benchcore.machine import bytes_of, free_disk, free_memory, in_words, usable_cores
from benchcore.pipeline.preflight import require_disk, require_memory_for
from benchcore.registry.root import Registry


def test_too_little_disk_is_told_with_the_place(tmp_path: Path):
    """Both figures, and what to do; a root that does not exist yet is judged by where it will lie."""
    with pytest.raises(BenchcoreError, match=r"not/yet: too little disk: .* TiB needed, .* free\. .*--root"):
        require_disk(Registry.at(tmp_path / "not" / "yet"), 10**18)

    require_disk(Registry.at(tmp_path / "not" / "yet"), 1)
    require_disk(Registry.at("s3://bucket/r"), 10**18)


def test_too_little_memory_for_spark_is_told():
    """With the setting that asks for so much; steps that start no Spark do not need it."""
    config = Config.model_validate({"spark": {"driver_memory": "9000g"}})

    with pytest.raises(BenchcoreError, match=r"too little memory: 8\.8 TiB needed, .* free\..*spark.driver_memory"):
        require_memory_for(config, ("ingest", "embed"))
    require_memory_for(config, ("report",))
    require_memory_for(Config.model_validate({"spark": {"driver_memory": "9000g", "master": "spark://x"}}), ("ingest",))


def test_a_memory_size_that_is_none_is_a_mistake():
    """Found before Spark finds it, with its key."""
    with pytest.raises(UsageError, match=r"spark.driver_memory: 'lots' is no size"):
        require_memory_for(Config.model_validate({"spark": {"driver_memory": "lots"}}), ("ingest",))


@pytest.mark.parametrize(
    ("size", "expected"), [("1024", 1024), ("2k", 2048), ("512m", 2**29), ("2G", 2**31), ("2gb", 2**31)]
)
def test_sizes_are_read_as_spark_writes_them(size: str, expected: int):
    """With or without a unit, in either case."""
    assert bytes_of(size) == expected


@given(size=st.integers(0, 10**18))
def test_sizes_are_told_in_few_characters(size: int):
    """Whatever the number."""
    assert len(in_words(size)) <= 12


def test_the_machine_has_something():
    """The probes give figures that can be: more than nothing, no more than there is."""
    assert usable_cores() >= 1
    assert free_disk(Path("/")) > 0
    assert 0 < free_memory() <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@pytest.mark.parametrize(
    ("limit", "used", "left"),
    [("1000", "400", 600), ("max", "400", None), (str(2**63 - 4096), "1", None), ("5", "9", 0)],
)
def test_a_containers_limit_counts(tmp_path: Path, limit: str, used: str, left: int | None):
    """Both versions of control groups; the machine's own memory means nothing inside a container."""
    files = tmp_path / "limit", tmp_path / "used"
    for file, value in zip(files, (limit, used), strict=True):
        file.write_text(value + "\n")

    assert machine._left_in_cgroup(files) == left

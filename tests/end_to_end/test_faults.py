"""kill -9 of any part at a seeded moment, then the same command again: the tables of an undisturbed run.

Two deaths are in the ordinary run; `make test-faults` runs three of each kind and takes SEED.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end import books, commands
from tests.end_to_end.conftest import TwiceAtOnce
from tests.end_to_end.corpora import write_registry

SEED = int(os.environ.get("SEED", "0"))

# Moments in a run, by what is on disk. Each leaves at least a second of work to be lost.
MOMENTS: dict[str, str] = {
    "started": "_lock",
    "read": "_staging/ingest/*",
    "prompts committed": "prompts/_delta_log/*.json",
    "sources committed": "sources/_delta_log/*.json",
    "texts staged": "_staging/embeddings/*/*.parquet",
    "embeddings committed": "embeddings/_delta_log/*.json",
    "shards selected": "_checkpoints/select/*",
}


@pytest.fixture(scope="module")
def undisturbed(twice_at_once: TwiceAtOnce) -> dict[str, list[dict[str, Any]]]:
    """What the tables say after runs that nothing disturbed."""
    return twice_at_once.contents


def _after(folder: Path, conf: Path) -> dict[str, list[dict[str, Any]]]:
    """What the tables say after the same command has run again, undisturbed."""
    again = commands.run(folder, "run", str(conf))
    assert again.status == 0, again.err
    books.check_accounting(folder / "registry")
    return books.contents(folder / "registry")


def _kill_the_driver(folder: Path, command: commands.Command, seed: int) -> None:
    draw = random.Random(f"driver {seed}")
    moment = draw.choice(sorted(MOMENTS))
    command.wait_until(lambda: any((folder / "registry").glob(MOMENTS[moment])))
    command.kill(after_s=draw.random() * 0.3)


def _kill_a_part(folder: Path, conf: Path, is_target: Callable[..., bool], seed: int) -> None:
    command = commands.Command(folder, "run", str(conf))
    commands.kill_one(command, is_target, random.Random(f"part {seed}"))
    ended = command.result()
    assert "Traceback" not in ended.err, ended.err


def test_a_killed_python_worker_and_a_killed_driver(
    tmp_path: Path, undisturbed: dict[str, list[dict[str, Any]]]
) -> None:
    """A Python worker of Spark dies, and later the driver; the next run ends as if it had run once.

    Actors that die have tests of their own where they work (tests/embedding, tests/distributed).
    """
    conf = write_registry(tmp_path)
    command = commands.Command(tmp_path, "run", str(conf))
    commands.kill_one(command, commands.is_spark_python_worker, random.Random(f"part {SEED}"))
    _kill_the_driver(tmp_path, command, SEED)
    assert _after(tmp_path, conf) == undisturbed


@pytest.mark.faults
@pytest.mark.parametrize("seed", [SEED + 1, SEED + 2, SEED + 3])
def test_more_drivers(tmp_path: Path, undisturbed: dict[str, list[dict[str, Any]]], seed: int) -> None:
    """Three more deaths of the driver."""
    conf = write_registry(tmp_path)
    _kill_the_driver(tmp_path, commands.Command(tmp_path, "run", str(conf)), seed)
    assert _after(tmp_path, conf) == undisturbed


@pytest.mark.faults
@pytest.mark.parametrize("seed", [SEED + 1, SEED + 2, SEED + 3])
@pytest.mark.parametrize(
    "is_target", [commands.is_ray_actor, commands.is_spark_python_worker], ids=["actor", "python-worker"]
)
def test_more_parts(
    tmp_path: Path, undisturbed: dict[str, list[dict[str, Any]]], is_target: Callable[..., bool], seed: int
) -> None:
    """Three more deaths of each kind of worker."""
    conf = write_registry(tmp_path)
    _kill_a_part(tmp_path, conf, is_target, seed)
    assert _after(tmp_path, conf) == undisturbed

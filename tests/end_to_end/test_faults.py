"""kill -9 of any part, SIGTERM, a full disk at a seeded moment, then the same command again: the undisturbed tables.

One of each is in the ordinary run; `make test-faults` runs more of each kind (TRIALS) and takes SEED.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end import books, commands
from tests.end_to_end.conftest import TwiceAtOnce
from tests.end_to_end.corpora import write_registry

SEED, TRIALS = int(os.environ.get("SEED", "0")), int(os.environ.get("TRIALS", "3"))
MORE = range(SEED + 1, SEED + 1 + TRIALS)
GRACE_S = 30.0  # that a scheduler gives between SIGTERM and SIGKILL

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


def _wait(folder: Path, command: commands.Command, draw: random.Random) -> None:
    """Wait for a moment of the run, and a little longer."""
    moment = MOMENTS[draw.choice(sorted(MOMENTS))]
    command.wait_until((folder / "registry" / "_lock.json").is_file)
    command.wait_until(lambda: any((folder / "registry").glob(moment)))
    assert not command.ended_within(draw.random() * 0.3), f"over too soon: {command.result().err}"


def _kill_the_driver(folder: Path, conf: Path, seed: int) -> None:
    command = commands.Command(folder, "run", str(conf))
    _wait(folder, command, random.Random(f"driver {seed}"))
    command.kill()


def _terminate_the_driver(folder: Path, conf: Path, seed: int) -> None:
    """SIGTERM, to the driver alone: it says so and takes all with it before the time of grace is over."""
    command = commands.Command(folder, "run", str(conf))
    _wait(folder, command, random.Random(f"sigterm {seed}"))
    command.family()
    command.process.send_signal(signal.SIGTERM)
    ended = command.result(GRACE_S)

    assert (ended.status, ended.err.splitlines()[-1]) == (143, "benchcore: error: terminated"), ended.err
    assert "*** SIGTERM" not in ended.err
    command.require_no_orphans()


def _kill_a_part(folder: Path, conf: Path, is_target: Callable[..., bool], seed: int) -> None:
    command = commands.Command(folder, "run", str(conf))
    commands.kill_one(command, is_target, random.Random(f"part {seed}"))
    ended = command.result()
    assert "Traceback" not in ended.err, ended.err


def _kill_an_actor(folder: Path, conf: Path, seed: int) -> None:
    _kill_a_part(folder, conf, commands.is_ray_actor, seed)


def _kill_a_python_worker(folder: Path, conf: Path, seed: int) -> None:
    _kill_a_part(folder, conf, commands.is_spark_python_worker, seed)


def _fill_the_disk(folder: Path, conf: Path, seed: int) -> None:
    """The registry's disk is full from some moment on; the run says so in one line, or needed no more of it."""
    with _small_disk(folder / "registry"):
        command = commands.Command(folder, "run", str(conf))
        _wait(folder, command, random.Random(f"disk {seed}"))
        ballast = folder / "registry" / "ballast"
        _fill(ballast)
        ended = command.result()
        assert ended.status in (0, 1), ended.err
        assert "Traceback" not in ended.err, ended.err
        if ended.status == 1:
            assert "unexpected" not in ended.err, ended.err
            assert "No space left on device" in ended.err or "too little disk" in ended.err, ended.err
        ballast.unlink()


@contextmanager
def _small_disk(folder: Path) -> Iterator[None]:
    """A file system in memory at `folder`, whose content stays there afterwards."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("mounting a small disk takes root")
    folder.mkdir()
    kept = folder.with_name("kept")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400m", "tmpfs", str(folder)], check=True)
    try:
        yield
        shutil.copytree(folder, kept)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
    folder.rmdir()
    kept.rename(folder)


def _fill(file: Path) -> None:
    """Write until there is no more room."""
    with file.open("wb", buffering=0) as ballast:
        try:
            while True:
                ballast.write(bytes(2**20))
        except OSError:
            while _writes(ballast, 512):
                pass


def _writes(file: Any, size: int) -> bool:
    try:
        return bool(file.write(bytes(size)))
    except OSError:
        return False


KINDS: dict[str, Callable[[Path, Path, int], None]] = {
    "driver": _kill_the_driver,
    "sigterm": _terminate_the_driver,
    "python-worker": _kill_a_python_worker,
    "actor": _kill_an_actor,
    "disk-full": _fill_the_disk,
}


def test_a_killed_python_worker_and_a_killed_driver(
    tmp_path: Path, undisturbed: dict[str, list[dict[str, Any]]]
) -> None:
    """A Python worker of Spark dies, and later the driver; the next run ends as if it had run once.

    Actors that die have tests of their own where they work (tests/embedding, tests/distributed).
    """
    conf = write_registry(tmp_path)
    command = commands.Command(tmp_path, "run", str(conf))
    commands.kill_one(command, commands.is_spark_python_worker, random.Random(f"part {SEED}"))
    _wait(tmp_path, command, random.Random(f"driver {SEED}"))
    command.kill()
    assert _after(tmp_path, conf) == undisturbed


def test_a_full_disk_and_a_word_to_end(tmp_path: Path, undisturbed: dict[str, list[dict[str, Any]]]) -> None:
    """The disk is full, and later the scheduler says SIGTERM; the next run ends as if it had run once."""
    conf = write_registry(tmp_path)
    _fill_the_disk(tmp_path, conf, SEED)
    _terminate_the_driver(tmp_path, conf, SEED)
    assert _after(tmp_path, conf) == undisturbed


@pytest.mark.faults
@pytest.mark.parametrize("seed", MORE)
@pytest.mark.parametrize("kind", KINDS)
def test_more(tmp_path: Path, undisturbed: dict[str, list[dict[str, Any]]], kind: str, seed: int) -> None:
    """Each kind at other moments."""
    conf = write_registry(tmp_path)
    KINDS[kind](tmp_path, conf, seed)
    assert _after(tmp_path, conf) == undisturbed

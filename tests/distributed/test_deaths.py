"""Workers and drivers that die, by real signals: the same picks, and no more done again than what was under way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pytest
import yaml

from benchcore.cli.main import app, execute
from benchcore.config import Config
from benchcore.distributed import checkpoints, crew
from benchcore.distributed.crew import Crew
from benchcore.distributed.job import select, selecting
from benchcore.distributed.on_actors.centre import magnitude
from benchcore.distributed.pool import Pool
from benchcore.distributed.vectors import Embeddings
from benchcore.errors import BenchcoreError
from benchcore.registry.manifests import read_picks
from benchcore.registry.root import Registry
from benchcore.registry.tables import pin, read
from tests.pipeline.prepared import prepared
from tests.standing import Standing

pytestmark = pytest.mark.usefixtures("ray_instance")
Made = tuple[Config, Registry, Pool]

# `benchcore`, killed right after it has kept so many pieces of its work.
DEADLY = """
import os, signal, sys
from benchcore.cli.main import main
from benchcore.distributed import checkpoints
save, left = checkpoints.save, int(sys.argv.pop(1))
def deadly(*arguments):
    global left
    save(*arguments)
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
checkpoints.save = deadly
main()
"""


def test_workers_that_die_or_freeze_change_nothing(
    made: Callable[..., Made], standing: Standing, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    """Killed while they read, pick and certify, and stopped in a merge, which a line tells: the bytes of one worker."""
    asked: Counter[str] = Counter()
    hit: dict[str, int] = {}
    ask_all, begin = Crew.ask_all, Crew.begin

    def deadly_to_all(workers: Crew, question: Callable[..., Any], *arguments: Any) -> list[Any]:
        name = question.__name__
        asked[name] += 1
        if (name, asked[name]) in (("sums", 1), ("gains", 5), ("gains_of_shard", 2)):
            hit[name] = pid_of(workers, len(hit) % 2)
            os.kill(hit[name], signal.SIGSTOP if name == "gains" else signal.SIGKILL)
            monkeypatch.setattr(crew, "_CHECK_S", 1)
        return ask_all(workers, question, *arguments)

    def deadly_to_holder(workers: Crew, shard: int, question: Callable[..., Any], *arguments: Any) -> Any:
        pid = pid_of(workers, 0) if shard == 2 else None
        call = begin(workers, shard, question, *arguments)
        if pid is not None:
            os.kill(pid, signal.SIGKILL)  # as the kernel would, with Ray none the wiser
            hit[question.__name__] = pid
        return call

    with standing.at_work():
        expected = picks(made(name="one", workers=1))
    config, registry, pool = made(name="deadly", workers=2)
    impatient = config.model_copy(update={"ray": config.ray.model_copy(update={"stall_timeout_s": 5})})
    monkeypatch.setattr(Crew, "ask_all", deadly_to_all)
    monkeypatch.setattr(Crew, "begin", deadly_to_holder)

    assert picks((impatient, registry, pool)).equals(expected)
    assert list(hit) == ["sums", "local_greedy", "gains", "gains_of_shard"]
    assert "does not answer for 5 s" in caplog.text


def picks(made: Made) -> pa.Table:
    config, registry, pool = made
    return read_picks(registry, select(config, registry, pool, "r1", pin(registry, ["embeddings"])).coreset_id)


def pid_of(crew: Crew, worker: int) -> int:
    """The process of an actor."""
    import ray

    return int(ray.get(crew._actors[worker].__ray_call__.remote(lambda actor: os.getpid())))


@pytest.fixture(scope="module")
def undisturbed(standing: Standing, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, pa.Table]:
    """How many pieces of work a selection keeps on its way, and its picks."""
    folder = tmp_path_factory.mktemp("undisturbed")
    return selected(configured(folder), folder, standing)


def configured(folder: Path) -> Path:
    """A small registry's configuration as a file, to be run on the shared Ray instance."""
    import ray

    section = {"k": 10, "method": "facility_location", "shard_size": 20, "workers": 1}
    config = prepared(folder, select=section, ray={"address": ray.get_runtime_context().gcs_address})
    path = folder / "conf.yaml"
    path.write_text(yaml.safe_dump(config.model_dump(mode="json", exclude_unset=True)))
    return path


def selected(conf: Path, folder: Path, standing: Standing) -> tuple[int, pa.Table]:
    """Run the command: how many pieces it kept, and the picks."""
    kept: list[str] = []
    save = checkpoints.save
    with standing.at_work(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "save", lambda *piece: (kept.append(piece[1]), save(*piece)))
        assert execute(app, ["select", str(conf)]) == 0
    columns = ["rank", "prompt_id", "gain", "represents"]
    return len(kept), read(Registry.at(folder / "registry"), "coresets").select(columns).sort_by("rank")


def what_joins() -> dict[str, str]:
    """What another driver needs for the Ray of this test run: its token, and to look for it on the loopback."""
    raylet = next(process for process in psutil.Process().children() if process.name() == "raylet")
    token = {name: value for name, value in raylet.environ().items() if name.startswith("RAY_AUTH")}
    return token | {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}


@pytest.mark.parametrize("pieces", [2, 6], ids=["local round", "merge"])
def test_a_driver_that_dies_repeats_only_what_was_under_way(
    tmp_path: Path, standing: Standing, undisturbed: tuple[int, pa.Table], pieces: int
):
    """Killed between two pieces of work; the same command finds all pieces, makes the others and ends the same."""
    conf = configured(tmp_path)
    died = subprocess.run(
        [sys.executable, "-c", DEADLY, str(pieces), "select", str(conf)],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **what_joins()},
    )
    assert died.returncode == -signal.SIGKILL, died.stderr
    folder = tmp_path / "registry" / "_checkpoints" / "select"
    left = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    shards = 4
    assert len(left) == min(pieces, shards) + (pieces > shards)  # a merge's piece replaces the one before

    again, found = selected(conf, tmp_path, standing)

    assert again == undisturbed[0] - pieces
    assert found.equals(undisturbed[1])
    kept = [path for path, made in left.items() if path.exists() and path.stat().st_mtime_ns == made]
    assert len(kept) == min(pieces, shards)


def test_what_no_restart_mends_is_told_in_one_line(made: Callable[..., Made], monkeypatch: pytest.MonkeyPatch):
    """A worker that dies each time, a node without the registry, a cluster without room, a mistake in a worker."""
    monkeypatch.setattr(crew, "_RESTARTS", 1)
    monkeypatch.setattr(crew, "_CHECK_S", 1)
    config, registry, pool = made()
    rows = selecting(config, registry, pool).shard_rows()
    embeddings = Embeddings(registry, 0, pool.encoder)

    def deadly(held: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def mistaken(held: Any) -> None:
        raise KeyError("nobody")

    with Crew(embeddings, rows, 1, 0) as workers:
        with pytest.raises(BenchcoreError, match=r"a selection worker failed \(KeyError: 'nobody'\)"):
            workers.ask_all(mistaken)
        with pytest.raises(BenchcoreError, match=r"died more than 1 times .*finished shards are kept"):
            workers.ask_all(deadly)
        with (
            Crew(embeddings, rows, 2, 0, patience_s=1) as late,
            pytest.raises(BenchcoreError, match=r"2 workers with 1 CPUs each found no room for 1 s on 1 node \(2 CPUs"),
        ):
            late.ask_all(magnitude)
    elsewhere = replace(embeddings, registry=Registry.at(Path(registry.root) / "elsewhere"))
    with (
        Crew(elsewhere, rows, 1, 0) as workers,
        pytest.raises(BenchcoreError, match="does not find the registry"),
    ):
        workers.ask_all(magnitude)

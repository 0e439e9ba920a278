"""kill -9 of any part of the cluster in the middle of a step, then the scheduler's retry: the undisturbed tables.

`make test-faults` runs them; FAULT='ray-node' those of one kind, SEED=7 at other moments. A kind meets each of its
steps in turn.
"""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.faults import FAULTS, kill
from tests.cluster.local_cluster import Cluster
from tests.cluster.night import Night
from tests.end_to_end import books, commands
from tests.end_to_end.commands import Command
from tests.end_to_end.corpora import write_registry

pytestmark = pytest.mark.faults

SEED, TRIALS = int(os.environ.get("SEED", "0")), int(os.environ.get("TRIALS", "3"))
ROWS = 200


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """What the tables say after one run on one machine."""
    folder = tmp_path_factory.mktemp("undisturbed")
    ended = commands.run(folder, "run", str(write_registry(folder, ROWS, shard_size=ROWS)))
    assert ended.status == 0, ended.err
    return books.contents(folder / "registry")


@pytest.fixture
def _the_clusters_store(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process reads the tables there."""
    cluster.up()
    for name, value in cluster.environment.items():
        if name.startswith("AWS_"):
            monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("_the_clusters_store")
@pytest.mark.parametrize(
    "trial",
    [(name, seed) for name in FAULTS for seed in range(SEED, SEED + TRIALS)],
    ids=lambda trial: "-".join(map(str, trial)),
)
def test_a_death_on_the_cluster(
    trial: tuple[str, int],
    cluster: Cluster,
    undisturbed: dict[str, list[dict[str, Any]]],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
):
    """Nothing is lost and nothing doubled; `registry check` finds the books balanced."""
    name, seed = trial
    fault, draw = FAULTS[name], random.Random(f"{name} {seed}")
    night = Night(cluster, tmp_path, f"{name}-{seed}-{os.urandom(2).hex()}", ROWS)
    when = fault.steps[seed % len(fault.steps)]
    moment, delay = draw.choice(fault.moments(when)), draw.random() * 0.3
    record_property("fault", name)
    record_property("step", when)
    record_property("moment", f"{moment} + {delay:.2f} s")

    def disturb(step: str, command: Command) -> None:
        if step != when:
            return
        command.wait_until(lambda: any(night.below_root.glob(moment)))
        assert not command.ended_within(delay), f"over too soon:\n{command.result().err}"
        record_property("killed", kill(fault, cluster, command, draw)[:100])
        record_property("lived_on", not command.ended_within(max(fault.stays_away_s, 0.01)))
        cluster.up()

    night.run(disturb)
    record_property("attempts", night.attempts)

    books.check_accounting(night.root)
    assert books.contents(night.root) == undisturbed
    checked = subprocess.run(
        [*commands.BENCHCORE, "registry", "check", str(tmp_path / "conf.yaml"), "--root", night.root],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout

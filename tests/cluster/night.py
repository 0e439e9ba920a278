"""A night on the local cluster: each step submitted as a scheduler does it, and again where it failed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster.local_cluster import CHECKOUT, Cluster
from tests.end_to_end.commands import Command, Ended
from tests.end_to_end.corpora import write_registry

STEPS = ("ingest", "embed", "select", "report")
_SCRIPTS = {"ingest": "ingest", "embed": "embed", "select": "selection", "report": "report"}
_ATTEMPTS = 4  # of each step, as infra/airflow has it
_LIMIT_S = 900.0


@dataclass
class Night:
    """The steps over a small registry on the cluster's store.

    Attributes:
        cluster: that is up.
        folder: empty; the raw files and what the steps say.
        name: of the registry, below the cluster's bucket.
        rows: prompts a benchmark.
        attempts: of each step that was done, how many it took.
    """

    cluster: Cluster
    folder: Path
    name: str
    rows: int
    attempts: dict[str, int] = field(default_factory=dict)

    @property
    def root(self) -> str:
        """The registry's address."""
        return f"s3://benchcore/{self.name}"

    @property
    def below_root(self) -> Path:
        """Where the store keeps the registry's files."""
        return self.cluster.state / "s3" / "benchcore" / self.name

    def run(self, disturb: Callable[[str, Command], None]) -> None:
        """Run the steps one after another; `disturb` is called once with each step and its first attempt."""
        conf = write_registry(self.folder, self.rows, shard_size=self.rows)
        for step in STEPS:
            first = self._submit(step, conf)
            disturb(step, first)
            ended = [first.result(_LIMIT_S)]
            while ended[-1].status != 0 and len(ended) < _ATTEMPTS:
                self.cluster.up()
                ended.append(self._submit(step, conf).result(_LIMIT_S))
            assert ended[-1].status == 0, _said(ended)
            self.attempts[step] = len(ended)

    def _submit(self, step: str, conf: Path) -> Command:
        environment = self.cluster.environment
        script = f"{CHECKOUT}/jobs/{_SCRIPTS[step]}.py"
        by = {
            "ingest": ["spark-submit", "--master", environment["SPARK_MASTER"]],
            "report": [sys.executable],
        }.get(step, ["ray", "job", "submit", "--address", environment["RAY_API_SERVER_ADDRESS"], "--", sys.executable])
        settings = ["--set", "ray.num_cpus=null", "--root", self.root]
        found = {**environment, "PATH": f"{environment['PATH']}:{os.environ['PATH']}"}
        return Command(self.folder, script, str(conf), *settings, program=by, environment=found)


def _said(ended: list[Ended]) -> str:
    """What the attempts have said; Ray's client says its part for each of them."""
    return "\n".join(f"attempt {number}:\n{one.out}\n{one.err}" for number, one in enumerate(ended, 1))

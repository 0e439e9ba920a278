"""What may die on a cluster: of each kind, the steps that need it, and which processes are it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import psutil

from tests.cluster.local_cluster import Cluster
from tests.end_to_end import commands
from tests.end_to_end.commands import Command

# What is on disk when a step has begun, is at work, and begins to commit.
MOMENTS = {
    "ingest": ("_staging/ingest/*", "_staging/ingest/*/prompts-changes/*", "prompts/_delta_log/*.json"),
    "embed": ("_staging/embeddings/*", "_staging/embeddings/*/*.parquet", "embeddings/_delta_log/*.json"),
    "select": ("_checkpoints/select/*", "coresets/_delta_log/*.json"),
}
WITH_SPARK, WITH_RAY = ("ingest",), ("embed", "select")


@dataclass(frozen=True)
class Fault:
    """A kind of death.

    Attributes:
        steps: in one of them it comes.
        victims: gives groups of processes; one group, by chance, is killed at once.
        stays_away_s: for how long nobody starts it again.
        only_at_work: there is none of it any more when a step commits.
    """

    steps: tuple[str, ...]
    victims: Callable[[Cluster, Command], list[list[psutil.Process]]]
    stays_away_s: float = 0.0
    only_at_work: bool = False

    def moments(self, step: str) -> tuple[str, ...]:
        """What is on disk when it may come."""
        return MOMENTS[step][:-1] if self.only_at_work else MOMENTS[step]


def _spark_driver(_cluster: Cluster, command: Command) -> list[list[psutil.Process]]:
    """The JVM that spark-submit has become, or the job's own process below it."""
    jobs = [process for process in command.family() if "jobs/ingest.py" in _line(process)]
    return [[psutil.Process(command.process.pid)], *[[process] for process in jobs]] if jobs else []


def _executor(cluster: Cluster, _command: Command) -> list[list[psutil.Process]]:
    return [
        [process]
        for part in cluster.parts("spark-worker-*")
        for process in part
        if "CoarseGrainedExecutorBackend" in _line(process)
    ]


def _actor(cluster: Cluster, _command: Command) -> list[list[psutil.Process]]:
    return [[process] for part in cluster.parts("ray-node-*") for process in part if _is_actor(process)]


def _node(cluster: Cluster, _command: Command) -> list[list[psutil.Process]]:
    """Nodes on which actors work."""
    return [part for part in cluster.parts("ray-node-*") if any(map(_is_actor, part))]


def _part(name: str) -> Callable[[Cluster, Command], list[list[psutil.Process]]]:
    return lambda cluster, _command: cluster.parts(name)


FAULTS = {
    "spark-driver": Fault(WITH_SPARK, _spark_driver),
    "spark-executor": Fault(WITH_SPARK, _executor),
    "spark-master": Fault(WITH_SPARK, _part("spark-master")),
    "ray-head": Fault(WITH_RAY, _part("ray-head")),
    "ray-node": Fault(WITH_RAY, _node, only_at_work=True),
    "ray-actor": Fault(WITH_RAY, _actor, only_at_work=True),
    "s3-server": Fault((*WITH_SPARK, *WITH_RAY), _part("s3"), stays_away_s=20.0),
}


def kill(fault: Fault, cluster: Cluster, command: Command, draw: random.Random) -> str:
    """kill -9 of what the fault is about as soon as it is there; says which it was."""
    found: list[list[psutil.Process]] = []

    def appeared() -> bool:
        found[:] = fault.victims(cluster, command)
        return bool(found)

    command.wait_until(appeared)
    group = draw.choice(found)
    name = _line(group[0])
    for process in group:
        commands.unless_gone(process, psutil.Process.kill)
    if any(process.pid == command.process.pid for process in group):
        command.process.wait()  # whoever waits first learns the status
    psutil.wait_procs(group, timeout=30)
    return name


def _is_actor(process: psutil.Process) -> bool:
    return bool(commands.unless_gone(process, commands.is_ray_actor))


def _line(process: psutil.Process) -> str:
    return " ".join(commands.unless_gone(process, psutil.Process.cmdline) or [])

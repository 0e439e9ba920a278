"""What each worker asks for of a cluster: a worker lives on one node, so what all nodes have together says little."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchcore.errors import BenchcoreError

_MOST_ON_A_CPU = 1000  # workers; Ray counts CPUs to four places


@dataclass(frozen=True)
class Node:
    """A machine of the cluster.

    Attributes:
        cpus: that it has, those in use included.
        memory: bytes that it has for actors, those in use included.
    """

    cpus: float
    memory: float


@dataclass(frozen=True)
class Share:
    """What each worker gets.

    Attributes:
        cpus: that it asks for.
        threads: that it runs.
        memory: bytes that it asks for.
    """

    cpus: float
    threads: int
    memory: int


def share(nodes: Sequence[Node], workers: int, memory: int) -> Share:
    """Share out a cluster's CPUs, whole ones where there are enough; more workers than CPUs take turns on them.

    What an actor asks for cannot be lowered later. So where their memory allows it, workers ask for no more than lets
    all of them find room again when the largest node is gone.

    Args:
        nodes: those that are alive.
        workers: how many there shall be.
        memory: bytes that each must have.

    Raises:
        BenchcoreError: the nodes do not have that memory.
    """
    cpus = _cpus(nodes, workers, memory)
    if cpus is None:
        raise BenchcoreError(
            f"{workers} workers that need {gib(memory)} of memory each do not fit {described(nodes)}",
            where="select",
            mend="Lower select.workers or select.shard_size, or use larger nodes.",
        )
    without_largest = sorted(nodes, key=lambda node: node.cpus)[:-1]
    return Share(_cpus(without_largest, workers, memory) or cpus, max(1, int(cpus)), memory)


def described(nodes: Sequence[Node]) -> str:
    """The nodes, for people."""
    each = ", ".join(f"{node.cpus:g} CPUs and {gib(node.memory)}" for node in nodes)
    return f"{len(nodes)} node{'' if len(nodes) == 1 else 's'} ({each})"


def _cpus(nodes: Sequence[Node], workers: int, memory: int) -> float | None:
    """The most that each can have; None where they do not fit."""
    most = int(max((node.cpus for node in nodes), default=0))
    demands: list[float] = [*range(most, 0, -1), *(1 / sharing for sharing in range(2, _MOST_ON_A_CPU + 1))]
    for cpus in demands:
        if sum(_fitting(node, cpus, memory) for node in nodes) >= workers:
            return cpus
    return None


def _fitting(node: Node, cpus: float, memory: int) -> int:
    by_cpus = int(node.cpus / cpus + 1e-9)
    return min(by_cpus, int(node.memory / memory)) if memory else by_cpus


def gib(size: float) -> str:
    """Bytes for people."""
    return f"{size / 2**30:.1f} GiB"

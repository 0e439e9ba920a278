"""A selection from 100 million prompts on a cluster, on paper: `python -m infra.scale.paper`, for docs/scale.md.

The figures are those of `benchcore/distributed/costs.py` at its constants; nothing is measured and nothing is run.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from benchcore.distributed.costs import GIB, Rates, Round, Work, needed, rounds, worker_bytes
from benchcore.distributed.plan import SAMPLED_ROWS, depth, merge_levels

N, DIMENSION, K = 100_000_000, 384, 1000
BUCKETS, SHARD_SIZE = 4096, 25_000
POOL_BYTES_A_PROMPT = 534  # of the columns of a pool, as the real registry's 118,013 prompts have them
MERGE_GIB = 64


@dataclass(frozen=True)
class Cluster:
    """Machines, and what they cost.

    Attributes:
        nodes: how many.
        cpus: of each.
        memory: bytes of each.
        network: bytes a second of each.
        price: of a CPU's hour, memory included.
    """

    nodes: int = 20
    cpus: int = 32
    memory: int = 128 * GIB
    network: float = 1.25e9
    price: float = 0.05


def work_on(cluster: Cluster, n: int = N) -> Work:
    """The selection, with four CPUs a worker."""
    sizes = [SHARD_SIZE] * (n // SHARD_SIZE)
    deep = depth(K, n)
    return Work(
        way="shards",
        sizes=tuple(sizes),
        dimension=DIMENSION,
        features=DIMENSION,
        k=K,
        depth=deep,
        levels=merge_levels(sizes, deep, MERGE_GIB * GIB),
        certificate="sampled",
        merge_bytes=MERGE_GIB * GIB,
        pool_bytes=POOL_BYTES_A_PROMPT * n,
        workers=cluster.nodes * cluster.cpus // 4,
        cpus=cluster.nodes * cluster.cpus,
    )


def network(work: Work, cluster: Cluster, found: Round) -> float:
    """Bytes that a round sends between machines, the table's files included."""
    row = 2 * (DIMENSION + 1)
    to_all = row * cluster.nodes
    if found.step == "centre":
        return 4 * work.n * DIMENSION + work.pool_bytes
    if found.step == "coverage":
        return 20 * work.n + K * to_all
    if found.step == "certificate":
        return SAMPLED_ROWS * to_all + 8 * work.n
    if found.name.startswith("merges of level") or found.name == "merge":
        level = work.levels[int(found.name.split()[3]) - 1 if len(work.levels) > 1 else 0]
        candidates = sum(len(merge.children) * work.depth for merge in level)
        holders = [min(len(merge.shards), work.workers) for merge in level]
        gains = sum(8 * work.depth * len(m.children) * held for m, held in zip(level, holders, strict=True))
        return 2 * candidates * row + candidates * row * min(cluster.nodes, max(holders)) + 16 * gains
    return 0.0


def say(line: str) -> None:
    """Write a line to stdout."""
    sys.stdout.write(line + "\n")


def main() -> None:
    """Print the cluster, the plan and the table of rounds."""
    cluster = Cluster()
    work = work_on(cluster)
    found = rounds(work, Rates(), cluster.nodes * cluster.memory)
    levels = ", ".join(f"{len(level):,} of {len(level[0].children)}" for level in work.levels)
    say(f"{work.n:,} prompts, {len(work.sizes):,} shards of {SHARD_SIZE:,}, depth {work.depth:,}; merges: {levels}")
    say(f"{cluster.nodes} nodes of {cluster.cpus} CPUs and {cluster.memory // GIB} GiB; {work.workers} workers")
    say(f"{worker_bytes(work) / GIB:.1f} GiB a worker, {needed(work) / GIB:,.0f} GiB in all")
    say("\n| round | time | memory, all nodes | network | money |\n|---|---|---|---|---|")
    hour = cluster.price * cluster.nodes * cluster.cpus
    for part in found:
        sent = network(work, cluster, part)
        seconds = part.seconds + sent / cluster.network / cluster.nodes
        say(f"| {part.name} | {_time(seconds)} | {part.expected / GIB:,.0f} GiB | {sent / GIB:,.1f} GiB |"
              f" {seconds / 3600 * hour:.2f} |")  # fmt: skip
    whole = sum(part.seconds + network(work, cluster, part) / cluster.network / cluster.nodes for part in found)
    say(f"| all | {_time(whole)} | {max(p.expected for p in found) / GIB:,.0f} GiB | | {whole / 3600 * hour:.2f} |")


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


if __name__ == "__main__":
    main()

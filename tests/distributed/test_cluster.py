"""Workers on several nodes: what each asks for, and nodes that are lost in the middle."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from benchcore.distributed.placement import Node, share
from benchcore.errors import BenchcoreError
from benchcore.registry.root import Registry
from benchcore.registry.tables import read
from tests.pipeline.prepared import prepared

GIB = 2**30


@pytest.mark.parametrize(
    ("nodes", "workers", "memory", "cpus", "threads"),
    [
        ([(8, 16)], 2, 0, 4, 4),  # one machine is shared out whole
        ([(2, 8)], 3, 0, 1 / 2, 1),  # more workers than CPUs take turns
        ([(2, 8), (2, 8)], 1, 0, 2, 2),  # never more than one node has, though there are four CPUs
        ([(4, 8), (4, 8)], 4, 1, 1, 2),  # one node could take all of them if the other were lost
        ([(4, 4), (4, 4)], 4, 2, 2, 2),  # one node could not: its memory is not enough for four
        ([(0, 8), (4, 8)], 2, 1, 2, 2),  # nobody works where there are no CPUs
        ([(16, 4), (4, 64)], 6, 4, 1 / 2, 1),  # memory decides where they go
    ],
)
def test_what_each_worker_asks_for_fits_the_nodes(
    nodes: list[tuple[int, int]], workers: int, memory: int, cpus: float, threads: int
):
    """CPUs and memory of single nodes count, not their sums."""
    found = share([Node(cpus, gib * GIB) for cpus, gib in nodes], workers, memory * GIB)

    assert (found.cpus, found.threads, found.memory) == (cpus, threads, memory * GIB)


def test_memory_that_no_node_has_is_told():
    """Two nodes of 4 GiB are not one of 8."""
    with pytest.raises(BenchcoreError, match=r"1 workers that need 6.0 GiB .* do not fit 2 nodes \(2 CPUs and 4.0 GiB"):
        share([Node(2, 4 * GIB)] * 2, 1, 6 * GIB)


# Three nodes, the head without CPUs; a node with workers is lost in the first merge, in one way or the other.
LOSSES = """
import os, signal, sys
import ray
from ray.cluster_utils import Cluster
from benchcore.cli.main import app, execute
from benchcore.distributed.crew import Crew
from benchcore.distributed.on_actors import merging

room = {"num_cpus": 2, "object_store_memory": 80 * 2**20, "memory": 2**30}
cluster = Cluster(initialize_head=True, head_node_args={**room, "num_cpus": 0, "include_dashboard": False})
os.environ["RAY_ADDRESS"] = cluster.address
nodes = [cluster.add_node(**room) for _ in range(2)]
ask_all, calls = Crew.ask_all, 0

def losing(crew, question, *arguments):
    global calls
    calls += question is merging.gains
    if question is merging.gains and calls == 2 and way != "undisturbed":
        where = crew._actors[0].__ray_call__.remote(lambda actor: ray.get_runtime_context().get_node_id())
        lost = next(node for node in nodes if node.node_id == ray.get(where))
        nodes.remove(lost)
        if way == "killed":
            os.kill(lost.all_processes["raylet"][0].process.pid, signal.SIGKILL)
        else:
            cluster.remove_node(lost)
        print("lost", flush=True)
    return ask_all(crew, question, *arguments)

Crew.ask_all = losing
for folder in sys.argv[1:]:
    way, calls = folder.rsplit("/")[-1], 0
    nodes += [cluster.add_node(**room) for _ in range(2 - len(nodes))]
    print(way, execute(app, ["select", f"{folder}/conf.yaml"]), flush=True)
ray.shutdown()
cluster.shutdown()
"""


@pytest.mark.slow
def test_a_node_that_is_lost_changes_nothing_as_long_as_the_others_have_room(tmp_path: Path):
    """Its machine is gone, or only Ray's process on it; two workers fit the other one, four do not."""
    ways = {"undisturbed": 2, "killed": 2, "removed": 2, "crowded": 4}
    for way, workers in ways.items():
        (tmp_path / way).mkdir()
        section = {"k": 10, "method": "facility_location", "shard_size": 20, "workers": workers}
        config = prepared(tmp_path / way, select=section, ray={"room_timeout_s": 3})
        tree = config.model_dump(mode="json", exclude_unset=True)
        (tmp_path / way / "conf.yaml").write_text(yaml.safe_dump(tree))

    ran = subprocess.run(
        [sys.executable, "-c", LOSSES, *(str(tmp_path / way) for way in ways)],
        capture_output=True,
        text=True,
        check=False,
    )

    ends = [line for line in ran.stdout.splitlines() if line.split(" ")[0] in {"lost", *ways}]
    assert ends == ["undisturbed 0", "lost", "killed 0", "lost", "removed 0", "lost", "crowded 1"], ran.stderr
    assert re.search(r"4 workers with 1 CPUs and 0\.\d GiB each found no room for 3 s on 2 nodes", ran.stderr)
    assert "finished shards are kept" in ran.stderr
    columns = ["rank", "prompt_id", "gain", "represents"]
    undisturbed, killed, removed = (
        read(Registry.at(tmp_path / way / "registry"), "coresets").select(columns).sort_by("rank")
        for way in ("undisturbed", "killed", "removed")
    )
    assert undisturbed.equals(killed)
    assert undisturbed.equals(removed)

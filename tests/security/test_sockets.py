"""What the engines that a run starts on this machine let in: this user's own processes, and nobody else's."""

from __future__ import annotations

import ipaddress
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

LOOPBACK = [ipaddress.ip_network(network) for network in ("127.0.0.0/8", "::1/128")]


def listening() -> Iterator[tuple[str, str]]:
    """Process and address of all that this process and those that it has started listen on."""
    for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
        try:
            found = process.net_connections("inet")
            yield from ((process.name(), one.laddr.ip) for one in found if one.status == psutil.CONN_LISTEN)
        except psutil.NoSuchProcess:
            continue


def is_loopback(address: str) -> bool:
    found = ipaddress.ip_address(address)
    known = getattr(found, "ipv4_mapped", None) or found
    return any(known in network for network in LOOPBACK if network.version == known.version)


@pytest.mark.usefixtures("ray_instance")
def test_ray_lets_nobody_in_from_elsewhere():
    """Left to itself, it listens on every address of the machine."""
    import ray

    @ray.remote(num_cpus=0)
    def answer() -> int:
        return 1

    assert ray.get(answer.remote()) == 1  # a worker listens, too
    found = list(listening())

    assert {"gcs_server", "raylet"} <= {name for name, _ in found}
    assert [(name, address) for name, address in found if not is_loopback(address)] == []


@pytest.mark.usefixtures("spark")
def test_spark_lets_nobody_in_from_elsewhere():
    """Driver, block manager and the door to Python, with workers running."""
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    assert session is not None
    assert session.range(4).repartition(2).count() == 4
    found = list(listening())

    assert "java" in {name for name, _ in found}
    assert [(name, address) for name, address in found if not is_loopback(address)] == []


@pytest.mark.usefixtures("ray_instance")
def test_ray_asks_for_a_token_that_no_other_user_can_read():
    """It is in the environment of the cluster's processes alone; their sockets lie where nobody can replace them."""
    import ray

    started = {process.name(): process for process in psutil.Process().children(recursive=True)}
    token = started["gcs_server"].environ().get("RAY_AUTH_TOKEN", "")

    assert os.environ.get("RAY_AUTH_MODE") == "token"
    assert len(token) >= 32
    assert started["raylet"].environ()["RAY_AUTH_TOKEN"] == token
    assert os.environ.get("RAY_AUTH_TOKEN") != token
    folder = Path(ray._private.worker._global_node.get_session_dir_path()).parents[1]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert folder.stat().st_uid == os.getuid()

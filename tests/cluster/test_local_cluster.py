"""`infra/local-cluster`: safe to start twice, private, and mended by the same command; its end is in `conftest.py`."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
from pathlib import Path

import psutil
import pytest

from tests.cluster.local_cluster import CHECKOUT, Cluster
from tests.end_to_end.commands import Command
from tests.end_to_end.corpora import write_registry

pytestmark = pytest.mark.slow


def _leaders(cluster: Cluster) -> dict[str, int]:
    return {file.stem: int(file.read_text().split()[0]) for file in cluster.state.glob("*.pid")}


def test_up_again_changes_nothing(cluster: Cluster):
    """The same addresses, the same processes."""
    before, said = _leaders(cluster), cluster.up()

    assert _leaders(cluster) == before
    assert all(cluster.environment[name] in said for name in ("SPARK_MASTER", "RAY_ADDRESS", "AWS_ENDPOINT_URL"))


def test_it_is_for_this_user_on_this_machine(cluster: Cluster):
    """Nothing listens beyond the loopback address, and nobody else can read keys and token."""
    places = [
        connection.laddr.ip.removeprefix("::ffff:")
        for process in cluster.processes()
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    private = [cluster.state / name for name in ("env", "ray-token", "settings.json")]

    assert set(places) == {"127.0.0.1"}
    assert [stat.S_IMODE(file.stat().st_mode) for file in private] == [0o600] * 3


def test_nobody_without_the_secret_runs_code(cluster: Cluster, tmp_path: Path):
    """Whoever reaches the port of Spark's master, as all users of the machine do, is refused."""
    job = tmp_path / "job.py"
    job.write_text("from pyspark.sql import SparkSession\nprint(SparkSession.builder.getOrCreate().range(7).count())\n")
    local = ["--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.driver.bindAddress=127.0.0.1"]
    by = ["spark-submit", "--master", cluster.environment["SPARK_MASTER"], *local, str(job)]
    mine = subprocess.run(by, env={**os.environ, **cluster.environment}, capture_output=True, text=True, check=False)
    public = {name: cluster.environment[name] for name in ("JAVA_HOME", "SPARK_HOME", "PYSPARK_PYTHON", "PATH")}
    theirs = subprocess.run(by, env=public, capture_output=True, text=True, check=False)

    assert (mine.returncode, mine.stdout.split()[-1]) == (0, "7"), mine.stderr
    assert theirs.returncode != 0
    assert "SASL" in theirs.stdout + theirs.stderr


def test_what_was_asked_for_otherwise_or_cannot_be_is_told(cluster: Cluster, tmp_path: Path):
    """And what is up stays as it is."""
    (tmp_path / "file").touch()
    taken = cluster.environment["SPARK_MASTER"].rpartition(":")[2]
    told = {
        ("--state", str(cluster.state), "--workers", "3"): "the cluster that is up was made without --workers",
        ("--state", str(cluster.state), "--without-s3"): "was made without --without-s3",
        ("--state", str(tmp_path / "new"), "--spark-port", taken): f"--spark-port: port {taken} is taken",
        ("--state", str(tmp_path / "file" / "x")): "Not a directory",
    }
    for options, line in told.items():
        ended = subprocess.run(
            [f"{CHECKOUT}/infra/local-cluster/up", *options], capture_output=True, text=True, check=False
        )
        assert ended.returncode in (1, 2)
        assert line in ended.stderr
        assert len(ended.stderr.splitlines()) == 1


def test_what_was_killed_comes_back_at_its_address(cluster: Cluster):
    """kill -9 of the store, a worker of Spark and a node of Ray; `up` starts these three and lets the others be."""
    before = _leaders(cluster)
    killed = {"s3", "spark-worker-1", "ray-node-1"}
    for part in killed:
        psutil.Process(before[part]).send_signal(signal.SIGKILL)

    said, after = cluster.up(), _leaders(cluster)

    assert {part for part in before if after[part] != before[part]} == killed
    assert cluster.environment["AWS_ENDPOINT_URL"] in said


def test_a_job_that_has_lost_all_executors_ends_in_time(cluster: Cluster, tmp_path: Path):
    """By itself Spark's driver would wait for ever; the next attempt does the work."""
    conf = str(write_registry(tmp_path, 6, k=6))
    by = ["spark-submit", "--master", cluster.environment["SPARK_MASTER"], f"{CHECKOUT}/jobs/ingest.py"]
    for worker in cluster.parts("spark-worker-*"):
        for process in worker:
            process.kill()
    settings = ("--set", "spark.room_timeout_s=20")
    without = Command(tmp_path, conf, *settings, program=by, environment=cluster.environment).result()
    cluster.up()
    again = Command(tmp_path, conf, *settings, program=by, environment=cluster.environment).result()

    assert without.status == 1, without.err
    (told,) = (
        line for line in without.out.splitlines() if line.startswith("benchcore: error: ")
    )  # spark-submit joins both
    assert f"{cluster.environment['SPARK_MASTER']}: Spark has had no executor for 20 s" in told
    assert "Traceback" not in without.out
    assert again.status == 0, again.err

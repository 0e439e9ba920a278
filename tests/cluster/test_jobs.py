"""The jobs, submitted as a cluster's scheduler does it, make the tables that one machine makes by itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.local_cluster import CHECKOUT, Cluster
from tests.end_to_end import books

pytestmark = pytest.mark.slow

CONF = str(CHECKOUT / "conf" / "cluster.yaml")
SAME = ["--set", "embed.encoder.precision=float32"]  # else each registry measures which is faster
_LIMIT_S = 3000


def _run(folder: Path, command: list[str], environment: dict[str, str]) -> str:
    """Run a command in a folder; gives all that it says."""
    ran = subprocess.run(
        command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=_LIMIT_S, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout
    return ran.stdout


@pytest.fixture(scope="module")
def submitted(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What the four jobs said, over the demo (7,860 prompts)."""
    if not (CHECKOUT / "demo-data").is_dir():
        pytest.skip("no demo data (make demo-data)")
    folder, environment = tmp_path_factory.mktemp("jobs"), {**os.environ, **cluster.environment}
    job = ["ray", "job", "submit", "--address", environment["RAY_API_SERVER_ADDRESS"], "--"]
    commands = [
        ["spark-submit", "--master", environment["SPARK_MASTER"], f"{CHECKOUT}/jobs/ingest.py"],
        [*job, sys.executable, f"{CHECKOUT}/jobs/embed.py"],
        [*job, sys.executable, f"{CHECKOUT}/jobs/selection.py"],
        [sys.executable, f"{CHECKOUT}/jobs/report.py"],
    ]
    return [_run(folder, [*command, CONF, *SAME], environment) for command in commands]


def test_they_make_the_tables_of_one_machine(
    cluster: Cluster, submitted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Row for row and byte for byte, but for run ids and times."""
    command = [sys.executable, "-m", "benchcore", "run", CONF, *SAME, "--root", str(tmp_path / "registry")]
    _run(tmp_path, command, dict(os.environ))
    for name, value in cluster.environment.items():
        monkeypatch.setenv(name, value)

    books.check_accounting("s3://benchcore/registry")
    assert books.contents("s3://benchcore/registry") == books.contents(tmp_path / "registry")


def test_keys_are_told_to_nobody(cluster: Cluster, submitted: list[str]):
    """Neither the store's keys nor Ray's token stand in what the jobs said, in any log or in any stored file."""
    secrets = [cluster.environment["AWS_SECRET_ACCESS_KEY"], (cluster.state / "ray-token").read_text()]
    places = [cluster.state / name for name in ("logs", "spark", "s3")]
    files = [file for place in places for file in place.rglob("*") if file.is_file()]

    assert len(files) > 100
    for secret in secrets:
        assert not any(secret in said for said in submitted)
        assert [file for file in files if secret.encode() in file.read_bytes()] == []

"""What the tests on object stores and clusters share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster import local_cluster, s3_server


@pytest.fixture(scope="session")
def s3_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder that a real S3 server shows as the bucket `bench`; the environment, of children too, leads there."""
    if s3_server.program() is None:
        pytest.skip("no versitygw in .cache/bin or on the path (infra/local-cluster/up builds it)")
    pytest.importorskip("obstore")
    server = s3_server.Server(tmp_path_factory.mktemp("s3"))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in server.environment.items():
            patch.setenv(name, value)
        yield server.bucket
    server.stop()


@pytest.fixture
def root(s3_folder: Path, tmp_path: Path) -> str:
    """The root of a registry that is not there yet, in that bucket."""
    return f"s3://{s3_folder.name}/{tmp_path.name}"


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[local_cluster.Cluster]:
    """Spark, Ray and a store as processes of their own; nothing of them is left afterwards."""
    pytest.importorskip("aiohttp_cors", reason="the extra `cluster` is not installed")
    started = local_cluster.start(tmp_path_factory.mktemp("cluster"))
    yield started
    started.down()
    assert started.processes() == []

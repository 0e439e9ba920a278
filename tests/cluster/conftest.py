"""What the tests on object stores and clusters share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import local_cluster, s3_server
from tests.end_to_end import books, commands
from tests.end_to_end.corpora import write_registry


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[s3_server.Server]:
    """A real S3 server; the environment of this process, and of those that it starts, leads there."""
    if s3_server.program() is None:
        pytest.skip("no versitygw in .cache/bin or on the path (infra/local-cluster/up builds it)")
    server = s3_server.Server(tmp_path_factory.mktemp("s3"))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in server.environment.items():
            patch.setenv(name, value)
        yield server
    server.kill()


@pytest.fixture
def root(s3: s3_server.Server, tmp_path: Path) -> str:
    """The root of a registry that is not there yet, in that server's bucket."""
    return f"s3://{s3.bucket.name}/{tmp_path.name}"


@pytest.fixture
def below_root(s3: s3_server.Server, tmp_path: Path) -> Path:
    """Where the server keeps what is put below that root."""
    return s3.bucket / tmp_path.name


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """What the tables of the small registry say after one run in a local folder."""
    folder = tmp_path_factory.mktemp("undisturbed")
    ended = commands.run(folder, "run", str(write_registry(folder)))
    assert ended.status == 0, ended.err
    return books.contents(folder / "registry")


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[local_cluster.Cluster]:
    """Spark, Ray and a store as processes of their own; nothing of them is left afterwards."""
    pytest.importorskip("aiohttp_cors", reason="the extra `cluster` is not installed")
    started = local_cluster.start(tmp_path_factory.mktemp("cluster"))
    yield started
    started.down()
    assert started.processes() == []

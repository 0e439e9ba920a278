"""What the whole test run shares: one Spark session, one Ray instance (started when first asked for), real data."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchcore.config import RaySection, SparkSection
from tests.fault_ledger import pytest_collection_modifyitems, pytest_runtest_logreport  # noqa: F401 # hooks

if TYPE_CHECKING:
    from tests.standing import Standing

# In the background or under nohup, SIGINT is ignored, by this process and by all that it starts; tests interrupt both.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """The one Spark session with Delta of this test run."""
    from benchcore.ingest.session import start

    session = start(SparkSection(driver_memory="1g"))
    yield session
    session.stop()


@pytest.fixture(scope="session")
def ray_instance() -> Iterator[None]:
    """The one Ray instance of this test run, with two CPUs whatever the machine has."""
    import ray

    from benchcore.ray_cluster import connect

    connect(RaySection(num_cpus=2, object_store_mb=256))
    yield
    ray.shutdown()


@pytest.fixture(scope="session")
def standing(ray_instance: None) -> Standing:
    """The workers of this test run, for selections and embeddings while they are `at_work`."""
    from tests.standing import Standing

    return Standing()


@pytest.fixture
def standing_workers(standing: Standing) -> Iterator[None]:
    """Ray, with workers that outlive what they are asked for; for tests that are not about how workers come and go."""
    with standing.at_work():
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real benchmark data, where there is one ($BENCHCORE_SHARED_DATA, or beside the checkout)."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("BENCHCORE_SHARED_DATA", default))
    if not (folder / "prompts" / "index.csv").is_file():
        pytest.skip(f"no real benchmark data at {folder} (set BENCHCORE_SHARED_DATA)")
    return folder

"""The Ray cluster that a command's actors run on: joined when it has an address, else started on this machine."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchcore.config import RaySection
from benchcore.errors import BenchcoreError, UsageError

log = logging.getLogger(__name__)

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@contextmanager
def ray_cluster(section: RaySection) -> Iterator[None]:
    """Connect to Ray for the duration of a block; one that is already connected is used and left as it is.

    Raises:
        UsageError: Ray is not installed.
        BenchcoreError: the cluster cannot be reached or started.
    """
    try:
        import ray
    except ImportError:
        raise UsageError("Ray is not installed", mend="Install it with: pip install 'benchcore[ray]'.") from None
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else Ray warns on every machine without a GPU
    # What Ray's C++ core has to say goes to its session folder; on the terminal it looks like a failure of ours.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    local: dict[str, Any] = {"num_cpus": section.num_cpus, "object_store_memory": section.object_store_mb * 1024**2}
    try:
        ray.init(
            address=section.address or "local",
            include_dashboard=None if section.address else False,
            log_to_driver=False,
            logging_level=logging.ERROR,
            **({} if section.address else local),
        )
    except (ConnectionError, RuntimeError, ValueError, OSError, TimeoutError) as error:
        raise BenchcoreError(
            f"Ray could not be started or reached ({error})",
            where=section.address or "this machine",
            mend="`benchcore doctor` says what it needs.",
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def cluster_cpus() -> int:
    """Whole CPUs of the connected cluster."""
    import ray

    return max(1, int(ray.cluster_resources().get("CPU", 1)))  # type: ignore[no-untyped-call]


def thread_environment(cpus: int) -> dict[str, str]:
    """Environment of an actor with `cpus` CPUs: Ray itself sets only OMP_NUM_THREADS."""
    return dict.fromkeys(_THREAD_VARIABLES, str(max(1, cpus))) | {"TOKENIZERS_PARALLELISM": "false"}

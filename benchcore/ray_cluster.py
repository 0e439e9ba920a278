"""The Ray cluster that actors run on: joined where there is an address, else started on this machine."""

from __future__ import annotations

import logging
import os
from typing import Any

from benchcore.config import RaySection
from benchcore.errors import BenchcoreError, UsageError

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def connect(section: RaySection) -> None:
    """Connect this process to Ray, unless it is already; the connection serves later steps and ends with the process.

    Raises:
        UsageError: Ray is not installed.
        BenchcoreError: the cluster cannot be reached or started.
    """
    try:
        import ray
    except ImportError:
        raise UsageError("Ray is not installed", mend="Install it with: pip install 'benchcore[ray]'.") from None
    if ray.is_initialized():
        return
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else Ray warns on every machine without a GPU
    address = _address(section)
    options: dict[str, Any] = {}
    if address == "local":
        store = section.object_store_mb * 1024**2
        options = {"num_cpus": section.num_cpus, "object_store_memory": store, "include_dashboard": False}
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **options)
    except (ConnectionError, RuntimeError, ValueError, OSError, TimeoutError) as error:
        raise BenchcoreError(
            f"Ray could not be started or reached ({error})",
            where="this machine" if address == "local" else address,
            mend="`benchcore doctor` says what it needs.",
        ) from error


def is_joined(section: RaySection) -> bool:
    """Whether there is a cluster to be joined; else Ray is started on this machine and for this process."""
    return _address(section) != "local"


def _address(section: RaySection) -> str:
    return section.address or os.environ.get("RAY_ADDRESS") or "local"  # `ray job submit` sets the variable


def cluster_cpus() -> int:
    """Whole CPUs of the connected cluster."""
    import ray

    return max(1, int(ray.cluster_resources().get("CPU", 1)))  # type: ignore[no-untyped-call]


def thread_environment(cpus: int) -> dict[str, str]:
    """Environment of an actor with `cpus` CPUs: Ray itself sets only OMP_NUM_THREADS."""
    return dict.fromkeys(_THREAD_VARIABLES, str(max(1, cpus))) | {"TOKENIZERS_PARALLELISM": "false"}

"""The Ray cluster that actors run on: joined where there is an address, else started on this machine."""

from __future__ import annotations

import logging
import os
import secrets
import signal
import stat
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchcore.config import RaySection
from benchcore.errors import BenchcoreError, UsageError

log = logging.getLogger(__name__)

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

_QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
_TOKENS = {"RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"}
_LONGEST_FOLDER = 36  # characters: the path of a socket below it has 107 at most


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
    os.environ.setdefault("RAY_IGNORE_UNHANDLED_ERRORS", "1")  # the first of several is told by us, without a traceback
    address, ends_by = _address(section), signal.getsignal(signal.SIGTERM)
    _keep_off_stdout()
    try:
        if address == "local":
            _start(section)
        else:
            ray.init(address=address, **_QUIET)
    except (ConnectionError, RuntimeError, ValueError, OSError, TimeoutError) as error:
        raise BenchcoreError(
            f"Ray could not be started or reached ({error})",
            where="this machine" if address == "local" else address,
            mend="`benchcore doctor` says what it needs.",
        ) from error
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, ends_by)  # Ray's own writes a stack of addresses to stderr first


def _keep_off_stdout() -> None:
    """Let Ray tell of workers that died where we tell things: it writes to stdout, which is for results."""
    from ray._private import worker

    worker.print_to_stdstream = _told_by_ray


def _told_by_ray(data: Mapping[str, Any], ignore_prefix: bool) -> None:  # as Ray calls it
    for line in data["lines"]:
        log.info("Ray: %s", str(line).partition("\n")[0][:200])


def _start(section: RaySection) -> None:
    """Start a cluster of this machine that nobody else can reach, read or pass for.

    Its processes listen on the loopback address alone: left to itself Ray listens on all, and turns 127.0.0.1 into the
    machine's own address. Its token is in the environment of what is started here and nowhere else: Ray's own one lies
    in a file that all users may read, unless somebody gave another.
    """
    import ray
    from ray._private import ray_constants

    reachable, gives_token = ray_constants.ENABLE_RAY_CLUSTER, not _TOKENS & os.environ.keys()
    try:
        ray_constants.ENABLE_RAY_CLUSTER = False
        if gives_token:
            os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
        ray.init(
            address="local",
            num_cpus=section.num_cpus,
            object_store_memory=section.object_store_mb * 1024**2,
            include_dashboard=False,
            _temp_dir=_own_folder(),
            **_QUIET,
        )
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = reachable
        if gives_token:
            os.environ.pop("RAY_AUTH_TOKEN", None)


def _own_folder() -> str | None:
    """A folder for Ray's sockets and logs that is this user's alone; None where Ray is told another, or all are deep.

    Ray gives its own folders to everybody, who could then put sockets of theirs into the place of ours.
    """
    folder = Path(tempfile.gettempdir()) / f"benchcore-ray-{os.getuid()}"
    if "RAY_TMPDIR" in os.environ or len(str(folder)) > _LONGEST_FOLDER:
        return None
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        mend = "Let TMPDIR name a folder of your own."
        raise BenchcoreError("is somebody else's, and Ray would keep its sockets there", str(folder), mend)
    folder.chmod(0o700)
    return str(folder / "ray")  # which Ray opens to everybody who gets that far


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


def use_threads(threads: int) -> None:
    """Have this actor's process compute with so many threads, in libraries that it has loaded or will load.

    Variables that Ray is asked to set do the same, at the price of starting each worker's interpreter twice.
    """
    from threadpoolctl import threadpool_limits

    os.environ.update(thread_environment(threads))
    threadpool_limits(threads)

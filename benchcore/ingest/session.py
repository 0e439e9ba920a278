"""The Spark session with Delta: small and quiet on one machine, the given one on a cluster."""

from __future__ import annotations

import getpass
import importlib.util
import logging
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from benchcore.config import SparkSection
from benchcore.errors import BenchcoreError
from benchcore.ingest.jars import jars_folder, resolve_jars, resolve_s3_jars, s3_jars_folder
from benchcore.ingest.java import java_home_or_error
from benchcore.ingest.object_stores import spark_settings
from benchcore.masking import names_a_secret
from benchcore.registry.object_store import is_s3

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

_ATTEMPTS = 4  # a task whose Python worker was killed runs again; a local master's default is one attempt

# Loggers that write to the terminal what is raised as an exception anyway.
_NOISY = ("py4j", "DataFrameQueryContextLogger", "SQLQueryContextLogger")

# What the jobs themselves need, on any cluster; all can be set on a session that exists already.
_JOB_CONF = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(16 * 1024**2),  # prompts can be long: bounds the workers' memory
    "spark.databricks.delta.snapshotPartitions": "2",  # the default, 50, makes each first read of a table slow
    "spark.databricks.delta.maxCommitAttempts": "0",  # again: whoever came between has taken over the lock of this run
}
# Where the context is the jobs' own, or a submission's that is about to be.
_CONTEXT_CONF = {
    # Not TCP: with both buffers full, Linux 6.18 was seen to lose both ends' packets until a task stood still for good.
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}


@contextmanager
def session(section: SparkSection, keep_open: Sequence[int] = (), root: str = "") -> Iterator[SparkSession]:
    """The session that is active in this process, or one of its own that ends with the block."""
    require_pyspark()
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    own = start(section, keep_open, root)
    try:
        yield own
    finally:
        stop(own)


def start(section: SparkSection, keep_open: Sequence[int] = (), root: str = "") -> SparkSession:
    """Start a session with Delta.

    Under spark-submit or with $SPARK_REMOTE, master, memory and jars are the submission's. Else a JVM is started whose
    own output stays off the terminal.

    Args:
        section: master, memory, folder of jars, and settings that win over all others.
        keep_open: file descriptors that the JVM inherits and holds for as long as it lives.
        root: of the registry; one on an object store takes further jars and settings.

    Raises:
        BenchcoreError: pyspark is not installed, no fitting Java, no jars, or Spark does not start.
    """
    try:
        import pyspark  # noqa: F401
    except ImportError as error:
        raise BenchcoreError("pyspark is not installed", mend="pip install 'benchcore[spark]'.") from error
    for noisy in _NOISY:
        logging.getLogger(noisy).setLevel(logging.CRITICAL)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else workers run whatever python3 is on the path
    if "SPARK_REMOTE" in os.environ:
        return _on_top(section, {})
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return _on_top(section, _CONTEXT_CONF | spark_settings(root))
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["JAVA_HOME"] = str(java_home_or_error())
    conf = _own_conf(section, root)
    _launch(conf, keep_open)
    return _on_top(section, {})


def require_pyspark() -> None:
    """Raise a BenchcoreError that says how to install pyspark, where it is missing."""
    if importlib.util.find_spec("pyspark") is None:
        raise BenchcoreError("pyspark is not installed", mend="Install it with: pip install 'benchcore[spark]'.")


def stop(spark: SparkSession) -> None:
    """End a session and its JVM, so that the process can start another one."""
    from pyspark import SparkContext

    spark.stop()
    gateway = SparkContext._gateway
    if gateway is None:
        return
    gateway.shutdown()
    process = getattr(gateway, "proc", None)
    if process is not None:
        process.stdin.close()  # the JVM ends when its standard input does
        process.wait()
    SparkContext._gateway = SparkContext._jvm = None


def _on_top(section: SparkSection, given: dict[str, str]) -> SparkSession:
    """The session of the context that is there, or of a submission's that is about to be, with what the jobs need."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for key, value in (given | _JOB_CONF | section.conf).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _own_conf(section: SparkSection, root: str) -> dict[str, str]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    master = section.master or f"local[{cores}, {_ATTEMPTS}]"
    jars = resolve_jars(jars_folder(section), section.conf)
    scratch = Path(tempfile.gettempdir()) / f"benchcore-spark-{getpass.getuser()}"
    log4j = (Path(__file__).parent / "log4j2.properties").as_uri()
    java = [f"-Dlog4j2.configurationFile={log4j}"]
    if master.startswith("local"):
        java.append(
            "-XX:TieredStopAtLevel=1"
        )  # a session lives for a minute: the second compiler costs more than it gives
    conf = {
        "spark.app.name": "benchcore",
        "spark.master": master,
        "spark.driver.memory": section.driver_memory,
        "spark.driver.extraJavaOptions": " ".join(java),
        "spark.jars": ",".join(jar.as_uri() for jar in jars),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.warehouse.dir": (scratch / "warehouse").as_uri(),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.shuffle.partitions": str(max(2, cores)),
        **_CONTEXT_CONF,
        **_JOB_CONF,
        **spark_settings(root),
    }
    if is_s3(root):  # on the path, not among `spark.jars`: those are copied to each executor
        folder = s3_jars_folder(section)
        resolve_s3_jars(folder, section.conf)
        conf |= {f"spark.{side}.extraClassPath": f"{folder}/*" for side in ("driver", "executor")}
    if master.startswith("local"):
        conf |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    return conf | section.conf


def _launch(conf: dict[str, str], keep_open: Sequence[int]) -> None:
    """Start the JVM with its output in a file of its own, and a Spark context in it."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    settings = SparkConf(loadDefaults=False).setAll(list(conf.items()))
    with tempfile.TemporaryFile() as output:
        try:
            gateway = launch_gateway(  # type: ignore[no-untyped-call]
                SparkConf(loadDefaults=False).setAll(list(_shown(conf).items())),
                popen_kwargs={"stdout": output, "stderr": output, "pass_fds": tuple(keep_open)},
            )
            SparkContext(conf=settings, gateway=gateway)
        except Exception as error:
            told = _tail(output)
            log.debug("Spark did not start: %s\n%s", error, told)
            last = told.strip().splitlines()[-1] if told.strip() else str(error)
            raise BenchcoreError(
                f"Spark does not start ({last})", mend="Run 'benchcore doctor'; --debug shows all that Spark said."
            ) from error


def _shown(conf: dict[str, str]) -> dict[str, str]:
    """Settings for the JVM's command line, which all users of the machine can see; the context gets the others too."""
    return {key: value for key, value in conf.items() if not names_a_secret(key)}


def _tail(output: IO[bytes], characters: int = 8000) -> str:
    output.seek(0, os.SEEK_END)
    output.seek(max(0, output.tell() - characters))
    return output.read().decode("utf-8", "replace")

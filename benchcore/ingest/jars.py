"""Delta's jars, and those for S3: resolved once into a folder, so that no session needs a network or waits for Ivy."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import benchcore
from benchcore.config import SparkSection
from benchcore.errors import BenchcoreError
from benchcore.ingest.java import java_home_or_error

log = logging.getLogger(__name__)

PACKAGE = "io.delta:delta-spark_4.2_2.13:4.4.0"
_LAST = "io.delta_delta-spark_4.2_2.13-4.4.0.jar"  # moved in last: where it is, the others are too


def jars_folder(section: SparkSection) -> Path:
    """The folder of Delta's jars: `spark.jars`, else $BENCHCORE_JARS, else a cache of the checkout or the user."""
    given = section.jars or os.environ.get("BENCHCORE_JARS")
    if given:
        return Path(given).expanduser().absolute()
    checkout = Path(benchcore.__file__).resolve().parents[1]
    if (checkout / "pyproject.toml").is_file():
        return checkout / ".cache" / "jars"
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "benchcore" / "jars"


def jars_present(folder: Path) -> bool:
    """Whether all of Delta's jars of the right version are in a folder."""
    return (folder / _LAST).is_file()


def resolve_jars(folder: Path, conf: Mapping[str, str] | None = None) -> list[Path]:
    """Fetch Delta's jars through Ivy into a folder, unless they are there; ones that Spark brings itself are left out.

    Args:
        folder: where they go; made if missing. A jar arrives under its name only when it is whole.
        conf: Spark's settings; those of Ivy (`spark.jars.ivySettings`, `spark.jars.repositories`) are used.

    Returns:
        The jars of the folder, sorted.

    Raises:
        BenchcoreError: no Java, no network, or the folder cannot be written.
    """
    return _resolve(folder, PACKAGE, _LAST, conf or {}, "Delta's jars")


def s3_jars_folder(section: SparkSection) -> Path:
    """The folder of the jars for S3: beside that of Delta's, with `-s3` behind its name."""
    folder = jars_folder(section)
    return folder.with_name(f"{folder.name}-s3")


def resolve_s3_jars(folder: Path, conf: Mapping[str, str] | None = None) -> list[Path]:
    """The same for what Spark needs to read and write S3: hadoop-aws with Amazon's SDK, 690 MB.

    Raises:
        BenchcoreError: as `resolve_jars`.
    """
    version = _hadoop_version()
    last = f"org.apache.hadoop_hadoop-aws-{version}.jar"
    return _resolve(folder, f"org.apache.hadoop:hadoop-aws:{version}", last, conf or {}, "the jars for S3 (690 MB)")


def _hadoop_version() -> str:
    """Of the Hadoop that came with Spark: hadoop-aws must be of the same."""
    import pyspark

    client = next((Path(pyspark.__file__).parent / "jars").glob("hadoop-client-api-*.jar"))
    return client.stem.removeprefix("hadoop-client-api-")


def _resolve(folder: Path, package: str, last: str, conf: Mapping[str, str], what: str) -> list[Path]:
    """Fetch a package and what it needs; where its jar `last` is, all others are too."""
    if not (folder / last).is_file():
        log.info("fetching %s once into %s", what, folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder) as temporary:
                _move(_fetch(Path(temporary), package, last, conf), folder, last)
        except OSError as error:
            raise BenchcoreError(
                f"{what} cannot be stored ({error.strerror})", where=str(folder), mend="Set spark.jars."
            ) from error
    return sorted(folder.glob("*.jar"))


def _fetch(ivy: Path, package: str, last: str, conf: Mapping[str, str]) -> list[Path]:
    import pyspark

    script = ivy / "nothing.py"
    script.touch()
    home = Path(pyspark.__file__).parent
    command = [str(home / "bin" / "spark-submit"), "--master", "local[1]", "--packages", package]
    settings = {
        key: value for key, value in conf.items() if key in ("spark.jars.ivySettings", "spark.jars.repositories")
    }
    for key, value in {**settings, "spark.jars.ivy": str(ivy)}.items():
        command += ["--conf", f"{key}={value}"]
    environment = {**os.environ, "JAVA_HOME": str(java_home_or_error()), "SPARK_HOME": str(home)}
    ran = subprocess.run(  # nosec B603 # no shell; its words are ours and the configuration's
        [*command, str(script)], env=environment, capture_output=True, text=True, check=False
    )
    jars = sorted((ivy / "jars").glob("*.jar"))
    if ran.returncode != 0 or not any(jar.name == last for jar in jars):
        log.debug("Ivy's output:\n%s\n%s", ran.stdout, ran.stderr)
        raise BenchcoreError(
            f"{package} could not be fetched",
            mend="Check the network, or copy its jars into a folder and name it in spark.jars or $BENCHCORE_JARS.",
        )
    present = {_artifact(jar.name) for jar in (home / "jars").glob("*.jar")}
    return [jar for jar in jars if _artifact(jar.name.rpartition("_")[2]) not in present or jar.name == last]


def _artifact(jar: str) -> str:
    """`parquet-column-1.16.0.jar` -> `parquet-column`."""
    name, version_parts = jar.removesuffix(".jar").split("-"), 0
    while version_parts < len(name) and not name[version_parts][:1].isdigit():
        version_parts += 1
    return "-".join(name[:version_parts])


def _move(jars: list[Path], folder: Path, last: str) -> None:
    for jar in sorted(jars, key=lambda jar: jar.name == last):
        shutil.move(jar, folder / jar.name)  # the same file system: a rename

"""Delta's jars: resolved once into a folder, so that no session needs a network or waits for Ivy."""

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
    if not jars_present(folder):
        log.info("fetching Delta's jars once into %s", folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder) as temporary:
                _move(_fetch(Path(temporary), conf or {}), folder)
        except OSError as error:
            raise BenchcoreError(
                f"Delta's jars cannot be stored ({error.strerror})", where=str(folder), mend="Set spark.jars."
            ) from error
    return sorted(folder.glob("*.jar"))


def _fetch(ivy: Path, conf: Mapping[str, str]) -> list[Path]:
    import pyspark

    script = ivy / "nothing.py"
    script.touch()
    home = Path(pyspark.__file__).parent
    command = [str(home / "bin" / "spark-submit"), "--master", "local[1]", "--packages", PACKAGE]
    settings = {
        key: value for key, value in conf.items() if key in ("spark.jars.ivySettings", "spark.jars.repositories")
    }
    for key, value in {**settings, "spark.jars.ivy": str(ivy)}.items():
        command += ["--conf", f"{key}={value}"]
    environment = {**os.environ, "JAVA_HOME": str(java_home_or_error()), "SPARK_HOME": str(home)}
    ran = subprocess.run([*command, str(script)], env=environment, capture_output=True, text=True, check=False)
    jars = sorted((ivy / "jars").glob("*.jar"))
    if ran.returncode != 0 or not any(jar.name == _LAST for jar in jars):
        log.debug("Ivy's output:\n%s\n%s", ran.stdout, ran.stderr)
        raise BenchcoreError(
            f"Delta's jars ({PACKAGE}) could not be fetched",
            mend="Check the network, or copy them into a folder and name it in spark.jars or $BENCHCORE_JARS.",
        )
    present = {_artifact(jar.name) for jar in (home / "jars").glob("*.jar")}
    return [jar for jar in jars if _artifact(jar.name.rpartition("_")[2]) not in present or jar.name == _LAST]


def _artifact(jar: str) -> str:
    """`parquet-column-1.16.0.jar` -> `parquet-column`."""
    name, version_parts = jar.removesuffix(".jar").split("-"), 0
    while version_parts < len(name) and not name[version_parts][:1].isdigit():
        version_parts += 1
    return "-".join(name[:version_parts])


def _move(jars: list[Path], folder: Path) -> None:
    for jar in sorted(jars, key=lambda jar: jar.name == _LAST):
        shutil.move(jar, folder / jar.name)  # the same file system: a rename

"""Finding a Java that Spark can run on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from benchcore.errors import BenchcoreError

VERSIONS = (17, 21)
MODULE = "jdk.incubator.vector"  # Spark 4.2 starts its JVM with it; the JREs that pip can install leave it out

_MEND = "Install one, on Debian with 'apt-get install openjdk-17-jre-headless', and point JAVA_HOME to it."


def java_home_or_error() -> Path:
    """The home of the Java that Spark will run on: JAVA_HOME's, else that of `java` on the path.

    Raises:
        BenchcoreError: there is none, it is neither version 17 nor 21, or it lacks the module that Spark needs.
    """
    java = _java()
    version = _version(java)
    if version not in VERSIONS:
        raise BenchcoreError(f"Spark needs Java 17 or 21, this is {version or 'no Java'}", where=str(java), mend=_MEND)
    if f"{MODULE}@" not in _output(java, "--list-modules"):
        raise BenchcoreError(f"this Java lacks the module {MODULE}, which Spark needs", where=str(java), mend=_MEND)
    return java.resolve().parents[1]


def _java() -> Path:
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home) / "bin" / "java"
        if not java.is_file():
            raise BenchcoreError("JAVA_HOME holds no bin/java", where=home, mend=_MEND)
        return java
    found = shutil.which("java")
    if found is None:
        raise BenchcoreError("Spark needs Java 17 or 21, and there is none on this machine", mend=_MEND)
    return Path(found)


def _version(java: Path) -> int | None:
    found = re.search(r'version "(\d+)', _output(java, "-version"))
    return int(found.group(1)) if found else None


def _output(java: Path, option: str) -> str:
    try:
        ran = subprocess.run(  # nosec B603 # no shell; it is the Java that the user has set up
            [java, option], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BenchcoreError(f"Java does not run ({error})", where=str(java), mend=_MEND) from error
    return ran.stdout + ran.stderr

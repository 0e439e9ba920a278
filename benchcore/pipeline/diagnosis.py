"""What a machine needs for the whole job: one finding a line, each lack with the way to mend it."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from benchcore.config import Config
from benchcore.errors import BenchcoreError
from benchcore.machine import bytes_of, free_disk, free_memory, in_words, usable_cores
from benchcore.pipeline.preflight import DISK_FLOOR, MEMORY_FLOOR
from benchcore.registry.root import Registry

_OLDEST_PYTHON = (3, 11)


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        name: what.
        ok: False when the job needs it and it lacks.
        detail: what was found.
        mend: how to mend a lack.
    """

    name: str
    ok: bool
    detail: str
    mend: str | None = None


def examine(config: Config, *, deep: bool = False) -> list[Finding]:
    """Look at everything that the job of a configuration needs.

    Args:
        config: names the root, Spark's memory and jars, and the encoder.
        deep: also load the encoder and encode a text (seconds; imports torch).
    """
    findings = [_python(), _java(), _jars(config), *map(_package, _PACKAGES), _encoder(config)]
    if deep:
        findings.append(_loaded_encoder(config))
    return [*findings, _disk(config), _memory(config), _cores(), _root(config)]


def _python() -> Finding:
    ok = sys.version_info >= _OLDEST_PYTHON
    wanted = ".".join(map(str, _OLDEST_PYTHON))
    return Finding(
        "Python", ok, f"{platform.python_version()} ({sys.executable})", None if ok else f"Install Python {wanted}."
    )


def _java() -> Finding:
    from benchcore.ingest.java import MODULE, java_home_or_error

    def look() -> str:
        home = java_home_or_error()
        return f"{home} ({_release(home)}), with {MODULE}"

    return _tried("Java", look)


def _release(home: Path) -> str:
    """The version as the home's own `release` file says it; running Java again would cost a second."""
    try:
        found = re.search(r'JAVA_VERSION="([^"]+)"', (home / "release").read_text())
    except OSError:
        found = None
    return f"version {found[1]}" if found else "version 17 or 21"


def _jars(config: Config) -> Finding:
    from benchcore.ingest.jars import PACKAGE, jars_folder, jars_present

    folder = jars_folder(config.spark)
    if jars_present(folder):
        return Finding("Delta's jars", True, str(folder))
    return Finding(
        "Delta's jars",
        False,
        f"not in {folder}",
        f"The first ingestion fetches {PACKAGE} there over the network; or name a folder that has it in spark.jars.",
    )


# Distribution -> the extra that brings it.
_PACKAGES = {"pyspark": "spark", "delta-spark": "spark", "ray": "ray", "sentence-transformers": "encode"}


def _package(distribution: str) -> Finding:
    try:
        return Finding(distribution, True, metadata.version(distribution))
    except metadata.PackageNotFoundError:
        mend = f"pip install 'benchcore[{_PACKAGES[distribution]}]'"
        return Finding(distribution, False, "not installed", mend)


def _encoder(config: Config) -> Finding:
    """Whether the encoder's files are there, without loading it; nothing is fetched."""
    from benchcore.embedding.model_files import locate, package_of

    encoder = config.embed.encoder
    if encoder.vectors is not None:
        ok = Path(encoder.vectors).is_file()
        mend = None if ok else "There is no such file; see embed.encoder.vectors."
        return Finding("encoder", ok, f"vectors in {encoder.vectors}", mend)
    package = package_of(encoder)
    if package is None and not Path(encoder.name).expanduser().is_dir():
        return Finding("encoder", True, f"{encoder.name}: the hub's, fetched when first used (--deep does it now)")

    def look() -> str:
        files = locate(encoder)
        return f"{encoder.name} in {package or files.folder}, {in_words(files.weight_bytes)}"

    return _tried("encoder", look)


def _loaded_encoder(config: Config) -> Finding:
    from benchcore.embedding.encoder import load

    def look() -> str:
        if config.embed.encoder.vectors is not None:
            return "none is loaded: the vectors are given"
        encoder = load(config.embed)
        encoded = encoder.encode(["Is this machine able?"], "float32", config.embed.batch_tokens)
        return f"gives {encoded.vectors.shape[1]} dimensions"

    return _tried("encoder, loaded", look)


def _disk(config: Config) -> Finding:
    registry = Registry.at(config.registry.root)
    if not registry.is_local:
        return Finding("disk", True, f"{registry.root} is an object store")
    free = free_disk(Path(registry.root))
    ok = free >= DISK_FLOOR
    return Finding(
        "disk", ok, f"{in_words(free)} free", None if ok else f"{in_words(DISK_FLOOR)} are needed; free some."
    )


def _memory(config: Config) -> Finding:
    free = free_memory()
    if free is None:
        return Finding("memory", True, "unknown on this system")
    needed = MEMORY_FLOOR + bytes_of(config.spark.driver_memory)
    ok = free >= needed
    mend = None if ok else f"{in_words(needed)} are needed; close other programs, or lower spark.driver_memory."
    return Finding("memory", ok, f"{in_words(free)} free", mend)


def _cores() -> Finding:
    return Finding("cores", True, str(usable_cores()))


def _root(config: Config) -> Finding:
    registry = Registry.at(config.registry.root)

    def look() -> str:
        existed = not registry.is_local or Path(registry.root).exists()
        registry.require_writable()
        if not existed:
            _remove_empty(Path(registry.root))
        return f"{registry.root} {'can be written' if registry.is_local else 'answers'}"

    return _tried("registry root", look)


def _remove_empty(folder: Path) -> None:
    """Looking at a machine leaves nothing behind: undo the folder that the probe made (parents that it made stay)."""
    if not any(folder.iterdir()):
        folder.rmdir()


def _tried(name: str, look: Callable[[], str]) -> Finding:
    try:
        return Finding(name, True, look())
    except BenchcoreError as error:
        detail = f"{error.where}: {error.what}" if error.where else error.what
        return Finding(name, False, detail, error.mend)

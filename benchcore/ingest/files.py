"""The files that the sources name: found, hashed and cut into parts, before any engine starts."""

from __future__ import annotations

import hashlib
import logging
import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from benchcore.config import Config, IngestSection, SourceSpec, environment_value
from benchcore.errors import BenchcoreError, UsageError
from benchcore.ingest.mapping import benchmark_of, compile_mapping, mapping_digest
from benchcore.ingest.readers import line_splits, splittable
from benchcore.ingest.readers.opening import MAGIC_BYTES, require_encoding
from benchcore.registry.places import require_store
from benchcore.registry.root import is_uri

log = logging.getLogger(__name__)

_CHUNK = 1024**2
_WILD = re.compile(r"[*?\[]")

Split = tuple[int, int | None, int]  # first byte, bytes (None: to the end), lines before it


@dataclass(frozen=True)
class SourceFile:
    """One file of one source, as it is now.

    Attributes:
        path: relative to the data folder, with `/`; of a file outside of it, relative to the fixed part of its pattern.
        uri: where it is read: an absolute local path or an address.
        splits: the parts that are read separately; a file that must be read in one go has one.
    """

    source: str
    benchmark: str
    path: str
    uri: str
    bytes: int
    content_sha256: str
    mapping_sha256: str
    licence: str | None
    revision: str | None
    splits: tuple[Split, ...]


@dataclass(frozen=True)
class _Found:
    spec: SourceSpec
    path: str
    uri: str
    bytes: int
    filesystem: Any
    inside: Path | None  # of a local file: the folder that a link may not lead out of


def find_files(config: Config, specs: Sequence[SourceSpec]) -> list[SourceFile]:
    """Find and hash all files of the sources, each in one pass; sorted by source and path.

    Raises:
        UsageError: a template or an encoding is wrong, a pattern matches nothing, or two files of a source have one
            relative path.
        BenchcoreError: a file is empty or cannot be read.
    """
    for spec in specs:
        require_encoding(spec.encoding, f"source '{spec.name}'")
        compile_mapping(spec, config.ingest.max_characters)
    found = [file for spec in specs for file in _of_source(spec, config.sources.data)]
    empty = next((file for file in found if file.bytes == 0), None)
    if empty is not None:
        raise BenchcoreError(
            f"the file is empty (source '{empty.spec.name}'); nothing was changed",
            where=empty.uri,
            mend="Fetch it again, or name it in the source's 'exclude'.",
        )
    digests = {spec.name: mapping_digest(spec, config.ingest.max_characters) for spec in specs}
    benchmarks = [benchmark_of(file.spec, PurePosixPath(file.path)) for file in found]  # in this thread: it has an end
    with ThreadPoolExecutor(min(16, 4 * (os.cpu_count() or 1))) as threads:
        return list(threads.map(partial(_inspect, digests=digests, limits=config.ingest), found, benchmarks))


def _of_source(spec: SourceSpec, data: str) -> list[_Found]:
    patterns = (spec.path,) if isinstance(spec.path, str) else spec.path
    excluded = {file.uri for pattern in spec.exclude for file in _matches(spec, pattern, data)}
    files: dict[str, _Found] = {}
    for pattern in patterns:
        found = (file for file in _matches(spec, pattern, data) if file.uri not in excluded)
        matches = [own for file in found for own in _own(file)]
        if not matches and not is_uri(data) and not Path(data).is_dir():
            raise UsageError(
                "there is no such data folder",
                where=data,
                mend="Mend sources.data; a relative one starts at the configuration's folder.",
            )
        if not matches:
            raise UsageError(
                f"no file matches the pattern '{pattern}' of source '{spec.name}'",
                where=data,
                mend="Mend the pattern, or sources.data.",
            )
        for file in matches:
            if files.setdefault(file.path, file).uri != file.uri:
                raise UsageError(
                    f"two files of source '{spec.name}' have the same relative path '{file.path}'",
                    where=f"{files[file.path].uri} and {file.uri}",
                    mend="Put them below one data folder, or make two sources of them.",
                )
    return [files[path] for path in sorted(files)]


def _matches(spec: SourceSpec, pattern: str, data: str) -> Iterator[_Found]:
    from fsspec.implementations.local import LocalFileSystem

    address = _address(spec, pattern, data)
    filesystem, location = _open_location(spec, address)
    base = _base(spec, location, data)
    try:
        entries = filesystem.glob(location, detail=True)
    except OSError as error:
        raise BenchcoreError(f"cannot be listed ({error})", where=address, mend="Mend the source's path.") from error
    inside = _allowed(location, _open_location(spec, data)[1]) if isinstance(filesystem, LocalFileSystem) else None
    for name, entry in entries.items():
        if entry["type"] != "directory":
            path = name.removeprefix(base).lstrip("/")  # of an address only the path: the query may sign it
            uri = filesystem.unstrip_protocol(name) if is_uri(address) else name
            yield _Found(spec, path if inside else path.partition("?")[0], uri, entry["size"], filesystem, inside)


def _allowed(location: str, data: str) -> Path:
    """The folder that links may not lead out of: the data folder, or of a pattern elsewhere its fixed part."""
    fixed = Path(os.path.normpath(_fixed_part(location)))
    root = Path(os.path.normpath(data))
    return (root if fixed.is_relative_to(root) else fixed).resolve()


def _own(file: _Found) -> Iterator[_Found]:
    """The file with its size, if it is one; nothing of a link to a folder.

    Raises:
        BenchcoreError: it is a link to what is none of the data's files, or a pipe or a device.
    """
    if file.inside is None:
        yield file
        return
    real = Path(file.filesystem._strip_protocol(file.uri)).resolve()
    mend = "Copy the file there, name its real place in the source's 'path', or name it in 'exclude'."
    if not real.is_relative_to(file.inside):
        what = f"is or lies behind a link that leads out of {file.inside}"
    elif not real.exists():
        what = "is a link to nothing"
    elif not (real.is_file() or real.is_dir()):
        what = "is neither a file nor a folder"
    else:
        if real.is_file():
            yield replace(file, bytes=real.stat().st_size)
        return
    raise BenchcoreError(f"{what} (source '{file.spec.name}'); nothing was changed", where=file.uri, mend=mend)


def _address(spec: SourceSpec, pattern: str, data: str) -> str:
    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        return data if name == "DATA" else environment_value(name, f"source '{spec.name}': {pattern}")

    expanded = re.sub(r"\$\{(\w+)\}", value, pattern)
    if is_uri(expanded) or expanded.startswith("/"):
        return expanded
    return f"{data.rstrip('/')}/{expanded}"


def _open_location(spec: SourceSpec, address: str) -> tuple[Any, str]:
    import fsspec

    if is_uri(address) or "::" in address:
        require_store(address, f"source '{spec.name}'")
    try:
        filesystem, location = fsspec.core.url_to_fs(address)
    except (ImportError, ValueError) as error:  # fsspec: ImportError for a known, ValueError for an unknown scheme
        scheme = address.partition("://")[0]
        raise UsageError(
            f"source '{spec.name}': addresses that begin with {scheme}:// cannot be read ({error})",
            where=address,
            mend="Install the fsspec file system for it; benchcore's extras s3 and hf bring theirs.",
        ) from error
    return filesystem, location


def _base(spec: SourceSpec, location: str, data: str) -> str:
    """The folder that paths are relative to: the data folder, or outside of it the fixed part of the pattern."""
    root = _open_location(spec, data)[1].rstrip("/")
    return root if location.startswith(f"{root}/") else _fixed_part(location)


def _fixed_part(location: str) -> str:
    """The folder before the first wildcard of a pattern."""
    wild = _WILD.search(location)
    return location[: wild.start() if wild else len(location)].rpartition("/")[0]


def _inspect(found: _Found, benchmark: str, digests: dict[str, str], limits: IngestSection) -> SourceFile:
    content = hashlib.sha256()
    size = 0

    def hashed(read: Callable[[int], bytes], head: bytes) -> Iterator[bytes]:
        nonlocal size
        chunk = head
        while chunk:
            content.update(chunk)
            size += len(chunk)
            yield chunk
            chunk = read(_CHUNK)

    splits: tuple[Split, ...] = ((0, None, 0),)
    try:
        with found.filesystem.open(found.uri, "rb") as file:
            head = file.read(_CHUNK)
            chunks = hashed(file.read, head)
            if splittable(found.spec, head[:MAGIC_BYTES]):
                splits = tuple(line_splits(chunks, limits.split_bytes))
            for _ in chunks:  # whatever line_splits left, or the whole file
                pass
    except OSError as error:
        raise BenchcoreError(
            f"the file cannot be read ({error.strerror or error})", where=found.uri, mend="Mend its permissions."
        ) from error
    return SourceFile(
        source=found.spec.name,
        benchmark=benchmark,
        path=found.path,
        uri=found.uri,
        bytes=size,
        content_sha256=content.hexdigest(),
        mapping_sha256=digests[found.spec.name],
        licence=found.spec.licence,
        revision=found.spec.revision,
        splits=splits,
    )

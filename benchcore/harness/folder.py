"""The folder of an export: whole or not there, and never somebody else's files."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from benchcore.errors import BenchcoreError, UsageError
from benchcore.whole_file import replace_file

MARKER = ".benchcore-export.json"
_PARTIAL = ".benchcore-partial."


@dataclass(frozen=True)
class _Earlier:
    """An earlier export: its files below the folder, and what each of them may hold (SHA-256)."""

    files: tuple[str, ...] = ()
    sha256: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def is_edited(self, out: Path, file: str) -> bool:
        """Whether a file is there and is none that an export wrote."""
        known = self.sha256.get(file)
        return known is not None and (out / file).is_file() and _digest(out / file) not in known


def require_usable(out: Path, coreset_id: str, harness: str, registry_root: Path | None) -> None:
    """Check before any work that an export can go to a folder.

    Args:
        out: the folder.
        coreset_id: of the coreset that is exported.
        harness: that it is exported for.
        registry_root: where nothing but tables may lie: files that these do not know are removed as leftovers.

    Raises:
        UsageError: `out` holds something else, lies in the registry, or cannot be read.
    """
    if registry_root is not None and out.resolve().is_relative_to(registry_root.resolve()):
        raise UsageError("lies in the registry", where=str(out), mend="Name a folder beside it with --out.")
    _earlier(out, coreset_id, harness)


@contextmanager
def export_folder(out: Path, coreset_id: str, harness: str) -> Iterator[Path]:
    """Give an empty folder to write to, whose files are at `out` when the block has ended well.

    An earlier export of the same coreset and harness is replaced, file by file; other files in it stay, so that logs
    that a harness wrote there are never lost. A folder that is there stays the same one: it may be somebody's working
    directory, or a file system of its own.

    Raises:
        UsageError: `out` holds something else, or cannot be made.
        BenchcoreError: it cannot be written to its end; what was there before is still there.
    """
    earlier = _earlier(out, coreset_id, harness)
    name = f"{_PARTIAL}{os.getpid()}.{secrets.token_hex(4)}"
    partial = (out.parent if earlier is None else out) / name
    made = [] if earlier is not None else [folder for folder in out.parents if not folder.exists()]
    try:
        partial.mkdir(parents=True)
    except OSError as error:
        raise UsageError(f"cannot be written ({error.strerror})", where=str(out)) from None
    try:
        yield partial
        files = sorted(file.relative_to(partial).as_posix() for file in partial.rglob("*") if file.is_file())
        written = {file: [_digest(partial / file)] for file in files}
        marker: dict[str, Any] = {"coreset": coreset_id, "harness": harness, "files": files, "sha256": written}
        if earlier is None:
            (partial / MARKER).write_bytes(_marker(marker, complete=True))
            partial.rename(out)
        else:
            _replace(out, partial, earlier, marker)
    except OSError as error:
        raise BenchcoreError(f"cannot be written ({error.strerror})", where=str(out)) from None
    except UsageError as error:  # of `write_file`, which names a file that is not there any more
        if not str(error.where).startswith(str(partial)):
            raise
        raise BenchcoreError(error.what, where=str(out)) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        for folder in made:  # those that it needed and that hold nothing
            with suppress(OSError):
                folder.rmdir()


def _earlier(out: Path, coreset_id: str, harness: str) -> _Earlier | None:
    """The earlier export of the same, without files where the folder is empty; None where there is no folder.

    Raises:
        UsageError: there is something else, it cannot be read, or somebody edited what was exported.
    """
    try:
        if not out.is_dir():
            if out.exists() or out.is_symlink():
                raise UsageError("is no folder", where=str(out), mend="Name another with --out.")
            return None
        if all(file.name.startswith(_PARTIAL) for file in out.iterdir()):  # of exports that were killed
            return _Earlier()
    except OSError as error:  # a name that is too long, say
        mend = "Name another with --out."
        raise UsageError(f"cannot be read ({error.strerror})", where=str(out), mend=mend) from None
    try:
        marker = orjson.loads((out / MARKER).read_bytes())
        same = (marker["coreset"], marker["harness"]) == (coreset_id, harness)
        earlier = _Earlier(tuple(map(str, marker["files"])), dict(marker.get("sha256", {})))
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        raise UsageError("the folder is not empty", where=str(out), mend="Name another with --out.") from None
    if not same:
        other = f"holds the export of coreset {marker['coreset']} for {marker['harness']}"
        raise UsageError(other, where=str(out), mend="Name another with --out, or remove it.")
    edited = next((file for file in earlier.files if earlier.is_edited(out, file)), None)
    if edited is not None:
        mend = "Name another with --out, or move that file away."
        raise UsageError("was edited since it was exported", where=str(out / edited), mend=mend)
    return earlier


def _replace(out: Path, partial: Path, earlier: _Earlier, marker: dict[str, Any]) -> None:
    files = [str(file) for file in marker["files"]]
    known = {**earlier.sha256, **{file: [*earlier.sha256.get(file, ()), *marker["sha256"][file]] for file in files}}
    both = marker | {"files": sorted({*files, *earlier.files}), "sha256": known}
    replace_file(out / MARKER, _marker(both, complete=False))  # if this ends here, the next export knows all the files
    for file in files:
        target = out / file
        target.parent.mkdir(parents=True, exist_ok=True)
        (partial / file).replace(target)
    for file in set(earlier.files) - set(files):
        if not Path(file).is_absolute() and ".." not in Path(file).parts:  # the marker may have been edited
            (out / file).unlink(missing_ok=True)
    replace_file(out / MARKER, _marker(marker, complete=True))


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _marker(marker: dict[str, Any], *, complete: bool) -> bytes:
    return orjson.dumps(marker | {"complete": complete}, option=orjson.OPT_INDENT_2) + b"\n"

"""The folder of an export: whole or not there, and never somebody else's files."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from benchcore.errors import UsageError

MARKER = ".benchcore-export.json"


@contextmanager
def export_folder(out: Path, coreset_id: str, harness: str) -> Iterator[Path]:
    """Give an empty folder to write to, whose files are at `out` when the block has ended well.

    An earlier export of the same coreset and harness is replaced, file by file; other files in it stay, so that logs
    that a harness wrote there are never lost.

    Raises:
        UsageError: `out` holds something else, or cannot be written.
    """
    earlier = _earlier(out, coreset_id, harness)
    partial = out.parent / f".{out.name[:50]}.{os.getpid()}.{secrets.token_hex(4)}.partial"
    try:
        partial.mkdir(parents=True)
    except OSError as error:
        raise UsageError(f"cannot be written ({error.strerror})", where=str(out)) from None
    try:
        yield partial
        files = sorted(file.relative_to(partial).as_posix() for file in partial.rglob("*") if file.is_file())
        marker: dict[str, Any] = {"coreset": coreset_id, "harness": harness, "files": files}
        if earlier is None:
            (partial / MARKER).write_bytes(_marker(marker, complete=True))
            partial.rename(out)  # over an empty folder too
        else:
            _replace(out, partial, earlier, marker)
    except OSError as error:
        raise UsageError(f"cannot be written ({error.strerror})", where=str(out)) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _earlier(out: Path, coreset_id: str, harness: str) -> list[str] | None:
    """The files of an earlier export of the same; None where there is nothing yet.

    Raises:
        UsageError: there is something else.
    """
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise UsageError("is no folder", where=str(out), mend="Name another with --out.")
    if not out.exists() or not any(out.iterdir()):
        return None
    try:
        marker = orjson.loads((out / MARKER).read_bytes())
        same, files = (marker["coreset"], marker["harness"]) == (coreset_id, harness), list(map(str, marker["files"]))
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
        raise UsageError("the folder is not empty", where=str(out), mend="Name another with --out.") from None
    if not same:
        other = f"holds the export of coreset {marker['coreset']} for {marker['harness']}"
        raise UsageError(other, where=str(out), mend="Name another with --out, or remove it.")
    return files


def _replace(out: Path, partial: Path, earlier: list[str], marker: dict[str, Any]) -> None:
    files = [str(file) for file in marker["files"]]
    both = marker | {"files": sorted({*files, *earlier})}
    _write(out / MARKER, _marker(both, complete=False))  # if this ends here, the next export knows all the files
    for file in files:
        target = out / file
        target.parent.mkdir(parents=True, exist_ok=True)
        (partial / file).replace(target)
    for file in set(earlier) - set(files):
        if not Path(file).is_absolute() and ".." not in Path(file).parts:  # the marker may have been edited
            (out / file).unlink(missing_ok=True)
    _write(out / MARKER, _marker(marker, complete=True))


def _marker(marker: dict[str, Any], *, complete: bool) -> bytes:
    return orjson.dumps(marker | {"complete": complete}, option=orjson.OPT_INDENT_2) + b"\n"


def _write(file: Path, content: bytes) -> None:
    partial = file.with_name(f"{file.name}.partial")
    partial.write_bytes(content)
    partial.replace(file)

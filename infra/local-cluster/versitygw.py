"""The S3 server: a Go program that is built once into the checkout's cache; run by itself, this builds it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from benchcore.errors import BenchcoreError

_VERSION = "v1.8.0"
_MODULE = f"github.com/versity/versitygw/cmd/versitygw@{_VERSION}"
_GO = (1, 25)


def versitygw(cache: Path) -> Path:
    """The program: of the cache, else of the path, else built with Go, which takes some minutes the first time.

    Raises:
        BenchcoreError: it is nowhere, and cannot be built.
    """
    built = cache / "bin" / f"versitygw-{_VERSION}"
    if built.is_file():
        return built
    found = shutil.which("versitygw")
    if found is not None:
        return Path(found)
    _require_go()
    folder = cache / "bin" / ".building"
    ran = subprocess.run(
        ["go", "install", _MODULE],
        env={**os.environ, "GOBIN": str(folder.resolve()), "GOFLAGS": "-buildvcs=false"},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode != 0:
        raise _lacking(f"versitygw {_VERSION} cannot be built ({(ran.stderr.strip().splitlines() or ['?'])[-1]})")
    (folder / "versitygw").rename(built)
    return built


def _require_go() -> None:
    try:
        told = subprocess.run(["go", "version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        raise _lacking("the S3 server is built with Go, and there is none") from None
    found = re.search(r"go(\d+)\.(\d+)", told)
    if found is None or (int(found[1]), int(found[2])) < _GO:
        raise _lacking(f"the S3 server is built with Go {_GO[0]}.{_GO[1]} or later, this is {told.strip()}")


def _lacking(what: str) -> BenchcoreError:
    mend = "Install Go, or put a program `versitygw` on the path, or use a store of your own with --without-s3."
    return BenchcoreError(what, mend=mend)


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{versitygw(Path(__file__).resolve().parents[2] / '.cache')}\n")
    except BenchcoreError as error:
        sys.exit(f"versitygw: error: {error}")

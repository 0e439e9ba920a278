"""The environment of the libraries that we compare with: made once, beside the project's own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from infra.bench.places import ROOT

FOLDER = ROOT / ".cache" / "peers"
PYTHON = FOLDER / "bin" / "python"
_WANTED = Path(__file__).with_name("peers.txt")
_DONE = FOLDER / ".installed"  # holds what is installed, and is written last


def prepare() -> None:
    """Make the environment, unless it is there; with our NumPy, so that all use the same linear algebra.

    Raises:
        subprocess.CalledProcessError: uv failed; it has said why.
    """
    pins, limits = _WANTED.read_text(), ROOT / "constraints.txt"
    key = pins + limits.read_text()
    if _DONE.is_file() and _DONE.read_text() == key:
        return
    sys.stderr.write(f"bench: installing {' '.join(line for line in pins.splitlines() if '==' in line)}\n")
    _uv("venv", "--quiet", "--clear", "--python", sys.executable, str(FOLDER))
    _uv("pip", "install", "--quiet", "--python", str(PYTHON), "-c", str(limits), "-r", str(_WANTED))
    _DONE.write_text(key)


def _uv(*arguments: str) -> None:
    # The system's certificates, as in infra/setup.
    environment = {"UV_SYSTEM_CERTS": "1", "UV_HTTP_TIMEOUT": "180", **os.environ}
    subprocess.run([ROOT / ".venv" / "bin" / "uv", *arguments], check=True, env=environment)

"""The real harnesses, each in an environment of its own."""

import os
import subprocess
from pathlib import Path

import pytest

FOLDER = "BENCHCORE_HARNESS_ENVIRONMENTS"
_OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}


def environment(name: str) -> Path:
    """The folder of programs in the environment of a harness; skips where it is not installed."""
    programs = Path(os.environ.get(FOLDER, "")) / name / "bin"
    if FOLDER not in os.environ or not programs.is_dir():
        pytest.skip(f"{name} is not installed: set {FOLDER} to a folder with an environment '{name}'")
    return programs


def run_in(programs: Path, command: str, folder: Path, **variables: str) -> str:
    """Run a command as a user of that environment would, without network; its output."""
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-ec", command],
        cwd=folder,
        env=os.environ | _OFFLINE | {"PATH": path} | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout + done.stderr

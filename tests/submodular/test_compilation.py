"""The compiler's cache saves time and can do no harm."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

RUN = """
import numpy as np
from benchcore.submodular.pairs import loops
gains = np.zeros(2)
loops.add_gains(np.eye(2, dtype=np.float32), np.zeros(2, np.float32), np.ones(2), gains)
print(gains.tolist())
"""


def gains(cache: Path) -> str:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    run = subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=True)
    return run.stdout.strip()


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a run keeps."""
    folder = tmp_path_factory.mktemp("cache")
    gains(folder)
    return folder


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_a_damaged_cache_is_made_anew(cache: Path, tmp_path: Path, suffix: str):
    """Whether its index or the code was cut off; the run after that finds it whole."""
    shutil.copytree(cache, tmp_path, dirs_exist_ok=True)
    kept = next(tmp_path.rglob(f"*{suffix}"))
    whole = kept.stat().st_size
    kept.write_bytes(kept.read_bytes()[:60])

    assert gains(tmp_path) == "[1.0, 1.0]"
    assert kept.stat().st_size > whole // 2


def test_where_nothing_can_be_kept_it_compiles_all_the_same(tmp_path: Path):
    """The place for the cache is a file."""
    (tmp_path / "taken").write_text("")

    assert gains(tmp_path / "taken") == "[1.0, 1.0]"

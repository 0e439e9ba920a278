"""Finding log files: none goes missing without a word."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchcore.harness.logs import files_at, files_below

READING = """
import os, sys
from pathlib import Path
from benchcore.harness.logs import files_below
os.setuid(65534)
files_below(Path(sys.argv[1]))
"""


def test_links_to_folders_and_pipes_are_no_files(tmp_path: Path):
    """A link may lead round in a circle; a link to a file is one."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/a.json").write_text("")
    (tmp_path / "b.json").symlink_to("sub/a.json")
    (tmp_path / "sub/round").symlink_to(tmp_path)
    (tmp_path / "nowhere.json").symlink_to("gone")
    os.mkfifo(tmp_path / "pipe.json")

    assert files_below(tmp_path) == [tmp_path / "b.json", tmp_path / "sub/a.json"]
    assert files_at(tmp_path, lambda name: name == "a.json") == [tmp_path / "sub/a.json"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become a user who may not read a folder")
def test_a_folder_that_may_not_be_read_is_told(tmp_path: Path):
    """Its files would be missing else."""
    (tmp_path / "locked").mkdir(mode=0)
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(folder.stat().st_mode | 0o055)

    done = subprocess.run([sys.executable, "-c", READING, str(tmp_path)], capture_output=True, text=True, check=False)

    assert "locked: cannot be read (Permission denied)" in done.stderr

"""The folder of an export: whatever is there already stays what it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchcore.errors import BenchcoreError, UsageError
from benchcore.harness.folder import MARKER, export_folder, require_usable
from benchcore.whole_file import write_file


def put(out: Path, text: str, name: str = "picks.txt") -> None:
    with export_folder(out, "abc", "invented") as folder:
        (folder / name).write_text(text)


def test_an_empty_folder_stays_the_same_one(tmp_path: Path):
    """It may be where somebody stands, or another file system."""
    out = tmp_path / "out"
    out.mkdir()
    before = out.stat().st_ino

    put(out, "1")

    assert out.stat().st_ino == before
    assert sorted(file.name for file in out.iterdir()) == [MARKER, "picks.txt"]
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


def test_a_link_to_a_folder_is_one(tmp_path: Path):
    """The files come to lie behind it."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    put(tmp_path / "link", "1")

    assert (tmp_path / "real" / "picks.txt").read_text() == "1"


def test_what_was_edited_is_not_replaced(tmp_path: Path):
    """The files of an export are there to be edited; moved away, they are written anew."""
    out = tmp_path / "out"
    put(out, "1")
    put(out, "2")
    (out / "picks.txt").write_text("mine")

    with pytest.raises(UsageError, match=r"picks\.txt: was edited since"):
        put(out, "3")
    assert (out / "picks.txt").read_text() == "mine"

    (out / "picks.txt").rename(out / "mine.txt")
    put(out, "3")
    assert ((out / "picks.txt").read_text(), (out / "mine.txt").read_text()) == ("3", "mine")


def test_an_export_that_was_killed_is_no_edit(tmp_path: Path):
    """Some files are new by then, others old, and its unfinished folder lies about."""
    out = tmp_path / "out"
    put(out, "1")
    before = json.loads((out / MARKER).read_text())
    put(out, "2")
    after = json.loads((out / MARKER).read_text())
    both = {"picks.txt": [*before["sha256"]["picks.txt"], *after["sha256"]["picks.txt"]]}
    (out / MARKER).write_text(json.dumps(after | {"sha256": both, "complete": False}))
    (out / ".benchcore-partial.1.ab").mkdir()

    for text in ("1", "2"):
        (out / "picks.txt").write_text(text)
        require_usable(out, "abc", "invented", None)


def test_an_unfinished_folder_alone_is_nothing(tmp_path: Path):
    """As the first export leaves that was killed."""
    (tmp_path / ".benchcore-partial.1.ab").mkdir()

    put(tmp_path, "1")

    assert (tmp_path / "picks.txt").read_text() == "1"


def test_a_failure_leaves_nothing(tmp_path: Path):
    """Nor the folders above that it made; a file that cannot be written is told by the folder's name."""
    with (
        pytest.raises(BenchcoreError, match=r"x/out: cannot be written \(File name too long\)") as failed,
        export_folder(tmp_path / "x" / "out", "abc", "invented") as folder,
    ):
        write_file(folder / ("a" * 300), b"")

    assert failed.value.exit_status == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a" * 300, "file/below"])
def test_a_name_that_cannot_be_is_told(tmp_path: Path, name: str):
    """Not in a traceback."""
    (tmp_path / "file").write_text("")

    with pytest.raises(UsageError, match="cannot be"):
        put(tmp_path / name, "1")


def test_nothing_goes_into_the_registry(tmp_path: Path):
    """Cleaning up removes what its tables do not know."""
    (tmp_path / "registry" / "prompts").mkdir(parents=True)
    (tmp_path / "link").symlink_to("registry")

    for out in ("registry", "registry/prompts/new", "registry/x", "link/x"):
        with pytest.raises(UsageError, match="lies in the registry"):
            require_usable(tmp_path / out, "abc", "invented", tmp_path / "registry")
    require_usable(tmp_path / "registry-2", "abc", "invented", tmp_path / "registry")

"""One writer at a time, and the lock goes with its holder."""

import logging
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchcore.errors import BenchcoreError
from benchcore.registry import lock
from benchcore.registry.lock import writer_lock
from benchcore.registry.root import Registry

HOLD = """
import sys
from benchcore.registry.lock import writer_lock
from benchcore.registry.root import Registry
with writer_lock(Registry.at(sys.argv[1]), "run theirs.yaml"):
    print("held", flush=True)
    sys.stdin.read()
"""


def _holder(root: Path) -> subprocess.Popen[str]:
    """Another process that has the lock until its stdin is closed."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline() == "held\n"
    return holder


def _end(holder: subprocess.Popen[str]) -> None:
    holder.stdin.close()
    holder.stdout.close()
    holder.wait(timeout=30)


def test_who_waits_too_long_is_told_for_whom(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """The error and the line before the wait name the command and the process that hold the lock."""
    caplog.set_level(logging.INFO)
    holder = _holder(tmp_path)
    try:
        with (
            pytest.raises(BenchcoreError, match=rf"locked by 'run theirs.yaml' \(process {holder.pid}"),
            writer_lock(Registry.at(tmp_path), "mine", timeout_s=0.05),
        ):
            pytest.fail("two writers at once")
    finally:
        _end(holder)

    assert "waiting for 'run theirs.yaml'" in caplog.text


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path):
    """kill -9 of the holder needs no cleaning up after it, though its note still lies there."""
    holder = _holder(tmp_path)
    holder.kill()
    _end(holder)
    assert (tmp_path / "_lock.json").exists()

    with writer_lock(Registry.at(tmp_path), "mine", timeout_s=0):
        assert "mine" in (tmp_path / "_lock.json").read_text()
    assert not (tmp_path / "_lock.json").exists()


def test_who_waits_for_a_process_that_is_killed_comes_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The holder dies by kill -9 while another waits."""
    holder = _holder(tmp_path)
    monkeypatch.setattr(lock.log, "info", lambda *line: holder.kill())  # said when the wait begins

    with writer_lock(Registry.at(tmp_path), "mine", timeout_s=30):
        assert "mine" in (tmp_path / "_lock.json").read_text()
    _end(holder)
    assert holder.returncode == -signal.SIGKILL


def test_it_is_free_again_after_an_error(tmp_path: Path):
    """A failed command does not shut out the next."""
    with pytest.raises(RuntimeError), writer_lock(Registry.at(tmp_path), "first", timeout_s=0):
        raise RuntimeError

    with writer_lock(Registry.at(tmp_path), "second", timeout_s=0):
        pass


def test_a_root_that_cannot_be_written_is_told_before_the_wait(tmp_path: Path):
    """No puzzle about lock files: the root is named, and what is wrong with it."""
    (tmp_path / "file").touch()

    with (
        pytest.raises(BenchcoreError, match="cannot be written"),
        writer_lock(Registry.at(tmp_path / "file" / "r"), "x"),
    ):
        pytest.fail("locked nothing")

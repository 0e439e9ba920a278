"""A step in a process of its own: answers and errors come back, and the child never outlives its parent."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from benchcore.errors import BenchcoreError, UsageError
from benchcore.pipeline.isolation import run_isolated
from benchcore.pipeline.logs import LogStyle, configure_logging, logging_style

_TICK = threading.Event()  # never set: waiting for it is how often a condition is looked at again


def who_and_where() -> tuple[int, int, LogStyle]:
    return os.getpid(), os.getpgid(0), logging_style()


def fail_usefully() -> None:
    raise UsageError("a thing is wrong", where="here", mend="Mend it.")


def fail_badly() -> None:
    raise KeyError("lost")


class Stubborn(Exception):
    """An error that cannot be pickled back: its constructor wants more than its message."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} and {two}")


def fail_unpicklably() -> None:
    raise Stubborn("this", "that")


def vanish(code: int) -> None:
    os._exit(code)


def kill_itself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def talk() -> None:
    sys.stdout.write("noise on stdout\n")
    logging.getLogger("benchcore.something").info("a line of ours")
    logging.getLogger("other").info("a line of theirs")


def start_a_grandchild_and_hang(note: str) -> None:
    """As Spark does with its JVM: a process below the child, which then waits for ever."""
    grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path(note).with_suffix(".part").write_text(f"{os.getpid()} {grandchild.pid}")
    Path(note).with_suffix(".part").rename(note)
    grandchild.wait()


def test_the_result_comes_back_from_another_process_and_group():
    """The child is not this process, leads its own group, and logs as this process does."""
    pid, group, style = run_isolated(who_and_where)

    assert pid != os.getpid()
    assert group == pid
    assert style == logging_style()


def test_a_user_error_keeps_its_parts():
    """What, where and mend survive the way back, and so does the class, which decides the exit status."""
    with pytest.raises(UsageError) as caught:
        run_isolated(fail_usefully)

    assert (caught.value.what, caught.value.where, caught.value.mend) == ("a thing is wrong", "here", "Mend it.")


def test_a_bug_comes_back_with_the_childs_traceback():
    """The place in the child where it happened is in the error's notes, which a traceback prints."""
    with pytest.raises(KeyError, match="lost") as caught:
        run_isolated(fail_badly)

    assert "in fail_badly" in "".join(caught.value.__notes__)


def test_an_error_that_cannot_be_pickled_still_says_what_it_was():
    """Better its text in another class than a hang or a puzzle about pickles."""
    with pytest.raises(RuntimeError, match="Stubborn: this and that"):
        run_isolated(fail_unpicklably)


@pytest.mark.parametrize(("function", "arguments", "told"), [(vanish, (3,), "status 3"), (kill_itself, (), "SIGKILL")])
def test_a_child_that_dies_silently_is_reported(function, arguments, told):
    """A killed child (out of memory, say) ends in one line that says how it ended."""
    with pytest.raises(BenchcoreError, match=told):
        run_isolated(function, *arguments)


def test_stdout_is_kept_for_results(tmp_path: Path):
    """What the child prints goes to stderr, with its log lines; other libraries' chatter goes nowhere."""
    script = "from tests.pipeline.test_isolation import *\nconfigure_logging(LogStyle())\nrun_isolated(talk)\n"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout == ""
    assert "noise on stdout" in done.stderr
    assert "benchcore: a line of ours" in done.stderr
    assert "theirs" not in done.stderr


def _started(script: str, note: Path) -> tuple[subprocess.Popen[str], list[int]]:
    """A parent that runs a hanging child; its processes below it, once they are there."""
    parent = subprocess.Popen([sys.executable, "-c", script], text=True, stderr=subprocess.PIPE)
    while not note.exists():
        assert parent.poll() is None, parent.stderr.read()
        _TICK.wait(0.01)
    return parent, [int(pid) for pid in note.read_text().split()]


def _gone(pid: int, within_s: float = 10) -> bool:
    """Whether a process ends in time; one that is dead and only waits to be reaped has ended."""
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        _TICK.wait(0.01)
    return False


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_child_and_grandchild_die_with_the_parent(how: signal.Signals, tmp_path: Path):
    """Whether the parent is killed outright, told to end or interrupted, nothing that could still write is left."""
    note = tmp_path / "pids"
    script = f"from tests.pipeline.test_isolation import *\nrun_isolated(start_a_grandchild_and_hang, {str(note)!r})\n"
    parent, below = _started(script, note)

    parent.send_signal(how)

    assert parent.wait(timeout=10) != 0
    assert all(_gone(pid) for pid in below)
    parent.stderr.close()


def test_an_interrupt_in_the_parent_kills_the_group_at_once(tmp_path: Path):
    """KeyboardInterrupt leaves the wait at once, with the child and what it started dead."""
    note = tmp_path / "pids"

    def interrupt() -> None:
        while not note.exists():
            _TICK.wait(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    watcher = threading.Thread(target=interrupt)
    watcher.start()
    with pytest.raises(KeyboardInterrupt):
        run_isolated(start_a_grandchild_and_hang, str(note))
    watcher.join()

    assert all(_gone(int(pid)) for pid in note.read_text().split())


def test_logging_can_be_configured_again(capsys: pytest.CaptureFixture[str]):
    """A later style replaces the earlier one: no line is said twice."""
    root, ours = logging.getLogger(), logging.getLogger("benchcore")
    before = logging_style(), root.handlers[:], root.level, ours.level
    configure_logging(LogStyle())
    configure_logging(LogStyle(quiet=True))
    ours.getChild("x").info("unimportant")
    ours.getChild("x").warning("important")
    configure_logging(before[0])
    root.handlers[:], root.level, ours.level = before[1:]

    assert capsys.readouterr().err == "benchcore: warning: important\n"

"""One writer at a time on an object store: a lease that ends when its holder does not renew it, on a real S3 server."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchcore.errors import BenchcoreError
from benchcore.registry import lease, runs, tables
from benchcore.registry.lease import LostError, hold, require
from benchcore.registry.lock import writer_lock
from benchcore.registry.root import Registry
from tests.cluster.s3_server import Server

CHECKOUT = Path(__file__).resolve().parents[2]
SHORT_S = 3.0  # still long enough for a busy machine to renew it in time

# Holds the lock, says so, and records a run when it is told to go on.
HOLD = """
import sys
from benchcore.errors import BenchcoreError
from benchcore.registry.lease import hold
from benchcore.registry.root import Registry
from tests.cluster.test_lease import record
with hold(Registry.at(sys.argv[1]), "theirs", 30, lease_s=float(sys.argv[2])) as registry:
    print("held", flush=True)
    sys.stdin.readline()
    try:
        record(registry, "theirs")
        print("written", flush=True)
    except BenchcoreError as error:
        print(error, flush=True)
"""

# Adds one row more than there are, so often; whoever does not have the lock would add a number twice.
COUNT = """
import sys
from benchcore.registry.lock import writer_lock
from benchcore.registry.root import Registry
from benchcore.registry.tables import read
from tests.cluster.test_lease import record
for _ in range(int(sys.argv[2])):
    with writer_lock(Registry.at(sys.argv[1]), "count") as registry:
        record(registry, str(read(registry, "runs").num_rows))
"""


def _holder(root: str, lease_s: float) -> subprocess.Popen[str]:
    """Another process that has the lock until it is told to go on."""
    command = [sys.executable, "-c", HOLD, root, str(lease_s)]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=CHECKOUT)
    assert holder.stdout.readline() == "held\n"
    return holder


def _go_on(holder: subprocess.Popen[str]) -> str:
    """Let it write, and give what it says."""
    said, _ = holder.communicate("\n", timeout=60)
    return said


def record(registry: Registry, name: str) -> None:
    """Write something."""
    runs.record_run(
        registry, name, command="", configuration_hash="", started=datetime.now(UTC), outcome="done", counts={}
    )


def _recorded(root: str) -> list[str]:
    return sorted(tables.read(Registry.at(root), "runs", columns=["run_id"])["run_id"].to_pylist())


def test_who_waits_too_long_is_told_for_whom(root: str, caplog: pytest.LogCaptureFixture):
    """The holder renews its lease, so nobody gets in, however short it is; waiting ends with the holder's name."""
    caplog.set_level(logging.INFO)
    holder = _holder(root, SHORT_S)

    with (
        pytest.raises(BenchcoreError, match=rf"locked by 'theirs' \(process {holder.pid}"),
        writer_lock(Registry.at(root), "mine", timeout_s=1.5 * SHORT_S),
    ):
        pytest.fail("two writers at once")

    assert "waiting for 'theirs'" in caplog.text
    assert _go_on(holder) == "written\n"
    with writer_lock(Registry.at(root), "mine", timeout_s=0):  # given back, not only expired
        pass


def test_the_lease_of_a_killed_process_is_taken_over(root: str, caplog: pytest.LogCaptureFixture):
    """kill -9 of the holder: the next one waits as long as the lease is good, and no longer."""
    holder = _holder(root, SHORT_S)
    holder.kill()
    holder.communicate()

    with hold(Registry.at(root), "mine", timeout_s=30) as registry:
        record(registry, "mine")

    assert "gave no sign of life for 3 s: its lock is taken over" in caplog.text
    assert _recorded(root) == ["mine"]


def test_a_frozen_holder_writes_nothing_once_another_has_the_lock(root: str):
    """SIGSTOP for longer than the lease, then SIGCONT: what it was about to write is refused, and it says why."""
    holder = _holder(root, SHORT_S)
    holder.send_signal(signal.SIGSTOP)
    with hold(Registry.at(root), "mine", timeout_s=30) as registry:
        record(registry, "mine")
        holder.send_signal(signal.SIGCONT)

        assert "the lock was lost while this process stood still; it is held by 'mine'" in _go_on(holder)
        require(registry)  # its end has not given away a lock that was not its own

    assert _recorded(root) == ["mine"]


def test_a_frozen_holder_goes_on_if_nobody_came_meanwhile(root: str):
    """An expired lease that nobody has taken over is still its holder's."""
    holder = _holder(root, 0.5)
    holder.send_signal(signal.SIGSTOP)
    with (
        pytest.raises(BenchcoreError, match="is locked by"),  # a look, too short for a takeover
        hold(Registry.at(root), "mine", timeout_s=0),
    ):
        pytest.fail("two writers at once")
    holder.send_signal(signal.SIGCONT)

    assert _go_on(holder) == "written\n"


def test_writers_at_once_lose_and_double_nothing(s3: Server, root: str):
    """Three processes add a number each time, read from the table: every number is there once."""
    if not s3.keeps_tags:
        pytest.skip("a file system without attributes: there versitygw shows a file's new tag before its new content")
    writers = [subprocess.Popen([sys.executable, "-c", COUNT, root, "3"], cwd=CHECKOUT) for _ in range(3)]

    assert [writer.wait(timeout=120) for writer in writers] == [0, 0, 0]
    assert _recorded(root) == sorted(str(number) for number in range(9))


def test_nothing_is_written_without_the_lock(root: str):
    """A registry that did not come from the lock is refused, so that no command can forget it."""
    with pytest.raises(BenchcoreError, match="without its lock"):
        record(Registry.at(root), "mine")

    assert _recorded(root) == []


def test_a_table_that_has_changed_since_it_was_opened_is_not_written(root: str):
    """Whoever comes between the question for the lock and the commit is noticed by the commit itself."""
    with hold(Registry.at(root), "mine", timeout_s=0) as registry:
        record(registry, "first")
        opened = tables.open_table(registry, "runs")
        rows = tables.read(registry, "runs")
        record(registry, "second")

        with pytest.raises(BenchcoreError, match="table 'runs' cannot be written"):
            tables.commit(registry, "runs", opened, rows)
        with pytest.raises(BenchcoreError, match="table 'runs' cannot be written"):
            tables.commit(registry, "runs", None, rows)  # made twice

    assert _recorded(root) == ["first", "second"]


def test_a_lock_that_was_removed_is_lost(root: str):
    """Somebody cleans up below the root: the holder stops, rather than write beside the next one."""
    with hold(Registry.at(root), "mine", timeout_s=0) as registry:
        registry.filesystem().rm_file(registry.sidecar("_lock.json"))

        with pytest.raises(LostError, match="held by nobody"):
            require(registry)


def test_keys_that_may_not_write_are_told(s3: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Not as a store that is away: to run it again would never help."""
    server = Server(tmp_path, "--readonly")
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.environment["AWS_ENDPOINT_URL"])
    try:
        with (
            pytest.raises(
                BenchcoreError, match=r"the object store refuses to give or take _lock\.json.*Check the keys"
            ),
            lease.hold(Registry.at("s3://bench/of-nobody-else"), "mine", timeout_s=0),
        ):
            pytest.fail("locked")
    finally:
        server.kill()


@pytest.mark.parametrize("lease_s", [None, '"soon"', "-5", "1e308"])
def test_a_file_that_is_no_lock_is_named(root: str, lease_s: str | None):
    """What somebody else has put there is neither overwritten nor waited for."""
    registry = Registry.at(root)
    says = '"token": "x", "command": "c", "process": 1, "host": "h", "since": "s"'
    content = "{}" if lease_s is None else f'{{{says}, "lease_s": {lease_s}}}'
    registry.filesystem().pipe_file(registry.sidecar("_lock.json"), content.encode())

    with (
        pytest.raises(BenchcoreError, match="is no lock of ours"),
        lease.hold(registry, "mine", timeout_s=0),
    ):
        pytest.fail("locked")

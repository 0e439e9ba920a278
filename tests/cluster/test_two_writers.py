"""Whole commands on an object store: at once they take turns; standing still or a store that goes away does no harm."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from benchcore.registry.root import Registry
from benchcore.registry.tables import read
from tests.cluster.local_cluster import CHECKOUT
from tests.cluster.s3_server import Server
from tests.end_to_end import books, commands
from tests.end_to_end.corpora import write_registry

pytestmark = pytest.mark.slow

# Adds prompts of a benchmark of its own to the table that ingestion writes, one commit each, by deltalake.
APPEND = """
import sys
import pyarrow as pa
from benchcore.registry.lock import writer_lock
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import append_missing
schema = SCHEMAS["prompts"]
for number in range(int(sys.argv[2])):
    said = {"prompt_id": f"theirs-{number}", "benchmark": "theirs", "content_hash": str(number)}
    row = dict.fromkeys(schema.names) | said
    with writer_lock(Registry.at(sys.argv[1]), "append") as registry:
        assert append_missing(registry, "prompts", pa.Table.from_pylist([row], schema)) == 1
"""


def test_two_runs_at_once(root: str, tmp_path: Path, undisturbed: dict[str, list[dict[str, Any]]]):
    """The second waits, says for whom, and finds all done."""
    conf = write_registry(tmp_path)
    both = [commands.Command(tmp_path, "run", str(conf), "--root", root) for _ in range(2)]
    ended = [command.result() for command in both]

    assert [each.status for each in ended] == [0, 0], ended
    assert sum("waiting for 'run" in each.err for each in ended) == 1
    books.check_accounting(root)
    assert books.contents(root) == undisturbed


def test_spark_and_deltalake_write_one_table_in_turns(root: str, tmp_path: Path):
    """While ingestion runs twice, over data that changed, a process without Spark adds to the table of prompts."""
    conf, added = write_registry(tmp_path), 12
    appending = subprocess.Popen([sys.executable, "-c", APPEND, root, str(added)], cwd=CHECKOUT)
    first = commands.run(tmp_path, "ingest", str(conf), "--root", root)
    (tmp_path / "data" / "letters_en.tsv").write_text("Dear editor, one letter is left.\tyes\n")
    second = commands.run(tmp_path, "ingest", str(conf), "--root", root)

    assert (first.status, second.status, appending.wait(timeout=600)) == (0, 0, 0), (first, second)
    prompts = read(Registry.at(root), "prompts", columns=["prompt_id", "benchmark", "retired_at"]).to_pylist()
    live = [row["benchmark"] for row in prompts if row["retired_at"] is None]
    assert len({row["prompt_id"] for row in prompts}) == len(prompts)
    assert live.count("theirs") == added
    assert live.count("letters") == 1
    assert len(live) == added + 146 - 24 + 1


@pytest.mark.parametrize("who", ["all of it", "the holder alone"])
def test_a_run_that_stood_still(
    who: str, below_root: Path, root: str, tmp_path: Path, undisturbed: dict[str, list[dict[str, Any]]]
):
    """SIGSTOP just before Spark commits, until another run has done all; then SIGCONT: nothing is doubled or lost.

    With all of it stopped, Spark too; or only the process that renews the lock, while its Spark goes on.
    """
    conf = write_registry(tmp_path)
    frozen = commands.Command(tmp_path, "run", str(conf), "--root", root)
    frozen.wait_until(lambda: any(below_root.glob("_staging/ingest/*/prompts-changes/*")))
    holder = psutil.Process(frozen.process.pid)
    stopped = [holder] if who == "the holder alone" else [holder, *frozen.family()]
    for process in stopped:
        process.suspend()

    other = commands.run(tmp_path, "run", str(conf), "--root", root)
    for process in reversed(stopped):
        process.resume()
    ended = frozen.result()

    assert other.status == 0, other.err
    assert "gave no sign of life" in other.err
    assert ended.status == 1, ended.out
    assert "Traceback" not in ended.err
    books.check_accounting(root)
    assert books.contents(root) == undisturbed
    assert commands.run(tmp_path, "run", str(conf), "--root", root).status == 0
    assert books.contents(root) == undisturbed


def test_a_store_that_goes_away(
    s3: Server, below_root: Path, root: str, tmp_path: Path, undisturbed: dict[str, list[dict[str, Any]]]
):
    """kill -9 of the store in the middle of each step, for 20 s: the run waits, goes on and loses nothing."""
    conf = write_registry(tmp_path)
    running = commands.Command(tmp_path, "run", str(conf), "--root", root)
    for moment in ("_staging/ingest/*/read/*", "_staging/embeddings/*/*.parquet", "coresets/_delta_log/*"):
        running.wait_until(lambda moment=moment: any(below_root.glob(moment)))
        s3.kill()
        with pytest.raises(subprocess.TimeoutExpired):
            running.process.wait(timeout=20)
        s3.start()
    ended = running.result()

    assert ended.status == 0, ended.err
    books.check_accounting(root)
    assert books.contents(root) == undisturbed

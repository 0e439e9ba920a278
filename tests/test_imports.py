"""What importing costs: heavy libraries are imported where they are used."""

import subprocess
import sys

import pytest

HEAVY = ("pyspark", "ray", "torch", "sentence_transformers", "sklearn", "pandas", "numba", "scipy")

PROBE = """
import sys, time
started = time.perf_counter()
{statement}
seconds = time.perf_counter() - started
print(seconds, *sorted(name for name in sys.modules if "." not in name))
"""


def _imported(statement: str, tries: int = 1) -> tuple[float, set[str]]:
    """Seconds (the fewest of some tries, since machines are busy) and top-level modules of a fresh interpreter."""
    command = [sys.executable, "-c", PROBE.format(statement=statement)]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() for _ in range(tries)]
    return min(float(run[0]) for run in runs), set(runs[0][1:])


@pytest.mark.parametrize(("module", "limit_s"), [("benchcore", 0.4), ("benchcore.cli.main", 0.5)])
def test_importing_is_quick_and_brings_nothing_heavy(module: str, limit_s: float):
    """What every command pays, `benchcore --help` included."""
    seconds, modules = _imported(f"import {module}", tries=3)

    assert not modules & {*HEAVY, "numpy", "pyarrow", "deltalake", "pydantic"}
    assert seconds < limit_s


# Each room in a process of its own, forked when all that rooms may bring is there, which takes most of the time.
ROOMS = """
import os, sys
import deltalake, pandas, pyarrow.dataset, pydantic, scipy.linalg
for module in sys.argv[1:]:
    if not os.fork():
        __import__(module)
        print(module, *{"pyspark", "ray", "torch", "sentence_transformers"} & set(sys.modules), flush=True)
        os._exit(0)
    os.wait()
"""


def test_a_room_can_be_imported_without_its_engine():
    """Whoever only looks at a registry, or runs one step, needs the extras of no other."""
    rooms = [
        "benchcore.methods.select",
        "benchcore.registry.tables",
        "benchcore.pipeline.steps",
        "benchcore.pipeline.selectable",
        "benchcore.pipeline.diagnosis",
        "benchcore.ingest.job",
        "benchcore.embedding.job",
        "benchcore.distributed.job",
        "benchcore.report.page",
        "benchcore.harness.importing",
        "benchcore.harness.exporting",
    ]
    told = subprocess.run([sys.executable, "-c", ROOMS, *rooms], capture_output=True, text=True, check=True)

    assert told.stdout.splitlines() == rooms, told.stderr

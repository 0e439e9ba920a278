"""Ingest a made-up corpus on the local cluster and tell its speed, and the memory of each kind of process.

    source .cache/local-cluster/env                # of a cluster that is up
    .venv/bin/python -m infra.load --where DIR --rows 10000000 [--skew] [--root ROOT]

The driver and each executor have a heap of 1 GB. Memory is the proportional set size of all processes of a kind
together, sampled every two seconds: its most in each quarter of the run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil

from infra.bench.case import Report
from infra.bench.table import console, show_report
from infra.load.corpus import Wanted, write

_ROOT = Path(__file__).resolve().parents[2]
_PERIOD_S, _QUARTERS = 2.0, 4
_KINDS = {
    "executors": "CoarseGrainedExecutorBackend",
    "their Python workers": "pyspark.daemon",
    "driver, JVM": "org.apache.spark.deploy.SparkSubmit",
    "driver, Python": "jobs/ingest.py",
}
Sample = tuple[float, Counter[str]]  # seconds since the start, bytes of each kind


def main() -> int:
    """Measure; returns the job's exit status."""
    chosen = _parser().parse_args()
    largest = 0.9 if chosen.skew else None
    folder = chosen.where.resolve() / f"{chosen.rows}{'-skew' if chosen.skew else ''}"
    conf = write(folder, Wanted(chosen.rows, chosen.files, largest=largest))
    root = chosen.root or str(folder / "registry")
    started, answer, samples = time.monotonic(), folder / "ingest.json", []
    command = ["spark-submit", "--master", os.environ["SPARK_MASTER"], "--driver-memory", "1g"]
    command += [str(_ROOT / "jobs" / "ingest.py"), str(conf), "--root", root, "--json"]
    with answer.open("w") as out:
        process = subprocess.Popen(command, stdout=out)
        while process.poll() is None:
            samples.append((time.monotonic() - started, _memory()))
            try:
                process.wait(_PERIOD_S)
            except subprocess.TimeoutExpired:
                continue
    seconds = time.monotonic() - started
    if process.returncode == 0:
        said = answer.read_text()  # spark-submit joins what a Python job writes to stderr and stdout
        counts = json.JSONDecoder().raw_decode(said, said.index("{\n"))[0]["steps"][0]["counts"]
        show_report(console(), f"{chosen.rows:,} rows, {counts['files']} files", _report(seconds, counts, samples))
    return process.returncode


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m infra.load", description=__doc__)
    parser.add_argument("--where", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--files", type=int, default=500)
    parser.add_argument("--skew", action="store_true", help="one benchmark has nine tenths of all rows")
    parser.add_argument("--root", help="of the registry; default: a folder beside the corpus")
    return parser


def _memory() -> Counter[str]:
    found: Counter[str] = Counter()
    for process in psutil.process_iter():
        try:
            line = " ".join(process.cmdline())
            kind = next((kind for kind, word in _KINDS.items() if word in line), None)
            if kind is not None:
                found[kind] += process.memory_full_info().pss
        except psutil.Error:  # it has ended meanwhile
            continue
    return found


def _report(seconds: float, counts: dict[str, int], samples: list[Sample]) -> Report:
    def most(kind: str, quarter: int) -> str:
        first, last = seconds * quarter / _QUARTERS, seconds * (quarter + 1) / _QUARTERS
        return f"{max((sizes[kind] for at, sizes in samples if first <= at < last), default=0) / 2**20:,.0f}"

    rows = tuple((kind, *(most(kind, quarter) for quarter in range(_QUARTERS))) for kind in _KINDS)
    told = ", ".join(f"{name} {number:,}" for name, number in counts.items())
    speed = f"{seconds:.0f} s, {counts['rows_read'] / seconds:,.0f} rows a second"
    return Report(("MiB, at most", "1st quarter", "2nd", "3rd", "4th"), rows, notes=(speed, told))


if __name__ == "__main__":
    sys.exit(main())

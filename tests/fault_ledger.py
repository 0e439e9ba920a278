"""Faults that were tried and how they ended, one JSON line each: what passed on the same code is not tried again.

The file is $FAULT_LEDGER, or `.cache/faults.jsonl` of the checkout; remove it to begin anew.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

import orjson
import pytest

CHECKOUT = Path(__file__).resolve().parents[1]


def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    """Skip what has passed."""
    faults = [item for item in items if item.get_closest_marker("faults")]
    passed = _passed() if faults else set()
    for item in faults:
        if item.nodeid in passed:
            item.add_marker(pytest.mark.skip(reason=f"passed before, on this code ({_file()})"))


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add a line when a fault was tried to its end."""
    if report.when != "call" or "faults" not in report.keywords:
        return
    line = {
        "test": report.nodeid,
        "code": _code(),
        "outcome": report.outcome,
        "seconds": round(report.duration, 1),
        **dict(report.user_properties),
    }
    _file().parent.mkdir(parents=True, exist_ok=True)
    with _file().open("ab") as file:
        file.write(orjson.dumps(line) + b"\n")


def _passed() -> set[str]:
    if not _file().is_file():
        return set()
    lines = [orjson.loads(line) for line in _file().read_bytes().splitlines()]
    return {line["test"] for line in lines if line["outcome"] == "passed" and line["code"] == _code()}


def _file() -> Path:
    return Path(os.environ.get("FAULT_LEDGER", CHECKOUT / ".cache" / "faults.jsonl"))


@functools.cache
def _code() -> str:
    """The code that the faults try: a digest of what is in `benchcore/` and `jobs/`."""
    found = hashlib.sha256()
    for folder in ("benchcore", "jobs"):
        for file in sorted((CHECKOUT / folder).rglob("*.py")):
            found.update(f"{file.relative_to(CHECKOUT)}\0".encode())
            found.update(file.read_bytes())
    return found.hexdigest()[:12]

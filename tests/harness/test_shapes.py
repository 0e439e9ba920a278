"""Logs in which something is of another kind than it should be: noted or refused, never a traceback."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchcore.errors import BenchcoreError
from benchcore.harness import HARNESSES
from benchcore.harness.notes import Notes
from tests.harness.sample_logs import SAMPLES
from tests.registry.stored import prompt

STRANGE: tuple[Any, ...] = (None, 7, -1.5, True, "x", [], [None], {}, {"a": [1]})


@pytest.mark.parametrize("name", ["every-eval-ever", "helm", "opencompass", "alpaca-eval"])
def test_anything_may_stand_anywhere(name: str, tmp_path: Path):
    """Each value of a log in turn is replaced by values of every kind, and left out."""
    rows = [prompt("tides", 0, choices=["noon", "now"], answer="now", record_id="r")]
    log = SAMPLES[name](tmp_path, rows, [1.0])
    read = HARNESSES[name].results
    assert read is not None
    tried = 0
    for file in sorted(file for file in tmp_path.rglob("*.json*")):
        whole = file.read_text()
        for changed in _changes(json.loads(whole)):
            file.write_text(json.dumps(changed))
            try:
                results = list(read(log, Notes()))
            except BenchcoreError:
                continue
            assert all(isinstance(result.model, str) and isinstance(result.run, str) for result in results)
            assert all(isinstance(result.document.document_hash, str) for result in results)
            tried += 1
        file.write_text(whole)

    assert tried > 20


def _changes(value: Any) -> Iterator[Any]:
    """The value with one of its parts replaced or left out, for each part."""
    yield from STRANGE
    if isinstance(value, dict):
        for key in value:
            yield {name: inner for name, inner in value.items() if name != key}
            yield from (value | {key: inner} for inner in _changes(value[key]))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from ([*value[:at], changed, *value[at + 1 :]] for changed in _changes(inner))

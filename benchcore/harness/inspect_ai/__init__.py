"""Inspect AI: `.eval` and `.json` logs in, the picked samples of its tasks out."""

from __future__ import annotations

from benchcore.harness.entry import Harness
from benchcore.harness.inspect_ai.exporting import export
from benchcore.harness.inspect_ai.results import read_results

__all__ = ["INSPECT"]

INSPECT = Harness(title="Inspect AI", results=read_results, export=export)

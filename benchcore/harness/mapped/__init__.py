"""Anybody's logs, read by a small declared mapping, as sources are."""

from __future__ import annotations

from benchcore.harness.entry import Harness
from benchcore.harness.mapped.mapping import read_map
from benchcore.harness.mapped.results import harness_of

MAPPED = Harness(title="any other logs, by a declared mapping (--map)", by_record_id=True)

__all__ = ["MAPPED", "harness_of", "read_map"]

"""Harnesses by name: how each runs a subset and what its logs hold (docs/harnesses.md)."""

from __future__ import annotations

from benchcore.harness.entry import Harness

HARNESSES: dict[str, Harness] = {}

"""What a budget buys, before any model is run: coverage, expected error, tokens and money for every k."""

from __future__ import annotations

from benchcore.pipeline.planning.answers import Answer, Questions, answered, require_sense
from benchcore.pipeline.planning.plan import Plan, Size, plan

__all__ = ["Answer", "Plan", "Questions", "Size", "answered", "plan", "require_sense"]

"""What Inspect's scores are as numbers, after `value_to_float` of inspect_ai.scorer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from benchcore.harness.documents import RawScore

_WORDS = {"yes": True, "true": True, "no": False, "false": False}


def raw_scores(scores: Mapping[str, Any]) -> dict[str, RawScore]:
    """Name the scores of a sample: `scorer`, or `scorer/key` for each part of a score that is an object or a list.

    Inspect itself has no single number for an object or a list; it reduces them part by part. "C", "I", "P" and "N" and
    whatever is no number stay as they are.
    """
    named: dict[str, RawScore] = {}
    for scorer, score in scores.items():
        value = score.get("value") if isinstance(score, Mapping) else score
        if isinstance(value, Mapping):
            named |= {f"{scorer}/{key}": _scalar(part) for key, part in value.items()}
        elif isinstance(value, list):
            named |= {f"{scorer}/{place}": _scalar(part) for place, part in enumerate(value)}
        else:
            named[scorer] = _scalar(value)
    return named


def _scalar(value: Any) -> RawScore:
    if isinstance(value, str):
        return _WORDS.get(value.lower(), value)
    return value if value is None or isinstance(value, bool | int | float) else json.dumps(value)

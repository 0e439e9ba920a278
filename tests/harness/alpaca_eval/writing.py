"""Sample annotations of alpaca_eval."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def log_of_prompts(folder: Path, rows: Sequence[Mapping[str, Any]], scores: Sequence[float], model: str) -> Path:
    """An annotation a prompt."""
    annotations = [
        {
            "instruction": row["prompt"],
            "dataset": "tides",
            "output_1": "noon",
            "generator_1": "invented/reference",
            "output_2": "no idea",
            "generator_2": model,
            "annotator": "invented judge",
            "preference": 1.0 + score,
        }
        for row, score in zip(rows, scores, strict=True)
    ]
    (folder / "annotations.json").write_text(json.dumps(annotations))
    return folder

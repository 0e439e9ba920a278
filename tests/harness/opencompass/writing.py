"""Sample results of OpenCompass."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def log_of_prompts(folder: Path, rows: Sequence[Mapping[str, Any]], scores: Sequence[float], model: str) -> Path:
    """Results with details, one a prompt."""
    place = folder / "20260301_100000" / "results" / model
    place.mkdir(parents=True)
    details = {
        str(at): {
            "prompt": [{"role": "HUMAN", "prompt": row["prompt"]}],
            "predictions": "no idea",
            "references": row["answer"],
            "correct": score == 1.0,
        }
        for at, (row, score) in enumerate(zip(rows, scores, strict=True))
    }
    accuracy = 100 * sum(scores) / len(scores)
    (place / "tides.json").write_text(json.dumps({"accuracy": accuracy, "details": {"type": "GEN", **details}}))
    return folder

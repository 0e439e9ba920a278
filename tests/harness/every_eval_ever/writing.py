"""Sample logs in the schema of Every Eval Ever."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_UUID = "0b1f7a52-3c9d-4e8a-9b7e-5d2f4c6a8e10"


def log_of_prompts(folder: Path, rows: Sequence[Mapping[str, Any]], scores: Sequence[float], model: str) -> Path:
    """An aggregate and its instances, one a prompt."""
    place = folder / "data" / "tides" / model
    place.mkdir(parents=True)
    lines = [_instance(row, score, model) for row, score in zip(rows, scores, strict=True)]
    samples = place / f"{_UUID}_samples.jsonl"
    samples.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (place / f"{_UUID}.json").write_text(json.dumps(_aggregate(samples, len(rows), model)))
    return folder


def _instance(row: Mapping[str, Any], score: float, model: str) -> dict[str, Any]:
    return {
        "schema_version": "0.3.0",
        "evaluation_id": "tides/1760000000",
        "model_id": model,
        "evaluation_name": "tides",
        "sample_id": row["record_id"],
        "interaction_type": "single_turn",
        "input": {"raw": row["prompt"], "reference": [row["answer"]], "choices": row["choices"]},
        "output": {"raw": ["no idea"]},
        "answer_attribution": [],
        "evaluation": {"score": score, "is_correct": score == 1.0},
    }


def _aggregate(samples: Path, rows: int, model: str) -> dict[str, Any]:
    return {
        "schema_version": "0.3.0",
        "evaluation_id": "tides/1760000000",
        "retrieved_timestamp": "1760000000",
        "model_info": {"name": model, "id": model},
        "evaluation_results": [
            {
                "evaluation_name": "tides",
                "source_data": {"dataset_name": "tides", "source_type": "other"},
                "metric_config": {"metric_id": "accuracy", "lower_is_better": False, "min_score": 0, "max_score": 1},
                "score_details": {"score": 0.5},
            }
        ],
        "detailed_evaluation_results": {
            "format": "jsonl",
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(samples.read_bytes()).hexdigest(),
            "total_rows": rows,
        },
    }

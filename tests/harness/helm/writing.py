"""Sample runs of HELM."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def log_of_prompts(folder: Path, rows: Sequence[Mapping[str, Any]], scores: Sequence[float], model: str) -> Path:
    """A run folder with an instance a prompt."""
    run = folder / "runs" / "v1" / "tides:model=any"
    run.mkdir(parents=True)
    instances = [_instance(row, f"id{at}") for at, row in enumerate(rows)]
    stats = [_stats(one["id"], score) for one, score in zip(instances, scores, strict=True)]
    parts = {
        "run_spec.json": {
            "name": "tides:model=any",
            "scenario_spec": {"class_name": "sea.Tides", "args": {}},
            "adapter_spec": {"model": model},
        },
        "scenario.json": {"name": "tides"},
        "scenario_state.json": {"request_states": [{"instance": one, "train_trial_index": 0} for one in instances]},
        "per_instance_stats.json": stats,
    }
    for name, part in parts.items():
        (run / name).write_text(json.dumps(part))
    return folder


def _instance(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    references = [
        {"output": {"text": choice}, "tags": ["correct"] if choice == row["answer"] else []}
        for choice in row["choices"]
    ]
    return {"id": name, "split": "test", "input": {"text": row["prompt"]}, "references": references}


def _stats(instance: str, score: float) -> dict[str, Any]:
    names = {"exact_match": score, "num_prompt_tokens": 77}
    stats = [{"name": {"name": name, "split": "test"}, "count": 1, "sum": value} for name, value in names.items()]
    return {"instance_id": instance, "train_trial_index": 0, "stats": stats}

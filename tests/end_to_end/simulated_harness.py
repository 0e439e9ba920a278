"""Sample logs as lm-evaluation-harness writes them, with answers of simulated models: no model is run."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

DATE = "2026-01-02T03-04-05.678901"


class Documents:
    """The documents of one task a benchmark, in an order of the harness's own."""

    def __init__(self, prompts: Iterable[Mapping[str, Any]]) -> None:
        """Take rows of the table `prompts`, of which each becomes a document."""
        shuffled = sorted(prompts, key=lambda prompt: prompt["prompt_id"])
        random.Random(0).shuffle(shuffled)
        self.tasks: dict[str, list[Mapping[str, Any]]] = {}
        for prompt in shuffled:
            self.tasks.setdefault(f"{prompt['benchmark']}_task", []).append(prompt)

    def dump(self, folder: Path) -> Path:
        """Write all documents as `--predict_only --log_samples` does: without scores."""
        every = {task: list(range(len(prompts))) for task, prompts in self.tasks.items()}
        return self.run(folder, "dummy", every, {})

    def run(self, folder: Path, model: str, samples: Mapping[str, Sequence[int]], scores: Mapping[str, float]) -> Path:
        """Write the logs of a model on some documents of each task; prompt id -> score, none for a run without."""
        place = folder / model
        place.mkdir(parents=True)
        for task, documents in samples.items():
            prompts = self.tasks[task]
            lines = [_line(number, prompts[number], scores.get(prompts[number]["prompt_id"])) for number in documents]
            text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
            (place / f"samples_{task}_{DATE}.jsonl").write_text(text, encoding="utf-8")
        return folder


def _line(number: int, prompt: Mapping[str, Any], score: float | None) -> dict[str, Any]:
    document = {"question": prompt["prompt"], "options": prompt["choices"], "target": prompt["answer"]}
    written = json.dumps(document, indent=2, ensure_ascii=False)
    request = f"Question: {prompt['prompt']}\nAnswer:"
    return {
        "doc_id": number,
        "doc": document,
        "target": prompt["answer"] or "",
        "arguments": {"gen_args_0": {"arg_0": request, "arg_1": {"until": ["\n"]}}},
        "resps": [["..."]],
        "filtered_resps": ["..."],
        "filter": "none",
        "metrics": [] if score is None else ["exact_match"],
        "doc_hash": hashlib.sha256(written.encode()).hexdigest(),
        "prompt_hash": hashlib.sha256(request.encode()).hexdigest(),
        "target_hash": hashlib.sha256(str(prompt["answer"]).encode()).hexdigest(),
        **({} if score is None else {"exact_match": score}),
    }

"""Sample logs and results files in lm-eval's shapes, with invented content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

DATE = "2026-03-04T05-06-07.080910"
RIVER = {"n": 1, "prompt": "Which river does Ombra cross?", "choices": ["Lell", "Tarn"], "answer": "Lell"}
MOONS = {"n": 2, "prompt": "How many moons has Zul?", "choices": ["two", "nine"], "answer": "nine"}


def lm_eval_hash(doc: Any) -> str:
    """As lm_eval.evaluator computes `doc_hash`."""
    return hashlib.sha256(json.dumps(doc, indent=2, ensure_ascii=False).encode("utf-8")).hexdigest()


def line(doc_id: int, doc: dict[str, Any], filter: str = "none", **scores: Any) -> dict[str, Any]:
    """A line as lm-eval 0.4.13 writes it for a task whose answer is generated."""
    return {
        "doc_id": doc_id,
        "doc": doc,
        "target": doc["answer"],
        "arguments": {"gen_args_0": {"arg_0": f"Q: {doc['prompt']}\nA:", "arg_1": {"until": ["\n"]}}},
        "resps": [["lol"]],
        "filtered_resps": ["lol"],
        "filter": filter,
        "metrics": list(scores),
        "doc_hash": lm_eval_hash(doc),
        "prompt_hash": "0",
        "target_hash": "0",
        **scores,
    }


def choice_line(doc_id: int, doc: dict[str, Any], **scores: Any) -> dict[str, Any]:
    """A line of a multiple choice: one request an option, and the target is the number of the right one."""
    arguments = {
        f"gen_args_{n}": {"arg_0": doc["prompt"], "arg_1": f" {option}"} for n, option in enumerate(doc["choices"])
    }
    return line(doc_id, doc, **scores) | {"target": str(doc["choices"].index(doc["answer"])), "arguments": arguments}


def old_line(doc_id: int, doc: dict[str, Any], **scores: Any) -> dict[str, Any]:
    """A line as lm-eval wrote it before filters, hashes and the list of metrics."""
    new = line(doc_id, doc)
    arguments = [[f"Q: {doc['prompt']}\nA:", {"until": ["\n"]}]]
    return {name: new[name] for name in ("doc_id", "doc", "target", "resps", "filtered_resps")} | {
        "arguments": arguments,
        **scores,
    }


def write_log(folder: Path, task: str, lines: list[Any], date: str = DATE) -> Path:
    """Write a sample log; a line that is a string is written as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"samples_{task}_{date}.jsonl"
    texts = (text if isinstance(text, str) else json.dumps(text, ensure_ascii=False) for text in lines)
    file.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return file


def write_results(folder: Path, date: str = DATE, **said: Any) -> Path:
    """Write the results file of a run."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"results_{date}.json"
    file.write_text(json.dumps({"results": {}, **said}), encoding="utf-8")
    return file


def log_of_prompts(folder: Path, rows: Sequence[Mapping[str, Any]], scores: Sequence[float], model: str) -> Path:
    """The log of a run of a multiple choice over rows of the table `prompts`."""
    docs = [{name: row[name] for name in ("prompt", "choices", "answer")} for row in rows]
    lines = [choice_line(n, doc, acc=score) for n, (doc, score) in enumerate(zip(docs, scores, strict=True))]
    write_results(folder, model_name=model, versions={"invented": 1.0})
    write_log(folder, "invented", lines)
    return folder

"""Tasks of lm-eval over local files, for prompts that none of its own tasks has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from benchcore.harness.picks import Pick
from benchcore.whole_file import write_file

FOLDER = "task"

# Parquet, since a column of dates in JSON lines would come back as times. Names of fields and no templates: lm-eval
# then takes the texts as they are, whatever braces or digits they hold.
_COMMON = {"dataset_path": "parquet", "test_split": "train", "doc_to_text": "question", "num_fewshot": 0}
_CHOICE: dict[str, Any] = {
    "output_type": "multiple_choice",
    "doc_to_choice": "choices",
    "doc_to_target": "gold",
    "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
}
_TEXT: dict[str, Any] = {
    "output_type": "generate_until",
    "doc_to_target": "answer",
    "generation_kwargs": {"until": ["\n\n"], "do_sample": False, "max_gen_toks": 512},
    "filter_list": [{"name": "none", "filter": [{"function": "remove_whitespace"}, {"function": "take_first"}]}],
    "metric_list": [
        {
            "metric": "exact_match",
            "aggregation": "mean",
            "higher_is_better": True,
            "ignore_case": True,
            "ignore_punctuation": True,
        }
    ],
}
_HEADER = b"# A start: edit template, filter and metric as the benchmark needs. Run it from the folder above.\n"
_NO_ANSWER = "it has no answer, so lm-eval has nothing to score against"


@dataclass(frozen=True)
class LocalTasks:
    """What was written: tasks with the indices of all their documents, and the picks that none can hold."""

    samples: dict[str, list[int]]
    files: tuple[Path, ...]
    left_out: tuple[tuple[Pick, str], ...]


def write_local_tasks(coreset_id: str, picks: Sequence[Pick], out: Path) -> LocalTasks:
    """Write a task for the benchmarks all of whose picks have their answer among their choices, and one for the others.

    A benchmark is in one of them alone: scores of different metrics have no mean.
    """
    name = re.sub(r"\W", "_", coreset_id)[:12]
    answered = sorted((pick for pick in picks if _is_answered(pick)), key=lambda pick: pick.rank)
    left_out = [(pick, _NO_ANSWER) for pick in picks if not _is_answered(pick)]
    texts = {pick.benchmark for pick in answered if not _is_choice(pick)}
    kinds: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {"choice": (_CHOICE, []), "text": (_TEXT, [])}
    for pick in answered:
        kind = "text" if pick.benchmark in texts else "choice"
        kinds[kind][1].append(_row(pick, kind))
    samples: dict[str, list[int]] = {}
    files: list[Path] = []
    for kind, (settings, rows) in kinds.items():
        if rows:
            task = f"benchcore_{name}_{kind}"
            samples[task] = list(range(len(rows)))
            files += _write(out / FOLDER, task, settings, rows)
    return LocalTasks(samples, tuple(files), tuple(left_out))


def _is_answered(pick: Pick) -> bool:
    return pick.answer is not None and bool(pick.answer.strip())


def _is_choice(pick: Pick) -> bool:
    return len(set(pick.choices)) > 1 and pick.answer in pick.choices


def _row(pick: Pick, kind: str) -> dict[str, Any]:
    """A document; `prompt_id` and `content_hash` lead the way back, whatever else lm-eval logs."""
    row: dict[str, Any] = {
        "prompt_id": pick.prompt_id,
        "content_hash": pick.content_hash,
        "benchmark": pick.benchmark,
        "question": pick.prompt,
        "answer": pick.answer,
    }
    if kind == "choice":
        return row | {"choices": list(pick.choices), "gold": pick.choices.index(pick.answer or "")}
    return row | {"question": "\n".join((pick.prompt, *pick.choices))}


def _write(folder: Path, task: str, settings: dict[str, Any], rows: list[dict[str, Any]]) -> list[Path]:
    data, config = folder / f"{task}.parquet", folder / f"{task}.yaml"
    # Relative to where lm_eval runs: the task folder's own place is not known to it.
    location = {"dataset_kwargs": {"data_files": f"{FOLDER}/{data.name}"}}
    tree = {"task": task, **_COMMON, **location, **settings, "metadata": {"version": 1.0}}
    buffer = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows), buffer)
    write_file(data, buffer.getvalue().to_pybytes())
    write_file(config, _HEADER + yaml.safe_dump(tree, sort_keys=False).encode())
    return [config, data]

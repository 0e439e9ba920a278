"""A small sample log of each harness, for the laws that all harnesses obey: one line a harness in `SAMPLES`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.harness.alpaca_eval import writing as alpaca_eval
from tests.harness.every_eval_ever import writing as every_eval_ever
from tests.harness.helm import writing as helm
from tests.harness.inspect_ai.crafted import log_of_prompts
from tests.harness.lighteval import writing as lighteval
from tests.harness.lm_eval import writing as lm_eval
from tests.harness.opencompass import writing as opencompass

MODEL = "invented/model"

Builder = Callable[[Path, Sequence[Mapping[str, Any]], Sequence[float]], Path]
"""Write a log of one run of `MODEL` below an empty folder, in the harness's own shape.

It gets rows of the table `prompts` (tests.registry.stored.prompt), each to be one document whose texts are those of the
row, and the score of each (0.0 or 1.0); it returns what a user would pass to `benchcore import`.
"""


def _jsonl(folder: Path, rows: Sequence[Mapping[str, Any]], scores: Sequence[float]) -> Path:
    file = folder / "results.jsonl"
    lines = [
        {"prompt_id": row["prompt_id"], "model": MODEL, "score": score} for row, score in zip(rows, scores, strict=True)
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def _parquet(folder: Path, rows: Sequence[Mapping[str, Any]], scores: Sequence[float]) -> Path:
    file = folder / "results.parquet"
    columns = {"prompt_id": [row["prompt_id"] for row in rows], "model": [MODEL] * len(rows), "score": list(scores)}
    pq.write_table(pa.table(columns), file)
    return file


SAMPLES: dict[str, Builder] = {
    "jsonl": _jsonl,
    "parquet": _parquet,
    "lm-eval": lambda folder, rows, scores: lm_eval.log_of_prompts(folder, rows, scores, MODEL),
    "inspect": lambda folder, rows, scores: log_of_prompts(folder, rows, scores, MODEL),
    "every-eval-ever": lambda folder, rows, scores: every_eval_ever.log_of_prompts(folder, rows, scores, MODEL),
    "helm": lambda folder, rows, scores: helm.log_of_prompts(folder, rows, scores, MODEL),
    "lighteval": lambda folder, rows, scores: lighteval.log_of_prompts(folder, rows, scores, MODEL),
    "opencompass": lambda folder, rows, scores: opencompass.log_of_prompts(folder, rows, scores, MODEL),
    "alpaca-eval": lambda folder, rows, scores: alpaca_eval.log_of_prompts(folder, rows, scores, MODEL),
}
"""Name in HARNESSES -> its builder."""

"""What names say: which columns are no tasks, and whether a matrix lies the wrong way round."""

from __future__ import annotations

import re
from collections.abc import Sequence

MODEL_COLUMNS = ("model", "models", "model_name", "model name", "model_id", "modelname", "system", "name")
TASK_COLUMNS = ("task", "tasks", "task_name", "task name", "benchmark", "dataset", "subject", "eval")

# Columns of numbers that people keep beside scores.
_BESIDE = re.compile(
    r"(?i)(rank|#|no\.?|index|unnamed: ?\d+|params?|parameters|n_params|#?\s*params? ?\(.*\)|size|model_size|year|date|"
    r"hub.*|likes|downloads|votes|embedding_dim(ension)?s?|max_tokens|context( length)?|price|cost)"
)
_AVERAGE = re.compile(r"(?i)(average|avg\.?|mean|overall|total|macro[ _-]?avg|mean ?\(.*\)|average ?\(.*\))[^a-z0-9]*")
_LOWER = re.compile(
    r"(?i)(^|[^a-z])(perplexity|ppl|loss|nll|error|error[ _-]?rate|wer|cer|brier|ece|rmse|mae)($|[^a-z])"
)
_OF_MODELS = re.compile(
    r"(?i)((^|[-_/ .v])\d+(\.\d+)?\s?[bm]($|[-_ .])|/|__|instruct$|-chat|^(model|system)[-_ ]?\d|"
    r"^(meta-)?(gpt|claude|llama|qwen|mistral|mixtral|gemma|gemini|phi|falcon|bloom|opt|pythia|deepseek|yi|mpt|"
    r"bert|roberta|t5|e5|bge|gte)($|[-_ \d.]))"
)
_OF_TASKS = re.compile(
    r"(?i)(^(task|benchmark|dataset)[-_ ]?\d|mmlu|gsm|^arc|hellaswag|winogrande|truthfulqa|human_?eval|mbpp|bbh|gpqa|"
    r"ifeval|math|classification|retrieval|clustering|reranking|summeval|^sts|history|biology|chemistry|physics|law$|"
    r"medicine|psychology|science|qa$|bench$|econom|studies)"
)
_CLEARLY = 0.3


def is_beside(name: str) -> bool:
    """Whether a column of this name holds numbers that are no scores."""
    return bool(_BESIDE.fullmatch(name.strip()))


def is_average(name: str) -> bool:
    """Whether a column of this name sums the others up."""
    return bool(_AVERAGE.fullmatch(name.strip()))


def says_lower_is_better(task: str) -> bool:
    """Whether a task's name says that it counts errors."""
    return bool(_LOWER.search(task))


def wrong_way_round(rows: Sequence[str], columns: Sequence[str], label: str | None) -> bool:
    """Whether the rows are named like tasks and the columns like models.

    Args:
        rows, columns: their names.
        label: name of the column that names the rows.
    """
    evidence = _like_models(columns) - _like_models(rows)
    if label is not None and label.strip().lower() in TASK_COLUMNS:
        evidence += 2 * _CLEARLY
    return evidence > _CLEARLY


def _like_models(names: Sequence[str]) -> float:
    """Share of the names that look like a model's, less the share that look like a task's."""
    models = sum(bool(_OF_MODELS.search(name)) for name in names)
    return (models - sum(bool(_OF_TASKS.search(name)) for name in names)) / max(len(names), 1)

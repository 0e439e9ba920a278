"""Anybody's logs, by a declared mapping."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchcore.errors import UsageError
from benchcore.harness.documents import Scale
from benchcore.harness.importing import import_logs
from benchcore.harness.log_reading import ImportOptions
from benchcore.harness.mapped import harness_of, read_map
from benchcore.harness.notes import Notes
from benchcore.registry.root import Registry
from benchcore.registry.tables import read
from tests.registry.stored import prompt, store

ROWS = [
    prompt("calls", number, prompt=f"Call the function that opens lock number {number}.", record_id=f"simple_{number}")
    for number in range(3)
]


def write(tmp_path: Path, mapping: str, log: Any, name: str = "log.json") -> tuple[Path, Path]:
    (tmp_path / "map.yaml").write_text(mapping)
    text = "".join(json.dumps(row) + "\n" for row in log) if name.endswith("jsonl") else json.dumps(log)
    (tmp_path / name).write_text(text)
    return tmp_path / "map.yaml", tmp_path / name


def brought(tmp_path: Path, mapping: str, log: Any, name: str = "log.json", **options: Any) -> list[tuple[Any, ...]]:
    registry = Registry.at(tmp_path / "registry")
    store(registry, "prompts", ROWS)
    declared, file = write(tmp_path, mapping, log, name)
    import_logs(registry, "mapped", harness_of(read_map(declared), "map.yaml"), [file], ImportOptions(**options))
    rows = read(registry, "scores").sort_by("prompt_id").to_pylist()
    ids = {row["prompt_id"]: row["record_id"] for row in ROWS}
    return sorted((ids[row["prompt_id"]], row["model"], row["run"], row["metric"], row["score"]) for row in rows)


def test_ids_of_a_declared_benchmark(tmp_path: Path):
    """As function-calling boards write them: JSON lines with an id and a verdict."""
    mapping = "benchmark: calls\nid: '{{ id }}'\nscore: '{{ valid }}'\nmodel: '{{ model_name }}'\nrun: first\n"
    log = [{"id": f"simple_{n}", "valid": n > 0, "model_name": "m"} for n in range(3)]

    assert brought(tmp_path, mapping, log, "log.jsonl") == [
        ("simple_0", "m", "first", "score", 0.0),
        ("simple_1", "m", "first", "score", 1.0),
        ("simple_2", "m", "first", "score", 1.0),
    ]


def test_ids_that_are_keys_and_verdicts_in_lists(tmp_path: Path):
    """As code boards write them: one object keyed by task, several samples each, the model in the file's name."""
    mapping = (
        "format: json\n"
        "explode: \"{{ record.eval | dictsort | map('last') | sum(start=[]) }}\"\n"
        "benchmark: calls\nid: '{{ task_id }}'\nmodel: '{{ path.stem }}'\n"
        "score: {base: \"{{ base_status == 'pass' }}\", plus: \"{{ plus_status == 'pass' }}\"}\n"
    )
    log = {"eval": {"a": [{"task_id": "simple_1", "base_status": "pass", "plus_status": "fail"}]}}

    assert brought(tmp_path, mapping, log, "gpt.json") == [
        ("simple_1", "gpt", "gpt", "base", 1.0),
        ("simple_1", "gpt", "gpt", "plus", 0.0),
    ]


def test_the_prompts_text_and_a_scale(tmp_path: Path):
    """Without ids; a rating from 1 to 10."""
    mapping = "format: json-list\nprompt: '{{ question }}'\nscore: {rating: '{{ stars }}'}\nscale: {rating: '1:10'}\n"
    log = [{"question": row["prompt"], "stars": 10 - 9 * n} for n, row in enumerate(ROWS[:2])]

    assert brought(tmp_path, mapping, log, model="m", run="r") == [
        ("simple_0", "m", "r", "rating", 1.0),
        ("simple_1", "m", "r", "rating", 0.0),
    ]


def test_rows_on_which_a_template_fails_are_counted(tmp_path: Path):
    """With the field that is missing."""
    declared, file = write(tmp_path, "prompt: '{{ q }}'\nscore: '{{ s }}'\n", [{"q": "x", "s": 1}, {"q": "x"}])
    notes = Notes()
    reader = harness_of(read_map(declared), "map.yaml").results
    assert reader is not None

    [result] = reader(file, notes)

    assert result.metrics == {"score": 1}
    assert notes.counts == {"unreadable": 1}
    assert "'s'" in notes.examples["unreadable"][0]


def test_an_element_that_fails_costs_itself_alone(tmp_path: Path):
    """Those that come after it in its record are read; an epoch is 1, 2, ..., in few digits."""
    mapping = "explode: '{{ rs }}'\nprompt: q\nscore: '{{ s }}'\nepoch: '{{ e }}'\n"
    listed = [{"s": 1, "e": 1}, {"e": 1}, None, {"s": 0, "e": "9" * 5000}, {"s": 0, "e": 2}]
    declared, file = write(tmp_path, mapping, [{"rs": listed}])
    notes = Notes()
    reader = harness_of(read_map(declared), "map.yaml").results
    assert reader is not None

    assert [(result.metrics["score"], result.epoch) for result in reader(file, notes)] == [(1, 1), (0, 2)]
    assert notes.counts == {"unreadable": 3}


def test_scales_are_those_of_the_metrics(tmp_path: Path):
    """One for all, or one each; upside down where lower is better."""
    declared, file = write(tmp_path, "prompt: a\nscore: {x: '{{ v }}', y: '{{ v }}'}\nscale: '5:0'\n", [{"v": 1}])
    reader = harness_of(read_map(declared), "map.yaml").results
    assert reader is not None

    [result] = reader(file, Notes())

    assert result.scales == dict.fromkeys(("x", "y"), Scale(0, 5, lower_is_better=True))


@pytest.mark.parametrize(
    ("mapping", "told"),
    [
        ("prompt: a\nscroe: b\n", "Did you mean 'score'"),
        ("prompt: a\n", "'score' is missing"),
        ("score: '{{ s }}'\n", "needs 'id'"),
        ("prompt: '{{ a'\nscore: b\n", "template.*is wrong"),
        ("prompt: a\nscore: b\nscale: '3'\n", "no scale"),
        ("prompt: a\nscore: {}\n", "names no metric"),
        ("prompt: a\nscore: {x: b}\nscale: {y: '0:5'}\n", "'y' is no metric; there are x"),
        ("prompt: a\nscore: b\nformat: xml\n", "format"),
        ("- a\n", "no YAML mapping"),
        ("a: [\n", "not valid YAML"),
    ],
)
def test_what_is_wrong_in_a_mapping_is_named(tmp_path: Path, mapping: str, told: str):
    """Before any log is read; the nearest right key for a wrong one."""
    declared, _ = write(tmp_path, mapping, [])

    with pytest.raises(UsageError, match=told):
        harness_of(read_map(declared), "map.yaml")


@pytest.mark.parametrize("scale", ["[1, 10]", '"1:10"', "{rating: [1, 10]}", '{rating: "1:10"}'])
def test_a_scale_is_a_list_or_text(tmp_path: Path, scale: str):
    """Of one metric or of each."""
    mapping = f"prompt: '{{{{ q }}}}'\nscore: {{rating: '{{{{ stars }}}}'}}\nscale: {scale}\nmodel: m\n"

    assert brought(tmp_path, mapping, [{"q": ROWS[0]["prompt"], "stars": 5.5}])[0][-1] == 0.5


@pytest.mark.parametrize("scale", ["1:10", "{score: 1:10}", "[1, 2, 3]"])
def test_a_scale_that_yaml_takes_for_something_else_is_told(tmp_path: Path, scale: str):
    """1:10 is the number 70 to it."""
    declared, _ = write(tmp_path, f"id: '{{{{ id }}}}'\nscore: '{{{{ ok }}}}'\nscale: {scale}\n", [])

    with pytest.raises(UsageError, match=r"scale: put it in quotes, \"1:10\", or write \[1, 10\]"):
        read_map(declared)


def test_a_table_with_another_delimiter(tmp_path: Path):
    """As spreadsheets write it where the comma is in numbers."""
    (tmp_path / "log.csv").write_text("id;ok\nsimple_1;1\n")
    (tmp_path / "map.yaml").write_text("id: '{{ id }}'\nscore: '{{ ok }}'\ndelimiter: ';'\n")
    harness = harness_of(read_map(tmp_path / "map.yaml"), "map.yaml")
    assert harness.results is not None

    [result] = harness.results(tmp_path / "log.csv", Notes())

    assert (result.document.document_id, result.metrics) == ("simple_1", {"score": "1"})

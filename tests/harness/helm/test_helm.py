"""HELM: run folders as results, cached instances as documents, the picks cut out of them by content."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchcore.errors import BenchcoreError, UsageError
from benchcore.harness.documents import Document, Result
from benchcore.harness.helm import HELM
from benchcore.harness.notes import Notes
from tests.harness.picked import picks_of

SCENARIO = "tides:buoy=7,deep=True"
BLUR = {"name": "blur", "robustness": True}


def instance(number: int, **more: Any) -> dict[str, Any]:
    return {
        "input": {"text": f"When is high water {number}?"},
        "references": [
            {"output": {"text": "at noon"}, "tags": []},
            {"output": {"text": f"at {number}"}, "tags": ["correct"]},
        ],
        "split": "test",
    } | more


def stat(name: str, value: float | None, **more: Any) -> dict[str, Any]:
    said = {"count": 0, "sum": 0} if value is None else {"count": 1, "sum": value, "mean": value}
    return {"name": {"name": name, "split": "test"} | more} | said


def entry(instance_id: str, *stats: dict[str, Any], trial: int = 0, **more: Any) -> dict[str, Any]:
    return {"instance_id": instance_id, "train_trial_index": trial, "stats": list(stats)} | more


def run_folder(folder: Path, entries: list[Any], instances: list[Any] | None = None) -> Path:
    folder.mkdir(parents=True)
    spec = {
        "name": "tides:buoy=7,model=lab_gull",
        "scenario_spec": {"class_name": "sea.Tides", "args": {"deep": True, "buoy": 7}},
        "adapter_spec": {"model": "lab/gull", "model_deployment": "sky/gull"},
        "metric_specs": [{"class_name": "sea.Depth", "args": {"names": ["depth_match"]}}],
    }
    found = [instance(at, id=f"id{at}") for at in range(3)] if instances is None else instances
    parts = {
        "run_spec.json": spec,
        "scenario.json": {"name": "tides"},
        "scenario_state.json": {"request_states": [{"instance": one, "train_trial_index": 0} for one in found]},
        "per_instance_stats.json": entries,
    }
    for name, part in parts.items():
        (folder / name).write_text(json.dumps(part))
    return folder


def cached(folder: Path, instances: list[Any], scenario: str = SCENARIO) -> Path:
    place = folder / "scenario_instances" / scenario
    place.mkdir(parents=True)
    (place / "input_instances.json").write_text(json.dumps(instances))
    return folder


def read(path: Path) -> tuple[list[Result], Notes]:
    notes = Notes()
    assert HELM.results is not None
    return list(HELM.results(path, notes)), notes


def documents(path: Path) -> tuple[list[Document], Notes]:
    notes = Notes()
    assert HELM.documents is not None
    return list(HELM.documents(path, notes)), notes


def test_a_run_gives_a_result_an_instance(tmp_path: Path):
    """Trials are averaged, statistics of one instance may stand in several entries, and book-keeping is no score."""
    entries = [
        entry("id0", stat("exact_match", 1.0), stat("num_prompt_tokens", 333)),
        entry("id0", stat("exact_match", 0.0), trial=1),
        entry("id0", stat("depth_match@5", 0.5)),
        entry("id1", stat("exact_match", None), stat("quasi_exact_match", 1.0)),
        entry("id2", stat("exact_match", 1)),
    ]

    results, notes = read(run_folder(tmp_path / "runs" / "v1" / "tides", entries))

    assert [dict(result.metrics) for result in results] == [
        {"exact_match": 0.5, "depth_match@5": 0.5},
        {"quasi_exact_match": 1.0},
        {"exact_match": 1.0},
    ]
    assert {("lab/gull", "v1/tides", 1)} == {(result.model, result.run, result.epoch) for result in results}
    first = results[0].document
    assert (
        first.task,
        first.document_id,
        first.request,
        first.answer,
    ) == (SCENARIO, "id0", "When is high water 0?", "at 0")
    assert notes.counts == {"statistics that are no scores": 1}


def test_perturbed_instances_are_left_out_and_counted(tmp_path: Path):
    """Neither their scores nor their texts take the place of the original's."""
    entries = [
        entry("id0", stat("exact_match", 0.0), perturbation=BLUR),
        entry("id0", stat("exact_match", 1.0), stat("exact_match", 0.0, perturbation=BLUR)),
    ]
    instances = [instance(9, id="id0", perturbation=BLUR), instance(0, id="id0")]

    results, notes = read(run_folder(tmp_path / "tides", entries, instances))

    assert [(dict(result.metrics), result.document.request) for result in results] == [
        ({"exact_match": 1.0}, "When is high water 0?")
    ]
    assert notes.counts == {"perturbed instances, which are left out": 1}


def test_what_does_not_fit_together_is_counted(tmp_path: Path):
    """Scores without an instance, instances without scores and broken entries are named."""
    entries = [entry("id0", stat("exact_match", 1.0)), entry("id8", stat("exact_match", 1.0)), {"stats": 7}, 3]

    results, notes = read(run_folder(tmp_path / "tides", entries, [instance(0, id="id0"), instance(1, id="id1"), {}]))

    assert len(results) == 1
    assert notes.counts == {
        "unreadable": 3,
        "scores of an instance that the run does not show": 1,
        "instances without scores": 1,
    }


def test_no_run_and_a_damaged_run_are_errors(tmp_path: Path):
    """The message names the folder or the file."""
    with pytest.raises(UsageError, match=r"per_instance_stats\.json"):
        read(tmp_path)
    folder = run_folder(tmp_path / "tides", [])
    (folder / "per_instance_stats.json").write_text("[{")
    with pytest.raises(BenchcoreError, match="not JSON"):
        read(folder)


def test_cached_instances_and_those_of_a_run_are_the_same_documents(tmp_path: Path):
    """Ids are positional as HELM gives them; training instances are no documents; hashes know no position."""
    train = instance(7, split="train")
    held, notes = documents(cached(tmp_path / "out", [train, instance(0), instance(1)]))
    results, _ = read(run_folder(tmp_path / "run", [entry("id1", stat("exact_match", 1))], [instance(0, id="id1")]))

    assert [(one.document_id, one.task) for one in held] == [("id1", SCENARIO), ("id2", SCENARIO)]
    assert (held[0].document_hash, held[0].task) == (
        results[0].document.document_hash,
        results[0].document.task,
    )
    assert held[0].document_hash != held[1].document_hash
    assert notes.counts == {}


def test_the_script_keeps_picks_and_training_instances_by_content(tmp_path: Path):
    """From instances in another order the same contents are kept, under ids of the full run."""
    told, _ = documents(cached(tmp_path / "told", [instance(0), instance(1), instance(2), instance(0)]))
    assert HELM.export is not None
    exported = HELM.export("c0ffee", picks_of(told[:2]), tmp_path)
    full = cached(tmp_path / "full", [instance(2), instance(1), instance(7, split="train"), instance(0), instance(0)])
    cached(tmp_path / "full", [instance(0)], "other")

    script = [sys.executable, "subset.py", full / "scenario_instances", "kept"]
    done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, check=True)
    kept = json.loads((tmp_path / "kept" / SCENARIO / "input_instances.json").read_text())

    assert [(one["id"], int(one["input"]["text"][-2])) for one in kept] == [("id1", 1), ("id2", 7), ("id3", 0)]
    assert "2 of 2 picks" in done.stderr
    assert [tmp_path / "kept" / SCENARIO] == [file.parent for file in (tmp_path / "kept").rglob("*.json")]
    assert exported.command.count("-m 1000000") == 2


def test_picks_that_are_not_cached_are_named_and_fail(tmp_path: Path):
    """Another version of a scenario does not pass for the one that was bound."""
    told, _ = documents(cached(tmp_path / "told", [instance(0), instance(1)]))
    assert HELM.export is not None
    HELM.export("c0ffee", picks_of(told), tmp_path)
    full = cached(tmp_path / "full", [instance(1), instance(5)])

    script = [sys.executable, "subset.py", full / "scenario_instances", "kept"]
    done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert f"not found: {SCENARIO}, instance id0" in done.stderr


def test_hostile_names_stay_data(tmp_path: Path):
    """A scenario's name is quoted in the command, and leads the script nowhere."""
    name = "../x'; touch gone; '"
    document = Document("helm", name, "id0\n", "hash", {}, "asked")
    assert HELM.export is not None
    exported = HELM.export("c0ffee", picks_of([document]), tmp_path)

    shell = f"helm-run() {{ :; }}; python3() {{ :; }}\n{exported.command}"
    subprocess.run(["bash", "-c", shell], cwd=tmp_path, check=True)

    assert {"picks.json", "subset.py"} == {file.name for file in tmp_path.iterdir()}


def test_a_real_run_is_read(shared_data: Path):
    """Ten questions of philosophy, as HELM wrote them."""
    results, notes = read(shared_data / "harness_logs" / "helm")

    assert len({result.document.document_hash for result in results}) == 10
    assert {"mmlu:subject=philosophy"} == {result.document.task for result in results}
    assert {"exact_match", "quasi_exact_match@5"} < set(results[0].metrics)
    assert {"statistics that are no scores"} == set(notes.counts)

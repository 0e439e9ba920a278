"""The real Inspect AI: what it runs from an exported folder, and what the reader makes of its own logs.

It lives in an environment of its own: `inspect-ai` below $BENCHCORE_HARNESS_ENVIRONMENTS, or one that uv makes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchcore.config import SourceSpec
from benchcore.harness import HARNESSES
from benchcore.harness.documents import Result
from benchcore.harness.importing import import_logs
from benchcore.harness.inspect_ai.exporting import export
from benchcore.harness.inspect_ai.results import read_results
from benchcore.harness.log_reading import ImportOptions
from benchcore.harness.notes import Notes
from benchcore.ingest.canonical import Canonical
from benchcore.ingest.mapping import compile_mapping
from benchcore.ingest.readers import ReadUnit
from benchcore.ingest.rows import rows_of
from benchcore.registry.root import Registry
from tests.harness.environments import FOLDER, environment
from tests.harness.inspect_ai.picked import pick_of
from tests.registry.stored import prompt, store

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

HOSTILE = ["a,b", "*", "../x", "12", "012", "[x]", "?", "invented:7", "two\nlines", "plain", "é" * 60]

TASKS = """
from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import includes, match
from inspect_ai.solver import generate, solver

@solver
def stumbling():
    async def solve(state, generate):
        if state.metadata.get("stumbles"):
            raise ValueError("the sample is at fault")
        return await generate(state)
    return solve

@task
def invented(seed: int = 0, data: str = "data.jsonl"):
    dataset = json_dataset(data, shuffle=bool(seed), seed=seed or None)
    return Task(dataset=dataset, solver=stumbling(), scorer=[includes(), match()])
"""

# A model of Inspect's own extension mechanism; its mockllm/model wants a tokenizer from the network.
PROVIDER = """
from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage, modelapi

class Parrot(ModelAPI):
    async def generate(self, input, tools, tool_choice, config):
        output = ModelOutput.from_content(self.model_name, "The answer is a lighthouse")
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

@modelapi(name="parrot")
def parrot():
    return Parrot
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with Inspect's commands."""
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if FOLDER in os.environ or uv is None:
        return environment("inspect-ai")
    made = tmp_path_factory.mktemp("environment") / "inspect-ai"
    for command in ([uv, "venv", made], [uv, "pip", "install", "--python", made / "bin/python", "inspect-ai"]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"inspect-ai cannot be installed: {done.stderr[-300:]}")
    return made / "bin"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a task and its data: invented content, hostile ids; and the same data without ids."""
    records = [
        {
            "id": name,
            "input": f"Tell the tale of the {number}th lighthouse.",
            "target": "lighthouse" if number % 2 else "nowhere",
            "metadata": {"stumbles": name == "plain"},
        }
        for number, name in enumerate(HOSTILE)
    ]
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "A light or a house?"}]
    records[0] |= {"input": chat, "choices": ["a light", "a house"], "target": ["A", "B"]}
    write(tmp_path / "data.jsonl", records)
    write(tmp_path / "numbered.jsonl", [{"input": r["input"], "target": r["target"]} for r in records[1:]])
    (tmp_path / "tasks.py").write_text(TASKS)
    installed = tmp_path / "provider/parrot-1.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: parrot\nVersion: 1\n")
    (installed / "entry_points.txt").write_text("[inspect_ai]\nparrot = parrot_provider\n")
    (tmp_path / "provider/parrot_provider.py").write_text(PROVIDER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "provider"))
    monkeypatch.setenv("INSPECT_DISPLAY", "plain")
    return tmp_path


def write(file: Path, records: list[dict[str, object]]) -> None:
    file.write_text("".join(json.dumps(record) + "\n" for record in records))


def started(command: list[object], folder: Path) -> subprocess.CompletedProcess[str]:
    written = [str(part) for part in command]
    return subprocess.run(written, cwd=folder, capture_output=True, text=True, check=False)


def evaluated(programs: Path, folder: Path, *arguments: object) -> None:
    done = started([programs / "inspect", "eval", *arguments, "--model", "parrot/model"], folder)
    assert done.returncode == 0, done.stdout + done.stderr


def results_of(folder: Path, notes: Notes | None = None) -> list[Result]:
    return list(read_results(folder, notes or Notes()))


def subset(programs: Path, folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [programs / "python", folder / "out/run_subset.py", "--model", "parrot/model", "--log-dir", "subset"]
    return started([*command, "--task-file", "tasks.py", *arguments], folder)


def bound_share(source: Path, log: Path, root: Path) -> float:
    """The share of a log's results that find their prompt, of prompts that another log brought in."""
    spec = SourceSpec.model_validate({"name": "tales", "benchmark": "tales", "path": "*", "format": "inspect"})
    (file,) = source.glob("*.eval")
    found = [row.outcome for row in rows_of(ReadUnit(str(file), file.name, "inspect"), compile_mapping(spec))]
    rows = [
        prompt("tales", number, prompt=one.prompt, answer=one.answer, choices=one.choices, metadata=one.metadata)
        for number, one in enumerate(found)
        if isinstance(one, Canonical)
    ]
    registry = Registry.at(root)
    store(registry, "prompts", rows)
    imported = import_logs(registry, "inspect", HARNESSES["inspect"], [log], ImportOptions())
    assert len(rows) == len(HOSTILE)
    return imported.matched / imported.results


def test_exactly_the_picked_samples_run_whatever_their_ids(programs: Path, work: Path):
    """Ids with commas, patterns, paths, digits and line ends are run as they are, once an epoch, and bind again."""
    evaluated(programs, work, "tasks.py@invented", "--epochs", "2", "--log-dir", "full", "--no-fail-on-error")
    notes = Notes()
    full = results_of(work / "full", notes)
    wanted = ["a,b", "*", "../x", "12", "[x]", "invented:7", "two\nlines"]
    picks = [
        pick_of(rank, r.document) for rank, r in enumerate(full) if r.epoch == 1 and r.document.document_id in wanted
    ]
    (work / "out").mkdir()
    told = export("coreset", picks, work / "out")
    done = subset(programs, work, "--epochs", "2")

    assert done.returncode == 0, done.stdout + done.stderr
    run = results_of(work / "subset")

    assert sorted((name, epoch) for name in HOSTILE for epoch in (1, 2)) == sorted(
        (r.document.document_id, r.epoch) for r in full
    )
    assert notes.counts == {"samples that failed": 2}
    assert {"includes", "match"} == set(full[0].metrics)
    assert [r.metrics["includes"] for r in full if r.document.document_id == "plain"] == [None, None]
    assert {"C", "I"} == {r.metrics["includes"] for r in full if r.document.document_id != "plain"}
    assert full[0].model == "parrot/model"
    assert told.command == "python run_subset.py --model YOUR_MODEL"
    assert sorted((name, epoch) for name in wanted for epoch in (1, 2)) == sorted(
        (r.document.document_id, r.epoch) for r in run
    )
    assert {p.documents[0].document_hash for p in picks} == {r.document.document_hash for r in run}
    assert {"invented"} == {r.document.task for r in run}
    assert full[0].run != run[0].run
    assert bound_share(work / "full", work / "subset", work / "registry") == 1.0


def test_a_log_says_the_same_in_both_of_inspects_formats(programs: Path, work: Path):
    """What is converted from .eval to .json is the same evaluation, sample for sample."""
    evaluated(programs, work, "tasks.py@invented", "--epochs", "2", "--log-dir", "full", "--no-fail-on-error")
    convert = [programs / "inspect", "log", "convert", "full", "--to", "json", "--output-dir", "converted"]
    assert started(convert, work).returncode == 0
    in_pieces = "from inspect_ai.log._recorders.chunked import *; convert_eval_logs_to_chunked('full', 'chunked')"
    assert started([programs / "python", "-c", in_pieces], work).returncode == 0

    def said(result: Result) -> tuple[object, ...]:
        names = (result.document.task, result.document.document_id, result.document.document_hash)
        return (*names, result.model, result.run, result.epoch, sorted(result.metrics.items()), result.document.request)

    written, converted = results_of(work / "full"), results_of(work / "converted")
    chunked = results_of(work / "chunked")
    assert len(written) == 2 * len(HOSTILE)
    assert sorted(map(repr, map(said, written))) == sorted(map(repr, map(said, converted)))
    assert sorted((r.document.document_hash, r.epoch) for r in written) == sorted(
        (r.document.document_hash, r.epoch) for r in chunked
    )


def test_data_without_ids_in_another_order_still_gives_the_picked_samples(programs: Path, work: Path):
    """Numbers of samples change with the order of the data; what was picked is found by its content all the same."""
    evaluated(programs, work, "tasks.py@invented", "-T", "data=numbered.jsonl", "--log-dir", "full")
    picks = [pick_of(rank, r.document) for rank, r in enumerate(results_of(work / "full")[:4])]
    (work / "out").mkdir()
    export("coreset", picks, work / "out")
    done = subset(programs, work, "-T", "data=numbered.jsonl", "-T", "seed=7")

    assert done.returncode == 0, done.stdout + done.stderr
    run = results_of(work / "subset")

    assert sorted(p.documents[0].document_hash for p in picks) == sorted(r.document.document_hash for r in run)
    assert {p.documents[0].document_id for p in picks} != {r.document.document_id for r in run}


def test_nothing_runs_when_a_picked_sample_is_not_there(programs: Path, work: Path):
    """Of data that changed since, the missing sample is named and no model is asked; the rest runs on demand."""
    evaluated(programs, work, "tasks.py@invented", "-T", "data=numbered.jsonl", "--log-dir", "full")
    picks = [pick_of(rank, r.document) for rank, r in enumerate(results_of(work / "full")[:3])]
    (work / "out").mkdir()
    export("coreset", picks, work / "out")
    lines = (work / "numbered.jsonl").read_text().splitlines()
    (work / "numbered.jsonl").write_text("\n".join([lines[0].replace("tale", "story"), *lines[1:]]))
    done = subset(programs, work, "-T", "data=numbered.jsonl")

    assert done.returncode == 1
    assert "1 picked samples are not in the data: sample 1 of invented" in done.stderr
    assert not (work / "subset").exists()
    assert subset(programs, work, "-T", "data=numbered.jsonl", "--allow-missing").returncode == 0
    assert len(results_of(work / "subset")) == 2


def test_prompts_without_an_inspect_task_run_as_one_and_name_themselves(programs: Path, work: Path):
    """Multiple choice and free text run from the exported folder, and each result says which prompt it is of.

    A blank choice keeps its letter.
    """
    picks = [
        pick_of(0, prompt="{{ braces }} and 'quotes'\u2028?", answer="a lighthouse"),
        pick_of(1, choices=("", "red", "blue"), answer="blue"),
        pick_of(2, choices=("red", "blue"), answer="green"),
        pick_of(3, answer=None),
    ]
    (work / "out").mkdir()
    told = export("coreset", picks, work / "out")
    evaluated(programs, work / "out", "benchcore_task.py", "--log-dir", "logs")
    run = results_of(work / "out/logs")

    assert [picks[2], picks[3]] == [pick for pick, _ in told.left_out]
    assert told.command == "inspect eval benchcore_task.py --model YOUR_MODEL"
    assert [r.document.record["metadata"]["prompt_id"] for r in run] == ["prompt-0", "prompt-1"]
    assert [r.document.record["metadata"]["content_hash"] for r in run] == ["content-0", "content-1"]
    assert [r.metrics for r in run] == [{"right": "C"}, {"right": "I"}]
    assert (run[1].document.choices, run[1].document.record["target"]) == (("", "red", "blue"), "C")

"""The real lm-eval, without a model: a dump, an exported subset, its logs, and data that were shuffled since.

It lives in an environment of its own: $BENCHCORE_LM_EVAL is its Python; else a folder `lm-eval` below
$BENCHCORE_HARNESS_ENVIRONMENTS; else one that is made for the test, where packages can be installed.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml

from benchcore.harness import HARNESSES
from benchcore.harness.exporting import ExportOptions, ExportOutcome, export_coreset
from benchcore.harness.importing import Imported, import_logs
from benchcore.harness.lm_eval.exporting import DUMP
from benchcore.harness.log_reading import ImportOptions
from benchcore.registry.identity import content_hash, prompt_id
from benchcore.registry.manifests import resolve_manifest
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import append_missing, read
from tests.harness.environments import FOLDER, environment, run_in

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

ANSWER = "lol"  # what lm-eval's dummy model generates
CORESET = "c0ffee0123456789"
LM_EVAL = HARNESSES["lm-eval"]

GENERATED = {
    "task": "tales_told",
    "output_type": "generate_until",
    "doc_to_text": "Question: {{question}}\nAnswer:",
    "doc_to_target": "answer",
    "generation_kwargs": {"until": ["\n"]},
    "filter_list": [
        {"name": "strict", "filter": [{"function": "take_first"}]},
        {"name": "none", "filter": [{"function": "lowercase"}, {"function": "take_first"}]},
    ],
    "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
    "metadata": {"version": 3.0},
}
CHOSEN = {
    "task": "tales_chosen",
    "output_type": "multiple_choice",
    "doc_to_text": "Question: {{question}}\nAnswer:",
    "doc_to_choice": "choices",
    "doc_to_target": "gold",
    "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
    "metadata": {"version": 1.0},
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with lm-eval's commands."""
    if "BENCHCORE_LM_EVAL" in os.environ:
        return Path(os.environ["BENCHCORE_LM_EVAL"]).parent
    if FOLDER in os.environ:
        return environment("lm-eval")
    made = tmp_path_factory.mktemp("environment") / "lm-eval"
    python = made / "bin" / "python"
    steps = [[sys.executable, "-m", "venv", made], [python, "-m", "pip", "install", "-q", "lm-eval"]]
    if shutil.which("uv"):
        steps = [["uv", "venv", made], ["uv", "pip", "install", "--python", python, "lm-eval"]]
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"lm-eval cannot be installed: {done.stderr[-300:]}")
    return made / "bin"


def told(n: int) -> dict[str, Any]:
    return {
        "n": n,
        "question": f"What did the owl of tower {n} say to {n + 7} geese?",
        "answer": ANSWER if n % 2 else "no",
    }


def chosen(n: int) -> dict[str, Any]:
    gold = n % 3
    choices = [f"boat {n}", f"mule {n}", f"kite {n}"]
    return {"n": n, "question": f"How does courier {n} cross the lake?", "choices": choices, "gold": gold}


def own(n: int) -> dict[str, Any]:
    return {"question": f"On which day was {{{{ lighthouse }}}} {n} lit?", "answer": f"2020-05-0{n + 1}"}


def prompt(benchmark: str, record: dict[str, Any], row: int) -> dict[str, Any]:
    choices = record.get("choices")
    answer = choices[record["gold"]] if choices else record["answer"]
    return {
        "prompt_id": prompt_id(benchmark, f"id:{row}"),
        "benchmark": benchmark,
        "category": "tales",
        "source": benchmark,
        "path": f"{benchmark}.jsonl",
        "source_row": row,
        "record_id": str(row),
        "tags": [],
        "prompt": record["question"],
        "answer": answer,
        "choices": choices,
        "metadata": "{}",
        "n_characters": len(record["question"]),
        "content_hash": content_hash(record["question"], answer, choices),
        "revision": 1,
    }


class Trial:
    """A registry with a coreset, and lm-eval's tasks over the same questions."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder, self.programs = folder, programs
        self.registry = Registry.at(folder / "registry")
        self.tales = [told(n) for n in range(24)]
        self.couriers = [chosen(n) for n in range(12)]
        self.prompts = [
            *(prompt("told", record, row) for row, record in enumerate(self.tales)),
            *(prompt("chosen", record, row) for row, record in enumerate(self.couriers)),
            *(prompt("own", own(n), n) for n in range(3)),
        ]
        self.picks = [self.prompts[row] for row in (17, 3, 30, 8, 25, 21, 36, 37, 38, 35, 0)]
        self._fill()
        self.write_data()

    def _fill(self) -> None:
        append_missing(self.registry, "prompts", pa.Table.from_pylist(self.prompts, SCHEMAS["prompts"]))
        picks = [
            {
                "coreset_id": CORESET, "rank": rank, "prompt_id": pick["prompt_id"], "benchmark": pick["benchmark"],
                "content_hash": pick["content_hash"], "gain": 0.0, "represents": 1, "role": "core",
            }
            for rank, pick in enumerate(self.picks)
        ]  # fmt: skip
        weights = [
            {"coreset_id": CORESET, "target": "suite", "prompt_id": pick["prompt_id"], "weight": 1 / len(picks)}
            for pick in picks
        ]
        manifest = dict.fromkeys(("semantic_configuration", "encoders", "certificate", "library_versions"), "{}")
        manifest |= {"coreset_id": CORESET, "table_versions": '{"prompts": 0}', "coverage": "[]", "timings": "{}"}
        manifest |= {"input_digest": "", "run_id": "run"}
        rows = {
            "coresets": picks,
            "coreset_weights": weights,
            "manifests": [manifest | {"seed": 0, "k": 11, "value": 0.0}],
        }
        for name, table in rows.items():
            append_missing(self.registry, name, pa.Table.from_pylist(table, SCHEMAS[name]))

    def write_data(self) -> None:
        """Write the data files and the tasks that read them."""
        tasks = self.folder / "tasks"
        tasks.mkdir(exist_ok=True)
        for config, records in ((GENERATED, self.tales), (CHOSEN, self.couriers)):
            data = self.folder / f"{config['task']}.jsonl"
            data.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
            source = {"dataset_path": "json", "dataset_kwargs": {"data_files": str(data)}, "test_split": "train"}
            (tasks / f"{config['task']}.yaml").write_text(yaml.safe_dump(config | source), encoding="utf-8")

    def run(self, command: str, folder: Path) -> None:
        """Run lm-eval as a user would, with a cache of its own and no network."""
        run_in(self.programs, command, folder, HF_HOME=str(self.folder / "cache"))

    def export(self, *documents: Path) -> ExportOutcome:
        manifest = resolve_manifest(self.registry, "latest")
        options = ExportOptions(documents=documents)
        return export_coreset(self.registry, manifest, "lm-eval", LM_EVAL, self.folder / "export", options=options)

    def run_export(self, outcome: ExportOutcome, results: str) -> Path:
        """Run the export's command, with lm-eval's dummy in place of a model and our tasks beside its own."""
        command = outcome.command.replace("--model hf", "--model dummy").replace("YOUR_MODEL", f"acme/{results}")
        command = command.replace("--output_path results", f"--output_path {results}")
        for task in (self.folder / "tasks").iterdir():
            shutil.copy(task, outcome.out / "task")
        self.run(command, outcome.out)
        return outcome.out / results

    def import_logs(self, path: Path) -> Imported:
        return import_logs(self.registry, "lm-eval", LM_EVAL, [path], ImportOptions())

    def scores(self, model: str) -> dict[tuple[str, str], float]:
        """(prompt, metric) -> score."""
        rows = read(self.registry, "scores").to_pylist()
        return {(row["prompt_id"], row["metric"]): row["score"] for row in rows if row["model"] == model}


def lines_of(folder: Path) -> list[dict[str, Any]]:
    files = sorted(folder.rglob("samples_*.jsonl"))
    return [json.loads(text) for file in files for text in file.read_text(encoding="utf-8").splitlines()]


def test_the_whole_loop(tmp_path: Path, programs: Path):
    """Exactly the picks run, every score comes back to its prompt, and shuffled data mislabel nothing."""
    trial = Trial(tmp_path, programs)
    ids = [pick["prompt_id"] for pick in trial.picks]

    # A dump, without a model.
    trial.run(DUMP.format(tasks="tales_told,tales_chosen") + " --include_path tasks", tmp_path)
    dumped = {line["doc"]["question"]: line["doc_hash"] for line in lines_of(tmp_path / "dump")}
    outcome = trial.export(tmp_path / "dump")

    assert (outcome.picks, outcome.exported, outcome.bindings) == (11, 11, 36)
    samples = json.loads((outcome.out / "samples.json").read_text(encoding="utf-8"))
    assert samples["tales_told"] == [0, 3, 8, 17, 21]
    assert samples["tales_chosen"] == [1, 6, 11]

    # The subset.
    logs = trial.run_export(outcome, "subset")
    ran = {line["doc_hash"] for line in lines_of(logs) if "prompt_id" not in line["doc"]}
    assert ran == {dumped[pick["prompt"]] for pick in trial.picks if pick["benchmark"] != "own"}
    sent = {
        (line["doc"]["prompt_id"], line["arguments"]["gen_args_0"]["arg_0"], line["target"])
        for line in lines_of(logs)
        if "prompt_id" in line["doc"]
    }
    own_picks = [pick for pick in trial.picks if pick["benchmark"] == "own"]
    assert sent == {(pick["prompt_id"], pick["prompt"], pick["answer"]) for pick in own_picks}

    imported = trial.import_logs(logs)
    scores = trial.scores("acme/subset")

    assert imported.models == ("acme/subset",)
    assert imported.matched_documents == imported.documents == 11
    assert {name for name, _ in scores} == set(ids)
    assert [(touched.picks, touched.scored) for touched in imported.coresets] == [(11, 11)]
    by_id = {pick["prompt_id"]: pick for pick in trial.prompts}
    right = {(name, metric): by_id[name]["answer"] == ANSWER for name, metric in scores if metric.startswith("exact")}
    assert {key: scores[key] for key in right} == right
    assert {metric for name, metric in scores if by_id[name]["benchmark"] == "told"} == {
        "exact_match",
        "exact_match,strict",
    }
    assert not trial.import_logs(logs).changed

    # The whole of both tasks.
    everything = "lm_eval --model dummy --model_args pretrained=acme/full --tasks tales_told,tales_chosen"
    trial.run(f"{everything} --include_path tasks --log_samples --output_path full", tmp_path)
    imported = trial.import_logs(tmp_path / "full")
    assert (imported.documents, imported.matched_documents) == (36, 36)

    # The same indices on data in another order: other documents run, and none of them is taken for a pick.
    random.Random(5).shuffle(trial.tales)
    trial.write_data()
    logs = trial.run_export(outcome, "shuffled")
    imported = trial.import_logs(logs)
    scores = trial.scores("acme/shuffled")

    by_index = {trial.tales[index]["question"] for index in samples["tales_told"]}
    assert {by_id[name]["prompt"] for name, _ in scores if by_id[name]["benchmark"] == "told"} == by_index
    assert all(
        score == (by_id[name]["answer"] == ANSWER) for (name, metric), score in scores.items() if "exact" in metric
    )
    (touched,) = imported.coresets
    assert touched.scored < touched.picks
    assert touched.missing

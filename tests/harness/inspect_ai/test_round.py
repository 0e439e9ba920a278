"""Round trips through a registry: what a log brought in is what goes out and what comes back."""

from __future__ import annotations

import json
from pathlib import Path

from benchcore.config import SourceSpec
from benchcore.harness import HARNESSES
from benchcore.harness.exporting import ExportOptions, export_coreset
from benchcore.harness.importing import import_logs
from benchcore.harness.log_reading import ImportOptions
from benchcore.ingest.canonical import Canonical
from benchcore.ingest.mapping import compile_mapping
from benchcore.ingest.readers import ReadUnit
from benchcore.ingest.rows import rows_of
from benchcore.registry.manifests import resolve_manifest
from benchcore.registry.root import Registry
from benchcore.registry.tables import read
from tests.harness.inspect_ai.crafted import header, members_of, sample, write_eval
from tests.registry.stored import prompt, store, store_coreset

INSPECT = HARNESSES["inspect"]


def test_prompts_that_came_from_a_log_need_no_dump_to_be_run(tmp_path: Path):
    """Ingested from one model's log, they are exported to the task's samples, and another model's scores find them."""
    samples = [sample(name) for name in ("a,b", "012", "12", "*")]
    log = write_eval(tmp_path / "first.eval", members_of(samples))
    spec = SourceSpec.model_validate({"name": "tales", "benchmark": "tales", "path": "*", "format": "inspect"})
    rows = []
    for number, row in enumerate(rows_of(ReadUnit(str(log), log.name, "inspect"), compile_mapping(spec))):
        assert isinstance(row.outcome, Canonical)
        said = {"prompt": row.outcome.prompt, "answer": row.outcome.answer, "metadata": row.outcome.metadata}
        rows.append(prompt("tales", number, **said))
    registry = Registry.at(tmp_path / "registry")
    store(registry, "prompts", rows)
    store_coreset(registry, "abc", rows)
    exported = export_coreset(
        registry, resolve_manifest(registry, "abc"), "inspect", INSPECT, tmp_path / "out", options=ExportOptions()
    )
    shuffled = [one | {"id": number + 1} for number, one in enumerate(reversed(samples))]
    second = write_eval(tmp_path / "second.eval", members_of(shuffled, header(eval_id="other", model="parrot/green")))
    imported = import_logs(registry, "inspect", INSPECT, [second], ImportOptions())

    subset = json.loads((tmp_path / "out/subset.json").read_text())
    assert exported.command == "python run_subset.py --model YOUR_MODEL"
    assert {one["id"] for one in subset["tasks"]["invented/tales"]} == {"a,b", "012", "12", "*"}
    assert (imported.results, imported.matched, imported.models) == (4, 4, ("parrot/green",))
    assert {row["prompt_id"] for row in read(registry, "scores").to_pylist()} == {row["prompt_id"] for row in rows}


def test_samples_of_an_exported_task_bind_by_the_prompts_they_name(tmp_path: Path):
    """A log of benchcore_task.py finds its prompts although its texts were changed on the way."""
    rows = [prompt("tales", number, prompt=f"Tell tale {number}.", answer="end") for number in range(2)]
    registry = Registry.at(tmp_path / "registry")
    store(registry, "prompts", rows)
    store_coreset(registry, "abc", rows)
    exported = export_coreset(
        registry, resolve_manifest(registry, "abc"), "inspect", INSPECT, tmp_path / "out", options=ExportOptions()
    )
    written = [json.loads(line) for line in (tmp_path / "out/samples.jsonl").read_text().splitlines()]
    samples = [
        sample(one["id"], "P", input="Here is a task. " + one["input"], target=one["target"], metadata=one["metadata"])
        for one in written
    ]
    log = write_eval(tmp_path / "log.eval", members_of(samples, header(task="benchcore", task_version=0)))
    imported = import_logs(registry, "inspect", INSPECT, [log], ImportOptions())

    assert exported.command == "inspect eval benchcore_task.py --model YOUR_MODEL"
    assert (imported.results, imported.matched) == (2, 2)
    assert {(row["prompt_id"], row["score"], row["raw_score"]) for row in read(registry, "scores").to_pylist()} == {
        (row["prompt_id"], 0.5, "P") for row in rows
    }

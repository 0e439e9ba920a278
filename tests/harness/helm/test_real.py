"""The real HELM runs an exported subset, and what it writes is imported."""

import json
from pathlib import Path

import pytest

from benchcore.harness.exporting import ExportOptions, export_coreset
from benchcore.harness.helm import HELM
from benchcore.harness.importing import import_logs
from benchcore.harness.log_reading import ImportOptions
from benchcore.harness.notes import Notes
from benchcore.registry.manifests import resolve_manifest
from benchcore.registry.root import Registry
from benchcore.registry.tables import read
from tests.harness.environments import environment, run_in
from tests.registry.stored import prompt, store, store_coreset


@pytest.mark.slow
def test_the_exported_subset_is_what_is_run(tmp_path: Path):
    """From a dump of HELM's instances to scores of exactly the picks, on a scenario that needs no network."""
    programs = environment("crfm-helm")
    assert HELM.documents is not None
    entry = "helm-run -m 1000000 -r simple_mcqa:model=simple/model1 --suite full --cache-instances"
    run_in(programs, f"{entry} --cache-instances-only -o dump", tmp_path)
    documents = list(HELM.documents(tmp_path / "dump", Notes()))
    rows = [
        prompt("parity", at, prompt=one.request, choices=list(one.choices), answer=one.answer)
        for at, one in enumerate(documents)
    ]
    registry, picked = Registry.at(tmp_path / "registry"), {row["prompt_id"] for row in rows[::7]}
    store(registry, "prompts", rows)
    store_coreset(registry, "abc", rows[::7])

    options = ExportOptions(documents=(tmp_path / "dump",))
    exported = export_coreset(
        registry, resolve_manifest(registry, "abc"), "helm", HELM, tmp_path / "out", options=options
    )
    run_in(programs, exported.command.replace("MODEL", "simple/model1"), tmp_path / "out")
    log = tmp_path / "out" / "benchmark_output"
    import_logs(registry, "helm", HELM, [log], ImportOptions())

    scores = read(registry, "scores").to_pylist()
    assert len(rows) == exported.bindings == 79
    assert picked == {row["prompt_id"] for row in scores}
    assert {"simple/model1"} == {row["model"] for row in scores}
    assert {"exact_match", "quasi_exact_match"} < {row["metric"] for row in scores}
    kept = json.loads((log / "scenario_instances" / "simple_mcqa" / "input_instances.json").read_text())
    assert sum(instance["split"] == "train" for instance in kept) == 11

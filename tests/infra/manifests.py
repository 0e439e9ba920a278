"""What `infra/kubernetes` builds, and the tools that judge it (`infra/kubernetes/tools` makes them)."""

import functools
import json
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
KUBERNETES = ROOT / "infra" / "kubernetes"
OVERLAYS = ("dev", "production", "airflow")
STEPS = ("ingest", "embed", "select", "report")
UPKEEP = ("check", "vacuum")

CRDS = ROOT / ".cache" / "crds"

_BIN = ROOT / ".cache" / "bin"


@functools.cache
def built(overlay: str) -> list[dict[str, Any]]:
    """The objects of an overlay of the project's, as kustomize makes them."""
    return built_at(KUBERNETES / "overlays" / overlay)


def built_at(folder: Path) -> list[dict[str, Any]]:
    """The objects of the overlay in a folder."""
    kustomize = [str(_BIN / "kustomize"), "build"] if (_BIN / "kustomize").is_file() else ["kubectl", "kustomize"]
    if shutil.which(kustomize[0]) is None:
        pytest.skip("neither kustomize nor kubectl is there: run infra/kubernetes/tools")
    done = subprocess.run([*kustomize, folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return list(yaml.safe_load_all(done.stdout))


def schedule_of(step: str, overlay: str) -> dict[str, Any]:
    """The object that holds a step's schedule and template."""
    return _labelled(overlay, "benchcore/step", step)


def upkeep_of(name: str, overlay: str) -> dict[str, Any]:
    """The object that holds the schedule of what keeps the tables in order."""
    return _labelled(overlay, "benchcore/upkeep", name)


def _labelled(overlay: str, label: str, value: str) -> dict[str, Any]:
    (found,) = (item for item in built(overlay) if item["metadata"].get("labels", {}).get(label) == value)
    return found


def pod_templates(value: Any) -> Iterator[dict[str, Any]]:
    """All templates of pods inside an object, whatever its kind."""
    if isinstance(value, dict):
        if "containers" in value.get("spec", {}):
            yield value
        for inner in value.values():
            yield from pod_templates(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from pod_templates(inner)


def faults(objects: Iterable[dict[str, Any]], folder: Path) -> dict[str, str]:
    """What a cluster with both operators would say of objects: file -> message, empty where nothing is wrong.

    The templates in Spark's objects, which its schema lets through unseen, are judged as pods of their own.
    """
    tool = _BIN / "kubectl-validate"
    if not tool.is_file() or not (CRDS / "made-of.txt").is_file():
        pytest.skip("kubectl-validate or the operators' schemas are not there: run infra/kubernetes/tools")
    for number, item in enumerate(objects):
        name = f"{number:02}-{item['kind']}"
        _write(folder / f"{name}.yaml", item)
        if "sparkoperator" in item["apiVersion"]:
            for place, template in enumerate(pod_templates(item)):
                _write(folder / f"{name}-pod-{place}.yaml", pod_of(template))
    command = [tool, folder, "--local-crds", CRDS, "--version", "1.30", "--output", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("{"), done.stderr
    judged = json.loads(done.stdout)
    return {Path(file).stem: _message(verdicts) for file, verdicts in judged.items()}


def pod_of(template: dict[str, Any]) -> dict[str, Any]:
    """A pod as its operator would make it; Spark puts image and account into its templates."""
    containers = [{"image": "i", **container} for container in template["spec"]["containers"]]
    metadata = {**template.get("metadata", {}), "name": "p"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"serviceAccountName": "benchcore-job", **template["spec"], "containers": containers},
    }


def _write(file: Path, item: dict[str, Any]) -> None:
    file.write_text(yaml.safe_dump(item), encoding="utf-8")


def _message(verdicts: list[dict[str, Any]]) -> str:
    return "; ".join(verdict.get("message", "") for verdict in verdicts if verdict["status"] != "Success")

"""HELM's run folders as results: perturbed instances left out, train trials averaged."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchcore.errors import BenchcoreError, UsageError
from benchcore.harness.documents import Document, Result
from benchcore.harness.helm.instances import document_of, is_instance
from benchcore.harness.helm.scores import declared_names, is_score
from benchcore.harness.logs import files_at, plain_name, read_document
from benchcore.harness.notes import Notes

STATS, SPEC, STATE, SCENARIO = "per_instance_stats.json", "run_spec.json", "scenario_state.json", "scenario.json"
_INSTANCES = "instances.json"
_ENDINGS = ("", ".gz", ".zst")


def read_results(path: Path, notes: Notes) -> Iterator[Result]:
    """Yield a result an instance of each run folder at or below a path; a file stands for the folder it lies in.

    Raises:
        UsageError: there is no run folder.
        BenchcoreError: a run's files cannot be read.
    """
    inside = path.parent if path.is_file() and plain_name(path) in (STATS, SPEC, STATE, SCENARIO) else path
    folders = [file.parent for file in files_at(inside, lambda name: name == STATS)] if inside.is_dir() else []
    if not folders:
        raise UsageError(f"holds no run of HELM (a folder with {STATS})", where=str(path))
    for folder in folders:
        yield from _read_run(folder, notes)


def _read_run(folder: Path, notes: Notes) -> Iterator[Result]:
    spec = _part(folder, SPEC)
    if not isinstance(spec, dict):
        raise BenchcoreError(f"lacks {SPEC}, which names the model", where=str(folder))
    documents = _documents(folder, scenario_name(spec, _part(folder, SCENARIO)), notes)
    metrics = _metrics(_part(folder, STATS), declared_names(spec), folder, notes)
    adapter = _object(spec.get("adapter_spec"))
    for instance_id, scores in metrics.items():
        if (document := documents.get(instance_id)) is None:
            notes.add("scores of an instance that the run does not show", f"{folder}: {instance_id}")
            continue
        yield Result(
            document=document,
            model=str(adapter.get("model") or adapter.get("model_deployment") or ""),
            run=_run_name(folder),
            metrics=scores,
            path=str(folder / STATS),
        )
    for instance_id in documents.keys() - metrics.keys():
        notes.add("instances without scores", f"{folder}: {instance_id}")


def scenario_name(spec: Mapping[str, Any], scenario: Any) -> str:
    """A scenario with its arguments, as HELM names the folder of its cached instances."""
    given = _object(_object(spec.get("scenario_spec")).get("args"))
    arguments = ",".join(f"{key}={value}" for key, value in sorted(given.items()))
    name = _object(scenario).get("name")
    name = str(name or str(spec.get("name", "")).partition(":")[0])
    return f"{name}:{arguments}" if arguments else name


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _run_name(folder: Path) -> str:
    """Suite and run: HELM keeps runs/SUITE/RUN, and a model can be in several suites."""
    return f"{folder.resolve().parent.name}/{folder.resolve().name}"


def _part(folder: Path, name: str) -> Any:
    for ending in _ENDINGS:
        if (file := folder / f"{name}{ending}").is_file():
            return read_document(file)
    return None


def _documents(folder: Path, scenario: str, notes: Notes) -> dict[str, Document]:
    """The run's instances by id, as they were before any perturbation."""
    state = _part(folder, STATE)
    states = state.get("request_states") if isinstance(state, dict) else None
    if isinstance(states, list):
        instances = [one.get("instance") for one in states if isinstance(one, dict)]
    else:
        listed = _part(folder, _INSTANCES)
        instances = listed if isinstance(listed, list) else []
    found: dict[str, Document] = {}
    for instance in instances:
        if not is_instance(instance) or instance.get("id") is None:
            notes.add("unreadable", f"{folder}: an instance without id, input or references")
        elif instance.get("perturbation") is None and str(instance["id"]) not in found:
            found[str(instance["id"])] = document_of(instance, scenario, str(instance["id"]))
    return found


def _metrics(stats: Any, declared: frozenset[str], folder: Path, notes: Notes) -> dict[str, dict[str, float | None]]:
    """Instance -> metric -> mean over train trials; what HELM left out (NaN, count 0) is missing."""
    found: dict[str, dict[str, list[float]]] = {}
    other: set[str] = set()
    for entry in stats if isinstance(stats, list) else []:
        if not isinstance(entry, dict) or not isinstance(entry.get("stats"), list) or entry.get("instance_id") is None:
            notes.add("unreadable", f"{folder / STATS}: an entry without instance_id or stats")
            continue
        if entry.get("perturbation") is not None:
            notes.add("perturbed instances, which are left out", f"{folder}: {entry['instance_id']}")
            continue
        scores = found.setdefault(str(entry["instance_id"]), defaultdict(list))
        for name, mean in _means(entry["stats"]):
            if not is_score(name, declared):
                other.add(name)
            elif mean is not None:
                scores[name].append(mean)
    for name in sorted(other):
        notes.add("statistics that are no scores", name)
    return {key: {name: math.fsum(all_) / len(all_) for name, all_ in one.items()} for key, one in found.items()}


def _means(stats: list[Any]) -> Iterator[tuple[str, float | None]]:
    for stat in stats:
        name = stat.get("name") if isinstance(stat, dict) else None
        if not isinstance(name, dict) or not isinstance(name.get("name"), str) or name.get("perturbation") is not None:
            continue
        count, total = stat.get("count"), stat.get("sum")
        usable = isinstance(count, int) and count > 0 and isinstance(total, int | float) and math.isfinite(total)
        yield name["name"], total / count if usable else None

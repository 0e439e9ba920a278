"""What a run of lm-eval says of itself in the results file beside its sample logs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchcore.errors import BenchcoreError
from benchcore.harness.logs import plain_name, read_document
from benchcore.harness.notes import Notes

# In lm-eval's own order: an adapter's name says more than that of the model below it.
_NAMING_ARGUMENTS = ("peft", "delta", "pretrained", "model", "path", "engine")
_NO_PATH = re.compile(r"[\"<>:/|\\?*\[\]]+")


@dataclass(frozen=True)
class Run:
    """A run: what its results file says, nothing where there is none.

    Attributes:
        model: as the file names it, else None.
        versions: task -> version.
        lower_is_better: metrics of which less is better, by task.
    """

    model: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    lower_is_better: Mapping[str, frozenset[str]] = field(default_factory=dict)


@dataclass
class Folders:
    """Folders of logs, each looked at once: there may be thousands of logs in one."""

    _files: dict[Path, dict[str, Path]] = field(default_factory=dict)
    _models: dict[Path, str] = field(default_factory=dict)

    def results_file(self, folder: Path, date: str) -> Path | None:
        """`results_<date>.json`, or `<name>_<date>.json` where --output_path named a file."""
        if folder not in self._files:
            self._files[folder] = _by_date(folder)
        return self._files[folder].get(date)

    def model(self, folder: Path) -> str:
        """The name of the model that a folder of logs without results file belongs to."""
        if folder not in self._models:
            self._models[folder] = _model_of_folder(folder)
        return self._models[folder]


def run_of(folders: Folders, folder: Path, date: str, notes: Notes) -> Run:
    """Read the results file of a date in a folder; that there is none, or that it cannot be read, is noted."""
    file = folders.results_file(folder, date)
    if file is None:
        missing = (
            f"{folder}/results_{date}.json, which names the model (else it has its folder's name, or that of --model) "
            "and the metrics of which less is better"
        )
        notes.add("no results file", missing)
        return Run()
    try:
        results = read_document(file)
    except BenchcoreError as error:
        notes.add("unreadable results file", f"{file}: {error.what}")
        return Run()
    if not isinstance(results, dict):
        notes.add("unreadable results file", f"{file}: no JSON object")
        return Run()
    return Run(_model_of(results), _versions(results), _lower_is_better(results))


def _model_of_folder(folder: Path) -> str:
    """The name of the model that a folder stands for.

    lm-eval's folder has its name without the characters that no path can hold; another run's results file may have
    the name itself.
    """
    for file in sorted(folder.glob("results_*.json*"), reverse=True):
        try:
            results = read_document(file)
        except BenchcoreError:
            continue
        model = _model_of(results) if isinstance(results, dict) else None
        if model is not None and _NO_PATH.sub("__", model) == folder.name:
            return model
    return folder.name


def _by_date(folder: Path) -> dict[str, Path]:
    """Date -> results file; of several, that with lm-eval's usual name, else the first by name."""
    found: dict[str, Path] = {}
    for file in sorted(folder.iterdir(), key=lambda file: (not file.name.startswith("results_"), file)):
        name = plain_name(file)
        if name.endswith(".json") and "_" in name and not name.startswith("samples_"):
            found.setdefault(name.removesuffix(".json").rpartition("_")[2], file)
    return found


def _model_of(results: Mapping[str, Any]) -> str | None:
    config = _mapping(results.get("config"))
    for name in (results.get("model_name"), _model_argument(config.get("model_args"))):
        if isinstance(name, str) and name.strip():
            return name
    for name in (results.get("model_source"), config.get("model")):
        if isinstance(name, str) and name.strip():
            return name
    return None


def _model_argument(arguments: Any) -> str | None:
    """The model among the arguments of its back end (`pretrained=acme/tiny,dtype=float16`)."""
    if isinstance(arguments, str):
        pairs = (part.partition("=") for part in arguments.split(","))
        arguments = {key.strip(): value for key, _, value in pairs}
    given = _mapping(arguments)
    return next((str(given[key]) for key in _NAMING_ARGUMENTS if given.get(key)), None)


def _versions(results: Mapping[str, Any]) -> dict[str, str]:
    return {task: str(version) for task, version in _mapping(results.get("versions")).items() if version is not None}


def _lower_is_better(results: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    by_task = _mapping(results.get("higher_is_better"))
    return {
        task: frozenset(metric for metric, higher in _mapping(metrics).items() if higher is False)
        for task, metrics in by_task.items()
    }


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}

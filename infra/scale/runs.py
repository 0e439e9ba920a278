"""Runs of the real command and of the bench's own processes on registries that the bench may change."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchcore.config import load_config
from benchcore.registry.manifests import find_manifest, read_picks
from benchcore.registry.root import Registry
from infra.bench.children import environment_of
from infra.bench.places import ROOT
from infra.measure import measure
from infra.scale.registry import Wanted, make

UNIT_ROWS = 100_000

_RESULTS = ("coresets", "coreset_weights", "manifests", "runs", "_checkpoints", "reports")


@dataclass(frozen=True)
class Run:
    """What a run of `benchcore select` left; nothing but the error where it failed.

    Attributes:
        seconds: of the whole command.
        peak: bytes of all its processes together at most.
        peak_at: seconds after the start.
        processes: at most.
        others: share of the cores' time that went to other processes.
        timings: seconds by round, as the manifest has them.
        plan: of shards and rounds, as the manifest has it.
        value: of the picks.
        certificate: bound, ratio and kind.
        ids: of the picks, in order.
        error: the last that it said.
    """

    seconds: float | None = None
    peak: int | None = None
    peak_at: float = 0.0
    processes: int = 0
    others: float = 0.0
    timings: dict[str, float] = field(default_factory=dict)
    plan: dict[str, Any] = field(default_factory=dict)
    value: float | None = None
    certificate: dict[str, Any] = field(default_factory=dict)
    ids: tuple[str, ...] = ()
    error: str | None = None

    @property
    def digest(self) -> str:
        """Of the picks in their order."""
        return hashlib.sha256(" ".join(self.ids).encode()).hexdigest()[:16]


class Runs:
    """Measurements, each made once however many cases show it.

    Args:
        where: folder of the bench's registries; coresets and checkpoints in them are removed before each run.
        part: what all sizes are divided by, to try the bench itself.
        cores: that children may use.
    """

    def __init__(self, where: Path, part: int, cores: int) -> None:
        self._where, self.part, self._cores = where.resolve(), part, cores
        self._units: dict[Path, float | None] = {}
        self.selections: dict[str, Run] = {}

    def of(self, full: int) -> int:
        """A number of prompts or picks, at the size of this run of the bench."""
        return max(full // self.part, 1)

    def registry(self, n: int, *, features: bool = False) -> Path:
        """The configuration of a made-up registry of n prompts, made when it is not there."""
        folder = self._where / (f"{n}" if features else f"{n}-plain")
        _say(f"a registry of {n:,} prompts in {folder}")
        return make(folder, Wanted(n, features=features))

    def copied(self, root: Path) -> Path:
        """The configuration of a copy of a registry of the default encoder."""
        folder = self._where / "real"
        for table in ("prompts", "sources", "embeddings", "_encoders"):
            if not (folder / "registry" / table).exists():
                _say(f"a copy of {root / table} in {folder}")
                shutil.copytree(root / table, folder / "registry" / table)
        conf = folder / "select.yaml"
        conf.write_text("registry: {root: registry}\nselect: {method: facility_location}\n")
        return conf

    def unit(self, conf: Path) -> float | None:
        """Seconds of one product X X^T of 100,000 of the registry's rows, on all cores."""
        if conf not in self._units:
            _say("one product of the rows with themselves")
            found = self._child("infra.scale.unit", str(conf), str(self.of(UNIT_ROWS)))
            self._units[conf] = found.get("seconds")
        return self._units[conf]

    def alone(self, asked: str) -> dict[str, Any]:
        """An answer of `infra.scale.alone`; empty when it failed."""
        _say("the core on one process")
        return self._child("infra.scale.alone", asked)

    def select(self, conf: Path, **settings: object) -> Run:
        """Measure `benchcore select` with settings of the section `select`, from nothing."""
        words = [f"select.{name}={value}" for name, value in settings.items()]
        name = f"{conf.parent.name}: {' '.join(words)}"
        if name not in self.selections:
            _say(f"benchcore select, {name}")
            self._forget(conf)
            self.selections[name] = _selected(conf, words)
            _say(_outcome(self.selections[name]))
        return self.selections[name]

    def _forget(self, conf: Path) -> None:
        root = Path(load_config(conf).registry.root)
        if not root.is_relative_to(self._where):
            raise ValueError(f"{root} is no registry of the bench")
        for result in _RESULTS:
            shutil.rmtree(root / result, ignore_errors=True)

    def _child(self, module: str, *arguments: str) -> dict[str, Any]:
        environment = environment_of(self._cores)
        command = [sys.executable, "-m", module, *arguments]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode or not lines:
            _say(f"{module} failed: {_last(done.stderr)}")
            return {}
        answer: dict[str, Any] = json.loads(lines[-1])
        return answer


def _selected(conf: Path, words: list[str]) -> Run:
    command = [str(Path(sys.executable).with_name("benchcore")), "select", str(conf), "--json"]
    for word in words:
        command += ["--set", word]
    said = conf.parent / "select.err"
    answer = conf.parent / "select.out"
    with said.open("w") as err, answer.open("w") as out:
        found = measure(command, cwd=ROOT, stdout=out, stderr=err)
    if found.status:
        return Run(error=f"exit status {found.status}: {_last(said.read_text())}")
    registry = Registry.at(load_config(conf).registry.root)
    coreset = json.loads(answer.read_text())["coreset_id"]
    manifest = find_manifest(registry, coreset)
    if manifest is None:
        return Run(error=f"no manifest of {coreset}")
    return Run(
        seconds=found.seconds,
        peak=found.peak,
        peak_at=found.peak_at,
        processes=found.processes,
        others=found.others,
        timings=manifest.timings,
        plan=manifest.plan,
        value=manifest.value,
        certificate=manifest.certificate,
        ids=tuple(read_picks(registry, coreset)["prompt_id"].to_pylist()),
    )


def _outcome(run: Run) -> str:
    if run.error is not None:
        return f"failed: {run.error}"
    return f"{run.seconds:.1f} s, {(run.peak or 0) / 2**30:.2f} GiB, value {run.value:.6f}"


def _last(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "said nothing"


def _say(text: str) -> None:
    sys.stderr.write(f"bench: {text}\n")
    sys.stderr.flush()

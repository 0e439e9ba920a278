"""The picks as instances that HELM finds cached, cut out of the user's own by a script that compares contents."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from benchcore.harness.content import content_source
from benchcore.harness.helm.instances import FOLDER
from benchcore.harness.picks import Exported, Pick
from benchcore.whole_file import write_file

_SCRIPT, _PICKS = "subset.py", "picks.json"
_UNBOUND = "no instance of HELM is bound to it"
_ALL = 1_000_000  # instances; without it a run takes a random part of what it finds


def export(coreset_id: str, picks: Sequence[Pick], folder: Path) -> Exported:
    """Write the picks' hashes and a script that keeps their instances, and all for training, of the cached ones."""
    wanted: dict[str, dict[str, str]] = {}
    left_out = []
    for pick in picks:
        nameable = [document for document in pick.documents if _is_nameable(document.task)]
        if not nameable:
            reason = "its scenario cannot be named on a command line" if pick.documents else _UNBOUND
            left_out.append((pick, reason))
        for document in nameable:
            wanted.setdefault(document.task, {})[document.document_hash] = document.document_id
    write_file(folder / _PICKS, (json.dumps({"coreset": coreset_id, "scenarios": wanted}, indent=1) + "\n").encode())
    script = files("benchcore.harness.helm").joinpath("subset_script.txt").read_text()
    write_file(folder / _SCRIPT, script.replace("# CONTENT_DIGEST\n", content_source()).encode())
    entries = " ".join(shlex.quote(_entry(scenario)) for scenario in sorted(wanted))
    run = f"helm-run -m {_ALL} --run-entries {entries} --cache-instances"
    return Exported(
        files=(folder / _PICKS, folder / _SCRIPT),
        command=(
            f"{run} --cache-instances-only --suite full -o full\n"
            f"python3 {_SCRIPT} full/{FOLDER} benchmark_output/{FOLDER}\n"
            f"{run} --suite {shlex.quote(coreset_id[:12])} -o benchmark_output"
        ),
        remarks=(
            "Replace MODEL by the model; where a run entry has other arguments than its scenario, write it as you do.",
            f"The first line makes HELM write all instances once; {_SCRIPT} keeps the picks by content, under the ids "
            "that a full run gives them, and all training instances, so that prompts are those of a full run.",
            f"Without -m {_ALL} HELM would draw a part of many picks; without --cache-instances it would run all.",
            "Cached instances stay: use a fresh output folder for another coreset.",
        ),
        left_out=tuple(left_out),
    )


def _is_nameable(scenario: str) -> bool:
    """Whether a scenario, which may come from any log, is no option of helm-run and does nothing to a terminal."""
    return scenario.isprintable() and not scenario.startswith("-")


def _entry(scenario: str) -> str:
    """A run entry: scenario and arguments, and the model as one more argument."""
    return f"{scenario}{',' if ':' in scenario else ':'}model=MODEL"

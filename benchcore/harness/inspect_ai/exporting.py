"""The picks as a folder from which Inspect AI runs exactly them.

Picks that are bound to samples of Inspect's tasks run inside these tasks (run_subset.py, subset.json); the others as a
task of their own (benchcore_task.py, samples.jsonl). No text of a prompt or an id stands in code or in a command.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from benchcore.harness.picks import Exported, Pick
from benchcore.ingest.readers.inspect_logs import choice_letter

_MODEL = "YOUR_MODEL"
_COMMAND_CHARACTERS = 4000  # a longer list of ids belongs into a file
_PLAIN_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")  # nothing that Inspect's command line reads otherwise


def export(coreset_id: str, picks: Sequence[Pick], folder: Path) -> Exported:
    """Write the subset into an empty folder."""
    bound = [pick for pick in picks if pick.documents]
    written, left_out = _samples([pick for pick in picks if not pick.documents])
    made: list[Path] = []
    commands: list[str] = []
    remarks: list[str] = []
    if bound:
        tasks = _tasks(bound)
        made += _write_subset(coreset_id, tasks, folder)
        commands.append(f"python run_subset.py --model {_MODEL}")
        remarks += _about_subset(tasks)
    if written:
        made += _write_task(written, folder)
        commands.append(f"inspect eval benchcore_task.py --model {_MODEL}")
        remarks += _about_task(len(written), bool(bound))
    return Exported(tuple(made), "\n".join(commands), tuple(remarks), tuple(left_out))


def _tasks(picks: Iterable[Pick]) -> dict[str, list[dict[str, str]]]:
    """The samples to run by task, each once, whatever number of picks share it."""
    tasks: dict[str, dict[str, dict[str, str]]] = {}
    for pick in picks:
        for bound in pick.documents:
            sample = {"id": bound.document_id, "hash": bound.document_hash, "prompt_id": pick.prompt_id}
            tasks.setdefault(bound.task, {}).setdefault(bound.document_hash, sample)
    return {task: list(tasks[task].values()) for task in sorted(tasks)}


def _write_subset(coreset_id: str, tasks: dict[str, list[dict[str, str]]], folder: Path) -> list[Path]:
    subset = folder / "subset.json"
    subset.write_text(json.dumps({"coreset": coreset_id, "tasks": tasks}, indent=1) + "\n", encoding="utf-8")
    content = folder / "sample_content.py"
    content.write_text(_source("benchcore.ingest.readers", "inspect_content.py"), encoding="utf-8")
    return [subset, content, _ship("run_subset.py", folder)]


def _write_task(samples: list[dict[str, Any]], folder: Path) -> list[Path]:
    lines = folder / "samples.jsonl"
    lines.write_text("".join(json.dumps(sample) + "\n" for sample in samples), encoding="utf-8")
    return [lines, _ship("benchcore_task.py", folder)]


def _ship(name: str, folder: Path) -> Path:
    shipped = folder / name
    source = _source("benchcore.harness.inspect_ai.shipped", name)
    shipped.write_text(source.replace("# mypy: allow-untyped-decorators\n\n", ""), encoding="utf-8")
    return shipped


def _source(package: str, name: str) -> str:
    return files(package).joinpath(name).read_text(encoding="utf-8")


def _samples(picks: Iterable[Pick]) -> tuple[list[dict[str, Any]], list[tuple[Pick, str]]]:
    samples: list[dict[str, Any]] = []
    left_out: list[tuple[Pick, str]] = []
    for pick in picks:
        target = _target(pick)
        if target is None:
            reason = "its answer is none of its choices" if pick.choices and pick.answer else "it has no answer"
            left_out.append((pick, f"{reason}, so that nothing could be scored"))
            continue
        known = {"prompt_id": pick.prompt_id, "content_hash": pick.content_hash}
        place = {"benchmark": pick.benchmark, "category": pick.category, "role": pick.role, "weight": pick.weight}
        sample = {"id": pick.prompt_id, "input": pick.prompt, "target": target, "metadata": known | place}
        samples.append(sample | ({"choices": list(pick.choices)} if pick.choices else {}))
    return samples, left_out


def _target(pick: Pick) -> str | None:
    """The answer; with choices the letter of the one that it is, or that it names."""
    if not pick.answer or not pick.choices:
        return pick.answer or None
    letters = [choice_letter(place) for place in range(len(pick.choices))]
    if pick.answer in pick.choices:
        return letters[pick.choices.index(pick.answer)]
    return pick.answer if pick.answer in letters[:26] else None


def _about_subset(tasks: dict[str, list[dict[str, str]]]) -> list[str]:
    count = sum(map(len, tasks.values()))
    remarks = [
        f"run_subset.py runs {count} samples of {len(tasks)} task(s). It finds them in the tasks' data by what they "
        "ask and runs nothing when one is missing; --check only looks, --help has epochs, task arguments and more.",
        "A task that no installed package brings needs --task-file FILE.py.",
    ]
    for task, samples in tasks.items():
        ids = [sample["id"] for sample in samples]
        line = f"inspect eval {shlex.quote(task)} --sample-id {','.join(ids)} --model {_MODEL}"
        nameable = task.isprintable() and not task.startswith("-") and all(map(_PLAIN_ID.fullmatch, ids))
        if nameable and len(line) <= _COMMAND_CHARACTERS:
            remarks.append(f"The same with Inspect's own command line, which trusts the ids: {line}")
    return remarks


def _about_task(count: int, beside_tasks: bool) -> list[str]:
    unbound = "no sample of an Inspect task is known for them; import a log of the task first if there is one"
    return [
        f"benchcore_task.py holds {count} prompts as a task of its own"
        + (f" ({unbound})." if beside_tasks else f": {unbound}."),
        "It asks for a letter where there are choices, and else takes an answer for right that ends with the expected "
        "one (match): put your benchmark's own scorer into benchcore_task.py where that is not what it asks for.",
    ]

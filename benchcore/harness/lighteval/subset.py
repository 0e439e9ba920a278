"""The picks as custom tasks: lighteval's own tasks, whose prompt functions pass over all other documents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from benchcore.harness.content import content_source
from benchcore.harness.lighteval.details import NAME, SUBSET
from benchcore.harness.picks import Exported, Pick
from benchcore.whole_file import write_file

_TASKS, _PICKS, _LIST = "subset_tasks.py", "picks.json", "tasks.txt"
_SPECIAL = "|@#,\n\r"  # of lighteval's lists of tasks


def export(coreset_id: str, picks: Sequence[Pick], folder: Path) -> Exported:
    """Write custom tasks, the hashes of the documents that they keep, and the list of tasks to run."""
    wanted: dict[str, list[str]] = {}
    left_out = []
    for pick in picks:
        usable = [document for document in pick.documents if not set(_SPECIAL) & set(document.task)]
        if not usable:
            reason = "its task cannot be named in a list of tasks" if pick.documents else "no document is bound to it"
            left_out.append((pick, reason))
        for document in usable:
            wanted.setdefault(document.task, []).append(document.document_hash)
    told = {"coreset": coreset_id, "tasks": {task: sorted(set(wanted[task])) for task in sorted(wanted)}}
    write_file(folder / _PICKS, (json.dumps(told, indent=1) + "\n").encode())
    script = files("benchcore.harness.lighteval").joinpath("subset_tasks.txt").read_text()
    script = script.replace("# CONTENT_DIGEST\n", content_source())
    script = script.replace("NAME = None\n", f'NAME = "{NAME}"\n').replace("SUBSET = None\n", f'SUBSET = "{SUBSET}"\n')
    write_file(folder / _TASKS, script.encode())
    write_file(folder / _LIST, "".join(f"{task}{SUBSET}|0\n" for task in sorted(wanted)).encode())
    return Exported(
        files=(folder / _TASKS, folder / _PICKS, folder / _LIST),
        command=(
            f'lighteval accelerate "model_name=MODEL" {_LIST} --custom-tasks {_TASKS} --output-dir . --save-details'
        ),
        remarks=(
            "Replace MODEL; any other back end takes the same list and custom tasks.",
            f"Each task is lighteval's own of the same name, prompts and metrics included, with {SUBSET} behind its "
            "name; documents are told by content, not by position.",
            f"{_LIST} has no examples in the prompts (|0): write the number that you use.",
            "For tasks of your own set CUSTOM_TASKS=your_tasks.py.",
            "Do not give --max-samples: it takes a random part.",
        ),
        left_out=tuple(left_out),
    )

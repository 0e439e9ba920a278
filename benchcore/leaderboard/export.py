"""Picked tasks in the form that harnesses take."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from benchcore.errors import UsageError

_PLAIN = re.compile(r"[A-Za-z0-9_.\-/+]+")


def as_list(name: str, tasks: Sequence[str]) -> str:
    """A task a line."""
    return "".join(f"{task}\n" for task in tasks)


def as_mteb(name: str, tasks: Sequence[str]) -> str:
    """Python that makes an `mteb.Benchmark` of the tasks."""
    lines = "".join(f"            {task!r},\n" for task in tasks)
    return (
        "import mteb\n\n"
        "benchmark = mteb.Benchmark(\n"
        f"    name={name!r},\n"
        "    tasks=mteb.get_tasks(\n"
        f"        tasks=[\n{lines}        ]\n"
        "    ),\n"
        ")\n"
    )


def as_lm_eval(name: str, tasks: Sequence[str]) -> str:
    """A group of tasks for lm-evaluation-harness: YAML for a folder that is given with `--include_path`.

    Raises:
        UsageError: a name cannot be one of lm-eval's.
    """
    strange = [task for task in (name, *tasks) if not _PLAIN.fullmatch(task)]
    if strange:
        raise UsageError(
            f"'{strange[0]}' cannot be the name of a task or group of lm-eval",
            where="--export lm-eval",
            mend="Use --export list, and rename the tasks as lm-eval has them.",
        )
    lines = "".join(f"  - {task}\n" for task in tasks)
    usage = f"# lm_eval --include_path FOLDER --tasks {name}\n# or: lm_eval --tasks {','.join(tasks)}\n"
    return f"{usage}group: {name}\ntask:\n{lines}"


EXPORTS: dict[str, Callable[[str, Sequence[str]], str]] = {"list": as_list, "mteb": as_mteb, "lm-eval": as_lm_eval}
FILES = {"list": "tasks.txt", "mteb": "benchmark.py", "lm-eval": "group.yaml"}

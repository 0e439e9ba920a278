"""Run exactly the picked samples of tasks of Inspect AI.

    python run_subset.py --model YOUR_MODEL

subset.json, beside this file, names the samples. They are found in the task's data set by what they ask (see
sample_content.py), not by their ids: `--sample-id` splits at commas, takes * ? [ for patterns and 012 for 12, and data
without ids are numbered, so that another order means other samples. Nothing runs when one of them is not there.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

from sample_content import sample_hash

HERE = Path(__file__).resolve().parent


def main() -> None:
    options = arguments()
    subset = json.loads((HERE / "subset.json").read_text(encoding="utf-8"))["tasks"]
    unknown = [name for name in options.task if name not in subset]
    if unknown:
        sys.exit(f"No sample of {', '.join(unknown)} was picked; there are: {', '.join(subset)}")
    home = Path.cwd()
    if options.task_file is not None:
        load(options.task_file.resolve())
    registered = {name: other for name, _, other in (text.partition("=") for text in options.registered)}
    tasks, missing = [], []
    for name in options.task or subset:
        task = create(registered.get(name, name), dict(given(text) for text in options.task_arg))
        kept, lost = picked(list(task.dataset), subset[name])
        missing += [f"sample {one['id']} of {name}" for one in lost]
        say(f"{name}: {len(kept)} of {len(task.dataset)} samples")
        if kept:
            tasks.append(narrowed(task, kept))
    os.chdir(home)
    if missing:
        say(f"{len(missing)} picked samples are not in the data: {'; '.join(missing[:5])}")
        if not options.allow_missing:
            sys.exit(
                "Nothing was run. Is it another version of the data, are other -T arguments needed, or are the choices "
                "shuffled? --allow-missing runs the others."
            )
    if tasks and not options.check:
        run(tasks, options)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run exactly the picked samples of tasks of Inspect AI.")
    add = parser.add_argument
    add("--model", help="as for inspect eval; default: INSPECT_EVAL_MODEL")
    add("--log-dir", help="default: logs, or INSPECT_LOG_DIR")
    add("--epochs", type=int)
    add("--task", action="append", default=[], metavar="NAME", help="this task alone; can be repeated")
    add("--task-file", type=Path, metavar="FILE.py", help="what defines the tasks that no installed package brings")
    add("--registered", action="append", default=[], metavar="NAME=OTHER", help="a task is known to Inspect as OTHER")
    add("-T", dest="task_arg", action="append", default=[], metavar="NAME=VALUE", help="argument of the tasks")
    add("--option", action="append", default=[], metavar="NAME=VALUE", help="argument of inspect_ai.eval")
    add("--allow-missing", action="store_true", help="run although samples are missing")
    add("--check", action="store_true", help="only look whether all samples are there")
    return parser.parse_args()


def given(text: str) -> tuple[str, Any]:
    """A name and its value, which is JSON or else a text."""
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def load(file: Path) -> None:
    """Run the file that defines tasks, in its own folder, where they look for their data."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None or not file.is_file():
        sys.exit(f"{file} is no Python file")
    os.chdir(file.parent)
    sys.path.insert(0, str(file.parent))
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)


def create(name: str, task_args: dict[str, Any]) -> Any:
    from inspect_ai.util import registry_create

    try:
        return registry_create("task", name, **task_args)
    except LookupError:
        sys.exit(
            f"There is no task {name} here. Install the package that brings it, give --task-file FILE.py, or, where "
            "the task has a name of its own beside that of its function, --registered NAME=FUNCTION."
        )


def picked(samples: list[Any], wanted: list[dict[str, str]]) -> tuple[list[Any], list[dict[str, str]]]:
    """The samples that are wanted, one for each, in the data's order; and what is wanted and not there.

    Of samples that ask the same, the one that has the id as well is taken, else the first.
    """
    asking: dict[str, list[int]] = {}
    for number, sample in enumerate(samples):
        if sample.id is None:
            sample.id = number + 1  # as Inspect does, which would number the kept ones anew
        asking.setdefault(sample_hash(sample.input, sample.target, sample.choices), []).append(number)
    kept: list[int] = []
    lost: list[dict[str, str]] = []
    for one in wanted:
        same = asking.get(one["hash"], [])
        named = [number for number in same if str(samples[number].id) == one["id"]]
        if same:
            kept.append((named or same)[0])
        else:
            lost.append(one)
    return [samples[number] for number in sorted(set(kept))], lost


def narrowed(task: Any, samples: list[Any]) -> Any:
    from inspect_ai import task_with
    from inspect_ai.dataset import MemoryDataset

    whole = task.dataset
    return task_with(task, dataset=MemoryDataset(samples, name=whole.name, location=whole.location))


def run(tasks: list[Any], options: argparse.Namespace) -> None:
    from inspect_ai import eval

    named = {name: value for name in ("model", "log_dir", "epochs") if (value := getattr(options, name)) is not None}
    logs = eval(tasks, **named, **dict(given(text) for text in options.option))
    failed = [f"{log.location} ({log.status})" for log in logs if log.status != "success"]
    if failed:
        sys.exit("Not all is done: " + ", ".join(failed))


def say(line: str) -> None:
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    main()

"""A coreset for lm-eval: indices for `--samples` of its own tasks, and a task of what it has no task for."""

from __future__ import annotations

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from benchcore.harness.lm_eval.local_task import LocalTasks, write_local_tasks
from benchcore.harness.picks import Bound, Exported, Pick
from benchcore.whole_file import write_file

SAMPLES = "samples.json"
# Loads no model; without few-shot examples, which say nothing of the document.
DUMP = "lm_eval --model dummy --tasks {tasks} --num_fewshot 0 --predict_only --log_samples --output_path dump"

# lm-eval splits --tasks at commas, takes `*?[` for patterns, names that end in .yaml for files, and `-x` for an option.
_TASK = re.compile(r"\w[\w.+:=()-]*")
_INDEX = re.compile(r"\d{1,12}")

_LACKING = "no document of lm-eval is bound to it, and other picks of its benchmark run in lm-eval's own task"

LeftOut = tuple[Pick, str]


@dataclass(frozen=True)
class _Chosen:
    """Picks with the document that each is run as."""

    documents: tuple[tuple[Pick, Bound], ...]
    left_out: tuple[LeftOut, ...]
    ambiguous: int

    @property
    def samples(self) -> dict[str, list[int]]:
        """Sorted and without repetition, as lm-eval needs it; a task without picks is not there."""
        ids: dict[str, set[int]] = defaultdict(set)
        for _, bound in self.documents:
            ids[bound.task].add(int(bound.document_id))
        return {task: sorted(ids[task]) for task in sorted(ids)}


def export(coreset_id: str, picks: Sequence[Pick], out: Path) -> Exported:
    """Write `samples.json` for the picks that are bound to lm-eval's documents, and tasks of other benchmarks' texts.

    Each pick is run once. Of several documents that one prompt is bound to, that of the task (and its version) which
    most picks are bound to is taken. A benchmark is run in one way: where lm-eval has a task for it, a pick without a
    document is left out.
    """
    bound = _choose([pick for pick in picks if pick.documents])
    benchmarks = {pick.benchmark for pick in picks if pick.documents}
    unbound = [pick for pick in picks if not pick.documents]
    local = write_local_tasks(coreset_id, [pick for pick in unbound if pick.benchmark not in benchmarks], out)
    lacking = [(pick, _LACKING) for pick in unbound if pick.benchmark in benchmarks]
    samples = {**bound.samples, **local.samples}
    files = list(local.files)
    if samples:
        write_file(out / SAMPLES, orjson.dumps(samples, option=orjson.OPT_APPEND_NEWLINE))
        files.append(out / SAMPLES)
    return Exported(
        files=tuple(sorted(files)),
        command=_command(samples, bool(local.samples)),
        remarks=tuple(_remarks(bound, local)),
        left_out=(*bound.left_out, *lacking, *local.left_out),
    )


def _choose(picks: Sequence[Pick]) -> _Chosen:
    versions = Counter(place for pick in picks for place in {_place(bound) for bound in pick.documents})
    taken: dict[tuple[str, str], Pick] = {}
    documents: list[tuple[Pick, Bound]] = []
    left_out: list[LeftOut] = []
    ambiguous = 0
    for pick in sorted(picks, key=lambda pick: pick.rank):
        usable = [bound for bound in pick.documents if _problem(bound) is None]
        if not usable:
            left_out.append((pick, _problem(pick.documents[0]) or ""))
            continue
        ambiguous += len(usable) > 1
        best = min(usable, key=lambda bound: (-versions[_place(bound)], _place(bound), int(bound.document_id)))
        key = (best.task, best.document_id)
        if key in taken:
            first = taken[key].prompt_id
            left_out.append((pick, f"document {key[1]} of task '{key[0]}' is prompt {first} in another version"))
            continue
        taken[key] = pick
        documents.append((pick, best))
    return _Chosen(tuple(documents), tuple(left_out), ambiguous)


def _place(bound: Bound) -> tuple[str, str]:
    return bound.task, bound.version or ""


def _problem(bound: Bound) -> str | None:
    """Why lm-eval cannot be asked for a document; None where it can."""
    if not _INDEX.fullmatch(bound.document_id):
        return f"'{bound.document_id}' is no index of a document, so --samples cannot name it"
    if not _TASK.fullmatch(bound.task) or bound.task.endswith(".yaml"):
        return f"no command line can name the task '{bound.task}'"
    return None


def _command(samples: Iterable[str], has_local: bool) -> str:
    tasks = ",".join(samples)
    if not tasks:
        return ""
    parts = ["lm_eval", "--model", "hf", "--model_args", "pretrained=YOUR_MODEL", "--tasks", tasks]
    parts += ["--include_path", "task"] if has_local else []
    parts += ["--samples", SAMPLES, "--log_samples", "--output_path", "results"]
    return shlex.join(parts)


def _remarks(bound: _Chosen, local: LocalTasks) -> list[str]:
    remarks = []
    if bound.samples:
        remarks += [
            "samples.json names documents by their place in the task's evaluation documents. If lm-eval has another "
            "version of a task or its data, other documents run; benchcore knows documents by their content, so the "
            "import gives their scores to no wrong prompt and says which picks are missing.",
            "--samples goes with no --limit. Leave no task out of samples.json that --tasks names: lm-eval would run "
            "all of it.",
            "Tasks of your own: add `--include_path FOLDER`. Relative data_files in them are looked for from where you "
            "run: run there, with the whole paths of samples.json and of the results (`--samples .../samples.json "
            "--output_path .../results`).",
            "Ask as in your full runs, with the same `--num_fewshot`, `--apply_chat_template` and so on: else the "
            "scores are of another test.",
        ]
        remarks += _versions(bound)
    if bound.ambiguous:
        remarks.append(
            f"{bound.ambiguous} picks are bound to several documents: each runs once, in the task that most picks "
            "are bound to."
        )
    if local.samples:
        remarks += [
            f"{sum(map(len, local.samples.values()))} picks are of benchmarks of which none is bound to a document of "
            "lm-eval. They run as plain prompts in tasks of their own (folder task/): multiple choice by likelihood "
            "(acc) where each answer is one of the choices, else a generated answer that must equal the expected one "
            "(exact_match). That is a start: edit the YAML files (template, filter, metric) to what your benchmark "
            "needs; keep the data files.",
            "Where lm-eval has a task for them, bind its documents first: dump them with `"
            + DUMP.format(tasks="TASK")
            + "`, which needs no model, and export again with `--documents dump`.",
        ]
    return remarks


def _versions(bound: _Chosen) -> list[str]:
    versions: dict[str, set[str]] = defaultdict(set)
    for _, document in bound.documents:
        versions[document.task].add(document.version or "unknown")
    several = {task: sorted(found) for task, found in sorted(versions.items()) if len(found) > 1}
    return [
        f"Picks of task '{task}' are bound to its versions {', '.join(found)}: lm-eval runs the one it has, and the "
        "picks of the others will be missing."
        for task, found in several.items()
    ]

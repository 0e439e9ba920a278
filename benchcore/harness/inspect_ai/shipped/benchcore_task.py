"""The picked prompts as a task of Inspect AI: samples.jsonl, scored as multiple choice or by the answer's end.

    inspect eval benchcore_task.py --model YOUR_MODEL

Put your benchmark's own solver and scorer here where these are not what it asks for.
"""

# mypy: allow-untyped-decorators

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import Sample, json_dataset
from inspect_ai.scorer import Score, Scorer, Target, accuracy, choice, match, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, generate, multiple_choice, solver


@task
def benchcore() -> Task:
    samples = Path(__file__).with_name("samples.jsonl")
    return Task(dataset=json_dataset(str(samples), as_written), solver=answer(), scorer=right())


def as_written(record: dict[str, Any]) -> Sample:
    """Keep blank choices, which json_dataset leaves out by itself: the letters of the others would shift."""
    return Sample(**record)


@solver
def answer() -> Solver:
    """Ask for a letter where the sample has choices, else for free text."""
    choose, write = multiple_choice(), generate()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return await (choose if len(state.choices) else write)(state, generate)

    return solve


@scorer(metrics=[accuracy(), stderr()])
def right() -> Scorer:
    """Score the letter where the sample has choices, else whether the text ends with the target."""
    chosen, matched = choice(), match()

    async def score(state: TaskState, target: Target) -> Score | None:
        return await (chosen if len(state.choices) else matched)(state, target)

    return score

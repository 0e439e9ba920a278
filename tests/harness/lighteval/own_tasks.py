"""A task of a user's own for lighteval, on data beside this file (run by lighteval itself)."""

from pathlib import Path

from lighteval.metrics.metrics import Metrics
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc


def prompt(line, task_name=None):
    choices = [f" {choice}" for choice in line["choices"]]
    return Doc(
        task_name=task_name, query=f"Question: {line['question']}\nAnswer:", choices=choices, gold_index=line["gold"]
    )


TASKS_TABLE = [
    LightevalTaskConfig(
        name="tides:north",
        prompt_function=prompt,
        hf_repo=str(Path(__file__).parent / "tides"),
        hf_subset="default",
        metrics=[Metrics.loglikelihood_acc],
        hf_avail_splits=["test"],
        evaluation_splits=["test"],
    )
]

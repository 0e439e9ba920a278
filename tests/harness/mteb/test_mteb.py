"""MTEB and groups of lm-eval: whole tasks, picked by `benchcore leaderboard select`."""

from pathlib import Path

import pytest

from benchcore.errors import UsageError
from benchcore.harness import HARNESSES
from benchcore.leaderboard.export import as_lm_eval, as_mteb
from tests.harness.environments import environment, run_in

TASK = """\
task: tides_{name}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{question}}}}"
doc_to_choice: "{{{{choices}}}}"
doc_to_target: gold
metric_list: [{{metric: acc}}]
"""


def test_prompts_are_no_tasks(tmp_path: Path):
    """The error names the command that picks tasks."""
    export = HARNESSES["mteb"].export
    assert export is not None

    with pytest.raises(UsageError, match="benchcore leaderboard select"):
        export("c0ffee", [], tmp_path)


@pytest.mark.slow
def test_the_real_mteb_makes_a_benchmark_of_the_tasks(tmp_path: Path):
    """The Python that is printed runs, and the benchmark has the tasks."""
    programs = environment("mteb")
    names = ["STS12", "Banking77Classification", "SciFact"]
    told = "print(benchmark.name, sorted(task.metadata.name for task in benchmark.tasks))"
    (tmp_path / "benchmark.py").write_text(f"{as_mteb('few', names)}{told}\n")

    assert f"few {sorted(names)}" in run_in(programs, "python benchmark.py", tmp_path)


@pytest.mark.slow
def test_the_real_lm_eval_runs_the_group(tmp_path: Path):
    """A group of two tasks on local data is found by its name and runs both."""
    programs = environment("lm-eval")
    (tmp_path / "data.jsonl").write_text('{"question": "When?", "choices": ["noon", "now"], "gold": 1}\n' * 3)
    for name in ("north", "south", "west"):
        (tmp_path / f"{name}.yaml").write_text(TASK.format(name=name, data=tmp_path / "data.jsonl"))
    (tmp_path / "group.yaml").write_text(as_lm_eval("few_tides", ["tides_north", "tides_south"]))

    shown = run_in(programs, "lm_eval run --model dummy --include_path . --tasks few_tides", tmp_path)

    assert "tides_north|" in shown and "tides_south|" in shown and "tides_west|" not in shown

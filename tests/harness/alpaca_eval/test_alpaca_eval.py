"""alpaca_eval: annotations as scores, outputs filtered by the picks' instructions."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchcore.errors import BenchcoreError, UsageError
from benchcore.harness.alpaca_eval import ALPACA_EVAL
from benchcore.harness.documents import Document, Result, Scale
from benchcore.harness.notes import Notes
from tests.harness.environments import environment, run_in
from tests.harness.picked import picks_of

JUDGE = """\
deaf_judge:
  prompt_template: "deaf_judge/prompt.txt"
  fn_completions: "test_completions"
  completions_kwargs: {model_name: "test", value: "Output (a)"}
  completion_parser_kwargs: {outputs_to_match: {1: 'Output \\(a\\)', 2: 'Output \\(b\\)'}}
  batch_size: 1
"""
PROMPT = "<|im_start|>user\n{instruction}\nOutput (a): {output_1}\nOutput (b): {output_2}\n<|im_end|>\n"


def annotation(number: int, preference: Any, **more: Any) -> dict[str, Any]:
    return {
        "instruction": f"Tell of buoy {number}.",
        "dataset": "sea",
        "generator_1": "tern",
        "generator_2": "gull",
        "annotator": "judge",
        "preference": preference,
    } | more


def written(folder: Path, content: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "annotations.json").write_text(json.dumps(content))
    return folder


def read(path: Path) -> tuple[list[Result], Notes]:
    notes = Notes()
    assert ALPACA_EVAL.results is not None
    return list(ALPACA_EVAL.results(path, notes)), notes


def instructions(*texts: str) -> list[Document]:
    return [Document("alpaca-eval", "alpaca_eval", "", "bound", {}, text) for text in texts]


def outputs(generator: str, *texts: str) -> list[dict[str, str]]:
    return [{"instruction": text, "output": f"{generator} says no", "generator": generator} for text in texts]


def filtered(folder: Path, every: list[dict[str, str]], into: str) -> subprocess.CompletedProcess[str]:
    (folder / "every.json").write_text(json.dumps(every))
    script = [sys.executable, "subset.py", "every.json", into]
    return subprocess.run(script, cwd=folder, capture_output=True, text=True, check=False)


def test_annotations_are_scores_of_the_second_generator(tmp_path: Path):
    """From 1 to 2; null is a missing score; a judge and a reference make a run."""
    results, notes = read(written(tmp_path, [annotation(1, 1.75), annotation(2, None), annotation(3, 1)]))

    assert [result.metrics["preference"] for result in results] == [1.75, None, 1]
    assert {"preference": Scale(1.0, 2.0)} == results[0].scales
    assert {("gull", "judge against tern")} == {(result.model, result.run) for result in results}
    assert len({result.document.document_hash for result in results}) == 3
    assert notes.counts == {}


def test_what_is_no_annotation_is_counted_or_refused(tmp_path: Path):
    """Entries that lack something are noted; a file that is no list, and a folder without one, are errors."""
    empty = tmp_path / "empty"
    empty.mkdir()
    broken = [annotation(1, 1), {"instruction": "x"}, 7, annotation(2, 1, generator_2=None)]
    results, notes = read(written(tmp_path / "a", broken))

    assert len(results) == 1
    assert notes.counts == {"unreadable": 3}
    with pytest.raises(BenchcoreError, match="no list"):
        read(written(tmp_path / "b", {}))
    with pytest.raises(UsageError, match=r"annotations\.json"):
        read(empty)


def test_the_script_keeps_the_picks_outputs_by_text(tmp_path: Path):
    """Other instructions go, whatever their order; a pick without an output is named and fails."""
    assert ALPACA_EVAL.export is not None
    ALPACA_EVAL.export("c0ffee", picks_of(instructions("one", "two\n'; touch gone")), tmp_path)

    whole = filtered(tmp_path, outputs("gull", "three", "two\n'; touch gone", "one"), "kept.json")
    part = filtered(tmp_path, outputs("gull", "three", "one"), "part.json")

    assert [one["instruction"] for one in json.loads((tmp_path / "kept.json").read_text())] == [
        "two\n'; touch gone",
        "one",
    ]
    assert (whole.returncode, whole.stderr) == (0, "2 of 2 picks have outputs\n")
    assert part.returncode == 1
    assert "no output: prompt 'prompt-1'" in part.stderr
    assert not (tmp_path / "gone").exists()


def test_instructions_that_differ_from_the_prompt_are_known_by_their_binding(tmp_path: Path):
    """The hash of the bound document counts beside that of the prompt's own text."""
    results, _ = read(written(tmp_path, [annotation(1, 1.0)]))
    document = results[0].document
    prompt = Document("alpaca-eval", "alpaca_eval", "", document.document_hash, {}, "Another wording.")
    assert ALPACA_EVAL.export is not None
    ALPACA_EVAL.export("c0ffee", picks_of([prompt]), tmp_path)

    assert filtered(tmp_path, outputs("gull", "Tell of buoy 1."), "kept.json").returncode == 0


@pytest.mark.slow
def test_the_real_alpaca_eval_judges_the_picks(tmp_path: Path):
    """With a judge that always answers the same, exactly the picks are annotated, and read back."""
    programs = environment("alpaca-eval")
    every = [f"Tell of buoy {at}." for at in range(12)]
    (tmp_path / "deaf_judge").mkdir()
    (tmp_path / "deaf_judge" / "configs.yaml").write_text(JUDGE)
    (tmp_path / "deaf_judge" / "prompt.txt").write_text(PROMPT)
    (tmp_path / "MODEL_OUTPUTS.json").write_text(json.dumps(outputs("gull", *every)))
    (tmp_path / "REFERENCE_OUTPUTS.json").write_text(json.dumps(outputs("tern", *every[::-1])))
    assert ALPACA_EVAL.export is not None
    exported = ALPACA_EVAL.export("c0ffee", picks_of(instructions(*every[::3])), tmp_path)

    options = f"--annotators_config {tmp_path / 'deaf_judge'} --fn_metric get_winrate --sort_by win_rate"
    run_in(programs, f"{exported.command} {options}", tmp_path, OPENAI_API_KEY="none")
    results, notes = read(tmp_path / "results")

    assert sorted(every[::3]) == sorted(str(result.document.request) for result in results)
    assert {"gull"} == {result.model for result in results}
    assert {1, 2} >= {result.metrics["preference"] for result in results}
    assert notes.counts == {}

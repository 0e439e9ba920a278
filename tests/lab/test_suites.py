"""Suites from folders: what is read, what is joined, and every wrong folder in one line."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from benchcore.errors import UsageError
from benchcore.lab.suites import load_suite
from benchcore.registry.root import Registry
from tests.lab.planted import write_suite
from tests.registry.stored import prompt, store


def scores(n: int = 12, models: int = 3) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 2, (n, models)).astype(float)


def test_prompts_scores_and_groups_are_read_in_the_order_of_the_prompts(tmp_path: Path):
    """Rows of the two files are matched by id, and the first telling field is the group."""
    given = scores()
    folder = write_suite(tmp_path / "a", given, ["x"] * 6 + ["y"] * 6, edit=lambda prompts: prompts.reverse())

    suite = load_suite(str(folder))

    assert suite.ids.tolist() == [f"p{row:04d}" for row in reversed(range(12))]
    assert np.array_equal(given[::-1], suite.scores)
    assert suite.groups.tolist() == ["y"] * 6 + ["x"] * 6
    assert suite.texts[-1] == "What is 0 + 0?\n0"


def test_options_belong_to_the_text_and_answers_can_be_left_out(tmp_path: Path):
    def add_options(prompts: list[dict]) -> None:
        prompts[0] |= {"prompt": "Which?", "options": ["this", "that"], "answer": "B"}

    folder = write_suite(tmp_path / "a", scores(), edit=add_options)

    assert load_suite(str(folder)).texts[0] == "Which?\nthis\nthat\nB"
    assert load_suite(str(folder), answers=False).texts[0] == "Which?\nthis\nthat"


def test_a_folder_without_groups_is_one_benchmark(tmp_path: Path):
    assert load_suite(str(write_suite(tmp_path / "mine", scores()))).benchmarks.tolist() == ["mine"]


def test_joined_folders_are_benchmarks_on_their_common_models(tmp_path: Path):
    first, second = scores(), scores(8)
    a = write_suite(tmp_path / "a", first, models=["m1", "m2", "m3"])
    b = write_suite(tmp_path / "b", second, models=["m3", "m4", "m1"])

    suite = load_suite(f"{a}+{b}")

    assert (suite.name, suite.models, suite.benchmarks.tolist()) == ("a+b", ("m1", "m3"), ["a", "b"])
    assert np.array_equal(np.vstack([first[:, [0, 2]], second[:, [2, 0]]]), suite.scores)
    assert len(set(suite.ids)) == 20


def test_halves_share_out_the_benchmarks_in_alphabetical_order(tmp_path: Path):
    folder = write_suite(tmp_path / "a", scores(), list("cabdcabdcabd"))

    odd, even = load_suite(f"{folder}:odd"), load_suite(f"{folder}:even")

    assert (odd.name, odd.benchmarks.tolist(), even.benchmarks.tolist()) == ("a:odd", ["a", "c"], ["b", "d"])
    assert sorted([*odd.ids, *even.ids]) == [f"p{row:04d}" for row in range(12)]


def test_csv_files_with_missing_cells_are_read(tmp_path: Path):
    folder = write_suite(tmp_path / "a", scores(3, 2))
    (folder / "correct.parquet").unlink()
    (folder / "pass.csv").write_text("prompt_id,one,two\np0002,100,\np0000,50,0\np0001,25,100\n")

    suite = load_suite(str(folder), scale=100)

    assert np.array_equal([[0.5, 0.0], [0.25, 1.0], [1.0, np.nan]], suite.scores, equal_nan=True)


def test_models_without_scores_are_left_out_and_constant_ones_kept_and_both_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    """A model without a score in some benchmark has no macro score either."""
    given = scores(12, 4)
    given[:, 0], given[:6, 1], given[:, 2] = np.nan, np.nan, 1.0
    folder = write_suite(tmp_path / "a", given, ["x"] * 6 + ["y"] * 5 + ["z"])

    with caplog.at_level(logging.INFO):
        suite = load_suite(str(folder))

    assert suite.models == ("m2", "m3")
    assert "1 of 4 have no score at all and are left out: m0" in caplog.text
    assert "1 of 4 have no score in some benchmark and are left out: m1" in caplog.text
    assert "1 of 2 score the same on every prompt; they are kept: m2" in caplog.text
    assert "1 of 3 are benchmarks of one prompt; it is in every sub-pool: z" in caplog.text


def test_a_prompt_id_that_comes_twice_is_named(tmp_path: Path):
    folder = write_suite(tmp_path / "a", scores(), edit=lambda prompts: prompts[1].update(prompt_id="p0000"))

    with pytest.raises(UsageError, match=r"1 prompt ids come more than once: p0000"):
        load_suite(str(folder))


def test_ids_that_do_not_match_are_counted_and_shown(tmp_path: Path):
    folder = write_suite(tmp_path / "a", scores(), edit=lambda prompts: prompts[1].update(prompt_id="new"))

    with pytest.raises(UsageError, match=r"1 of 12 prompts .* \(new\); 1 of 12 rows .* \(p0001\)"):
        load_suite(str(folder))


@pytest.mark.parametrize("scale", [None, 10.0])
def test_scores_outside_their_scale_are_counted(tmp_path: Path, scale: float | None):
    given = scores()
    given[0, 0] = 50
    folder = write_suite(tmp_path / "a", given)

    with pytest.raises(UsageError, match=r"scores from 0 to 50 lie outside \[0, 1"):
        load_suite(str(folder), scale=scale)


def test_folders_without_a_common_model_say_which_they_have(tmp_path: Path):
    a = write_suite(tmp_path / "a", scores(), models=["m1", "m2", "m3"])
    b = write_suite(tmp_path / "b", scores(), models=["n1", "n2", "n3"])

    with pytest.raises(UsageError, match=r"no model is common to a\+b: a has 3 \(m1, m2, m3\); b has 3 \(n1"):
        load_suite(f"{a}+{b}")


def test_what_is_no_suite_is_told_in_one_line(tmp_path: Path):
    folder = write_suite(tmp_path / "a", scores())

    with pytest.raises(UsageError, match="no such folder"):
        load_suite(str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match="has no halves"):
        load_suite(f"{folder}:odd")
    (folder / "prompts.jsonl").write_text('{"prompt_id": "p"}\n')
    with pytest.raises(UsageError, match="jsonl:1: is no object with 'prompt_id' and 'prompt'"):
        load_suite(str(folder))
    (folder / "correct.parquet").unlink()
    (folder / "prompts.jsonl").write_text('{"prompt_id": "p", "prompt": ""}\n')
    with pytest.raises(UsageError, match="holds no scores"):
        load_suite(str(folder))


def test_a_registry_with_scores_is_a_suite(tmp_path: Path):
    """Runs are averaged; scores of another content of a prompt do not count, nor do prompts without scores."""
    registry = Registry.at(tmp_path / "mine")
    prompts = [prompt("b", number) for number in range(3)]
    store(registry, "prompts", prompts)
    nothing = dict.fromkeys(("raw_score", "filter", "harness", "source_path"))

    def score(number: int, model: str, run: str, value: float, **changed: str) -> dict:
        hashed = prompts[number]["content_hash"]
        named = {"model": model, "prompt_id": prompts[number]["prompt_id"], "run": run, "metric": "acc", "epoch": 0}
        return {**named, "content_hash": hashed, "score": value, **nothing, **changed}

    rows = [score(0, "m", "r", 1.0), score(0, "m", "s", 0.0), score(1, "m", "r", 1.0), score(1, "n", "r", 0.25)]
    store(registry, "scores", [*rows, score(0, "n", "r", 1.0, content_hash="old"), score(1, "m", "q", 0, metric="f1")])

    suite = load_suite(str(tmp_path / "mine"))

    ids = sorted(row["prompt_id"] for row in prompts[:2])
    assert (suite.ids.tolist(), suite.models) == (ids, ("m", "n"))
    expected = {prompts[0]["prompt_id"]: [0.5, np.nan], prompts[1]["prompt_id"]: [1.0, 0.25]}
    assert np.array_equal([expected[name] for name in ids], suite.scores, equal_nan=True)

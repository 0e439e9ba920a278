"""Suites from folders: what is read, what is joined, and every wrong folder in one line."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from benchcore.errors import UsageError
from benchcore.lab.splits import family
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


def test_models_that_repeat_another_are_left_out_and_said(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """They would carry scores that are held out to where they are looked at; the first by name stays, NaN is alike."""
    given = scores(30, 5)
    given[3, 1] = np.nan
    given[:, 0], given[:, 4] = given[:, 1], given[:, 2]
    folder = write_suite(tmp_path / "a", given, models=["b#2", "b", "c", "d", "a"])

    suite = load_suite(str(folder))

    assert suite.models == ("b", "d", "a")
    assert np.array_equal(given[:, [1, 3, 4]], suite.scores, equal_nan=True)
    assert "2 of 5 score the same as another model in every cell and are left out: b#2, c" in caplog.text


def test_equal_columns_that_tell_nothing_are_kept(tmp_path: Path):
    """On a few prompts models agree by chance, and those that fail everywhere agree by nature."""
    few, constant = scores(19, 3), scores(30, 5)
    few[:, 1] = few[:, 0]
    constant[:, 1:3], constant[:, 3:] = 0.0, 1.0

    assert len(load_suite(str(write_suite(tmp_path / "few", few))).models) == 3
    assert len(load_suite(str(write_suite(tmp_path / "constant", constant))).models) == 5


def test_shipped_duplicates_are_left_out():
    models = load_suite("dataset:ifeval").models

    assert (len(models), "Qwen/Qwen2.5-0.5B-Instruct" in models) == (427, True)
    assert "Qwen/Qwen2.5-0.5B-Instruct#2" not in models


def test_ids_of_csv_files_are_text(tmp_path: Path):
    def number(prompts: list[dict]) -> None:
        for row, record in enumerate(prompts):
            record["prompt_id"] = f"{row:03d}"

    folder = write_suite(tmp_path / "a", scores(3, 2), edit=number)
    (folder / "correct.parquet").unlink()
    (folder / "pass.csv").write_text("prompt_id,one,two\n002,1,0\n000,0,0\n001,1,1\n")

    assert load_suite(str(folder)).scores.tolist() == [[0, 0], [1, 1], [1, 0]]


def test_columns_of_one_name_or_no_name_are_refused(tmp_path: Path):
    folder = write_suite(tmp_path / "a", scores(3, 2))
    (folder / "correct.parquet").unlink()
    (folder / "pass.csv").write_text("prompt_id,one,one\np0000,1,0\np0001,0,0\np0002,1,1\n")

    with pytest.raises(UsageError, match=r"1 column names \(one\) come more than once"):
        load_suite(str(folder))
    (folder / "pass.csv").write_bytes("prompt_id,größe\np0000,1\np0001,0\np0002,1\n".encode("latin-1"))
    with pytest.raises(UsageError, match="column names that are not UTF-8"):
        load_suite(str(folder))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (np.nan, r"1 of 12 prompts \(p0003\) have vectors that are not finite"),
        (np.inf, r"1 of 12 prompts \(p0003\) have vectors that are not finite"),
        (0.0, r"1 of 12 prompts \(p0003\) have vectors of zeros alone"),
    ],
)
def test_vectors_that_say_nothing_are_refused_and_named(tmp_path: Path, value: float, said: str):
    vectors = np.ones((12, 3))
    vectors[3] = value

    with pytest.raises(UsageError, match=said):
        load_suite(str(write_suite(tmp_path / "a", scores(), vectors=vectors)))


def test_vectors_that_are_no_numbers_are_refused(tmp_path: Path):
    folder = write_suite(tmp_path / "a", scores())
    np.save(folder / "vectors.npy", np.full((12, 3), "1.0"))

    with pytest.raises(UsageError, match="holds no real numbers"):
        load_suite(str(folder))
    (folder / "vectors.npy").write_bytes(b"")
    with pytest.raises(UsageError, match=r"vectors.npy: cannot be read"):
        load_suite(str(folder))


def test_given_vectors_without_answers_are_taken_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    folder = write_suite(tmp_path / "a", scores(), vectors=np.ones((12, 3)))

    load_suite(str(folder))
    assert "taken as it is" not in caplog.text
    load_suite(str(folder), answers=False)
    assert "vectors.npy is taken as it is: if it was made with answers, they still show in it" in caplog.text


@pytest.mark.parametrize("spec", ["+", "", "{}+", "+{}", "{}++{}"])
def test_joins_of_nothing_are_refused(tmp_path: Path, spec: str):
    folder = str(write_suite(tmp_path / "a", scores()))

    with pytest.raises(UsageError, match="names no folder at an end of a '\\+'"):
        load_suite(spec.replace("{}", folder))


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf])
def test_a_scale_that_is_none_is_refused(tmp_path: Path, scale: float):
    with pytest.raises(UsageError, match=r"--scale: is .*, but must be a number above 0"):
        load_suite(str(write_suite(tmp_path / "a", np.zeros((5, 2)))), scale=scale)


@pytest.mark.parametrize(
    ("model", "of"),
    [
        ("Qwen/Qwen1.5-7B-Chat", "qwen"),
        ("qwen__Qwen2.5-7B", "qwen"),
        ("meta-llama/Meta-Llama-3-8B", "llama"),
        ("huggyllama/llama-65b", "llama"),
        ("Llama-2-7b_5shots", "llama"),
        ("01-ai/Yi-34B", "yi"),
        ("CausalLM/14B", "14b"),
    ],
)
def test_families_are_told_without_developers_versions_and_sizes(model: str, of: str):
    assert family(model) == of


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
    assert np.array_equal(suite.scores / 4, load_suite(str(tmp_path / "mine"), scale=4).scores, equal_nan=True)
    with pytest.raises(UsageError, match=r"lie outside \[0, 0.5\]"):
        load_suite(str(tmp_path / "mine"), scale=0.5)

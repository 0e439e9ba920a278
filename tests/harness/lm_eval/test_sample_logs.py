"""What is read from lm-eval's sample logs, whatever version wrote them."""

from __future__ import annotations

import gzip
import json
import math
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pytest

from benchcore.errors import UsageError
from benchcore.harness import HARNESSES
from benchcore.harness.documents import Result
from benchcore.harness.notes import Notes
from benchcore.ingest.readers.lm_eval_log import log_name

from .writing import DATE, MOONS, RIVER, choice_line, line, lm_eval_hash, old_line, write_log, write_results


def read(path: Path, notes: Notes | None = None) -> list[Result]:
    reader = HARNESSES["lm-eval"].results
    assert reader is not None
    return list(reader(path, notes or Notes()))


def test_a_log_and_its_results_file_say_all(tmp_path: Path):
    """Model, run, version and what is asked and expected come out as the harness names them."""
    write_results(tmp_path, model_name="acme/tiny", versions={"rivers": 2.0})
    file = write_log(tmp_path, "rivers", [line(7, RIVER, exact_match=1.0)])

    (result,) = read(tmp_path)

    document = result.document
    assert (result.model, result.run, result.filter, result.path) == ("acme/tiny", DATE, "none", str(file))
    assert result.metrics == {"exact_match": 1.0}
    assert (document.harness, document.task, document.document_id) == ("lm-eval", "rivers", "7")
    assert (document.document_hash, document.version) == (lm_eval_hash(RIVER), "2.0")
    assert (document.request, document.answer) == (f"Q: {RIVER['prompt']}\nA:", "Lell")
    assert (document.choices, document.record) == (("Lell", "Tarn"), RIVER)


def test_an_old_log_gives_what_a_new_one_gives(tmp_path: Path):
    """Without filter, hashes and list of metrics, and with arguments as lists, nothing is lost."""
    scores = {"exact_match": 1.0, "em": True, "f1": float("nan"), "comment": "none"}
    write_log(tmp_path / "old", "rivers", [old_line(7, RIVER, **scores)])
    write_log(tmp_path / "new", "rivers", [line(7, RIVER, exact_match=1.0, em=True, f1=float("nan"))])

    (old,), (new,) = read(tmp_path / "old"), read(tmp_path / "new")

    assert old.document == new.document
    assert old.metrics == new.metrics == {"exact_match": 1.0, "em": True, "f1": None}
    assert old.filter == new.filter == "none"


def test_a_log_that_is_one_json_list_is_read_alike(tmp_path: Path):
    """For a while lm-eval wrote its samples as one indented list, requests as pairs."""
    choices = [[RIVER["prompt"], f" {option}"] for option in RIVER["choices"]]
    lines = [choice_line(0, RIVER, acc=1.0) | {"arguments": choices}, line(1, MOONS, acc=0.0)]
    (tmp_path / f"samples_rivers_{DATE}.json").write_text(json.dumps(lines, indent=2), encoding="utf-8")

    found = [(result.document.document_id, result.document.answer, result.metrics) for result in read(tmp_path)]

    assert found == [("0", "Lell", {"acc": 1.0}), ("1", "nine", {"acc": 0.0})]


def test_the_hash_is_that_of_the_harness():
    """A document's hash is the one that lm-eval 0.4.13 logged for it."""
    doc = {"prompt_id": "aa", "prompt": "Which river does Ombra cross?", "choices": ["Lell", "Tarn"]}
    doc |= {"answer": "Lell", "gold": 0}

    assert lm_eval_hash(doc) == "602043541fcaca05063a1f7b722b03d8b42bd04cffde26c08bf52a4a6cab4094"


def test_nan_in_an_old_document_counts_in_its_hash(tmp_path: Path):
    """NaN is no JSON and is read as null, but the harness hashed it as NaN."""
    doc = RIVER | {"weight": float("nan"), "e": 2.5e300}
    write_log(tmp_path, "rivers", [old_line(0, doc, acc=1)])

    (result,) = read(tmp_path)

    assert result.document.document_hash == lm_eval_hash(doc)
    assert result.document.record["weight"] is None


def test_each_filter_of_a_document_is_a_result(tmp_path: Path):
    """A task with two filters has two lines a document."""
    lines = [line(n, doc, name, exact_match=n) for name in ("strict", "loose") for n, doc in enumerate((RIVER, MOONS))]
    write_log(tmp_path, "rivers", lines)

    found = [(result.filter, result.document.document_id) for result in read(tmp_path)]

    assert found == [("strict", "0"), ("strict", "1"), ("loose", "0"), ("loose", "1")]


def test_the_number_of_a_right_option_is_told_as_its_text(tmp_path: Path):
    """Targets of multiple choice are numbers; what counts as right is the option."""
    letters = {"prompt": "Which?", "choices": ["Lell", "Tarn"], "answer": "Tarn"}
    labelled = MOONS | {"choices": {"text": ["two", "nine"], "label": ["A", "B"]}}
    scored_by_letter = choice_line(1, letters, acc=0.0)
    scored_by_letter["arguments"] = {"0": {"arg_0": "Which?", "arg_1": " A"}, "1": {"arg_0": "Which?", "arg_1": " B"}}
    plain = choice_line(2, MOONS, acc=0.0) | {"doc": labelled}
    write_log(tmp_path, "rivers", [choice_line(0, RIVER, acc=1.0), scored_by_letter, plain])

    documents = [result.document for result in read(tmp_path)]

    assert [document.answer for document in documents] == ["Lell", "Tarn", "nine"]
    assert [document.choices for document in documents] == [("Lell", "Tarn"), ("Lell", "Tarn"), ("two", "nine")]


def test_a_generated_number_stays_a_number(tmp_path: Path):
    """A target that is a number is no option's number where nothing was chosen."""
    write_log(tmp_path, "sums", [line(0, RIVER | {"answer": "1"}, exact_match=0.0)])

    (result,) = read(tmp_path)

    assert result.document.answer == "1"


def test_a_chat_is_read_up_to_what_the_user_said_last(tmp_path: Path):
    """Chat models get their messages as JSON; the request is their text."""
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": RIVER["prompt"]}]},
        {"role": "assistant", "content": "It is"},
    ]
    chat = line(0, RIVER, exact_match=0.0) | {"arguments": {"gen_args_0": {"arg_0": json.dumps(messages)}}}
    write_log(tmp_path, "rivers", [chat])

    (result,) = read(tmp_path)

    assert result.document.request == f"Be brief.\n\n{RIVER['prompt']}"


@pytest.mark.parametrize(
    ("name", "task", "date"),
    [
        ("samples_gsm8k_2026-01-21T03-44-18.458309.jsonl", "gsm8k", "2026-01-21T03-44-18.458309"),
        ("samples_my_mc_2024-01-02_2026-01-21T03-44-18.jsonl.gz", "my_mc_2024-01-02", "2026-01-21T03-44-18"),
        (f"samples_samples_a_{DATE}_{DATE}.jsonl.zst", f"samples_a_{DATE}", DATE),
        (f"samples_darija_(general)_{DATE}.json", "darija_(general)", DATE),
    ],
)
def test_a_task_is_named_whatever_its_name_holds(name: str, task: str, date: str):
    """The name is parsed from its end: tasks may hold underscores and dates."""
    assert log_name(name) == (task, date)


@pytest.mark.parametrize("name", ["results_x.json", "samples_a.jsonl", f"samples_{DATE}.jsonl", f"a_{DATE}.jsonl"])
def test_other_files_are_no_sample_logs(name: str):
    """Nothing is guessed from a name that lm-eval does not give."""
    assert log_name(name) is None


def test_compressed_logs_are_read_alike(tmp_path: Path):
    """gzip and zstd change nothing."""
    plain = write_log(tmp_path, "rivers", [line(0, RIVER, acc=1.0), line(1, MOONS, acc=0.0)])
    content = plain.read_bytes()
    zipped, zstd = tmp_path / f"{plain.name}.gz", tmp_path / f"{plain.name}.zst"
    zipped.write_bytes(gzip.compress(content))
    zstd.write_bytes(pa.compress(content, codec="zstd", asbytes=True))

    def told(file: Path) -> list[tuple[object, ...]]:
        return [(r.document, r.model, r.run, r.metrics) for r in read(file)]

    assert told(plain) == told(zipped) == told(zstd)


def test_two_dates_are_two_runs_of_one_model(tmp_path: Path):
    """A run without results file is of the model whose name its folder bears."""
    folder, other = tmp_path / "acme__tiny", "2026-03-05T05-06-07"
    write_results(folder, model_name="acme/tiny")
    for date in (DATE, other):
        write_log(folder, "rivers", [line(0, RIVER, acc=1.0)], date)

    assert [(result.model, result.run) for result in read(tmp_path)] == [("acme/tiny", DATE), ("acme/tiny", other)]


@pytest.mark.parametrize(
    ("said", "model"),
    [
        ({"config": {"model": "hf", "model_args": "dtype=float16,pretrained=acme/tiny"}}, "acme/tiny"),
        ({"config": {"model": "hf", "model_args": {"pretrained": "acme/tiny", "peft": "acme/lora"}}}, "acme/lora"),
        ({"model_source": "dummy"}, "dummy"),
        ({}, "some_folder"),
    ],
)
def test_a_model_is_named_by_the_best_that_is_there(tmp_path: Path, said: dict[str, object], model: str):
    """Results files of older versions name the model among its arguments; without a name it is the folder's."""
    write_results(tmp_path / "some_folder", **said)
    write_log(tmp_path / "some_folder", "rivers", [line(0, RIVER, acc=1.0)])

    assert {result.model for result in read(tmp_path)} == {model}


def test_a_metric_of_which_less_is_better_has_no_range(tmp_path: Path):
    """The log says the direction; how far scores go has to be declared."""
    write_results(tmp_path, higher_is_better={"rivers": {"wer": False, "acc": True}})
    write_log(tmp_path, "rivers", [line(0, RIVER, wer=0.3, acc=1.0)])

    (result,) = read(tmp_path)

    assert list(result.scales) == ["wer"]
    assert (result.scales["wer"].lower_is_better, result.scales["wer"].high) == (True, math.inf)


def test_a_log_without_its_results_file_is_told(tmp_path: Path):
    """Nothing says then which metrics are the better the lower they are."""
    notes = Notes()
    write_log(tmp_path / "acme", "rivers", [line(0, RIVER, wer=0.3)])

    (result,) = read(tmp_path, notes)

    assert (result.model, dict(result.scales)) == ("acme", {})
    assert "acme" in notes.examples["no results file"][0]


def test_what_is_no_score_of_one_document_is_noted(tmp_path: Path):
    """Metrics of whole tasks leave pairs on the lines; they are counted, not taken."""
    notes = Notes()
    write_results(tmp_path)
    write_log(tmp_path, "rivers", [line(0, RIVER, acc=1.0, f1=[0, 1])])

    (result,) = read(tmp_path, notes)

    assert result.metrics == {"acc": 1.0}
    assert notes.counts == {"no score of one document": 1}


def test_a_run_without_metrics_still_shows_its_documents(tmp_path: Path):
    """A dump (--predict_only) has documents and no score, under either name of no metric."""
    write_log(tmp_path, "rivers", [line(0, RIVER), line(1, MOONS, bypass=None)])

    assert [result.metrics for result in read(tmp_path)] == [{}, {}]


def test_broken_lines_cost_themselves_alone(tmp_path: Path):
    """Each line that cannot be read is noted with its place."""
    notes = Notes()
    write_results(tmp_path)
    lines = ["{broken", line(0, RIVER, acc=1.0), "[]", "", '{"doc_id": 1}', line(1, MOONS, acc=1.0)]
    file = write_log(tmp_path, "rivers", lines)

    assert len(read(tmp_path, notes)) == 2
    assert notes.counts == {"unreadable": 3}
    assert f"{file} row 4: not a line of an lm-eval sample log: it has no 'doc'" in notes.examples["unreadable"]


def test_a_log_that_is_cut_short_is_noted(tmp_path: Path):
    """What stands before the damage is read, and the damage is told."""
    notes = Notes()
    write_results(tmp_path)
    plain = write_log(tmp_path, "rivers", [line(n, RIVER | {"n": n}, acc=1.0) for n in range(500)])
    whole = gzip.compress(plain.read_bytes())
    plain.with_name(f"{plain.name}.gz").write_bytes(whole[: len(whole) // 2])
    plain.unlink()

    assert 0 < len(read(tmp_path, notes)) < 500
    assert notes.counts == {"cut short": 1}


def test_a_results_file_that_is_broken_is_noted(tmp_path: Path):
    """The scores are still read."""
    notes = Notes()
    write_results(tmp_path / "acme").write_text("{", encoding="utf-8")
    write_log(tmp_path / "acme", "rivers", [line(0, RIVER, acc=1.0)])

    assert [result.model for result in read(tmp_path, notes)] == ["acme"]
    assert notes.counts == {"unreadable results file": 1}


def test_what_is_no_log_is_refused(tmp_path: Path):
    """A folder without logs and a file of another name say so."""
    (tmp_path / "other.jsonl").write_text("{}\n", encoding="utf-8")

    with pytest.raises(UsageError, match="no sample log"):
        read(tmp_path)
    with pytest.raises(UsageError, match=r"not named .* Name it samples_TASK_2026-01-31T12-00-00.jsonl"):
        read(tmp_path / "other.jsonl")


def test_memory_does_not_grow_with_the_log(tmp_path: Path):
    """A log is read line by line."""
    answer = "a" * 20_000
    write_log(tmp_path, "rivers", [line(n, RIVER, acc=1.0) | {"resps": [[answer]]} for n in range(1_000)])
    reader = HARNESSES["lm-eval"].results
    assert reader is not None

    tracemalloc.start()
    read_lines = sum(1 for _ in reader(tmp_path, Notes()))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert read_lines == 1_000
    assert peak < 2_000_000  # the log has 20 MB


def test_a_real_log_is_read(shared_data: Path):
    """A published run: all lines, the model's name, and hashes that computing them gives again."""
    folder = shared_data / "harness_logs" / "lm_eval"
    if not folder.is_dir():
        pytest.skip(f"no real logs at {folder}")
    notes = Notes()

    found = read(folder, notes)

    assert len(found) == 10
    assert notes.counts == {}
    assert len({result.model for result in found if "/" in result.model}) == 1
    assert all(result.document.document_hash == lm_eval_hash(dict(result.document.record)) for result in found)
    assert {(result.document.task, result.document.version) for result in found} == {("math_perturbed_full", "1.0")}

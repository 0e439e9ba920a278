"""Logs of Inspect: the same results whatever the format, and a clear word for whatever is wrong."""

from __future__ import annotations

import gzip
import math
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from benchcore.errors import BenchcoreError, UsageError
from benchcore.harness.documents import Result
from benchcore.harness.inspect_ai.results import read_results
from benchcore.harness.notes import Notes
from benchcore.ingest.readers import inspect_logs
from benchcore.ingest.readers.inspect_archive import Archive
from tests.harness.inspect_ai.crafted import (
    DEFLATED,
    NAN,
    STORED,
    ZSTANDARD,
    encoded,
    header,
    members_of,
    sample,
    write_eval,
    write_json,
    zipped,
)

SAMPLES = [sample("b", "I"), sample(12, 0.25, epoch=2), sample("../x", "C"), sample(12, True)]
METHODS = pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTANDARD])


def read(path: Path) -> tuple[list[Result], Notes]:
    notes = Notes()
    return list(read_results(path, notes)), notes


def said(results: list[Result]) -> list[tuple[Any, ...]]:
    """What results say, but for their file, in an order of their own."""
    told = [(r.document, r.model, r.run, r.epoch, dict(r.metrics)) for r in results]
    return sorted(told, key=lambda one: (one[0].document_id, one[3]))


@METHODS
def test_a_log_says_the_same_however_it_is_packed(tmp_path: Path, method: int):
    """Stored, deflated or zstd, members in any order, or as .json and compressed: the results are the same."""
    members = members_of(SAMPLES)
    packed, _ = read(write_eval(tmp_path / "a.eval", members, method))
    turned, _ = read(write_eval(tmp_path / "b.eval", members[::-1], method))
    plain, _ = read(write_json(tmp_path / "c.json", SAMPLES))
    (tmp_path / "d.json.gz").write_bytes(gzip.compress((tmp_path / "c.json").read_bytes()))
    squeezed, _ = read(tmp_path / "d.json.gz")

    assert len(SAMPLES) == len(packed)
    assert [r.document for r in packed] == [r.document for r in turned]
    assert said(packed) == said(turned) == said(plain) == said(squeezed)
    assert {(r.model, r.run, r.document.task, r.document.version) for r in packed} == {
        ("parrot/grey", "Hd7pzAKfU3nNjDgH", "invented/tales", "2")
    }


def test_a_document_is_known_by_what_it_asks_and_not_by_its_number(tmp_path: Path):
    """The hash is that of input, target and choices; id, place, epoch, metadata and score do not change it."""
    samples = [
        sample(1),
        sample(7, "I", epoch=3, input="Tell the tale of 1.", target=["the end of 1"], metadata={}),
        sample(1, target="another end"),
        sample(1, choices=["the end", "the beginning"]),
        sample(
            1, input=[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Tell the tale of 1."}]
        ),
    ]
    results, _ = read(write_json(tmp_path / "log.json", samples))
    hashes = [r.document.document_hash for r in results]

    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 4
    assert [r.document.document_id for r in results] == ["1", "7", "1", "1", "1"]


def test_a_document_shows_what_was_sent_and_what_is_right(tmp_path: Path):
    """The request ends with the user's last message; target, choices and the sample's own record are kept."""
    long = "What a long tale. " * 20
    samples = [
        sample("a"),
        sample("b", choices=["ebb", "flow"], target=["A", "B"], messages=[]),
        sample("c", input="attachment://0af1", attachments={"0af1": long}, messages=[]),
    ]
    results, _ = read(write_json(tmp_path / "log.json", samples))
    a, b, c = (r.document for r in results)

    assert a.request == "You tell tales.\n\nTell the tale of a."
    assert (a.answer, a.choices, a.record["metadata"]) == ("the end of a", (), {"teller": "old"})
    assert (b.request, b.answer, b.choices) == ("Tell the tale of b.", "A\nB", ("ebb", "flow"))
    assert (c.request, c.record["input"]) == (long, long)


@pytest.mark.parametrize(
    ("value", "metrics"),
    [
        ("C", {"includes": "C"}),
        ("N", {"includes": "N"}),
        (True, {"includes": True}),
        (0.75, {"includes": 0.75}),
        ("0.75", {"includes": "0.75"}),
        ("Yes", {"includes": True}),
        ("false", {"includes": False}),
        ("badly", {"includes": "badly"}),
        (NAN, {"includes": None}),
        (math.inf, {"includes": None}),
        (None, {"includes": None}),
        ({"style": "P", "plot": None}, {"includes/style": "P", "includes/plot": None}),
        ([1, "I"], {"includes/0": 1, "includes/1": "I"}),
        ({"style": [1]}, {"includes/style": "[1]"}),
    ],
)
def test_each_kind_of_score_has_a_name_and_a_value(tmp_path: Path, value: Any, metrics: dict[str, Any]):
    """Scalars are named by their scorer, parts of an object or a list by scorer and part; NaN is no score."""
    results, _ = read(write_eval(tmp_path / "log.eval", members_of([sample("a", value)])))

    assert [r.metrics for r in results] == [metrics]


def test_epochs_and_scorers_are_kept_apart(tmp_path: Path):
    """Each epoch is a result, and each scorer a metric; a log of before there were several has the scorer's name."""
    both = {"includes": {"value": "C"}, "match": {"value": "I"}}
    old = {key: value for key, value in sample("b").items() if key != "scores"} | {"score": {"value": "P"}}
    results, _ = read(
        write_json(tmp_path / "log.json", [sample("a", epoch=1, scores=both), sample("a", epoch=2, scores=both), old])
    )

    assert [(r.document.document_id, r.epoch) for r in results] == [("a", 1), ("a", 2), ("b", 1)]
    assert [r.metrics for r in results] == [{"includes": "C", "match": "I"}] * 2 + [{"includes": "P"}]


def test_samples_that_failed_have_no_score_and_are_counted(tmp_path: Path):
    """An error, an invalidation and a limit are told; the first two leave no score."""
    samples = [
        sample("a", scores=None, error={"message": "the teller fell asleep", "traceback": ""}),
        sample("b", invalidation={"author": "me", "reason": "wrong tale"}),
        sample("c", limit={"type": "token", "limit": 100}),
    ]
    results, notes = read(write_eval(tmp_path / "log.eval", members_of(samples, header() | {"status": "error"})))

    assert [r.metrics for r in results] == [{"includes": None}, {"includes": None}, {"includes": "C"}]
    assert notes.counts == {
        "logs with status error": 1,
        "samples that failed": 1,
        "samples set aside (invalidated)": 1,
        "samples stopped at a limit": 1,
    }
    assert "a epoch 1: the teller fell asleep" in notes.examples["samples that failed"][0]


def test_samples_that_failed_alike_are_one_example(tmp_path: Path):
    """A host that cannot be reached fails all of them, with a long message."""
    error = {"message": "no such host:\n" + "x" * 900, "traceback": ""}
    _, notes = read(write_json(tmp_path / "log.json", [sample(name, error=error) for name in "abc"]))

    assert notes.counts["samples that failed"] == 3
    [example] = notes.examples["samples that failed"]
    assert "sample 0: no such host: xxx" in example
    assert len(example) < 200 + len(str(tmp_path))


def test_a_log_that_is_still_written_gives_what_it_has(tmp_path: Path):
    """Without header.json the journal says what is evaluated; the samples are whole, and the status is told."""
    members = [(name, data) for name, data in members_of(SAMPLES) if name.startswith(("_journal", "samples"))]
    results, notes = read(write_eval(tmp_path / "log.eval", members))

    assert said(results) == said(read(write_json(tmp_path / "log.json", SAMPLES))[0])
    assert notes.counts == {"logs with status started": 1}


def test_of_a_sample_that_was_run_again_the_later_counts(tmp_path: Path):
    """Where a member's name stands twice, Inspect reads the later one, and so do we."""
    members = [*members_of([sample("a", "I")]), *members_of([sample("a", "C")])]
    results, _ = read(write_eval(tmp_path / "log.eval", members))

    assert [r.metrics for r in results] == [{"includes": "C"}]


def test_a_sample_in_pieces_is_put_together(tmp_path: Path):
    """A sample that Inspect keeps as a folder of members has its texts and metadata in others of them."""
    whole = sample("a", input="What a long tale. " * 20, metadata={"teller": "young"})
    shell = {key: whole[key] for key in ("id", "epoch", "target", "scores")} | {"input": "attachment://3"}
    members = [
        *members_of([]),
        ("samples/a_epoch_1/attachments/2.json", encoded(["else", whole["input"]])),
        ("samples/a_epoch_1/metadata.json", encoded(whole["metadata"])),
        ("samples/a_epoch_1/sample.json", encoded(shell)),
        ("samples/a_epoch_1/messages/0.json", encoded(whole["messages"])),
    ]
    pieces, _ = read(write_eval(tmp_path / "pieces.eval", members))
    plain, _ = read(write_json(tmp_path / "plain.json", [whole]))

    assert pieces[0].document.document_hash == plain[0].document.document_hash
    assert pieces[0].document.record | {"choices": None} == plain[0].document.record | {"choices": None}
    assert pieces[0].metrics == plain[0].metrics


@METHODS
def test_a_log_cut_short_anywhere_gives_nothing_but_one_error(tmp_path: Path, method: int):
    """The directory of a zip file is at its end, so that no part of a log passes for the whole."""
    whole = zipped(members_of(SAMPLES), method)
    for share in range(1, 20):
        (tmp_path / "log.eval").write_bytes(whole[: len(whole) * share // 20])
        with pytest.raises(BenchcoreError, match=r"log\.eval: is no whole \.eval log.*Nothing was taken from it"):
            next(read_results(tmp_path / "log.eval", Notes()))


@METHODS
def test_a_damaged_sample_is_an_error(tmp_path: Path, method: int):
    """A byte that changed inside a sample is found by its check sum or its compression."""
    whole = bytearray(zipped(members_of([sample("a")]), method))
    at = whole.index(b"samples/a_epoch_1.json") + 100
    whole[at : at + 8] = bytes(8)
    (tmp_path / "log.eval").write_bytes(bytes(whole))

    with pytest.raises(BenchcoreError, match=r"is no whole \.eval log.*samples/a_epoch_1"):
        read(tmp_path / "log.eval")


def test_names_of_members_are_no_paths(tmp_path: Path):
    """Nothing is written, and no file beside the log is looked at, whatever names and ids say."""
    (tmp_path / "logs").mkdir()
    names = ["../out", "/etc/passwd", "..\\out", "a/b", "x" * 3000, "two\nlines", "C:\\out"]
    log = write_eval(tmp_path / "logs/log.eval", members_of([sample(name) for name in names]))
    before = sorted(tmp_path.rglob("*"))
    results, notes = read(log)

    assert sorted(names) == sorted(r.document.document_id for r in results)
    assert notes.counts == {}
    assert before == sorted(tmp_path.rglob("*"))


def test_a_bomb_is_told_and_not_unpacked(tmp_path: Path):
    """A member that unpacks to more than is read at once is counted; the samples beside it are read."""
    bomb = sample("bomb", output={"text": "0" * 20_000_000})
    (tmp_path / "log.eval").write_bytes(zipped(members_of([sample("a"), bomb]), ZSTANDARD))
    with (tmp_path / "log.eval").open("rb") as stream:
        tracemalloc.start()
        samples = list(inspect_logs.open_log(stream, "log.eval", 100_000).samples or ())
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

    assert [(one.label, one.error) for one in samples] == [
        ("a epoch 1", None),
        ("bomb epoch 1", "larger than 100000 bytes"),
    ]
    assert most < 5_000_000


@METHODS
def test_a_bomb_that_lies_about_its_size_is_not_unpacked_either(tmp_path: Path, method: int):
    """No more is unpacked than the directory claims, and a claim that is wrong is an error."""
    (tmp_path / "log.eval").write_bytes(zipped([("header.json", b"0" * 20_000_000)], method, lie=100))
    with (tmp_path / "log.eval").open("rb") as stream:
        archive = Archive(stream, "log.eval", 100_000_000)
        tracemalloc.start()
        with pytest.raises(BenchcoreError, match="is no whole"):
            archive.read("header.json")
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

    assert most < 5_000_000


def test_samples_that_are_none_are_counted(tmp_path: Path):
    """A member that is no JSON, no object or no sample costs itself alone."""
    members = [
        *members_of([sample("a")]),
        ("samples/b_epoch_1.json", b"{"),
        ("samples/c_epoch_1.json", b"[]"),
        ("samples/d_epoch_1.json", encoded({"id": {}, "input": ""})),
        ("samples/e_epoch_1.json", b"\xff\xfe"),
        ("samples/f_epoch_1.json", b"[" * 100_000),
        ("samples/g_epoch_1.json", encoded(sample("g", target=7))),
        ("samples/h_epoch_1.json", encoded(sample("h", choices=True))),
        ("samples/i_epoch_1.json", encoded(sample("i", scores=[1]))),
        *((f"samples/j_epoch_{epoch}.json", encoded(sample("j", epoch=epoch))) for epoch in (0, 2**40, 10**50)),
    ]
    results, notes = read(write_eval(tmp_path / "log.eval", members))

    assert [r.document.document_id for r in results] == ["a"]
    assert notes.counts == {"unreadable": 11}


def test_numbers_of_any_length_stand_in_names_of_members(tmp_path: Path):
    """Python refuses to read those of more than 4300 digits."""
    long = "9" * 5000
    members = [
        *members_of([sample("a")]),
        (f"samples/b_epoch_{long}.json", encoded(sample("b"))),
        ("samples/c_epoch_1/sample.json", encoded(sample("c"))),
        (f"samples/c_epoch_1/attachments/{long}.json", encoded(["far away"])),
    ]
    results, _ = read(write_eval(tmp_path / "log.eval", members))

    assert [r.document.document_id for r in results] == ["a", "c", "b"]


def test_each_sample_in_pieces_has_its_own_texts(tmp_path: Path):
    """The members of a sample are those of its folder."""
    members = members_of([])
    for number in range(12):
        shell = sample(number, input=f"attachment://{number}", attachments=None)
        members.append((f"samples/{number}_epoch_1/sample.json", encoded(shell)))
        members.append((f"samples/{number}_epoch_1/attachments/{number}.json", encoded([f"Tale {number}."])))

    results, _ = read(write_eval(tmp_path / "log.eval", members))

    assert [r.document.record["input"] for r in results] == [f"Tale {number}." for number in range(12)]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b'{"version": 2}',
        b'{"version": 2, "eval": {"task": "t", "model": null}}',
        b"no json",
        zipped([("a.txt", b"text")], STORED),
    ],
)
def test_what_is_no_log_is_refused_alone_and_counted_in_a_folder(tmp_path: Path, content: bytes):
    """A file that is named must be a log; a folder may hold others beside its logs, in which each is told."""
    (tmp_path / "other.json").write_bytes(content)
    with pytest.raises(UsageError, match="is no log of Inspect"):
        read(tmp_path / "other.json")
    with pytest.raises(UsageError, match="holds no log of Inspect"):
        read(tmp_path)

    (tmp_path / "deep").mkdir()
    write_eval(tmp_path / "deep/b.eval", members_of([sample("b")]))
    write_json(tmp_path / "deep/a.json", [sample("a")])
    results, notes = read(tmp_path)

    assert [r.document.document_id for r in results] == ["a", "b"]
    assert notes.counts == {"files that are no logs of Inspect": 1}


def test_a_large_json_log_is_told_how_to_be_converted(tmp_path: Path):
    """A .json log is parsed whole, up to a bound that the message names with the way around it."""
    file = write_json(tmp_path / "log.json", SAMPLES)
    with file.open("rb") as stream, pytest.raises(BenchcoreError, match=r"larger than 100 bytes.*inspect log convert"):
        inspect_logs.open_log(stream, "log.json", 100)


def test_a_log_without_samples_is_told(tmp_path: Path):
    """An evaluation that was run without logging its samples has nothing to read, and says so."""
    (tmp_path / "log.json").write_bytes(encoded(header()))
    results, notes = read(tmp_path / "log.json")

    assert (results, notes.counts) == ([], {"logs without samples": 1})


def test_real_logs_are_read(shared_data: Path):
    """Logs that Inspect itself wrote, of two tasks and two models, come out sample for sample."""
    results, notes = read(shared_data / "harness_logs/inspect")

    assert [(r.model, r.document.task, r.document.document_id, r.metrics) for r in results] == [
        ("ollama/qwen2.5:0.5b", "inspect_evals/arc_easy", "1", {"choice": "C"}),
        ("ollama/qwen2.5:0.5b", "inspect_evals/arc_easy", "2", {"choice": "I"}),
        ("ollama/qwen2.5:0.5b", "inspect_evals/arc_easy", "3", {"choice": "I"}),
        ("openai/azure/gpt-4o-mini", "inspect_evals/pubmedqa", "12377809", {"choice": "C"}),
        ("openai/azure/gpt-4o-mini", "inspect_evals/pubmedqa", "26163474", {"choice": "C"}),
    ]
    assert [len(r.document.choices) for r in results] == [4, 4, 4, 3, 3]
    assert notes.counts == {}

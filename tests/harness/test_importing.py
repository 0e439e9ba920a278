"""What an import stores, and what it says: nothing is dropped silently, and doing it twice adds nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from deltalake import write_deltalake

from benchcore.errors import BenchcoreError, UsageError
from benchcore.harness.binding import Binder, load_prompts, store_bindings
from benchcore.harness.documents import Document, Result, Scale
from benchcore.harness.entry import Harness
from benchcore.harness.importing import Imported, import_logs
from benchcore.harness.log_reading import ImportOptions
from benchcore.harness.notes import Notes
from benchcore.harness.times import time_of
from benchcore.registry.identity import digest
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import pin, read
from tests.registry.stored import edit, prompt, store, store_coreset


def asked(number: int) -> str:
    return f"Which of the harbours of Ombra is number {number} on the pilot's list?"


ROWS = [prompt("tides", number, prompt=asked(number)) for number in range(4)]


def read_lines(path: Path, notes: Notes) -> Iterator[Result]:
    """The logs of an invented harness: a line is [number, model, run, metrics] and what else a result has."""
    for line in path.read_text().splitlines():
        number, model, run, metrics, *more = json.loads(line)
        extra: Mapping[str, Any] = more[0] if more else {}
        scales = {name: Scale(*bounds) for name, bounds in extra.get("scales", {}).items()}
        record = {"q": extra.get("q", asked(number)), "n": extra.get("n", 0)}
        document = Document("invented", "harbours", str(number), digest(record), record)
        yield Result(
            document,
            model,
            run,
            metrics,
            str(path),
            extra.get("epoch", 1),
            extra.get("filter"),
            scales,
            time=time_of(extra.get("time")),
            model_is_guessed=extra.get("guessed", False),
        )


INVENTED = Harness(title="an invented harness", results=read_lines)


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    registry = Registry.at(tmp_path / "registry")
    store(registry, "prompts", ROWS)
    return registry


@pytest.fixture
def bring(registry: Registry, tmp_path: Path):
    def run(*lines: list[Any], name: str = "log.jsonl", **options: Any) -> Imported:
        file = tmp_path / name
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return import_logs(registry, "invented", INVENTED, [file], ImportOptions(**options))

    return run


def scores(registry: Registry, *columns: str) -> list[tuple[Any, ...]]:
    rows = read(registry, "scores").to_pylist()
    return sorted(tuple(row[column] for column in columns) for row in rows)


def test_rows_have_all_that_the_log_says(registry: Registry, bring):
    """Model, run, metric with its filter, epoch, the version that was measured, the raw score, the file."""
    bring([0, "m", "r", {"em": True}, {"epoch": 2, "filter": "strict", "time": "2026-03-04T05:06:07+02:00"}])

    [row] = read(registry, "scores").to_pylist()
    assert row.pop("source_path").endswith("log.jsonl")
    assert row == {
        "model": "m",
        "prompt_id": ROWS[0]["prompt_id"],
        "run": "r",
        "metric": "em,strict",
        "epoch": 2,
        "content_hash": ROWS[0]["content_hash"],
        "score": 1.0,
        "raw_score": "true",
        "filter": "strict",
        "harness": "invented",
        "measured_at": datetime(2026, 3, 4, 3, 6, 7, tzinfo=UTC),
    }


def test_bindings_are_kept_and_serve_the_next_log(registry: Registry, bring):
    """A document that shows its text once is known from then on."""
    first = bring([0, "m", "r", {"em": 1}], [1, "m", "r", {"em": 0}])
    second = bring([0, "other", "r", {"em": 1}], name="second.jsonl")

    rows = read(registry, "bindings").to_pylist()
    assert (first.bindings, second.bindings) == (2, 0)
    assert {(row["harness"], row["task"], row["document_id"]) for row in rows} == {
        ("invented", "harbours", "0"),
        ("invented", "harbours", "1"),
    }


def test_what_belongs_to_no_prompt_is_counted_with_an_example(registry: Registry, bring):
    """And the rest comes in."""
    imported = bring([0, "m", "r", {"em": 1}], [1, "m", "r", {"em": 1}, {"q": "Who built the pier?"}])

    assert (imported.results, imported.matched, imported.scores) == (2, 1, 1)
    assert imported.notes.counts == {"unmatched": 1}
    assert "Who built the pier?" in imported.notes.examples["unmatched"][0]


def test_a_log_of_which_nothing_matches_fails_in_one_line(registry: Registry, bring):
    """Names the task and an example; no table is touched."""
    before = pin(registry, tuple(SCHEMAS))

    with pytest.raises(BenchcoreError, match=r"task 'harbours'.*Who built the pier.*Another version") as told:
        bring([1, "m", "r", {"em": 1}, {"q": "Who built the pier?"}])

    assert told.value.exit_status == 1
    assert pin(registry, tuple(SCHEMAS)) == before


def test_an_empty_log_fails(bring):
    """It is no success to import nothing."""
    with pytest.raises(BenchcoreError, match="no result"):
        bring()


def test_a_key_twice_in_a_log_counts_as_it_came_last(registry: Registry, bring):
    """Harnesses append to their logs."""
    imported = bring([0, "m", "r", {"em": 0}], [0, "m", "r", {"em": 1}], [1, "m", "r", {"em": 1}])

    assert scores(registry, "score") == [(1.0,), (1.0,)]
    assert imported.notes.counts == {"doubled": 1}


def test_copies_inside_a_benchmark_are_no_doubling(registry: Registry, bring):
    """Two documents with one content are one prompt; that is said apart."""
    imported = bring([0, "m", "r", {"em": 0}], [0, "m", "r", {"em": 1}, {"n": 1}])

    assert scores(registry, "score") == [(1.0,)]
    assert imported.notes.counts == {"of copies": 1}


def test_two_tasks_with_the_same_prompts_are_told(registry: Registry, tmp_path: Path):
    """As one benchmark that a harness runs with two templates in one run: they are no copies."""

    def read_tasks(path: Path, notes: Notes) -> Iterator[Result]:
        for task, score in (("plain", 0.0), ("with thoughts", 1.0)):
            for number in (0, 1):
                document = Document("invented", task, str(number), digest(task, number), {"q": asked(number)})
                yield Result(document, "m", "r", {"em": score}, str(path))

    imported = import_logs(registry, "invented", Harness("two", results=read_tasks), [tmp_path], ImportOptions())

    assert scores(registry, "score") == [(1.0,), (1.0,)]
    assert imported.notes.counts == {"of several tasks": 2}
    assert "'plain' has prompts of task 'with thoughts'" in imported.notes.examples["of several tasks"][0]


def test_an_epoch_that_is_none_is_told(registry: Registry, bring):
    """They are numbered from 1, and a column holds them."""
    epochs = (0, -1, 2**31, 10**30, 2**31 - 1)

    imported = bring(*([0, "m", "r", {"em": 1}, {"epoch": epoch}] for epoch in epochs))

    assert scores(registry, "epoch") == [(2**31 - 1,)]
    assert imported.notes.counts == {"unreadable": 4}


@pytest.mark.parametrize("name", ["first.try.2.jsonl", "first.try.2.jsonl.gz"])
def test_a_run_without_name_has_that_of_its_file(registry: Registry, bring, name: str):
    """All but the last ending and that of its compression: two files of a folder are two runs."""
    bring([0, "m", "", {"em": 1}], name=name)

    assert scores(registry, "run") == [("first.try.2",)]


def test_a_stored_score_is_kept_where_a_log_differs(registry: Registry, bring):
    """And that is said, with an example."""
    bring([0, "m", "r", {"em": 0}])
    imported = bring([0, "m", "r", {"em": 1}], [1, "m", "r", {"em": 1}])

    assert scores(registry, "score") == [(0.0,), (1.0,)]
    assert imported.notes.counts == {"differing": 1}
    assert imported.notes.examples["differing"][0].endswith("1.0 in the log, 0.0 stored")
    assert (imported.scores, imported.present) == (1, 1)


def test_a_mistaken_import_is_replaced(registry: Registry, bring):
    """Rows that differ take the place of stored ones and new ones are added, in one commit; twice changes nothing."""
    bring([0, "m", "r", {"em": 0}], [1, "m", "r", {"em": 1}], [0, "other", "r", {"em": 1}])
    lines = [[0, "m", "r", {"em": 1}], [1, "m", "r", {"em": 1}], [2, "m", "r", {"em": 0}]]
    imported = bring(*lines, replace=True)
    after = pin(registry, tuple(SCHEMAS))
    again = bring(*lines, replace=True)

    assert scores(registry, "model", "score") == [("m", 0.0), ("m", 1.0), ("m", 1.0), ("other", 1.0)]
    assert (imported.scores, imported.present, imported.notes.counts) == (2, 1, {"replaced": 1})
    assert after["scores"] == 1
    assert (again.changed, again.notes.counts, pin(registry, tuple(SCHEMAS))) == (False, {}, after)


def test_a_score_whose_log_has_no_time_has_that_of_its_import(registry: Registry, bring):
    """So that what came in last is the newest."""
    before = datetime.now(UTC)
    bring([0, "m", "r", {"em": 1}])

    [(time,)] = scores(registry, "measured_at")
    assert before <= time <= datetime.now(UTC)


def test_a_table_of_scores_without_times_is_read_and_gets_them(registry: Registry, bring):
    """As it was written before there was such a column."""
    bring([0, "m", "old", {"em": 1}], [1, "m", "old", {"em": 1}])
    older = read(registry, "scores").drop_columns("measured_at")
    write_deltalake(registry.uri("scores"), older, mode="overwrite", schema_mode="overwrite")
    assert scores(registry, "measured_at") == [(None,), (None,)]

    imported = bring([0, "m", "new", {"em": 0}, {"time": "2026-01-01"}])
    bring([0, "m", "old", {"em": 0}, {"time": "2026-01-02"}], replace=True)

    assert imported.notes.examples["several runs"] == ["m: new of 2026-01-01 00:00, old"]
    days = {(run, score): time and time.day for run, score, time in scores(registry, "run", "score", "measured_at")}
    assert days == {("new", 0.0): 1, ("old", 0.0): 2, ("old", 1.0): None}


def test_missing_and_refused_scores_are_counted(registry: Registry, bring):
    """Nothing, NaN; outside of [0, 1] without a scale."""
    imported = bring([0, "m", "r", {"em": None, "f1": float("nan"), "bleu": 37.2, "acc": 1}])

    assert scores(registry, "metric") == [("acc",)]
    assert imported.notes.counts == {"without score": 2, "refused": 1}
    assert "--scale 'bleu=LOW:HIGH'" in imported.notes.examples["refused"][0]


def test_each_metric_that_is_refused_has_an_example(bring):
    """However many times the first one was."""
    lines = [[number, "m", "r", {"bleu": 30 + number, "acc": 1}] for number in range(4)]
    imported = bring(*lines, [0, "m", "r2", {"chrf": 50}])

    assert imported.notes.counts["refused"] == 5
    assert [("bleu" in text, "chrf" in text) for text in imported.notes.examples["refused"]] == [
        (True, False),
        (False, True),
    ]


def test_scales_come_from_the_user_or_the_log(registry: Registry, bring):
    """The user's wins."""
    bring(
        [0, "m", "r", {"rating": 5.5, "wer": 0.25}, {"scales": {"rating": [0, 100], "wer": [0, 1, True]}}],
        scales={"rating": Scale(1, 10)},
    )

    assert scores(registry, "metric", "score", "raw_score") == [("rating", 0.5, "5.5"), ("wer", 0.75, "0.25")]


def test_two_runs_of_a_model_are_kept_apart_and_told(registry: Registry, bring):
    """A run's name is part of the key; the newest comes first."""
    bring([0, "m", "zeal", {"em": 0}, {"time": "2026-01-01T10:20:30Z"}])
    imported = bring([0, "m", "haste", {"em": 1}, {"time": "2026-01-02"}])

    assert scores(registry, "run", "score") == [("haste", 1.0), ("zeal", 0.0)]
    assert imported.notes.examples["several runs"] == ["m: haste of 2026-01-02 00:00, zeal of 2026-01-01 10:20"]


def test_a_log_without_model_needs_one(registry: Registry, bring):
    """--model names it."""
    with pytest.raises(UsageError, match="names no model"):
        bring([0, "", "", {"em": 1}])
    bring([0, "", "", {"em": 1}], model="mine", name="evening.jsonl")

    assert scores(registry, "model", "run") == [("mine", "evening")]


def test_the_user_names_the_model_of_a_log(registry: Registry, bring):
    """Whether its name is a guess or the log's own, which is said; several models are none."""
    guessed = bring([0, "qdpv68r5", "r", {"em": 1}, {"guessed": True}], model="mine")
    named = bring([1, "dummy", "r", {"em": 1}], [2, "mine", "r2", {"em": 1}, {"guessed": True}], model="mine")
    with pytest.raises(UsageError, match=r"2 models \(a, b\), which cannot all be mine"):
        bring([0, "a", "r3", {"em": 1}], [0, "b", "r3", {"em": 1}], model="mine")
    bring([3, "own", "r", {"em": 1}, {"guessed": True}])

    assert scores(registry, "model", "run") == [("mine", "r"), ("mine", "r"), ("mine", "r2"), ("own", "r")]
    assert guessed.notes.counts == {}
    assert named.notes.examples["another name in the log"] == ["mine: named dummy in the log"]


def test_scores_of_an_earlier_version_carry_its_hash(registry: Registry, bring):
    """A prompt was edited after a coreset had pinned it: the log of the pinned version is worth what it was."""
    store_coreset(registry, "abc", ROWS[:2])
    edited = prompt("tides", 0, prompt="Which of the lighthouses of Ombra is the oldest of all?", revision=2)
    edit(registry, "prompts", [edited])

    imported = bring([0, "m", "r", {"em": 1}], [1, "m", "r", {"em": 1}])

    stored = {row["prompt_id"]: row["content_hash"] for row in read(registry, "scores").to_pylist()}
    assert stored == {row["prompt_id"]: row["content_hash"] for row in ROWS[:2]}
    assert imported.notes.counts == {"of another version": 1}
    assert [(row.scored, row.picks) for row in imported.coresets] == [(2, 2)]


def test_each_coreset_says_what_is_still_missing(registry: Registry, bring):
    """Of the models of this import, the newest coreset first; one that they do not touch is not named."""
    store_coreset(registry, "abc", ROWS[:3])
    store_coreset(registry, "def", ROWS[3:], run_id="20260102T000000-000000")

    imported = bring([0, "m", "r", {"em": 1}], [2, "m", "r", {"em": 1}])

    [touched] = imported.coresets
    assert (touched.coreset_id, touched.model, touched.picks, touched.scored) == ("abc", "m", 3, 2)
    assert touched.missing == (f"tides {ROWS[1]['prompt_id']}",)


def test_an_import_that_died_between_two_tables_is_mended_by_the_next(registry: Registry, bring, tmp_path: Path):
    """Bindings were committed, scores were not: the next run ends as if it had been the first."""
    lines = [[number, "m", "r", {"em": 1}] for number in range(4)]
    half = tmp_path / "half.jsonl"
    half.write_text("".join(json.dumps(line) + "\n" for line in lines))
    binder = Binder(load_prompts(registry), "invented")
    for result in read_lines(half, Notes()):
        binder.add(result.document)
    binder.settle()
    store_bindings(registry, binder)

    imported = bring(*lines)

    assert (imported.bindings, imported.scores) == (0, 4)
    assert read(registry, "bindings").num_rows == 4


def test_a_binding_of_a_prompt_that_was_edited_is_replaced(registry: Registry, bring):
    """The document says again what it is; the table has one row for it."""
    bring([0, "m", "r", {"em": 1}])
    moved = prompt("piers", 9, prompt=asked(0))
    edit(registry, "prompts", [prompt("tides", 0, prompt="Which of the lighthouses is oldest?", revision=2), moved])

    imported = bring([0, "other", "r", {"em": 1}])

    rows = read(registry, "bindings").to_pylist()
    assert imported.bindings == 1
    assert [row["prompt_id"] for row in rows] == [moved["prompt_id"]]


def test_names_that_no_table_can_hold_come_out_escaped(registry: Registry, bring):
    """Unpaired surrogates and NUL."""
    bring([0, "m\ud800", "r\0", {"em\udfff": 1}])

    assert scores(registry, "model", "run", "metric") == [("m\\ud800", "r\\x00", "em\\udfff")]


def test_a_path_that_there_is_not_is_told_before_any_is_read(registry: Registry, bring, tmp_path: Path):
    """And nothing is stored."""
    bring([0, "m", "r", {"em": 1}])
    before = pin(registry, tuple(SCHEMAS))

    with pytest.raises(UsageError, match="no such file"):
        import_logs(registry, "invented", INVENTED, [tmp_path / "log.jsonl", tmp_path / "none"], ImportOptions())
    with pytest.raises(UsageError, match="cannot be read"):
        import_logs(registry, "dumb", Harness(title="without logs"), [tmp_path], ImportOptions())

    assert pin(registry, tuple(SCHEMAS)) == before


def test_a_run_is_recorded_only_where_it_changed_something(registry: Registry, bring):
    """With its counts."""
    bring([0, "m", "r", {"em": 1}])
    bring([0, "m", "r", {"em": 1}])

    [run] = read(registry, "runs").to_pylist()
    assert (run["command"], json.loads(run["counts"])) == (
        "import",
        {"import": {"results": 1, "bindings": 1, "scores": 1}},
    )


def test_a_metric_beyond_its_scale_is_taken_as_a_whole_or_not_at_all(registry: Registry, bring):
    """A 1 of 10 is not all right: the scores in [0, 1] of such a metric are refused too, those of others are not."""
    lines = [[number, "m", "r", {"rating": rating, "acc": 1}] for number, rating in enumerate((1, 7, 0.5, 0))]
    imported = bring(*lines)

    assert scores(registry, "metric") == [("acc",)] * 4
    assert imported.notes.counts == {"refused": 1, "on an unknown scale": 3}
    assert "--scale 'rating=LOW:HIGH'" in imported.notes.examples["on an unknown scale"][0]

    bring(*lines, scales={"rating": Scale(0, 10)})
    assert scores(registry, "metric", "score")[4:] == [
        ("rating", 0.0),
        ("rating", 0.05),
        ("rating", 0.1),
        ("rating", 0.7),
    ]


def test_only_the_scores_inside_are_taken_where_the_user_says_so(registry: Registry, bring):
    """As where -1 stands for an error."""
    imported = bring([0, "m", "r", {"em": -1}], [1, "m", "r", {"em": 1}], scales={"em": Scale(0, 1)})

    assert scores(registry, "score") == [(1.0,)]
    assert imported.notes.counts == {"refused": 1}


def test_no_score_at_all_is_an_error(registry: Registry, bring):
    """With what would mend it; nothing is stored."""
    with pytest.raises(BenchcoreError, match=r"no score of its 2 .*2 refused, 0 missing.*--scale 'em=LOW:HIGH'"):
        bring([0, "m", "r", {"em": 88}], [1, "m", "r", {"em": 95}])
    with pytest.raises(BenchcoreError, match=r"1 refused, 1 missing.*remove the sign, and declare --scale"):
        bring([0, "m", "r", {"em": "28.6%"}], [1, "m", "r", {"em": None}])

    assert read(registry, "bindings").num_rows == 0


def test_a_log_of_no_metrics_shows_documents_alone(registry: Registry, bring):
    """As a dump does: they are bound, and that is no error."""
    imported = bring([0, "m", "r", {}])

    assert (imported.bindings, imported.scores) == (1, 0)


def test_one_reason_that_many_have_is_one_example():
    """And a very long one is cut."""
    notes = Notes()
    for number in range(9):
        notes.add("failed", f"log sample {number}: no such host", "no such host")
        notes.add("failed", f"log sample {number}: {number} {'x' * 2000}")

    assert notes.counts == {"failed": 18}
    assert sum("no such host" in example for example in notes.examples["failed"]) == 1
    assert len(notes.examples["failed"]) == 5
    assert max(map(len, notes.examples["failed"])) < 600


def test_options_that_nothing_needs_are_told(bring):
    """A scale of a metric that no log has, a name for runs that have one."""
    imported = bring([0, "m", "r", {"em": 1}], run="mine", scales={"me": Scale(0, 5), "": Scale(0, 1)})

    assert [text.split(":")[0] for text in imported.notes.examples["unused option"]] == ["--run mine", "--scale me=..."]


def test_a_model_of_blanks_is_none(bring):
    """The user is asked for it."""
    with pytest.raises(UsageError, match="names no model"):
        bring([0, " ", "r", {"em": 1}])


def test_a_path_must_be_a_file_or_a_folder(registry: Registry, tmp_path: Path):
    """A pipe would be waited for for ever; a name may be none at all."""
    os.mkfifo(tmp_path / "pipe")

    for name, told in (("pipe", "neither a file nor a folder"), ("no", "no such file"), ("a" * 300, "too long")):
        with pytest.raises(UsageError, match=told):
            import_logs(registry, "invented", INVENTED, [tmp_path / name], ImportOptions())

"""Ingestion from files to tables: what is kept, what a second run does, and what stops a run."""

from __future__ import annotations

import gzip
import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from benchcore.errors import BenchcoreError
from benchcore.ingest.job import IngestOutcome, ingest
from benchcore.registry.identity import content_hash, prompt_id

from .conftest import Corpus, contents


@dataclass(frozen=True)
class Edited:
    """A corpus after an edit, a copy of its registry before it, and what the run said."""

    corpus: Corpus
    before: Path
    outcome: IngestOutcome

    def at(self, root: Path) -> Corpus:
        """The same corpus with another registry."""
        return replace(self.corpus, root=root)


def question(number: int, answer: object = "yes") -> dict[str, object]:
    return {"n": number, "q": f"Is {number} a number?", "a": answer}


def test_formats_duplicates_and_broken_rows_are_all_accounted_for(spark, corpus: Corpus):
    """Every row read is kept, kept as a duplicate, or quarantined; and nothing is done twice."""
    corpus.write("lines.json", [question(1), question(1), "{broken", question(2), {"n": 3, "q": " ", "a": "no"}])
    corpus.source("lines", path="lines.json")
    (corpus.data / "list.json.gz").write_bytes(gzip.compress(json.dumps([question(4), question(5)]).encode()))
    corpus.source("list", path="list.json.gz", format="json-list", licence="MIT")
    (corpus.data / "table.csv").write_text('q,a\n"Two\nlines?",yes\nOne?,no\n', encoding="utf-8")
    corpus.source("table", path="*.csv", format="csv")

    outcome = corpus.ingest("first")

    accounts = [
        tuple(row[f"rows_{kind}"] for kind in ("read", "kept", "duplicate", "quarantined"))
        for row in corpus.rows("sources")
    ]
    assert accounts == [(5, 2, 1, 2), (2, 2, 0, 0), (2, 2, 0, 0)]
    assert outcome.changed
    assert outcome.counts == {
        "rows_read": 9, "rows_kept": 6, "rows_duplicate": 1, "rows_quarantined": 2, "files": 3, "files_read": 3,
        "prompts_added": 7, "prompts_edited": 0, "prompts_updated": 0, "prompts_marked": 0, "prompts_retired": 0,
    }  # fmt: skip
    assert len(outcome.warnings) == 1
    assert "'lines': 2 rows quarantined" in outcome.warnings[0]
    assert [row["source_row"] for row in corpus.rows("quarantine")] == [2, 4]
    assert {row["raw"] for row in corpus.rows("quarantine", source_row=2)} == {"{broken"}
    first, second = corpus.rows("prompts", prompt="Is 1 a number?")
    assert (first["duplicate_of"], second["duplicate_of"]) == (None, first["prompt_id"])
    assert {row["prompt"] for row in corpus.rows("prompts", source="table")} == {"Two\nlines?", "One?"}

    before = corpus.versions()
    again = corpus.ingest("second")
    moved = corpus.data.rename(corpus.data.with_name("moved"))
    corpus.data = moved
    elsewhere = corpus.ingest("third")

    assert (again.changed, elsewhere.changed) == (False, False)
    assert again.warnings == outcome.warnings
    assert again.counts["rows_read"] == 9
    assert corpus.versions() == before


@pytest.fixture(scope="module")
def edited(spark, tmp_path_factory) -> Edited:
    """Two benchmarks; then one of them has an edited prompt, one that is gone, and another broken line."""
    folder = tmp_path_factory.mktemp("edited")
    corpus = Corpus(folder / "data", folder / "registry")
    corpus.source("a", map={"id": "{{ n }}"})
    corpus.source("b")
    corpus.write("a.jsonl", [question(1), question(2), question(3), "broken"])
    corpus.write("b.jsonl", [question(7)])
    corpus.ingest("first")
    before = shutil.copytree(corpus.root, folder / "before")
    corpus.write("a.jsonl", [question(1), question(2, "no"), "still broken"])
    return Edited(corpus, before, corpus.ingest("second"))


def states(corpus: Corpus) -> dict[str, tuple[int, bool]]:
    """Revision of each prompt by its number, and whether it is active."""
    return {row["prompt"].split()[1]: (row["revision"], row["retired_at"] is None) for row in corpus.rows("prompts")}


def test_a_changed_file_changes_only_its_changed_rows(edited: Edited):
    """An edited prompt keeps its id with a new revision, one that is gone retires, the others are not written."""
    counts = edited.outcome.counts
    kinds = ("added", "edited", "updated", "marked", "retired")

    assert [counts[f"prompts_{kind}"] for kind in kinds] == [0, 1, 0, 0, 1]
    assert states(edited.corpus) == {"1": (1, True), "2": (2, True), "3": (1, False), "7": (1, True)}
    assert {row["first_run"] for row in edited.corpus.rows("prompts")} == {"first"}
    assert edited.corpus.rows("prompts", "prompt_id") == edited.at(edited.before).rows("prompts", "prompt_id")
    assert edited.corpus.rows("quarantine", "source_row", "raw") == [{"source_row": 2, "raw": "still broken"}]
    files = [(row["run_id"], row["superseded_by"]) for row in edited.corpus.rows("sources", source="a")]
    assert sorted(files, key=str) == [("first", "second"), ("second", None)]


def test_a_run_killed_between_two_commits_is_finished_by_the_next(edited: Edited, tmp_path: Path):
    """With `prompts` committed and `quarantine` and `sources` not, the next run ends as if there had been no kill."""
    killed = edited.at(shutil.copytree(edited.corpus.root, tmp_path / "killed"))
    for name in ("quarantine", "sources"):
        shutil.rmtree(killed.root / name)
        shutil.copytree(edited.before / name, killed.root / name)
    left_behind = killed.root / "_staging" / "ingest" / "killed" / "read"
    left_behind.mkdir(parents=True)
    version = killed.versions()["prompts"]

    outcome = killed.ingest("third")

    assert (outcome.changed, outcome.counts["prompts_edited"]) == (True, 0)
    assert killed.versions()["prompts"] == version
    assert contents(killed.registry) == contents(edited.corpus.registry)
    assert not left_behind.exists()


def test_prompts_that_were_removed_by_hand_are_read_again(edited: Edited, tmp_path: Path):
    """What `sources` says of a table that is gone is void."""
    bereft = edited.at(shutil.copytree(edited.corpus.root, tmp_path / "bereft"))
    shutil.rmtree(bereft.root / "prompts")

    assert bereft.ingest("third").changed
    assert {number for number, (_, active) in states(bereft).items() if active} == {"1", "2", "7"}


def test_a_file_that_reverts_brings_its_rows_back(edited: Edited, tmp_path: Path):
    """A prompt that comes back is active again; an edit that is undone is one more revision; the file is known."""
    reverted = edited.at(shutil.copytree(edited.corpus.root, tmp_path / "reverted"))
    reverted.data = shutil.copytree(edited.corpus.data, tmp_path / "data")
    reverted.write("a.jsonl", [question(1), question(2), question(3), "broken"])
    reverted.ingest("third")

    assert states(reverted) == {"1": (1, True), "2": (3, True), "3": (1, True), "7": (1, True)}
    files = [(row["run_id"], row["superseded_by"]) for row in reverted.rows("sources", source="a")]
    assert sorted(files, key=str) == [("second", "third"), ("third", None)]


def test_a_source_that_is_no_longer_configured_is_left_alone(edited: Edited):
    """Its prompts stay as they are, and a line says that they do."""
    rest = edited.at(edited.corpus.root)
    rest.specs = {"b": edited.corpus.specs["b"]}
    before = rest.versions()
    outcome = rest.ingest("third")

    assert (outcome.changed, outcome.counts["rows_read"]) == (False, 1)
    assert [line.split(" can ")[0] for line in outcome.warnings] == [
        "not declared here, still in the registry: 'a'; their 2 prompts"
    ]
    assert rest.versions() == before


def test_ids_do_not_depend_on_where_or_in_which_order_rows_stand(spark, corpus: Corpus):
    """Other file names, folders, orders and parts give the same ids, copies included."""
    records = [question(n % 7, n % 3) for n in range(40)]
    corpus.source("a", path="one/*.jsonl")
    corpus.write("one/x.jsonl", records[:25])
    corpus.write("one/y.jsonl", records[25:])
    corpus.ingest()
    other = Corpus(corpus.data, corpus.root.with_name("other"))
    other.limits = other.limits.model_copy(update={"split_bytes": 1024})
    other.source("renamed", benchmark="a", path="two/**/*.jsonl")
    corpus.write("two/deeper/b.jsonl", reversed(records))
    other.ingest()

    said = ("prompt_id", "prompt", "answer", "content_hash", "duplicate_of", "revision")
    assert len(corpus.rows("prompts")) == 40
    assert corpus.rows("prompts", *said) == other.rows("prompts", *said)
    row = corpus.rows("prompts", duplicate_of=None)[0]
    hashed = content_hash(row["prompt"], row["answer"], None)
    assert row["prompt_id"] in {prompt_id("a", f"content:{hashed}", n) for n in range(40)}


def test_copies_across_benchmarks_are_marked_when_the_other_benchmark_arrives(spark, corpus: Corpus):
    """Where two benchmarks show the same thing the larger id points to the smaller, whichever came first."""
    corpus.source("a")
    corpus.write("a.jsonl", [question(n) for n in range(8)])
    corpus.ingest("first")
    corpus.source("b")
    corpus.write("b.jsonl", [{"q": f"Is {n}  a\nnumber? ", "a": "of course"} for n in range(8)])
    outcome = corpus.ingest("second")

    rows = {row["prompt_id"]: row for row in corpus.rows("prompts")}
    marked = [row for row in rows.values() if row["duplicate_of"]]
    assert len(marked) == 8
    for row in marked:
        other = rows[row["duplicate_of"]]
        assert other["prompt_id"] < row["prompt_id"]
        assert other["benchmark"] != row["benchmark"]
        assert other["prompt"].split() == row["prompt"].split()
    assert outcome.counts["rows_duplicate"] == 0
    assert outcome.counts["prompts_marked"] == sum(row["benchmark"] == "a" for row in marked)
    assert {row["revision"] for row in rows.values()} == {1}

    corpus.specs["b"] = corpus.specs["b"].model_copy(update={"benchmark": "c"})
    renamed = corpus.ingest("third")  # the rows of a benchmark's old name retire, and nothing points to them

    assert renamed.counts["prompts_retired"] == 8
    active = {row["prompt_id"] for row in corpus.rows("prompts", retired_at=None)}
    assert len(active) == 16
    pointing = [row["duplicate_of"] for row in corpus.rows("prompts", retired_at=None) if row["duplicate_of"]]
    assert len(pointing) == 8
    assert set(pointing) <= active


def test_a_mistake_stops_the_run_with_one_line_and_changes_nothing(spark, corpus: Corpus):
    """Colliding ids, a missing field, no record, no encoding: each names the source and the remedy."""
    corpus.source("good")
    corpus.write("good.jsonl", [question(1)])
    corpus.ingest("first")
    before = corpus.versions()

    def failure(name: str, **declared: object) -> str:
        corpus.source(name, **declared)
        with pytest.raises(BenchcoreError) as raised:
            corpus.ingest(name)
        del corpus.specs[name]
        assert "\n" not in str(raised.value)
        return str(raised.value)

    for language in ("et", "it", "zh"):
        rows = [{"n": n, "lang": language, "q": f"{language}{n}?", "a": "yes"} for n in range(4)]
        corpus.write(f"many/test.{language}.jsonl", rows)
    collision = failure("many", path="many/*.jsonl", map={"id": "{{ n }}"})
    assert "'{{ n }}' gives 4 ids to 12 rows that differ, e.g. '0'" in collision
    assert "'many'" in collision
    assert '"{{ lang }}/{{ n }}"' in collision

    corpus.write("typo.jsonl", [{"question": "Why?", "a": "yes"}])
    typo = failure("typo", map={"prompt": "{{ questoin }}"})
    assert "none of 1 records became a prompt" in typo
    assert "question" in typo

    corpus.write("blank.jsonl", ["", " "])
    assert "holds no record" in failure("blank")

    (corpus.data / "latin.jsonl").write_bytes('{"q": "Où?", "a": "là"}\n'.encode("latin-1"))
    assert "utf-8" in failure("latin")

    (corpus.data / "open.csv").write_bytes(b'q,a\n1?,yes\n"2?,yes\n3?,yes\n')
    assert "never closed" in failure("open", path="open.csv", format="csv")

    (corpus.data / "list.json").write_text(json.dumps([question(1)] * 100), encoding="utf-8")
    corpus.limits = corpus.limits.model_copy(update={"max_document_bytes": 1000})
    assert "list.json" in failure("list", path="list.json", format="json-list")
    assert corpus.versions() == before


def test_mistakes_that_need_no_engine_to_be_found(corpus: Corpus):
    """Without Spark: a pattern that matches nothing, an empty file, a wrong template, an unknown encoding."""
    corpus.source("a")
    with pytest.raises(BenchcoreError, match=r"no file matches the pattern 'a.jsonl' of source 'a'.*"):
        corpus.ingest()
    corpus.write("a.jsonl", [])
    with pytest.raises(BenchcoreError, match="is empty"):
        corpus.ingest()
    corpus.write("a.jsonl", [question(1)])
    corpus.source("a", map={"prompt": "{{ q "})
    with pytest.raises(BenchcoreError, match="'a'"):
        corpus.ingest()
    corpus.source("a", encoding="utf-88")
    with pytest.raises(BenchcoreError, match="no encoding 'utf-88'"):
        corpus.ingest()
    assert corpus.versions() == {}


def test_no_sources_is_nothing_to_do(corpus: Corpus):
    """An empty list of sources reads nothing and writes nothing."""
    outcome = ingest(corpus.config, [], corpus.registry, "run")

    assert (outcome.changed, outcome.counts["files"]) == (False, 0)

"""Spark goes on with the tables that a purge has written."""

from __future__ import annotations

from benchcore.registry.checks.everything import check
from benchcore.registry.checks.snapshot import Snapshot
from benchcore.registry.purge.found import find
from benchcore.registry.purge.removal import purge
from benchcore.registry.purge.target import Target
from tests.ingest.conftest import Corpus


def test_ingestion_goes_on_and_reads_again_only_what_has_changed(spark, corpus: Corpus):
    """A purged prompt stays away as long as its benchmark's files stay as they are."""
    corpus.source("one")
    corpus.source("two")
    corpus.write("one.jsonl", [{"q": "What goes?", "a": 1}, {"q": "What stays?", "a": 2}, {"q": "What goes?", "a": 1}])
    corpus.write("two.jsonl", [{"q": "And here?", "a": 3}])
    corpus.ingest("first")
    gone = [row["prompt_id"] for row in corpus.rows("prompts", prompt="What goes?")]
    found = find(corpus.registry, Target(tuple(gone)), lambda rows: set())
    purge(corpus.registry, found, "purge")
    assert corpus.rows("sources", "rows_read", "rows_kept", "rows_duplicate", "rows_quarantined", source="one") == [
        {"rows_read": 3, "rows_kept": 1, "rows_duplicate": 0, "rows_quarantined": 2}
    ]

    corpus.write("two.jsonl", [{"q": "And here?", "a": 3}, {"q": "And there?", "a": 4}])
    corpus.ingest("second")

    assert [row["prompt"] for row in corpus.rows("prompts", "prompt", benchmark="one")] == ["What stays?"]
    assert check(Snapshot.of(corpus.registry)) == []

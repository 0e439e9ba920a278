"""Which fields are offered where declared ids collide."""

from __future__ import annotations

from typing import Any

import pytest

from benchcore.ingest.files import find_files
from benchcore.ingest.separation import separating_fields

from .conftest import Corpus


def fields_for(corpus: Corpus, rows: list[dict[str, Any]]) -> list[str]:
    files = {(file.source, file.path): file for file in find_files(corpus.config, list(corpus.specs.values()))}
    return separating_fields(rows, corpus.specs, files, 1_000_000)


def row(path: str, number: int, identity: str, content: str, **mapped: str) -> dict[str, Any]:
    absent = dict.fromkeys(("language", "task", "split"))
    return {
        "source": "s", "path": path, "source_row": number, "identity": identity, "content_hash": content,
    } | absent | mapped  # fmt: skip


@pytest.fixture
def rows(corpus: Corpus) -> list[dict[str, Any]]:
    """Two files of two records each, whose ids collide across files."""
    for level in ("easy", "hard"):
        corpus.write(f"{level}.jsonl", [{"n": n, "level": level, "q": f"{level} {n}" * 20, "a": "x"} for n in (0, 1)])
    corpus.source("s", path="*.jsonl", map={"id": "{{ n }}"})
    return [row(f"{level}.jsonl", n, str(n), f"{level}{n}") for level in ("easy", "hard") for n in (0, 1)]


def test_the_shortest_field_that_separates_is_offered_and_no_text(corpus: Corpus, rows):
    """The prompt differs too, but a text of 100 characters is no part of an id."""
    assert fields_for(corpus, rows) == ["level"]


def test_what_the_mapping_calls_language_comes_before_the_record_s_own_fields(corpus: Corpus, rows):
    """An id template may use the mapped language by this name."""
    mapped = [each | {"language": each["path"][:2]} for each in rows]

    assert fields_for(corpus, mapped) == ["language"]


def test_the_file_is_offered_where_no_field_separates(corpus: Corpus, rows):
    """As path.name, which templates know."""
    corpus.write("easy.jsonl", [{"n": n, "q": f"easy {n}" * 20, "a": "x"} for n in (0, 1)])
    corpus.write("hard.jsonl", [{"n": n, "q": f"hard {n}" * 20, "a": "x"} for n in (0, 1)])

    assert fields_for(corpus, rows) == ["path.name"]


def test_two_fields_are_offered_where_one_is_not_enough(corpus: Corpus):
    """Neither level nor part separates alone."""
    records = [{"n": 0, "level": level, "part": part, "q": "?", "a": "x"} for level in "ab" for part in "cd"]
    corpus.write("s.jsonl", records)
    corpus.source("s", map={"id": "{{ n }}"})

    assert fields_for(corpus, [row("s.jsonl", n, "0", str(n)) for n in range(4)]) == ["level", "part"]


def test_nothing_is_offered_where_nothing_separates(corpus: Corpus):
    """Rows of one file that agree in all short fields."""
    corpus.write("s.jsonl", [{"n": 0, "q": f"{n}" * 99, "a": "x"} for n in range(2)])
    corpus.source("s", map={"id": "{{ n }}"})

    assert fields_for(corpus, [row("s.jsonl", n, "0", str(n)) for n in range(2)]) == []

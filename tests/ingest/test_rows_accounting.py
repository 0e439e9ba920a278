"""Laws of ids, copies and accounts, on random corpora that one Spark run reads together."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from typing import Any

import pytest

from benchcore.registry.identity import content_hash, prompt_id

from .conftest import Corpus

CASES = 24
BROKEN = ("{", "nonsense", '{"q": 1', '{"a": "no question"}', '{"q": "  ", "a": "x"}')


def lines_of(chance: random.Random) -> list[str]:
    """A file's lines: questions that often repeat, broken records, blank lines; at least one question."""
    lines = [json.dumps({"n": 0, "q": "one", "a": "1"})]
    for _ in range(chance.randrange(40)):
        kind = chance.random()
        record = {"n": chance.randrange(9), "q": chance.choice(["one", "two", "thr\u2028ee"]), "a": chance.choice("12")}
        if kind < 0.7:
            lines.append(json.dumps(record, ensure_ascii=chance.random() < 0.5))
        else:
            lines.append(chance.choice(BROKEN) if kind < 0.9 else "")
    chance.shuffle(lines)
    return lines


@pytest.fixture(scope="module")
def ingested(spark, tmp_path_factory) -> tuple[Corpus, dict[tuple[str, str], list[str]]]:
    """Many small random benchmarks of one to three files each, read in parts of 1 KB, in one run."""
    folder = tmp_path_factory.mktemp("accounting")
    corpus = Corpus(folder / "data", folder / "registry")
    corpus.limits = corpus.limits.model_copy(update={"split_bytes": 1024})
    files = {}
    for case in range(CASES):
        chance = random.Random(case)
        name = f"case{case:02}"
        corpus.source(name, path=f"{name}/*.jsonl", map={"id": "{{ q }}/{{ a }}"} if case % 3 == 0 else {})
        for number in range(chance.randrange(1, 4)):
            lines = lines_of(chance)
            path = f"{name}/{number}.jsonl"
            corpus.write(path, lines)
            files[name, path] = lines
    corpus.ingest("once")
    return corpus, files


def prompts_of(lines: list[str]) -> list[dict[str, Any]]:
    """What a naive reader takes from the lines."""
    records = []
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if record.get("q", "").strip() and "a" in record:
            records.append(record)
    return records


def test_every_row_of_every_file_is_in_one_place(ingested):
    """rows_read is the lines that are not blank; prompts and quarantine hold them all, none twice."""
    corpus, files = ingested
    stored = {(row["source"], row["path"]): row for row in corpus.rows("sources")}
    places = Counter((row["source"], row["path"]) for row in corpus.rows("prompts") + corpus.rows("quarantine"))
    numbers = Counter((row["path"], row["source_row"]) for row in corpus.rows("prompts") + corpus.rows("quarantine"))

    assert stored.keys() == files.keys()
    assert set(numbers.values()) == {1}
    for place, lines in files.items():
        row, good = stored[place], len(prompts_of(lines))
        assert row["rows_read"] == sum(bool(line) for line in lines) == places[place]
        assert row["rows_kept"] + row["rows_duplicate"] == good
        assert row["rows_quarantined"] == row["rows_read"] - good
        assert {number for path, number in numbers if path == place[1]} == {n for n, line in enumerate(lines) if line}


def test_ids_are_those_of_a_naive_count(ingested):
    """A benchmark's ids are its identities, each with the numbers 0 to its count - 1, whatever file they stand in."""
    corpus, files = ingested
    expected: dict[str, set[str]] = defaultdict(set)
    for name, spec in corpus.specs.items():
        records = [record for (source, _), lines in files.items() if source == name for record in prompts_of(lines)]
        declared = spec.map.id is not None
        identities = Counter(
            f"id:{record['q']}/{record['a']}" if declared else f"content:{content_hash(record['q'], record['a'], None)}"
            for record in records
        )
        expected[name] = {prompt_id(name, key, n) for key, count in identities.items() for n in range(count)}

    found: dict[str, set[str]] = defaultdict(set)
    for row in corpus.rows("prompts"):
        found[row["benchmark"]].add(row["prompt_id"])
    assert found == expected


def test_one_copy_of_each_content_stands_for_all(ingested):
    """Inside a benchmark every content has one row that repeats none of its own benchmark: the smallest id."""
    corpus, _ = ingested
    rows = {row["prompt_id"]: row for row in corpus.rows("prompts")}
    copies: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows.values():
        copies[row["benchmark"], row["content_hash"]].append(row["prompt_id"])
    for (benchmark, _), ids in copies.items():
        first = min(ids)
        assert all(rows[other]["duplicate_of"] == first for other in ids if other != first)
        elsewhere = rows[first]["duplicate_of"]
        assert elsewhere is None or (elsewhere < first and rows[elsewhere]["benchmark"] != benchmark)
    kept = sum(row["rows_kept"] for row in corpus.rows("sources"))
    assert kept == len(copies)

"""Finding and hashing the files of sources."""

from __future__ import annotations

import hashlib

import pytest

from benchcore.config import SourceSpec
from benchcore.errors import BenchcoreError, UsageError
from benchcore.ingest.files import SourceFile, find_files

from .conftest import Corpus


def found(corpus: Corpus) -> list[SourceFile]:
    return find_files(corpus.config, list(corpus.specs.values()))


def test_patterns_are_relative_to_the_data_folder_and_files_are_sorted(corpus: Corpus):
    """Stars, double stars, several patterns and exclusions give each file once, with a relative path."""
    for path in ("a/1.jsonl", "a/2.jsonl", "a/b/3.jsonl", "a/skip.jsonl", "other.jsonl"):
        corpus.write(path, [{"q": path, "a": "x"}])
    corpus.source("s", path=["a/**/*.jsonl", "other.jsonl", "a/1.jsonl"], exclude=["a/skip*"])

    assert [file.path for file in found(corpus)] == ["a/1.jsonl", "a/2.jsonl", "a/b/3.jsonl", "other.jsonl"]


def test_a_moved_data_folder_changes_nothing_but_addresses(corpus: Corpus, monkeypatch):
    """Paths, digests and benchmarks stay; so they do when the pattern is absolute or names ${DATA}."""
    corpus.write("one.x.jsonl", [{"q": "?", "a": "x"}])
    corpus.source("s", path="*.jsonl", benchmark="{{ path.name.split('.')[0] }}")
    before = found(corpus)
    corpus.data = corpus.data.rename(corpus.data.with_name("elsewhere"))
    monkeypatch.setenv("PLACE", str(corpus.data))

    for pattern in ("*.jsonl", "${DATA}/*.jsonl", "${PLACE}/*.jsonl", f"{corpus.data}/*.jsonl"):
        corpus.source("s", path=pattern, benchmark="{{ path.name.split('.')[0] }}")
        after = found(corpus)
        assert [(f.path, f.content_sha256, f.mapping_sha256, f.benchmark) for f in after] == [
            (f.path, f.content_sha256, f.mapping_sha256, f.benchmark) for f in before
        ]
        assert after[0].uri == str(corpus.data / "one.x.jsonl")
    assert before[0].benchmark == "one"


def test_files_outside_the_data_folder_are_named_from_the_fixed_part_of_their_pattern(corpus: Corpus):
    """Two folders that give the same names are refused: their rows could not be told apart."""
    left, right = corpus.data.with_name("left"), corpus.data.with_name("right")
    for folder in (left, right):
        corpus.write(f"{folder}/x/1.jsonl", [{"q": str(folder), "a": "x"}])
    corpus.source("s", path=f"{left}/*/1.jsonl")
    assert [file.path for file in found(corpus)] == ["x/1.jsonl"]
    corpus.source("s", path=[f"{left}/*/1.jsonl", f"{right}/*/1.jsonl"])

    with pytest.raises(UsageError, match=r"same relative path .x/1\.jsonl."):
        found(corpus)


def test_one_pass_gives_the_digest_the_size_and_the_parts(corpus: Corpus):
    """The parts cover the file, begin at line starts and count the lines before them."""
    file = corpus.write("s.jsonl", ({"n": n, "q": "?" * (n % 90), "a": "x"} for n in range(900)))
    corpus.source("s")
    corpus.limits = corpus.limits.model_copy(update={"split_bytes": 1024})
    (got,) = found(corpus)

    content = file.read_bytes()
    assert (got.bytes, got.content_sha256) == (len(content), hashlib.sha256(content).hexdigest())
    assert len(got.splits) > 10
    position = 0
    for start, length, first_row in got.splits:
        assert start == position
        assert first_row == content[:start].count(b"\n")
        assert start == 0 or content[start - 1 : start] == b"\n"
        position += length or 0
    assert position == len(content)


def test_an_unset_variable_and_an_unknown_scheme_are_named(corpus: Corpus, monkeypatch):
    """Patterns that cannot be resolved say which part is wrong."""
    monkeypatch.delenv("NOWHERE", raising=False)
    corpus.source("s", path="${NOWHERE}/*.jsonl")
    with pytest.raises(UsageError, match="NOWHERE is not set"):
        found(corpus)
    corpus.source("s", path="gopher://host/*.jsonl")
    with pytest.raises(UsageError, match="gopher://"):
        found(corpus)


def test_a_missing_data_folder_is_named(corpus: Corpus):
    """When nothing matches because the data folder is not there, the error says so."""
    corpus.source("s")
    corpus.data = corpus.data / "missing"

    with pytest.raises(BenchcoreError, match=r"there is no such data folder. Mend sources"):
        found(corpus)


def test_a_digest_follows_the_mapping_and_not_where_files_lie():
    """What changes rows changes the digest; name, pattern, licence and revision do not."""
    from benchcore.ingest.mapping import mapping_digest

    given = {"name": "s", "benchmark": "b", "path": "x", "format": "csv", "map": {"prompt": "{{ q }}"}}
    base = mapping_digest(SourceSpec.model_validate(given))

    for same in ({"path": "y"}, {"licence": "MIT"}, {"revision": "2"}, {"name": "t"}):
        assert mapping_digest(SourceSpec.model_validate(given | same)) == base
    for other in ({"benchmark": "c"}, {"format": "tsv"}, {"encoding": "latin-1"}, {"map": {"prompt": "{{ p }}"}}):
        assert mapping_digest(SourceSpec.model_validate(given | other)) != base

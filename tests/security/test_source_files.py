"""A hostile source file: what it holds stays data, and what it asks for has bounds."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from benchcore import template_sandbox
from benchcore.config import SourceSpec
from benchcore.errors import BenchcoreError
from benchcore.harness.binding.texts import normalised
from benchcore.ingest.canonical import Canonical, Rejection
from benchcore.ingest.files import find_files
from benchcore.ingest.mapping import compile_mapping
from benchcore.ingest.readers import ReadUnit
from benchcore.ingest.rows import rows_of
from benchcore.methods.text_features import surface
from tests.ingest.conftest import Corpus
from tests.ingest.reading import records_of

SECRET = "the machine's own secret"
HOSTILE = (
    "x' or '1'='1",
    "'; drop table prompts; --",
    "../../escape",
    "{{ 7 * 7 }} {% include '/etc/passwd' %}",
    "$(touch escape) `touch escape`",
    '"><script>alert(1)</script>',
    "=HYPERLINK(1)\x1b]0;title\x07\u202e",
)


def outcomes_of(record: Any, map: dict[str, Any]) -> list[Canonical | Rejection]:
    spec = SourceSpec.model_validate(
        {"name": "s", "benchmark": "b", "path": "*", "format": "json-lines", "map": {"prompt": "{{ q }}"} | map}
    )
    return compile_mapping(spec).map(record, Path("a.jsonl"))


def seconds_of(call: Callable[[], object]) -> float:
    """Of this process's own work, whatever else the machine does."""
    started = time.process_time()
    call()
    return time.process_time() - started


@pytest.mark.parametrize("link", ["file", "folder", "named"])
def test_a_link_out_of_the_data_folder_is_refused(corpus: Corpus, link: str):
    """Else a downloaded data set could have any file of the machine put into the registry."""
    outside = corpus.data.parent / "outside"
    outside.mkdir()
    (outside / "secret.jsonl").write_text(json.dumps({"q": SECRET, "a": "x"}))
    path = {"file": "*.jsonl", "named": "secret.jsonl", "folder": "deep/*.jsonl"}[link]
    where = corpus.data / ("deep" if link == "folder" else "secret.jsonl")
    where.symlink_to(outside if link == "folder" else outside / "secret.jsonl")
    corpus.source("sea", path=path)

    with pytest.raises(BenchcoreError, match="leads out of") as raised:
        find_files(corpus.config, list(corpus.specs.values()))

    assert SECRET not in str(raised.value)


def test_a_link_inside_the_data_folder_is_a_file_as_any(corpus: Corpus):
    """It is read with the size of what it stands for, and never passed over without a word."""
    file = corpus.write("sub/real.jsonl", [{"q": "deep?", "a": "yes"}])
    (corpus.data / "sea.jsonl").symlink_to("sub/real.jsonl")
    corpus.source("sea")

    (found,) = find_files(corpus.config, list(corpus.specs.values()))

    assert (found.path, found.bytes) == ("sea.jsonl", file.stat().st_size)


@pytest.mark.parametrize("kind", ["pipe", "device", "nothing"])
def test_what_is_no_file_is_refused_rather_than_waited_for(corpus: Corpus, kind: str):
    """A pipe would keep a job waiting for ever, a device has no end, and a link to nothing is no file."""
    if kind == "pipe":
        os.mkfifo(corpus.data / "sea.jsonl")
    else:
        (corpus.data / "sea.jsonl").symlink_to("/dev/zero" if kind == "device" else "gone")
    corpus.source("sea", path="*.jsonl")

    with pytest.raises(BenchcoreError, match=r"leads out of|neither a file|link to nothing"):
        find_files(corpus.config, list(corpus.specs.values()))


def test_a_small_file_that_expands_without_end_is_stopped(tmp_path: Path):
    """Ten kilobytes of zstd can hold terabytes."""
    bomb = zstandard.ZstdCompressor().compress(bytes(400 * 1024**2))
    assert len(bomb) < 40_000

    with pytest.raises(BenchcoreError, match="expands to more than 1,000 times its size"):
        records_of(tmp_path / "a.jsonl.zst", bomb, "json-lines", max_document_bytes=1000)


@pytest.mark.parametrize(("format", "encoding"), [("csv", "utf-8"), ("tsv", "utf-8"), ("csv", "utf-16")])
def test_a_line_without_end_is_never_read_as_a_whole(tmp_path: Path, format: str, encoding: str):
    """The reader stops at the limit, however much follows."""
    bomb = zstandard.ZstdCompressor().compress(("q,a\n" + "x" * 5_000_000).encode(encoding))

    with pytest.raises(BenchcoreError, match="a line is longer than 1000"):
        records_of(tmp_path / "a.zst", bomb, format, max_document_bytes=1000, encoding=encoding)


def test_deep_nesting_costs_its_own_record_only(tmp_path: Path):
    """Neither parsing nor any later writer of the record's metadata is brought down by it."""
    file = tmp_path / "a.jsonl"
    deep = [f'{{"q": "x", "m": {"[" * levels}{"]" * levels}}}\n' for levels in (100_000, 300)]
    file.write_text("".join(deep) + '{"q": "x", "m": [1]}\n')
    spec = SourceSpec.model_validate(
        {
            "name": "s", "benchmark": "b", "path": "*", "format": "json-lines",
            "map": {"prompt": "{{ q }}", "metadata": {"m": "{{ m }}"}},
        }
    )  # fmt: skip

    first, second, third = rows_of(ReadUnit.of(spec, str(file), "a.jsonl", 10**6), compile_mapping(spec))

    assert "nested too deeply" in first.outcome.reason
    assert "nested more than 100 levels deep" in second.outcome.reason
    assert third.outcome.metadata == '{"m": [1]}'


@pytest.mark.parametrize(
    "text", ["\n" * 300_000, " " * 300_000, "\n A" * 100_000], ids=["line feeds", "blanks", "options"]
)
def test_no_text_makes_its_features_slow(text: str):
    """Whatever stands in a prompt, the time goes by its length and not by the square of it (200 s for the first)."""
    assert seconds_of(lambda: surface([f"What follows?{text}."])) < 5


@pytest.mark.parametrize(
    "text", ["a" + "\u0301\u0316" * 150_000, ("a" + "\u0316\u0301" * 400 + " ") * 300], ids=["one", "many"]
)
def test_no_heap_of_accents_makes_comparing_slow(text: str):
    """Putting combining marks in order takes the square of their number, a minute for the first."""
    assert seconds_of(lambda: normalised(text)) < 5


def test_a_search_that_a_record_makes_endless_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A pattern that is harmless on all other records; the run stops and names the row."""
    monkeypatch.setattr(template_sandbox, "SECONDS", 0.2)
    file = tmp_path / "a.jsonl"
    file.write_text('{"q": "aab"}\n' + json.dumps({"q": "a" * 60}) + "\n")
    spec = SourceSpec.model_validate(
        {
            "name": "s", "benchmark": "b", "path": "*", "format": "json-lines",
            "map": {"prompt": "{{ q | regex_search('^(a+)+b') }}"},
        }
    )  # fmt: skip
    unit = ReadUnit.of(spec, str(file), "a.jsonl", 10**6)

    with pytest.raises(BenchcoreError, match=r"a\.jsonl row 1: templates take more than 0\.2 s of processor time"):
        list(rows_of(unit, compile_mapping(spec)))


@pytest.mark.parametrize("template", ["{{ q * n }}", "{{ q.ljust(n) }}", "{{ q | center(n) }}", "{{ q.zfill(n) }}"])
def test_a_number_of_a_record_asks_for_no_gigabytes(template: str):
    """A template that repeats or pads by what a record says."""
    (found,) = outcomes_of({"q": "Q", "n": 10**12}, {"prompt": template})

    assert isinstance(found, Rejection)
    assert "would give a value" in found.reason


@pytest.mark.usefixtures("spark")
def test_hostile_names_and_prompts_are_data_in_every_statement(corpus: Corpus):
    """As names of benchmarks, files and ids and as prompts they come back as they were, and do nothing on the way."""
    for number, text in enumerate(HOSTILE):
        file = corpus.data / f"{number} it's {text.replace('/', '').replace(chr(27), '')[:30]}.jsonl"
        file.write_text(json.dumps({"q": text, "a": text, "n": text}) + "\n", encoding="utf-8")
        corpus.source(f"s{number}", benchmark=text.replace("{", "("), path=f"{number} *.jsonl", map={"id": "{{ n }}"})
    before = {file for file in corpus.data.parent.rglob("*") if not file.is_relative_to(corpus.root)}

    first = corpus.ingest("one")
    corpus.source("s0", benchmark=HOSTILE[0], path="0 *.jsonl", map={"id": "{{ n }}", "category": "{{ q }}"})
    corpus.ingest("two")

    assert first.counts["rows_kept"] == len(HOSTILE)
    rows = corpus.rows("prompts")
    assert sorted(row["prompt"] for row in rows) == sorted(row["record_id"] for row in rows) == sorted(HOSTILE)
    assert {row["benchmark"] for row in rows} == {text.replace("{", "(") for text in HOSTILE}
    assert [row["revision"] for row in rows] == [1] * len(HOSTILE)
    assert {file for file in corpus.data.parent.rglob("*") if not file.is_relative_to(corpus.root)} == before

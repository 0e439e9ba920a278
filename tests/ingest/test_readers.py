"""Formats as they are in the wild: every record comes out once, and what is broken says so."""

from __future__ import annotations

import gzip
import json
import pickle
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from benchcore.config import SourceSpec
from benchcore.errors import BenchcoreError, UsageError
from benchcore.ingest.readers import RawRecord, ReadUnit, line_splits, read_records, splittable
from benchcore.registry.identity import text_hash
from tests.ingest.reading import records_of, values_of

TEXT = st.text(st.characters(codec="utf-8") | st.sampled_from("\u2028\u0085\r\n\"\\'\x00"))
VALUE = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True, allow_infinity=True) | TEXT
RECORDS = st.lists(st.dictionaries(TEXT, VALUE | st.lists(VALUE, max_size=3), max_size=4), max_size=12)


def without_nan(value: Any) -> Any:
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    if isinstance(value, dict):
        return {key: without_nan(inner) for key, inner in value.items()}
    return [without_nan(inner) for inner in value] if isinstance(value, list) else value


# JSON lines


@given(records=RECORDS, escape=st.booleans(), end=st.sampled_from(["\n", "\r\n"]), split_bytes=st.integers(1, 200))
@settings(max_examples=200, deadline=None)
def test_json_lines_come_back_row_for_row_whatever_the_splits(
    tmp_path_factory: pytest.TempPathFactory,
    records: list[dict[str, Any]],
    escape: bool,
    end: str,
    split_bytes: int,
):
    """Any texts, line separators and NaN included, are read as they were written, with their line numbers."""
    content = end.join(json.dumps(record, ensure_ascii=escape) for record in records).encode()
    file = tmp_path_factory.getbasetemp() / "any.jsonl"
    file.write_bytes(content)
    unit = ReadUnit(str(file), "any.jsonl", "json-lines")

    parts = line_splits([content], split_bytes)
    read = [
        record
        for start, length, first_row in parts
        for record in read_records(replace(unit, start=start, length=length, first_row=first_row))
    ]

    assert list(read_records(unit)) == read
    assert [(row, without_nan(record)) for row, record in enumerate(records)] == [(r.row, r.value) for r in read]


@given(
    content=st.binary(max_size=300) | st.text("ab\n").map(str.encode), size=st.integers(1, 50), chunk=st.integers(1, 9)
)
@settings(deadline=None)
def test_splits_cover_the_file_at_line_ends_whatever_the_chunks(content: bytes, size: int, chunk: int):
    """Parts follow each other without gaps, end at line ends, and count the lines before them."""
    parts = line_splits((content[at : at + chunk] for at in range(0, len(content), chunk)), size)

    assert content == b"".join(content[start : start + length] for start, length, _ in parts)
    assert all(start == 0 or content[start - 1 : start] == b"\n" for start, _, _ in parts)
    assert all(length >= size for _, length, _ in parts[:-1])
    assert [content[:start].count(b"\n") for start, _, _ in parts] == [first_row for _, _, first_row in parts]
    assert line_splits([content], size) == parts


def test_an_empty_file_has_one_part_and_no_record(tmp_path: Path):
    """An empty JSON-lines file is read, and holds nothing."""
    assert line_splits([], 100) == [(0, 0, 0)]
    assert records_of(tmp_path / "empty.jsonl", b"", "json-lines") == []


def test_a_broken_line_is_named_and_reading_goes_on(tmp_path: Path):
    """One bad line costs one record; blank lines are none but count as lines."""
    records = records_of(tmp_path / "a.json", b'{"a": 1}\n\n  \n{"a": \n{"a": 2}', "json-lines")

    assert [(record.row, record.value) for record in records] == [(0, {"a": 1}), (3, None), (4, {"a": 2})]
    assert "not JSON" in (records[1].error or "")
    assert records[1].raw == '{"a":'


def test_a_byte_order_mark_is_dropped(tmp_path: Path):
    """A mark at the start of a file is not part of its first record, in any format."""
    mark = b"\xef\xbb\xbf"

    assert values_of(tmp_path / "a", mark + b'{"a": 1}\n', "json-lines") == [{"a": 1}]
    assert values_of(tmp_path / "b", mark + b'[{"a": 1}]', "json-list") == [{"a": 1}]
    assert values_of(tmp_path / "c", mark + b"a\n1\n", "csv") == [{"a": "1"}]
    assert values_of(tmp_path / "d", mark + b"hello", "text") == [{"text": "hello"}]


def test_a_line_in_a_wrong_encoding_is_named_and_reading_goes_on(tmp_path: Path):
    """Bytes that are no UTF-8 cost their line only, and stay legible in the raw text."""
    records = records_of(tmp_path / "a.jsonl", b'{"a": 1}\n{"a": "caf\xe9"}\n{"a": 2}\n', "json-lines")

    assert [record.value and record.value["a"] for record in records] == [1, None, 2]
    assert "not utf-8: byte 0xe9" in (records[1].error or "")
    assert "caf\\xe9" in records[1].raw


def test_other_encodings_are_read_as_declared(tmp_path: Path):
    """Latin-1 and UTF-16, where a newline is two bytes, are read when the source says so."""
    lines = '{"a": "caf\u00e9 \u010a"}\n{"a": "2"}\n'

    assert [
        value["a"] for value in values_of(tmp_path / "a", lines.encode("utf-16"), "json-lines", encoding="utf-16")
    ] == ["caf\u00e9 \u010a", "2"]
    assert values_of(tmp_path / "b", '{"a": "caf\u00e9"}'.encode("latin-1"), "json-lines", encoding="latin-1") == [
        {"a": "caf\u00e9"}
    ]
    assert values_of(tmp_path / "c", "a\ncaf\u00e9\n".encode("utf-16"), "csv", encoding="utf-16") == [
        {"a": "caf\u00e9"}
    ]


def test_utf_16_is_recognized_by_its_mark(tmp_path: Path):
    """A file that was declared UTF-8 and is UTF-16 says which encoding to set."""
    with pytest.raises(BenchcoreError, match="set encoding: utf-16"):
        records_of(tmp_path / "a", '[{"a": 1}]'.encode("utf-16"), "json-list")


def test_large_integers_keep_all_their_digits(tmp_path: Path):
    """An answer of thirty digits is not rounded."""
    number = 123456789012345678901234567890

    assert [{"a": number}] == values_of(tmp_path / "a", b'{"a": %d}' % number, "json-lines")


def test_a_number_without_end_is_absent(tmp_path: Path):
    """As NaN is: it has no text that could stand in a prompt."""
    assert values_of(tmp_path / "a", b'{"a": 1e400, "b": 1.5}', "json-lines") == [{"a": None, "b": 1.5}]


def test_an_endless_line_is_refused_without_being_held_in_memory(tmp_path: Path):
    """A line above the limit is one record with an error, cut short; the next line is read."""
    content = b'{"a": "' + b"x" * 5000 + b'"}\n{"a": 2}\n'
    records = records_of(tmp_path / "a", content, "json-lines", max_document_bytes=100)

    assert [(record.row, record.value) for record in records] == [(0, None), (1, {"a": 2})]
    assert "longer than 100 bytes" in (records[0].error or "")
    assert len(records[0].raw) < 200


def test_a_list_in_place_of_lines_says_which_format_it_is(tmp_path: Path):
    """A pretty-printed list that was declared as lines is told from broken lines."""
    first, *_ = records_of(tmp_path / "a.jsonl", b'[\n  {"a": 1}\n]', "json-lines")

    assert "json-list" in (first.error or "")


def test_only_plain_json_lines_are_split():
    """Whatever cannot start in the middle is read whole."""

    def spec(**keys: Any) -> SourceSpec:
        return SourceSpec.model_validate(
            {"name": "a", "benchmark": "b", "path": "*", "format": "json-lines", "map": {"prompt": "x"}, **keys}
        )

    assert splittable(spec(), b'{"a"')
    assert not splittable(spec(), b"\x1f\x8b\x08\x00")
    assert not splittable(spec(), b"\x28\xb5\x2f\xfd")
    assert not splittable(spec(explode="{{ turns }}"), b'{"a"')
    assert not splittable(spec(encoding="utf-16"), b'{"a"')
    assert not splittable(spec(format="json-list"), b'[{"a')


# Compression


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_compression_is_known_by_its_magic_bytes(tmp_path: Path, compress: Any):
    """Whatever the name, gzip and zstd are looked through, in every format, in several frames."""
    assert values_of(tmp_path / "a.jsonl", compress(b'{"a": 1}\n') + compress(b'{"a": 2}\n'), "json-lines") == [
        {"a": 1},
        {"a": 2},
    ]
    assert values_of(tmp_path / "b", compress(b'[{"a": 1}]'), "json-list") == [{"a": 1}]
    assert values_of(tmp_path / "c.csv", compress(b"a\n1\n"), "csv") == [{"a": "1"}]


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_truncated_file_is_refused(tmp_path: Path, compress: Any):
    """A download that was cut short is not taken for the whole, whose other prompts would retire."""
    rows = [json.dumps({"n": n, "noise": text_hash(str(n))}) for n in range(9000)]
    whole = compress("\n".join(rows).encode())

    with pytest.raises(BenchcoreError, match="damaged or cut short"):
        records_of(tmp_path / "a", whole[: len(whole) - 2000], "json-lines")
    with pytest.raises(BenchcoreError, match="damaged or cut short"):
        records_of(tmp_path / "b", compress(b"[1, 2, 3]")[:-4], "json-list")


# Files that are parsed whole


def test_a_list_an_object_and_a_record_in_one_file(tmp_path: Path):
    """A list gives its elements, an object its values with their keys, and `json` the file itself."""
    assert values_of(tmp_path / "list.jsonl", b'[{"a": 1}, "two"]', "json-list") == [{"a": 1}, "two"]
    assert values_of(tmp_path / "one.json", b'\n{"a": [1]}\n', "json") == [{"a": [1]}]
    records = records_of(tmp_path / "keyed.json", b'{"x": {"a": 1}, "y": {"a": null}}', "json-object")

    assert [(r.row, r.key, r.value) for r in records] == [(0, "x", {"a": 1}), (1, "y", {"a": None})]


@pytest.mark.parametrize(
    ("content", "format", "reason"),
    [
        (b"", "json-list", "the file is empty"),
        (b" \n", "json", "the file is empty"),
        (b'{"x": {"a": 1}, "x": {"a": 2}}', "json-object", "'x' stands twice"),
        (b'[{"a": 1}, {"a"', "json-list", "not JSON"),
        (b'{"a": 1}\n{"a": 2}\n', "json-list", "json-lines"),
        (b'{"data": []}', "json-list", "an object, not a list"),
        (b"[1]", "json-object", "a list, not an object"),
        (b"[" * 100_000, "json-list", "nested too deeply"),
    ],
)
def test_a_file_of_many_records_that_cannot_be_parsed_is_refused_with_its_reason(
    tmp_path: Path, content: bytes, format: str, reason: str
):
    """The reason says what stands there, and which format would read it; nothing is concluded from the file."""
    with pytest.raises(BenchcoreError, match=reason):
        records_of(tmp_path / "a", content, format)


def test_a_file_that_is_one_broken_record_is_quarantined(tmp_path: Path):
    """One file a record: the others are read."""
    (record,) = records_of(tmp_path / "a", b'{"a": ', "json")

    assert "not JSON" in (record.error or "")


@pytest.mark.parametrize("format", ["json-list", "json-object", "json", "text"])
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_document_above_the_limit_is_refused_with_the_remedy(tmp_path: Path, format: str, compress: Any):
    """The limit holds for the decompressed size; the error names it and how to convert the file."""
    content = compress(b"[" + b" " * 1000 + b"]")

    with pytest.raises(BenchcoreError, match=r"larger than 1000 bytes.*JSON lines"):
        records_of(tmp_path / "big.json", content, format, max_document_bytes=1000)


def test_a_text_is_one_record(tmp_path: Path):
    """A file of text is one record with the field `text`, its line ends kept."""
    assert values_of(tmp_path / "a.txt", "one\r\ntwo\u2028\n".encode(), "text") == [{"text": "one\r\ntwo\u2028\n"}]


# Locations


def test_a_location_without_its_package_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    """The package that reads s3:// is an extra, and the error says which."""
    monkeypatch.setitem(sys.modules, "s3fs", None)
    monkeypatch.delitem(sys.modules["fsspec.registry"]._registry, "s3", raising=False)  # one loaded earlier

    with pytest.raises(UsageError, match=r"benchcore\[s3\]"):
        list(read_records(ReadUnit("s3://bucket/a.jsonl", "a.jsonl", "json-lines")))


def test_files_are_read_through_the_file_systems_of_fsspec():
    """Any address that fsspec knows is read like a local file."""
    with fsspec.open("memory://readers/a.jsonl", "wb") as file:
        file.write(b'{"a": 1}\n')

    (record,) = read_records(ReadUnit("memory://readers/a.jsonl", "a.jsonl", "json-lines"))
    assert record.value == {"a": 1}


def test_a_missing_file_and_an_unknown_encoding_are_one_line(tmp_path: Path):
    """What the user can mend is an error, not a record."""
    with pytest.raises(BenchcoreError, match=r"gone\.jsonl: there is no such file"):
        list(read_records(ReadUnit(str(tmp_path / "gone"), "gone.jsonl", "json-lines")))
    with pytest.raises(UsageError, match="no encoding 'utf-9'"):
        list(read_records(ReadUnit(str(tmp_path / "gone"), "gone.jsonl", "json-lines", encoding="utf-9")))


def test_a_record_nested_to_the_limit_can_still_be_quarantined():
    """What was just parsed may be too deep to be written again; that is no crash."""
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]

    assert RawRecord(0, value).raw == "(nested too deeply to be written)"


def test_units_and_records_travel_between_processes():
    """Both can be pickled."""
    unit, record = ReadUnit("/a", "a", "csv", columns=("q",)), RawRecord(3, {"a": 1}, "key", "text")

    assert (unit, record) == pickle.loads(pickle.dumps((unit, record)))


@given(value=st.recursive(VALUE | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
@settings(deadline=None)
def test_the_raw_text_of_anything_can_be_stored(value: Any):
    """What goes to quarantine is bounded, valid UTF-8 and free of NUL, even for unpaired surrogates."""
    raw = RawRecord(0, value).raw

    assert len(raw) < 40_000
    assert "\x00" not in raw
    assert raw == raw.encode("utf-8").decode("utf-8")

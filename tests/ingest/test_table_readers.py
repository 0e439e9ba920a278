"""CSV, TSV and Parquet: every row comes out once, and what is broken says so."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchcore.errors import BenchcoreError
from benchcore.ingest.readers import ReadUnit, read_records
from tests.ingest.reading import records_of, values_of

# CSV and TSV


def test_fields_hold_newlines_quotes_and_delimiters(tmp_path: Path):
    """A quoted field may hold anything; blank lines between rows are none."""
    content = 'q,a\r\n"one\ntwo, ""three""",1\r\n\r\n"four\r\nfive\u2028",2\r\n'.encode()
    records = records_of(tmp_path / "a.csv", content, "csv")

    assert [(record.row, record.value) for record in records] == [
        (0, {"q": 'one\ntwo, "three"', "a": "1"}),
        (1, {"q": "four\r\nfive\u2028", "a": "2"}),
    ]


def test_a_file_without_header_takes_the_declared_columns(tmp_path: Path):
    """The first row is a record."""
    read = values_of(tmp_path / "a.tsv", b"x\t1\ny\t2\n", "tsv", header=False, columns=("q", "a"))

    assert read == [{"q": "x", "a": "1"}, {"q": "y", "a": "2"}]


def test_quotes_can_be_taken_as_text(tmp_path: Path):
    """Many TSV files quote nothing, and then a quote that opens a field is a quote."""
    content = b'q\ta\n"Stop" she said\t1\n'
    (broken,) = records_of(tmp_path / "a.tsv", content, "tsv")

    assert "quotes: false" in (broken.error or "")
    assert values_of(tmp_path / "a.tsv", content, "tsv", quotes=False) == [{"q": '"Stop" she said', "a": "1"}]


def test_a_row_with_a_wrong_number_of_fields_is_named_and_reading_goes_on(tmp_path: Path):
    """A row that is too short or too long is no record of the table."""
    records = records_of(tmp_path / "a.csv", b"q,a\n1,2\n3\n4,5,6\n7,8\n", "csv")

    assert [record.error is None for record in records] == [True, False, False, True]
    assert "has 1 fields, not 2" in (records[1].error or "")
    assert records[2].raw == "4,5,6\n"


def test_a_quote_that_is_never_closed_does_not_swallow_the_rest_silently(tmp_path: Path):
    """The row in which it opens is named."""
    with pytest.raises(BenchcoreError, match=r"row 1: .*never closed"):
        records_of(tmp_path / "a.csv", b'q,a\n1,2\n"3,4\n5,6\n', "csv")


def test_a_wrong_byte_costs_only_its_own_row(tmp_path: Path):
    """The rows before and after are read; one error says where the encoding breaks."""
    records = records_of(tmp_path / "a.csv", b"q\n1\n2\ncaf\xe9\n4\n", "csv")

    assert [record.value for record in records] == [{"q": "1"}, {"q": "2"}, None, {"q": "4"}]
    assert records[2].row == 2
    assert "not utf-8" in (records[2].error or "")


def test_a_column_that_is_named_twice_is_an_error(tmp_path: Path):
    """Two columns of one name cannot be told apart."""
    with pytest.raises(BenchcoreError, match="column 'q' twice"):
        records_of(tmp_path / "a.csv", b"q,a,q\n1,2,3\n", "csv")


def test_an_empty_table_says_that_it_is_empty(tmp_path: Path):
    """A table without its header is no table; one without rows has no records."""
    with pytest.raises(BenchcoreError, match="the file is empty"):
        records_of(tmp_path / "a.csv", b"", "csv")
    assert records_of(tmp_path / "b.csv", b"q,a\n", "csv") == []


# Parquet


def test_parquet_rows_come_back_with_their_types(tmp_path: Path):
    """Lists and structures stay what they are, in the order of the rows."""
    rows = [{"q": f"question {n}", "options": ["a", "b"], "nested": {"n": n}} for n in range(2500)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet", row_group_size=700)
    read = list(read_records(ReadUnit(str(tmp_path / "a.parquet"), "a.parquet", "parquet")))

    assert list(enumerate(rows)) == [(record.row, record.value) for record in read]


@pytest.mark.parametrize("content", [b"", b"PAR1 and then nothing", b'{"a": 1}'])
def test_a_file_that_is_no_parquet_is_refused_with_its_reason(tmp_path: Path, content: bytes):
    """The file is named as broken, and nothing is concluded from it."""
    with pytest.raises(BenchcoreError, match="not Parquet"):
        records_of(tmp_path / "a.parquet", content, "parquet")

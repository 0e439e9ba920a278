"""Laws of the table of vectors: each text once for an encoder, few files, one commit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from benchcore.embedding.encoder import Encoded
from benchcore.embedding.staging import rows_of
from benchcore.embedding.table import append, compact, known_texts
from benchcore.errors import UsageError
from benchcore.registry.identity import text_hash
from benchcore.registry.root import Registry
from benchcore.registry.tables import current_version, open_table, read

BUCKETS = 4


def rows(encoder: str, *texts: str) -> pa.Table:
    """Rows with made-up vectors; a text of two characters counts as truncated."""
    vectors = np.array([[len(text), 1.0] for text in texts], np.float32)
    encoded = Encoded(vectors, np.array([len(text) == 2 for text in texts]), 0)
    return rows_of([text_hash(text) for text in texts], encoder, encoded, BUCKETS)


def test_an_append_adds_what_is_missing_once_in_one_commit(tmp_path: Path):
    """Rows that the table has, and rows that come twice, are left out; nothing new means no commit."""
    registry = Registry.at(tmp_path)
    append(registry, {}, [rows("e", "x", "yy")])
    known = known_texts(registry, "e", BUCKETS)
    added = append(registry, {"e": known}, [rows("e", "x", "z"), rows("f", "x", "vv"), rows("e", "z", "vv")])
    again = append(registry, {"e": known_texts(registry, "e", BUCKETS)}, [rows("e", "x", "z")])

    assert known == {text_hash("x"): False, text_hash("yy"): True}
    assert (added.rows, added.truncated) == ({"e": 2, "f": 2}, 2)
    assert again.rows == {}
    assert current_version(registry, "embeddings") == 1
    for encoder, texts in {"e": ["x", "yy", "z", "vv"], "f": ["x", "vv"]}.items():
        assert set(known_texts(registry, encoder, BUCKETS)) == set(map(text_hash, texts))
    assert read(registry, "embeddings").num_rows == 6


def test_encoders_do_not_see_each_other(tmp_path: Path):
    """A text that one encoder has encoded is missing for another."""
    registry = Registry.at(tmp_path)
    append(registry, {}, [rows("e", "x")])

    assert known_texts(registry, "f", BUCKETS) == {}


def test_many_small_files_are_merged_and_the_rows_stay(tmp_path: Path):
    """Nine appends make nine files of a bucket; afterwards there is one."""
    registry = Registry.at(tmp_path)
    for number in range(9):
        table = rows("e", f"text {number}")
        append(registry, {}, [table.set_column(5, "bucket", pa.array([0], pa.int32()))])
    before = read(registry, "embeddings").sort_by("text_hash")

    assert compact(registry, "e")
    assert read(registry, "embeddings").sort_by("text_hash").equals(before)
    assert len(open_table(registry, "embeddings").file_uris()) == 1
    assert not compact(registry, "e")


def test_another_number_of_buckets_is_refused(tmp_path: Path):
    """Shards are sets of buckets: rows filed by two moduli would be lost to one of them."""
    registry = Registry.at(tmp_path)
    append(registry, {}, [rows("e", *"abcdefgh")])

    with pytest.raises(UsageError, match=r"registry\.buckets"):
        known_texts(registry, "e", BUCKETS + 1)

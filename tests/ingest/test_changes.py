"""What has to be read again, and what is noted about it, without any engine."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from benchcore.ingest.changes import Changes, find_changes, sources_rows
from benchcore.ingest.files import SourceFile
from benchcore.registry.schemas import SCHEMAS

ACCOUNT = {"rows_read": 3, "rows_kept": 2, "rows_duplicate": 1, "rows_quarantined": 0}


def file(source: str, path: str, benchmark: str, content: str = "c1", mapping: str = "m1") -> SourceFile:
    return SourceFile(source, benchmark, path, f"/data/{path}", 10, content, mapping, None, None, ((0, None, 0),))


def accounts(files: tuple[SourceFile, ...]) -> dict[tuple[str, str], dict[str, int]]:
    return {(each.source, each.path): ACCOUNT for each in files}


def table_of(*rows: pa.Table) -> pa.Table:
    return pa.concat_tables([SCHEMAS["sources"].empty_table(), *rows])


def changes_of(files: list[SourceFile], table: pa.Table, *sources: str) -> Changes:
    return find_changes(files, sources or {each.source for each in files}, table)


def first_run(files: list[SourceFile]) -> pa.Table:
    changes = changes_of(files, table_of())
    return table_of(sources_rows(changes, accounts(changes.files), "first"))


FILES = [file("s", "a1", "a"), file("s", "a2", "a"), file("t", "b1", "b")]


def test_unchanged_files_are_nothing_to_do():
    """What was written by the first run is what the second one looks for."""
    table = first_run(FILES)

    assert table.num_rows == 3
    assert changes_of(FILES, table).benchmarks == frozenset()


def test_a_benchmark_is_read_again_as_a_whole():
    """A file that is new, changed, mapped otherwise, relicensed or gone brings all files of its benchmark with it."""
    table = first_run(FILES)
    variants = {
        "new": [*FILES, file("s", "a3", "a")],
        "changed": [replace(FILES[0], content_sha256="c2"), *FILES[1:]],
        "mapped otherwise": [replace(FILES[0], mapping_sha256="m2"), *FILES[1:]],
        "relicensed": [replace(FILES[0], licence="MIT"), *FILES[1:]],
        "gone": FILES[1:],
    }
    for what, files in variants.items():
        changes = changes_of(files, table)
        assert changes.benchmarks == {"a"}, what
        assert {each.path for each in changes.files} == {each.path for each in files if each.benchmark == "a"}, what


def test_a_renamed_benchmark_leaves_its_old_name_to_retire():
    """Both names have changed; only the new one has files."""
    renamed = [replace(each, benchmark="new", mapping_sha256="m2") if each.benchmark == "a" else each for each in FILES]
    changes = changes_of(renamed, first_run(FILES))

    assert changes.benchmarks == {"a", "new"}
    assert {each.benchmark for each in changes.files} == {"new"}


def test_sources_of_other_configurations_are_left_alone():
    """A table may hold sources that this configuration does not name, unless it declares their benchmark itself."""
    table = first_run(FILES)

    assert changes_of(FILES[:2], table, "s").benchmarks == frozenset()
    taken_over = changes_of([replace(FILES[2], source="u")], table, "u")
    assert taken_over.benchmarks == {"b"}
    written = sources_rows(taken_over, accounts(taken_over.files), "second").to_pylist()
    assert {row["source"]: row["superseded_by"] for row in written} == {"u": None, "t": "second"}


def test_a_file_that_reverts_becomes_current_again():
    """The row of the old content loses its mark instead of being added a second time."""
    first = first_run(FILES)
    edited = [replace(FILES[0], content_sha256="c2"), *FILES[1:]]
    changes = changes_of(edited, first)
    second = sources_rows(changes, accounts(changes.files), "second")
    assert {row["content_sha256"]: row["superseded_by"] for row in second.to_pylist()} == {"c2": None, "c1": "second"}
    kept = [row for row in first.to_pylist() if row["path"] != "a1"]
    table = table_of(pa.Table.from_pylist(kept, schema=SCHEMAS["sources"]), second)

    back = changes_of(FILES, table)
    third = sources_rows(back, accounts(back.files), "third").to_pylist()

    assert {row["content_sha256"]: row["superseded_by"] for row in third} == {"c1": None, "c2": "third"}
    assert {row["path"] for row in third} == {"a1"}  # a2 was read again and stays as it was noted

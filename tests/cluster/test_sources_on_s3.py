"""Raw files on an object store: every format is read there as it is from a folder."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchcore.config import Config, SourceSpec, SourcesSection
from benchcore.ingest.files import find_files
from benchcore.ingest.readers import ReadUnit, read_records

LINES = b"".join(b'{"q": "What is %d?", "a": "%d"}\n' % (number, number) for number in range(5000))


def _parquet() -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({"q": ["one", "two"]}), out)
    return out.getvalue()


FILES = {
    "a.jsonl": ("json-lines", LINES),
    "b.jsonl.gz": ("json-lines", gzip.compress(LINES, mtime=0)),
    "c.csv": ("csv", b'q,a\n"two\nlines",1\nb,2\n'),
    "d.tsv": ("tsv", b"q\ta\none\t1\n"),
    "e.csv": ("csv", "q,a\nä,1\n".encode("utf-16")),
    "f.json": ("json-list", b'[{"q": "one"}, {"q": "two"}]'),
    "g.json": ("json-object", b'{"x": {"q": "one"}}'),
    "h.parquet": ("parquet", _parquet()),
    "i.txt": ("text", b"one\ntwo\n"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_read_there_as_in_a_folder(name: str, root: str, tmp_path: Path):
    """The same records, the lines of a large file among them."""
    format, content = FILES[name]
    encoding = "utf-16" if name == "e.csv" else "utf-8"
    (tmp_path / name).write_bytes(content)
    with fsspec.open(f"{root}/{name}", "wb") as file:
        file.write(content)

    units = [ReadUnit(f"{place}/{name}", name, format, encoding=encoding) for place in (root, str(tmp_path))]
    there, here = (list(read_records(unit)) for unit in units)

    assert there == here
    assert here[0].error is None
    assert len(here) > 0


def test_files_are_found_there_as_in_a_folder(root: str, tmp_path: Path):
    """The same paths, digests and parts."""
    for name in ("a.jsonl", "c.csv"):
        (tmp_path / name).write_bytes(FILES[name][1])
        with fsspec.open(f"{root}/{name}", "wb") as file:
            file.write(FILES[name][1])
    specs = [
        SourceSpec.model_validate(
            {
                "name": name[0],
                "benchmark": name[0],
                "path": name,
                "format": FILES[name][0],
                "map": {"prompt": "{{ q }}"},
            }
        )
        for name in ("a.jsonl", "c.csv")
    ]
    there, here = (find_files(Config(sources=SourcesSection(data=data)), specs) for data in (root, str(tmp_path)))

    def kept(files):
        return [(file.source, file.path, file.bytes, file.content_sha256, file.splits) for file in files]

    assert kept(there) == kept(here)

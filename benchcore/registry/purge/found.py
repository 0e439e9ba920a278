"""What a registry holds of the prompts that are to go, in all of its files, and which coresets that touches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from benchcore.registry.manifests import list_manifests
from benchcore.registry.purge.every_file import rows_of_files
from benchcore.registry.purge.target import Target
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import among, dataset, read

# Names the texts of some rows of `prompts`, as `embeddings` does, for every template that may have been used.
TextHashes = Callable[[pa.Table], set[str]]

PURGED = "purged"  # the reason of a row of `quarantine` of which nothing but its place is left

_NAMED = ("prompt_id", "benchmark", "source", "content_hash")


@dataclass(frozen=True)
class Doomed:
    """The prompts that are to go.

    Attributes:
        target: how they were named.
        ids: of all of them, whatever version has them -> benchmark.
        contents: hashes of what they say or once said.
        texts: hashes of texts that no other prompt says.
    """

    target: Target
    ids: Mapping[str, str] = field(default_factory=dict)
    contents: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()

    def rows_of(self, table: str) -> pc.Expression:
        """Which rows of a table go."""
        if table == "embeddings":
            return among("text_hash", self.texts)
        if table == "quarantine":
            return self.target.of_files & (pc.field("reason") != PURGED)
        return among("prompt_id", {*self.ids, *self.target.prompts})


# The tables that hold text or what was made of it, in the order in which they are written: as long as `prompts` has not
# forgotten a prompt, a purge that was killed is found again. By the columns that say which rows.
TABLES: Mapping[str, tuple[str, ...]] = {
    "embeddings": ("text_hash",),
    "scores": ("prompt_id",),
    "bindings": ("prompt_id",),
    "quarantine": ("benchmark", "source", "reason"),
    "prompts": ("prompt_id",),
}


@dataclass(frozen=True)
class Found:
    """What a purge removes.

    Attributes:
        doomed: the prompts.
        files: table -> data files, of whatever version, that hold rows that go; tables without any are left out.
        rows: table -> rows of its newest version that go.
        same: benchmark -> other prompts of the same content, which stay.
        picked: coreset -> how many of its picks go.
        unpinned: coresets that pin a version which goes.
    """

    doomed: Doomed
    files: Mapping[str, int]
    rows: Mapping[str, int]
    same: Mapping[str, int]
    picked: Mapping[str, int]
    unpinned: tuple[str, ...]


def find(registry: Registry, target: Target, text_hashes: TextHashes) -> Found:
    """Look for prompts in every data file, also of old versions and of none.

    Args:
        registry: that is there.
        target: which prompts.
        text_hashes: of rows of `prompts` with all columns.

    Raises:
        BenchcoreError: a file cannot be read.
    """
    doomed = _doomed(registry, target, text_hashes)
    files = dict[str, int]()
    for name, columns in TABLES.items():
        if name == "embeddings" and not doomed.texts:
            continue
        holding = {file for file, _ in rows_of_files(registry, name, columns, doomed.rows_of(name))}
        if holding:
            files[name] = len(holding)
    rows = {name: dataset(registry, name).count_rows(filter=doomed.rows_of(name)) for name in files}
    same = among("content_hash", doomed.contents) & ~doomed.rows_of("prompts")
    picks = read(registry, "coresets", columns=("coreset_id",), where=doomed.rows_of("coresets"))
    return Found(
        doomed=doomed,
        files=files,
        rows={name: count for name, count in rows.items() if count},
        same=Counter(read(registry, "prompts", columns=("benchmark",), where=same)["benchmark"].to_pylist()),
        picked=Counter(picks["coreset_id"].to_pylist()),
        unpinned=tuple(one.coreset_id for one in list_manifests(registry) if one.table_versions.keys() & files.keys()),
    )


def _doomed(registry: Registry, target: Target, text_hashes: TextHashes) -> Doomed:
    where = target.of_prompts
    if target.copies:
        contents = {hashed for rows in _prompts(registry, where) for hashed in rows["content_hash"].to_pylist()}
        where = where | among("content_hash", contents)
    ids, contents, texts = dict[str, str](), set[str](), set[str]()
    for rows in _prompts(registry, where):
        ids.update(zip(rows["prompt_id"].to_pylist(), rows["benchmark"].to_pylist(), strict=True))
        contents.update(rows["content_hash"].to_pylist())
        texts |= text_hashes(rows)
    if texts:
        texts = _no_other_says(registry, ids, texts, text_hashes)
    return Doomed(target, ids, frozenset(contents), frozenset(texts))


def _prompts(registry: Registry, where: pc.Expression) -> list[pa.Table]:
    """The rows of `prompts` of all versions; only files that have any are read as a whole."""
    files = {file for file, _ in rows_of_files(registry, "prompts", _NAMED, where)}
    return [rows for _, rows in rows_of_files(registry, "prompts", SCHEMAS["prompts"].names, where, files)]


def _no_other_says(registry: Registry, ids: Mapping[str, str], texts: set[str], text_hashes: TextHashes) -> set[str]:
    """The texts that prompts which stay do not say."""
    stay = ~among("prompt_id", ids)
    for batch in dataset(registry, "prompts").to_batches(
        filter=stay, batch_size=1024, batch_readahead=2, fragment_readahead=1
    ):
        texts = texts - text_hashes(pa.Table.from_batches([batch]))
    return texts

"""The tables as they are when a check begins, read a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc
from deltalake.exceptions import DeltaError

from benchcore.errors import BenchcoreError
from benchcore.registry.checks.finding import RESTORE
from benchcore.registry.checks.fingerprints import Fingerprints
from benchcore.registry.manifests import Manifest, list_manifests
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import current_version, dataset

_ROWS = 65_536


class UnreadableError(BenchcoreError):
    """A table that is there, and cannot be read."""

    def __init__(self, table: str, why: str) -> None:
        super().__init__(f"table '{table}' cannot be read ({why})", mend=RESTORE)
        self.table = table


@dataclass(frozen=True)
class Snapshot:
    """What all checks look at.

    Attributes:
        registry: the one that is checked.
        versions: of the tables that exist and can be opened.
        damaged: table -> why it cannot be opened.
    """

    registry: Registry
    versions: Mapping[str, int]
    damaged: Mapping[str, BenchcoreError] = field(default_factory=dict)

    @classmethod
    def of(cls, registry: Registry) -> Snapshot:
        """Pin every table at its newest version."""
        versions, damaged = {}, {}
        for name in SCHEMAS:
            try:
                version = current_version(registry, name)
            except BenchcoreError as error:
                damaged[name] = error
                continue
            if version is not None:
                versions[name] = version
        return cls(registry, versions, damaged)

    def batches(
        self, name: str, columns: Sequence[str], where: pc.Expression | None = None, rows: int = _ROWS
    ) -> Iterator[pa.RecordBatch]:
        """Some columns of a table's rows; of an absent table none. A column that the table lacks is null.

        Raises:
            UnreadableError: a data file is missing or damaged, or the table has a format that is not read.
        """
        if name in self.damaged:
            raise UnreadableError(name, self.damaged[name].what)
        if name not in self.versions:
            return
        try:
            stored = dataset(self.registry, name, self.versions[name])
            there = [column for column in columns if column in stored.schema.names]
            for batch in stored.to_batches(
                columns=there, filter=where, batch_size=rows, batch_readahead=2, fragment_readahead=1
            ):
                yield _with_nulls(batch, name, columns)
        except (DeltaError, OSError, pa.ArrowException) as error:
            raise UnreadableError(name, str(error).splitlines()[0][:300]) from error

    @cached_property
    def prompts(self) -> Fingerprints:
        """Ids of all prompts, retired ones too."""
        return Fingerprints.of(self.batches("prompts", ("prompt_id",)), ("prompt_id",))

    @cached_property
    def manifests(self) -> tuple[Manifest, ...]:
        """Of all coresets, the oldest run first.

        Raises:
            UnreadableError: one of them cannot be understood.
        """
        if "manifests" not in self.versions:
            return ()
        try:
            return tuple(list_manifests(self.registry))
        except ValueError as error:
            raise UnreadableError("manifests", f"a manifest is no JSON ({error})") from error


def _with_nulls(batch: pa.RecordBatch, name: str, columns: Sequence[str]) -> pa.RecordBatch:
    fields = [SCHEMAS[name].field(column) for column in columns]
    arrays = [
        batch.column(one.name) if one.name in batch.schema.names else pa.nulls(len(batch), one.type) for one in fields
    ]
    return pa.RecordBatch.from_arrays(arrays, names=list(columns))

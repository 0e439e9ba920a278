"""What the user says about how a harness's documents and the registry's prompts belong together."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from benchcore.errors import UsageError
from benchcore.ingest.canonical import Canonical
from benchcore.ingest.mapping import Mapping as SourceMapping
from benchcore.ingest.templates import Template

_TRIES = 20  # records with the same fields that a source may fail on before it is taken for another's
_NEVER = 1 << 62


@dataclass
class Source:
    """One of the registry's own sources: how its records become prompts.

    Attributes:
        name: of the source.
        mapping: its templates.
        path: of its files; a pattern will do, since what a path says is seldom part of a prompt's content.
    """

    name: str
    mapping: SourceMapping
    path: PurePosixPath
    _failures: Counter[frozenset[str]] = field(default_factory=Counter)

    def content_hashes(self, record: Mapping[str, Any]) -> list[str]:
        """The content hashes of the prompts that a record makes; none where it is no record of this source."""
        fields = frozenset(record)
        if self._failures[fields] >= _TRIES:
            return []
        found = [made.content_hash for made in self.mapping.map(dict(record), self.path) if isinstance(made, Canonical)]
        self._failures[fields] = self._failures[fields] + 1 if not found else -_NEVER
        return found


@dataclass(frozen=True)
class Declared:
    """What is declared.

    Attributes:
        prompt: gives the prompt's text from a document's record; it also sees `request`, `task` and `id`.
        benchmarks: task -> the benchmark that its documents are of.
        sources: the registry's own.
        by_record_id: whether tasks are benchmarks and document ids their record ids.
    """

    prompt: Template | None = None
    benchmarks: Mapping[str, str] = field(default_factory=dict)
    sources: Sequence[Source] = ()
    by_record_id: bool = False


def parse_benchmarks(written: Iterable[str], known: Collection[str]) -> dict[str, str]:
    """Read `TASK=BENCHMARK`.

    Raises:
        UsageError: it is not of that form, or there is no such benchmark (names the nearest).
    """
    benchmarks: dict[str, str] = {}
    for text in written:
        task, equals, benchmark = text.rpartition("=")
        if not equals or not task or not benchmark:
            raise UsageError(f"'{text}' is not TASK=BENCHMARK", where="--bind")
        if benchmark not in known:
            near = difflib.get_close_matches(benchmark, sorted(known), n=1)
            mend = f"Did you mean '{near[0]}'?" if near else "`benchcore registry` names what there is."
            raise UsageError(f"the registry has no benchmark '{benchmark}'", where=f"--bind {text}", mend=mend)
        benchmarks[task] = benchmark
    return benchmarks

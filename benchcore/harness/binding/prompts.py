"""The prompts of a registry, to be found by what they say: built once, looked up by hashes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
import pyarrow as pa

from benchcore.errors import BenchcoreError
from benchcore.harness.binding.texts import bare_lines, normalised, text_key
from benchcore.registry.manifests import list_manifests
from benchcore.registry.root import Registry
from benchcore.registry.tables import among, dataset, read, whole_files

ENDING = 40  # characters; a prompt that is shorter is not looked for inside other texts
LINE = 20  # characters that the bare lines of a prompt have at least
MAX_LINES = 12
MANY = 64  # prompts that share a text or a line: more are looked up by what else they have
_COLUMNS = ("prompt_id", "benchmark", "record_id", "prompt", "answer", "choices", "metadata", "content_hash")
_BATCH_ROWS = 2048


@dataclass(slots=True)
class Known:
    """What is known of one content of one benchmark.

    Attributes:
        prompt_id: the smallest id among the copies, so that equal prompts are one.
        current: whether the benchmark still has it; False for what is retired, or was edited since a coreset pinned it.
        choices: normalised.
        answer: likewise.
        characters: of the normalised prompt.
        key: `text_key` of the normalised prompt.
        lines: keys of its bare lines; none where they are too many or say too little to be looked for.
    """

    prompt_id: str
    benchmark: str
    content_hash: str
    current: bool
    choices: tuple[str, ...]
    answer: str | None
    characters: int
    key: bytes
    lines: tuple[bytes, ...]


@dataclass
class Prompts:
    """All prompts, by number; copies inside a benchmark share one.

    Attributes:
        known: number -> prompt.
        by_text: key of the normalised prompt -> numbers.
        by_content: content hash -> numbers.
        by_id: prompt id -> numbers, the current version first.
        by_record: (benchmark, record id) -> numbers.
        by_document: (harness, task, document hash) -> numbers, for prompts that were read from a harness's own logs.
        by_line: key of the longest bare line of a prompt -> numbers.
        endings: the last characters of a prompt -> numbers, for prompts that are long enough to be found inside texts.
        unreadable: coresets whose pinned prompts cannot be read any more.
    """

    known: list[Known] = field(default_factory=list)
    by_text: dict[bytes, Sequence[int]] = field(default_factory=dict)
    by_content: dict[str, Sequence[int]] = field(default_factory=dict)
    by_id: dict[str, Sequence[int]] = field(default_factory=dict)
    by_record: dict[tuple[str, str], Sequence[int]] = field(default_factory=dict)
    by_document: dict[tuple[str, str, str], Sequence[int]] = field(default_factory=dict)
    by_line: dict[bytes, Sequence[int]] = field(default_factory=dict)
    endings: dict[str, Sequence[int]] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)
    _numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    _by_choice: dict[bytes, dict[str, set[int]]] = field(default_factory=dict)
    _by_other_line: dict[bytes, dict[bytes, set[int]]] = field(default_factory=dict)

    def add(self, row: Mapping[str, Any], *, current: bool) -> None:
        """Take in one row of the table `prompts`."""
        place = (row["benchmark"], row["content_hash"])
        number = self._numbers.get(place)
        if number is None:
            self._numbers[place] = number = self._new(row, current)
        else:
            standing = self.known[number]
            if (not current, row["prompt_id"]) < (not standing.current, standing.prompt_id):
                standing.prompt_id, standing.current = row["prompt_id"], current
        _append(self.by_id, row["prompt_id"], number)
        if row["record_id"] is not None:
            _append(self.by_record, (row["benchmark"], row["record_id"]), number)
        for document in documents_in(row["metadata"]):
            _append(self.by_document, (document["harness"], document["task"], document["hash"]), number)

    def with_text(self, key: bytes, texts: Iterable[str]) -> list[int]:
        """The prompts with a text; where very many share it, those that have one of `texts` for a choice or answer."""
        numbers = self.by_text.get(key, ())
        if len(numbers) <= MANY:
            return list(numbers)
        if key not in self._by_choice:
            index: dict[str, set[int]] = defaultdict(set)
            self._by_choice[key] = index
            for number in numbers:
                known = self.known[number]
                for text in known.choices if known.answer is None else (*known.choices, known.answer):
                    index[text].add(number)
        found = self._by_choice[key]
        return sorted({number for text in texts for number in found.get(text, ())}) or list(numbers[: MANY + 1])

    def with_line(self, key: bytes, keys: Collection[bytes]) -> Sequence[int]:
        """The prompts with a longest line; where very many share it, those with another line that is in `keys` too.

        Args:
            key: of the line.
            keys: of all lines of a document.
        """
        numbers = self.by_line.get(key, ())
        if len(numbers) <= MANY:
            return numbers
        if key not in self._by_other_line:
            index: dict[bytes, set[int]] = defaultdict(set)
            self._by_other_line[key] = index
            for number in numbers:
                lines = self.known[number].lines
                index[next((line for line in lines if line != key), key)].add(number)
        found = self._by_other_line[key]
        return sorted({number for line in keys for number in found.get(line, ())})

    def benchmarks(self) -> set[str]:
        """Their names."""
        return {known.benchmark for known in self.known}

    def find(self, prompt_id: str, content_hash: str) -> int | None:
        """The number of one version of a prompt."""
        for number in self.by_id.get(prompt_id, ()):
            if self.known[number].content_hash == content_hash:
                return number
        return None

    def _new(self, row: Mapping[str, Any], current: bool) -> int:
        text, number = normalised(row["prompt"]), len(self.known)
        key, lines = text_key(text), bare_lines(row["prompt"])
        if sum(map(len, lines)) < LINE or len(lines) > MAX_LINES:
            lines = []
        answer = normalised(row["answer"]) if row["answer"] else None
        choices = tuple(normalised(choice or "") for choice in row["choices"] or ())
        self.known.append(
            Known(
                prompt_id=row["prompt_id"],
                benchmark=row["benchmark"],
                content_hash=row["content_hash"],
                current=current,
                choices=choices,
                answer=answer,
                characters=len(text),
                key=key,
                lines=tuple(map(text_key, lines)),
            )
        )
        _append(self.by_text, key, number)
        _append(self.by_content, row["content_hash"], number)
        if lines:
            _append(self.by_line, text_key(max(lines, key=len)), number)
        if len(text) >= ENDING:
            _append(self.endings, text[-ENDING:], number)
        return number


def documents_in(metadata: str | None) -> list[dict[str, Any]]:
    """The documents that a prompt's metadata names: those of the harness logs that it was read from."""
    if not metadata or '"document"' not in metadata:
        return []
    try:
        found = orjson.loads(metadata)["document"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return []
    listed = found if isinstance(found, list) else [found]
    return [document for document in listed if isinstance(document, dict) and _is_named(document)]


def load_prompts(registry: Registry, *, may_be_none: bool = False) -> Prompts:
    """Read the current prompts, the retired ones, and those that a coreset pinned before they were edited.

    Args:
        registry: holds them.
        may_be_none: whether a registry without prompts will do.

    Raises:
        BenchcoreError: there are none, and there must be.
    """
    prompts = Prompts()
    for row in _rows(registry):
        prompts.add(row, current=row["retired_at"] is None)
    if not prompts.known and not may_be_none:
        raise BenchcoreError("there are no prompts yet", where=registry.root, mend="Run `benchcore ingest CONF` first.")
    _add_pinned(prompts, registry)
    for prompt_id, numbers in prompts.by_id.items():
        if len(numbers) > 1:
            order = sorted(numbers, key=lambda number: (not prompts.known[number].current, number))
            prompts.by_id[prompt_id] = tuple(order)
    return prompts


def _rows(registry: Registry) -> Iterator[dict[str, Any]]:
    with whole_files(registry, "prompts"):
        batches = dataset(registry, "prompts").to_batches(
            columns=[*_COLUMNS, "retired_at"], batch_size=_BATCH_ROWS, batch_readahead=2, fragment_readahead=1
        )
        for batch in batches:
            yield from batch.to_pylist()


def _add_pinned(prompts: Prompts, registry: Registry) -> None:
    """Add what coresets pinned and the table now has otherwise, as their versions of the table have it."""
    versions = {manifest.coreset_id: manifest.table_versions.get("prompts") for manifest in list_manifests(registry)}
    lacking: dict[int | None, set[str]] = defaultdict(set)
    coresets: dict[int | None, list[str]] = defaultdict(list)
    picks = read(registry, "coresets", columns=("coreset_id", "prompt_id", "content_hash"))
    for coreset_id, prompt_id, pinned in zip(*(column.to_pylist() for column in picks.columns), strict=True):
        if coreset_id in versions and prompts.find(prompt_id, pinned) is None:
            lacking[versions[coreset_id]].add(prompt_id)
            coresets[versions[coreset_id]].append(coreset_id)
    for version, wanted in sorted(lacking.items(), key=lambda item: -1 if item[0] is None else item[0]):
        try:
            found = read(registry, "prompts", version, _COLUMNS, among("prompt_id", wanted))
        except (BenchcoreError, FileNotFoundError, pa.ArrowException):
            prompts.unreadable.extend(dict.fromkeys(coresets[version]))
            continue
        for row in found.sort_by("prompt_id").to_pylist():
            if prompts.find(row["prompt_id"], row["content_hash"]) is None:
                prompts.add(row, current=False)


def _is_named(document: Mapping[str, Any]) -> bool:
    return all(isinstance(document.get(name), str) for name in ("harness", "task", "hash"))


def _append(places: dict[Any, Sequence[int]], key: Any, number: int) -> None:
    there = places.get(key)
    if there is None:
        places[key] = (number,)
    elif isinstance(there, list):
        there.append(number)
    else:
        places[key] = [*there, number]

"""Binding a harness's documents to the prompts that they are, by content, one document at a time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from benchcore.harness.binding import tiers
from benchcore.harness.binding.declared import Declared
from benchcore.harness.binding.evidence import Shown
from benchcore.harness.binding.prompts import Known, Prompts
from benchcore.harness.documents import Document

_NAMED, _STORED = "named", "stored"
_WHOLE = "whole text"
_OWN_LINES, _LINES, _INSIDE = "lines of the record", "lines of the request", "inside the request"
_BY_PARTS = (_OWN_LINES, _LINES, _INSIDE)  # another benchmark's prompt may hold the same
_BY_TEXT = (_WHOLE, *_BY_PARTS)  # it may be a passage that several questions are about
_BY_REQUEST = (_LINES, _INSIDE)  # a worked example may show the same
_STRAY = 20  # a benchmark with one in so many documents of a task, or fewer, is not believed on parts of texts
_EXAMPLE_CHARACTERS = 80

Stored = Mapping[tuple[str, str], tuple[str, str]]
"""(task, document hash) -> (prompt id, content hash), as bound earlier."""


@dataclass(slots=True)
class Binding:
    """What became of one document.

    Attributes:
        number: of the prompt; None while, or because, it is not known.
        how: the way in which it was found.
        candidates: the prompts that it may be, where there are several.
        reason: why it is bound to none.
        example: the beginning of its text, for messages; empty where it is bound.
        answers: the forms of what counts as right, where the document was found by its text.
    """

    task: str
    document_id: str
    document_hash: str
    version: str | None
    number: int | None = None
    how: str = ""
    candidates: tuple[int, ...] = ()
    reason: str = ""
    example: str = ""
    answers: frozenset[str] = frozenset()


@dataclass
class Binder:
    """Binds the documents of one harness; each is bound once, however often it comes.

    Args:
        prompts: of the registry.
        harness: the name of the harness.
        declared: by the user.
        stored: what was bound earlier.
    """

    prompts: Prompts
    harness: str
    declared: Declared = field(default_factory=Declared)
    stored: Stored = field(default_factory=dict)
    bindings: list[Binding] = field(default_factory=list)
    _places: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, document: Document) -> int:
        """Bind a document as far as it can be done alone; gives its place in `bindings`."""
        key = (document.task, document.document_hash)
        place = self._places.get(key)
        if place is None:
            self._places[key] = place = len(self.bindings)
            self.bindings.append(self._bound(document))
        return place

    def settle(self) -> None:
        """Decide what only the others of a task can: call it once, when all documents are in."""
        self._void_examples()
        self._void_strays(self._benchmarks_of_tasks())
        of_tasks = self._benchmarks_of_tasks()
        for binding in self.bindings:
            if binding.candidates:
                self._settle(binding, of_tasks.get(binding.task, Counter()))

    def known(self, binding: Binding) -> Known:
        """The prompt of a document that is bound."""
        if binding.number is None:
            raise ValueError(f"document {binding.document_id!r} of task {binding.task!r} is not bound")
        return self.prompts.known[binding.number]

    def is_new(self, binding: Binding) -> bool:
        """Whether it is to be stored: not what is stored already, nor what says itself which prompt it is."""
        if binding.number is None or binding.how in (_NAMED, _STORED):
            return False
        return self._stored(binding) != [binding.number]

    def _bound(self, document: Document) -> Binding:
        shown = Shown(document)
        binding = Binding(document.task, document.document_id, document.document_hash, document.version)
        benchmark = self.declared.benchmarks.get(document.task)
        for how, find in self._ways(document, shown, benchmark):
            found = find()
            if benchmark is not None:
                found = [number for number in found if self.prompts.known[number].benchmark == benchmark]
            if binding.candidates:  # a later way may say which of them it is
                found = [number for number in found if number in binding.candidates]
            if len(found) == 1:
                binding.number, binding.how, binding.candidates = found[0], how, ()
                binding.example = _example(document) if how in _BY_TEXT else ""
                binding.answers = shown.answers if how in _BY_TEXT else frozenset()
                return binding
            if found:
                binding.candidates, binding.how = tuple(found), how
        binding.example = _example(document)
        of = "" if benchmark is None else f" of {benchmark}"
        binding.reason = "" if binding.candidates else f"no prompt{of} has its id or text"
        return binding

    def _ways(
        self, document: Document, shown: Shown, benchmark: str | None
    ) -> Sequence[tuple[str, Callable[[], list[int]]]]:
        prompts, declared = self.prompts, self.declared
        named = (_NAMED, lambda: tiers.named(prompts, shown))
        ways = [
            (_STORED, lambda: self._stored(document, standing=True)),
            ("read from logs", lambda: tiers.read_from_logs(prompts, shown)),
        ]
        if declared.by_record_id:
            ways.append(("record id", lambda: tiers.by_record_id(prompts, shown, benchmark)))
        if declared.prompt is not None:  # it mends what was bound without it
            return [named, ("declared prompt", lambda: tiers.declared_text(prompts, shown, declared)), *ways]
        return [
            named,
            *ways,
            (_WHOLE, lambda: tiers.whole_texts(prompts, shown)),
            ("own source", lambda: tiers.own_source(prompts, shown, declared)),
            (_OWN_LINES, lambda: tiers.own_lines(prompts, shown)),
            (_LINES, lambda: tiers.request_lines(prompts, shown)),
            (_INSIDE, lambda: tiers.inside_request(prompts, shown)),
            (_STORED, lambda: self._stored(document)),
        ]

    def _stored(self, document: Document | Binding, *, standing: bool = False) -> list[int]:
        """The prompt that was bound earlier; with `standing` none of a benchmark that has gone as a whole."""
        there = self.stored.get((document.task, document.document_hash))
        number = self.prompts.find(*there) if there is not None else None
        if number is None or (standing and self.prompts.known[number].benchmark not in self._standing):
            return []
        return [number]

    @cached_property
    def _standing(self) -> set[str]:
        """Benchmarks that have prompts now: one that was given another name leaves its documents to the new one."""
        return {known.benchmark for known in self.prompts.known if known.current}

    def _void_examples(self) -> None:
        """Undo what was found in several documents of a task that are no copies: a worked example, or a passage.

        What requests hold alone may be an example; what has different right answers is no question by itself.
        """
        together: dict[tuple[str, int], list[Binding]] = defaultdict(list)
        for binding in self.bindings:
            if binding.how in _BY_TEXT and binding.number is not None:
                together[binding.task, binding.number].append(binding)
        for shared in together.values():
            is_passage = _differ(shared)
            for binding in shared if len(shared) > 1 else ():
                if is_passage or binding.how in _BY_REQUEST:
                    binding.number, binding.how = None, ""
                    binding.reason = "the only prompt that it holds is in other documents of the task too"

    def _void_strays(self, of_tasks: Mapping[str, Counter[str]]) -> None:
        """Undo what parts of a text say where nearly all else of the task is of another benchmark.

        Benchmarks quote each other: a part of this one's prompt may be all of the other one's.
        """
        for binding in self.bindings:
            if binding.how in _BY_PARTS and binding.number is not None and binding.task not in self.declared.benchmarks:
                counts, benchmark = of_tasks[binding.task], self.prompts.known[binding.number].benchmark
                if counts[benchmark] * _STRAY <= counts.total():
                    binding.number, binding.how = None, ""
                    binding.reason = (
                        f"a part of its text is a prompt of {benchmark}, but the task's other documents are of "
                        f"{counts.most_common(1)[0][0]} (--bind says whose they are)"
                    )

    def _benchmarks_of_tasks(self) -> dict[str, Counter[str]]:
        """How many documents of each task are bound to each benchmark, now and earlier."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for binding in self.bindings:
            if binding.number is not None:
                counts[binding.task][self.prompts.known[binding.number].benchmark] += 1
        for (task, document_hash), there in self.stored.items():
            number = self.prompts.find(*there)
            if number is not None and (task, document_hash) not in self._places:
                counts[task][self.prompts.known[number].benchmark] += 1
        return counts

    def _settle(self, binding: Binding, counts: Counter[str]) -> None:
        benchmarks = {number: self.prompts.known[number].benchmark for number in binding.candidates}
        (first, most), (_, next_most) = (*counts.most_common(2), ("", 0), ("", 0))[:2]
        left = [number for number, benchmark in benchmarks.items() if benchmark == first and most > next_most]
        if not left:  # as where the whole task is in two benchmarks
            named = {benchmark for benchmark in benchmarks.values() if _plain(benchmark) == _plain(binding.task)}
            left = [number for number, benchmark in benchmarks.items() if {benchmark} == named]
        if len(left) == 1:
            binding.number, binding.candidates = left[0], ()
            return
        among = sorted(set(benchmarks.values()))
        ids = sorted({self.prompts.known[number].prompt_id for number in binding.candidates})
        if len(ids) == 1:
            binding.reason = f"prompt {ids[0]} was edited since a coreset pinned it: a content_hash says which is meant"
            return
        same = "of one benchmark" if len(among) == 1 else "of several benchmarks"
        binding.reason = (
            f"{len(binding.candidates)} prompts {same} fit ({', '.join(among[:3])}; "
            f"{', '.join(name[:12] for name in ids[:3])})"
        )


def _differ(bindings: Sequence[Binding]) -> bool:
    """Whether documents of several ids have no form of their right answers in common."""
    answered = [binding for binding in bindings if binding.answers]
    if len({binding.document_id for binding in answered}) < 2:
        return False
    return not frozenset.intersection(*(binding.answers for binding in answered))


def _plain(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())


def _example(document: Document) -> str:
    texts = (document.request, *(value for value in document.record.values() if isinstance(value, str)))
    text = next((" ".join(text.split()) for text in texts if text and text.strip()), "")
    return text if len(text) <= _EXAMPLE_CHARACTERS else f"{text[: _EXAMPLE_CHARACTERS - 1]}…"

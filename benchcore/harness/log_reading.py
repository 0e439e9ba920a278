"""Reading logs, whichever harness wrote them: results are bound to prompts, their scores gathered, the rest noted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from benchcore.errors import BenchcoreError, UsageError
from benchcore.harness.binding import Binder, Declared, mend_ids
from benchcore.harness.documents import Result, Scale
from benchcore.harness.entry import Harness
from benchcore.harness.logs import plain_name
from benchcore.harness.notes import Notes
from benchcore.harness.scores import NoNumber, OffScale, Refused, metric_name, scale_of, score_of
from benchcore.harness.storing import examples_of
from benchcore.harness.tally import Tally, last_of_each
from benchcore.ingest.readers.records import raw_text
from benchcore.ingest.templates import json_text

_LAST_EPOCH = 2**31 - 1  # what the table's column holds

Advance = Callable[[int], None]


@dataclass(frozen=True)
class ImportOptions:
    """What the user says about logs.

    Attributes:
        model: the one model of all logs; where they name one, it is given this name.
        run: the run, for logs that name none; default: the stem of the log's file.
        scales: metric -> scale, `""` for every metric; wins over what a log declares.
        replace: whether a score takes the place of a stored one with the same key.
        bind: `TASK=BENCHMARK`, as written.
        declared: how documents and prompts belong together, apart from `bind`.
        lock_timeout_s: how long to wait for another writer.
    """

    model: str | None = None
    run: str | None = None
    scales: Mapping[str, Scale] = field(default_factory=dict)
    replace: bool = False
    bind: Sequence[str] = ()
    declared: Declared = field(default_factory=Declared)
    lock_timeout_s: float = 3600.0


@dataclass
class Reading:
    """What is known while logs are read."""

    name: str
    harness: Harness
    options: ImportOptions
    binder: Binder
    started: datetime
    notes: Notes = field(default_factory=Notes)
    tally: Tally = field(default_factory=Tally)
    results: int = 0
    of_places: Counter[int] = field(default_factory=Counter)
    models: dict[str, None] = field(default_factory=dict)
    named_models: dict[str, None] = field(default_factory=dict)
    run_was_needed: bool = False
    metrics: set[str] = field(default_factory=set)
    off_scale: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    exemplified: set[tuple[str, str]] = field(default_factory=set)

    def read(self, path: Path, advance: Advance | None) -> None:
        """Take in all results of one path; a harness may have none but for whole tasks.

        Raises:
            UsageError: it is no log of this harness, or a result names no model and neither does the user.
        """
        for result in self.harness.results(path, self.notes) if self.harness.results is not None else ():
            self._take(result)
            if advance is not None:
                advance(1)

    def _take(self, result: Result) -> None:
        self.results += 1
        place = self.binder.add(result.document)
        self.of_places[place] += 1
        model = self._model(result)
        self.models[model] = None
        self.run_was_needed |= not result.run
        run = result.run or self.options.run or Path(plain_name(Path(result.path))).stem
        if not 1 <= result.epoch <= _LAST_EPOCH:
            self.notes.add("unreadable", f"{_named(result)}: its epoch is {result.epoch}, not 1, 2, ...")
            return
        if not result.metrics:
            self.notes.add("without score", f"{_named(result)}: no metric at all")
        for metric, raw in result.metrics.items():
            score = self._score(result, place, metric, raw)
            if score is not None:
                self.tally.add(
                    place,
                    model=model,
                    run=run,
                    metric=metric_name(metric, result.filter),
                    filter=result.filter or "",
                    path=result.path,
                    epoch=result.epoch,
                    score=score,
                    raw_score=raw if isinstance(raw, str) else json_text(raw),
                    time=result.time or self.started,
                )

    def _model(self, result: Result) -> str:
        if result.model.strip() and not result.model_is_guessed:
            self.named_models[result.model] = None
        name = self.options.model or result.model
        if not name.strip():
            raise UsageError("the log names no model", where=result.path, mend="Give --model NAME.")
        return raw_text(name)

    def require_one_model(self) -> None:
        """Where the user names the model: check that the logs are of one, and note what they call it.

        Raises:
            UsageError: they name several.
        """
        if not self.options.model:
            return
        if len(self.named_models) > 1:
            listed = ", ".join(list(self.named_models)[:5])
            raise UsageError(
                f"the logs name {len(self.named_models):,} models ({listed}), which cannot all be {self.options.model}",
                where="--model",
                mend="Import the logs of one model at a time, or leave --model out.",
            )
        for named in self.named_models:
            if named != self.options.model:
                self.notes.add("another name in the log", f"{self.options.model}: named {named} in the log")

    def _score(self, result: Result, place: int, metric: str, raw: Any) -> float | None:
        scale = scale_of(metric, result.filter, self.options.scales, result.scales)
        self.metrics.update((metric, metric_name(metric, result.filter)))
        try:
            score = score_of(raw, scale)
        except Refused as refused:
            name = metric_name(metric, result.filter)
            if isinstance(refused, OffScale):
                self.off_scale[name].add(place)
            mend = "" if isinstance(refused, NoNumber) else f" (--scale '{name}=LOW:HIGH' declares one)"
            self._note("refused", name, f"{_named(result)}: {name}: {refused}{mend}")
            return None
        if score is None:
            name = metric_name(metric, result.filter)
            self._note("without score", name, f"{_named(result)}: {name}")
        return score

    def _note(self, kind: str, metric: str, example: str) -> None:
        """Note a score that is none, with one example a metric: the first one would drown the others."""
        known = (kind, metric) in self.exemplified
        self.exemplified.add((kind, metric))
        self.notes.add_many(kind, [] if known else [example], 1)

    def rows(self) -> pa.Table:
        """The rows for `scores`, each key once; notes what was not bound, doubled, or is of another version."""
        known = [None if binding.number is None else self.binder.known(binding) for binding in self.binder.bindings]
        for place, binding in enumerate(self.binder.bindings):
            if binding.number is None:
                shown = f": {binding.example}" if binding.example else ""
                example = f"task {binding.task!r} document {binding.document_id!r}: {binding.reason}{shown}"
                self.notes.add_many("ambiguous" if binding.candidates else "unmatched", example, self.of_places[place])
        rows = self.tally.rows(
            [None if prompt is None else prompt.prompt_id for prompt in known],
            [None if prompt is None else prompt.content_hash for prompt in known],
            self.name,
        )
        rows = self._on_scale(rows)
        kept, doubled, others = last_of_each(rows)
        self.notes.add_many("doubled", examples_of(doubled), doubled.num_rows)
        self._note_copies(others)
        old = [place for place, prompt in enumerate(known) if prompt is not None and not prompt.current]
        of_old = kept.filter(pc.field("place").isin(pa.array(old, pa.int32())))
        self.notes.add_many("of another version", examples_of(of_old), of_old.num_rows)
        return kept

    def _note_copies(self, replaced: pa.Table) -> None:
        """Say which scores another document of the same prompt has replaced: a copy, or the same in another task."""
        tasks = [binding.task for binding in self.binder.bindings]
        pairs = zip(*([tasks[place] for place in replaced[name].to_pylist()] for name in ("place", "by")), strict=True)
        for (task, other), count in sorted(Counter(pairs).items()):
            if task == other:
                copies = "documents with the same content inside a benchmark: the last counts"
                self.notes.add_many("of copies", copies, count)
            else:
                both = f"task {task!r} has prompts of task {other!r}, in one run with one metric: the latter counts"
                self.notes.add_many("of several tasks", both, count)

    def _on_scale(self, rows: pa.Table) -> pa.Table:
        """Leave out the scores of metrics that go beyond [0, 1] in the same task: a 1 of 10 is not all right."""
        for metric, places in self.off_scale.items():
            tasks = {self._task(place) for place in places}
            others = [place for place in range(len(self.binder.bindings)) if self._task(place) in tasks]
            on_another = (pc.field("metric") == metric) & pc.field("place").isin(pa.array(others, pa.int32()))
            found = rows.filter(on_another)
            example = (
                f"{metric}: {found.num_rows:,} scores are in [0, 1], others are not, so that their scale is not known: "
                f"none is taken (--scale '{metric}=LOW:HIGH' declares it; 0:1 takes those inside)"
            )
            self.notes.add_many("on an unknown scale", example, found.num_rows)
            if found.num_rows:
                rows = rows.filter(~on_another)
        return rows

    def _task(self, place: int) -> str:
        """What has one scale a metric: the task, or the benchmark where a log names no task."""
        binding = self.binder.bindings[place]
        return binding.task or ("" if binding.number is None else self.binder.known(binding).benchmark)

    def require_scores(self, paths: Sequence[Path], rows: pa.Table) -> None:
        """Raises BenchcoreError: no score can be taken, though the logs name metrics: a dump of documents does not."""
        if rows.num_rows or not self.metrics:
            return
        counts, examples = self.notes.counts, self.notes.examples
        refused = counts.get("refused", 0) + counts.get("on an unknown scale", 0)
        missing = counts.get("without score", 0)
        kind = next((kind for kind in ("refused", "without score") if examples.get(kind)), None)
        example = f"; for example {examples[kind][0]}" if kind else ""
        raise BenchcoreError(
            f"no score of its {self.results:,} results can be taken ({refused:,} refused, {missing:,} missing)"
            f"{example}",
            where=", ".join(map(str, paths[:3])),
            mend="Nothing was stored.",
        )

    def require_matches(self, paths: Sequence[Path]) -> None:
        """Raises BenchcoreError: there are no results, or none of them belongs to a prompt."""
        where = ", ".join(map(str, paths[:3]))
        if not self.results:
            raise BenchcoreError(f"no result of {self.name} was found{_why(self.notes)}", where=where)
        if any(binding.number is not None for binding in self.binder.bindings):
            return
        first = self.binder.bindings[0]
        tasks = sorted({binding.task for binding in self.binder.bindings})
        named = ", ".join(repr(task) for task in tasks[:3]) + (f" and {len(tasks) - 3} more" if len(tasks) > 3 else "")
        if self.harness.by_record_id and first.example in ("", first.task, first.document_id):  # it shows no text
            raise BenchcoreError(
                f"none of the {len(self.binder.bindings):,} ids is one of a prompt; for example {first.document_id!r}",
                where=where,
                mend=mend_ids(self.binder.prompts, [self.binder.declared.benchmarks.get(task, task) for task in tasks]),
            )
        shown = f"{first.document_id!r}: {first.example!r}" if first.example else repr(first.document_id)
        raise BenchcoreError(
            f"none of the {len(self.binder.bindings):,} documents of task {named} is a prompt of this registry; "
            f"for example {shown} ({first.reason})",
            where=where,
            mend="Another version of the task, or a benchmark that was never ingested? --prompt '{{ field }}' says "
            "what the prompt is in the harness's records, a CONF with sources lets these say it.",
        )


def _named(result: Result) -> str:
    return f"{result.path}: task {result.document.task!r} document {result.document.document_id!r}"


def _why(notes: Notes) -> str:
    """What the notes say, for an error."""
    return "".join(f"; {kind}: {count:,} ({notes.examples[kind][0]})" for kind, count in notes.counts.items())

"""A coreset in a harness's own format: picks with the documents that they are, a command, and what was left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

import orjson

from benchcore.errors import BenchcoreError, UsageError
from benchcore.harness.binding import (
    Binder,
    Declared,
    load_prompts,
    parse_benchmarks,
    store_bindings,
    stored_bindings,
)
from benchcore.harness.documents import Document
from benchcore.harness.entry import Harness
from benchcore.harness.folder import export_folder, require_usable
from benchcore.harness.logs import require_readable
from benchcore.harness.notes import Notes
from benchcore.harness.picks import Exported
from benchcore.harness.pinned import Pinned, pinned_picks
from benchcore.harness.readme import readme
from benchcore.registry.identity import digest
from benchcore.registry.lock import writer_lock
from benchcore.registry.manifests import Manifest
from benchcore.registry.root import Registry
from benchcore.registry.runs import new_run_id, record_run

LEFT_OUT = "left_out.jsonl"
_ID = re.compile(r"\w{1,64}")
_LOST = "it was edited or purged since, and the version that the coreset pins cannot be read any more"


@dataclass(frozen=True)
class ExportOptions:
    """What the user says about a harness's documents.

    Attributes:
        documents: logs or dumps that show them.
        bind: `TASK=BENCHMARK`, as written.
        declared: how documents and prompts belong together, apart from `bind`.
        older: a coreset whose picks are not exported again.
        lock_timeout_s: how long to wait for another writer.
    """

    documents: Sequence[Path] = ()
    bind: Sequence[str] = ()
    declared: Declared = field(default_factory=Declared)
    older: Manifest | None = None
    lock_timeout_s: float = 3600.0


@dataclass(frozen=True)
class ExportOutcome:
    """What an export did.

    Attributes:
        out: the folder.
        picks: of the coreset; where an older one is named, those that it lacks.
        exported: picks that the harness will run.
        edited: picks whose prompt was edited since; exported as the coreset pins them.
        retired: picks whose prompt is gone from its benchmark since; exported all the same.
        left_out: reason -> how many picks; they are listed in `left_out.jsonl`.
        bindings: rows added to, or replaced in, the table `bindings`.
        command: exactly what to run in the folder.
        remarks: what is to be known about the harness.
        files: names below the folder.
        notes: what was noticed while reading documents.
        older: id of the coreset whose picks were left out, if any.
    """

    out: Path
    picks: int
    exported: int
    edited: int
    retired: int
    left_out: Mapping[str, int]
    bindings: int
    command: str
    remarks: tuple[str, ...]
    files: tuple[str, ...]
    notes: Notes
    older: str | None = None


def export_coreset(
    registry: Registry, manifest: Manifest, name: str, harness: Harness, out: Path, *, options: ExportOptions
) -> ExportOutcome:
    """Write a coreset for a harness, after binding the harness's documents where the user shows them.

    Args:
        registry: holds the coreset.
        manifest: of the coreset.
        name: of the harness, as in `HARNESSES`.
        harness: its exporter.
        out: the folder: absent, empty, or that of an earlier export of the same.
        options: the documents, and how they are bound.

    Raises:
        UsageError: the harness has no export, or `out` holds something else.
        BenchcoreError: no pick can be exported.
    """
    if harness.export is None:
        raise UsageError(f"there is no export for {name}", mend="See docs/harnesses.md for those that there are.")
    if not _ID.fullmatch(manifest.coreset_id):  # it becomes a part of files' names and of commands
        raise BenchcoreError(f"'{manifest.coreset_id}' is no id of a coreset", where=registry.root)
    require_usable(out, manifest.coreset_id, name, Path(registry.root) if registry.is_local else None)
    notes = Notes()
    bindings = bind_documents(registry, name, harness, options, notes) if options.documents else 0
    pinned = pinned_picks(registry, manifest, name, options.older)
    unbound = [pick for pick in pinned.picks if harness.needs_documents and not pick.documents]
    picks = [pick for pick in pinned.picks if not (harness.needs_documents and not pick.documents)]
    if not picks:
        raise _nothing(name, manifest, pinned)
    with export_folder(out, manifest.coreset_id, name) as folder:
        made = harness.export(manifest.coreset_id, picks, folder)
        left_out = [
            *((pick.prompt_id, pick.benchmark, reason) for pick, reason in made.left_out),
            *((pick.prompt_id, pick.benchmark, f"no document of {name} is bound to it") for pick in unbound),
            *((row["prompt_id"], row["benchmark"], _LOST) for row in pinned.lost),
        ]
        if len(made.left_out) == len(picks):
            raise _nothing(name, manifest, pinned, made.left_out[0][1])
        total = len(pinned.picks) + len(pinned.lost)
        outcome = ExportOutcome(
            out=out,
            picks=total,
            exported=total - len(left_out),
            edited=pinned.edited,
            retired=pinned.retired,
            left_out=dict(Counter(reason for _, _, reason in left_out).most_common()),
            bindings=bindings,
            command=made.command,
            remarks=made.remarks,
            files=_files(made, folder, left_out),
            notes=notes,
            older=None if options.older is None else options.older.coreset_id,
        )
        text = readme(manifest.coreset_id, name, harness, outcome, registry.root)
        (folder / "README.md").write_text(text, encoding="utf-8")
        if left_out:
            (folder / LEFT_OUT).write_bytes(_lines(left_out))
    return outcome


def bind_documents(registry: Registry, name: str, harness: Harness, options: ExportOptions, notes: Notes) -> int:
    """Bind the documents that logs or dumps of a harness show; gives how many rows of `bindings` are new.

    Raises:
        UsageError: a path is neither a log nor a dump of this harness.
    """
    with writer_lock(registry, "export", options.lock_timeout_s) as held:
        started = datetime.now(UTC)
        prompts = load_prompts(held)
        benchmarks = parse_benchmarks(options.bind, prompts.benchmarks())
        declared = replace(options.declared, benchmarks=benchmarks, by_record_id=harness.by_record_id)
        binder = Binder(prompts, name, declared, stored_bindings(held, name))
        for path in options.documents:
            for document in documents_of(harness, name, path, notes):
                binder.add(document)
        binder.settle()
        for binding in binder.bindings:
            if binding.number is None:
                kind = "ambiguous" if binding.candidates else "unmatched"
                where = f"task {binding.task!r} document {binding.document_id!r}"
                notes.add(kind, f"{where}: {binding.reason}: {binding.example}")
        _require_bound(name, binder, options.documents)
        added = store_bindings(held, binder)
        if added:
            record_run(
                held,
                new_run_id(),
                command="export",
                configuration_hash=digest("export", name, [str(path) for path in options.documents]),
                started=started,
                outcome="done",
                counts={"export": {"documents": len(binder.bindings), "bindings": added}},
            )
        return added


def _require_bound(name: str, binder: Binder, documents: Sequence[Path]) -> None:
    """Raises BenchcoreError: the documents are none of the registry's prompts; without them, others would run."""
    if any(binding.number is not None for binding in binder.bindings):
        return
    first = next(iter(binder.bindings), None)
    example = "" if first is None else f"; for example {first.document_id!r}: {first.example!r} ({first.reason})"
    raise BenchcoreError(
        f"none of the {len(binder.bindings):,} documents of {name} in it is a prompt of this registry{example}",
        where=", ".join(map(str, documents[:3])),
        mend="Another version of the task? --bind says whose a task's documents are, --prompt '{{ field }}' what the "
        "prompt is in the harness's records.",
    )


def documents_of(harness: Harness, name: str, path: Path, notes: Notes) -> Iterator[Document]:
    """The documents in a log or, where the harness has such, a dump of its documents.

    Raises:
        UsageError: it is neither.
    """
    require_readable(path)
    ways: list[Callable[[], Iterator[Document]]] = []
    dump, logs = harness.documents, harness.results
    if logs is not None:
        ways.append(lambda: (result.document for result in logs(path, notes)))
    if dump is not None:
        ways.append(lambda: dump(path, notes))
    if not ways:
        raise UsageError(f"documents of {name} cannot be read", where=str(path))
    for number, way in enumerate(ways):
        stream = way()
        try:
            first = next(stream, None)
        except UsageError:
            if number == len(ways) - 1:
                raise
            continue
        if first is not None or number == len(ways) - 1:
            return stream if first is None else chain((first,), stream)
    return iter(())


def _nothing(name: str, manifest: Manifest, pinned: Pinned, reason: str | None = None) -> BenchcoreError:
    if reason is not None:
        return BenchcoreError(f"{name} can run none of its picks: {reason}", where=f"coreset {manifest.coreset_id}")
    if not pinned.picks:
        return BenchcoreError("the version of the prompts that it pins cannot be read", where=manifest.coreset_id)
    return BenchcoreError(
        f"none of the {len(pinned.picks):,} picks is bound to a document of {name}",
        where=f"coreset {manifest.coreset_id}",
        mend="Show its documents once: --documents with a log of a run, however small, over the whole tasks.",
    )


def _files(made: Exported, folder: Path, left_out: Sequence[object]) -> tuple[str, ...]:
    names = [file.relative_to(folder).as_posix() if file.is_absolute() else file.as_posix() for file in made.files]
    return (*names, "README.md", *((LEFT_OUT,) if left_out else ()))


def _lines(left_out: Sequence[tuple[str, str, str]]) -> bytes:
    keys = ("prompt_id", "benchmark", "reason")
    return b"".join(orjson.dumps(dict(zip(keys, row, strict=True))) + b"\n" for row in left_out)

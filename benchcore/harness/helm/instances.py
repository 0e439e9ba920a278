"""HELM's instances: in run folders, and as `helm-run --cache-instances` keeps them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeGuard

from benchcore.errors import UsageError
from benchcore.harness.content import content_digest
from benchcore.harness.documents import Document
from benchcore.harness.logs import files_at, plain_name, read_document
from benchcore.harness.notes import Notes

NAME = "helm"
CACHED = "input_instances.json"
FOLDER = "scenario_instances"
EVALUATED = ("test", "valid")
_CORRECT = "correct"


def read_documents(path: Path, notes: Notes) -> Iterator[Document]:
    """Yield the evaluated instances of all scenarios cached below a folder.

    A scenario's name is the path of its folder below `scenario_instances`. Ids are given by position where any is
    missing, as HELM does it.

    Raises:
        UsageError: nothing is cached there.
    """
    files = [file for file in files_at(path, lambda name: name == CACHED) if plain_name(file) == CACHED]
    if not files:
        raise UsageError(
            f"holds no {CACHED}",
            where=str(path),
            mend=f"helm-run --cache-instances-only writes them below OUTPUT/{FOLDER}; give that folder.",
        )
    base = path / FOLDER if (path / FOLDER).is_dir() else path
    for file in files:
        scenario = _scenario(file.parent, base)
        found = read_document(file)
        if not isinstance(found, list):
            notes.add("unreadable", f"{file}: no list of instances")
            continue
        positional = any(not isinstance(one, dict) or one.get("id") is None for one in found)
        for at, instance in enumerate(found):
            if not is_instance(instance):
                notes.add("unreadable", f"{file}, instance {at}")
            elif instance.get("split") in EVALUATED:
                yield document_of(instance, scenario, f"id{at}" if positional else str(instance["id"]))


def is_instance(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether a value has an input with a text and a list of references."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("input"), dict)
        and isinstance(value["input"].get("text", ""), str)
        and isinstance(value.get("references", []), list)
        and all(isinstance(one, dict) for one in value.get("references", []))
    )


def document_of(instance: Mapping[str, Any], scenario: str, instance_id: str, version: str | None = None) -> Document:
    """An instance as a document: its own text, without the examples and instructions that a run sends with it."""
    texts = [_text(reference) for reference in instance.get("references", [])]
    right = [_text(reference) for reference in instance.get("references", []) if _is_correct(reference)]
    return Document(
        harness=NAME,
        task=scenario,
        document_id=instance_id,
        document_hash=instance_digest(instance),
        record=dict(instance),
        request=instance["input"].get("text"),
        answer=right[0] if right else None,
        choices=tuple(texts) if len(texts) > 1 else (),
        version=version,
    )


def instance_digest(instance: Mapping[str, Any]) -> str:
    """Hash what an instance asks and what counts as right; `subset.py`, which we hand out, does the same."""
    return content_digest(NAME, instance["input"], instance.get("references", []))


def _is_correct(reference: Mapping[str, Any]) -> bool:
    tags = reference.get("tags")
    return isinstance(tags, list) and _CORRECT in tags


def _text(reference: Mapping[str, Any]) -> str:
    output = reference.get("output")
    return str(output.get("text", "")) if isinstance(output, dict) else ""


def _scenario(folder: Path, base: Path) -> str:
    """The path below `scenario_instances`; arguments may hold slashes, so that a name can be several folders."""
    parts = folder.parts
    if FOLDER in parts:
        return "/".join(parts[len(parts) - parts[::-1].index(FOLDER) :])
    return folder.relative_to(base).as_posix() if folder != base else folder.name

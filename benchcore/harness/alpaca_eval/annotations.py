"""alpaca_eval's annotations: which of two outputs an annotator prefers, instruction by instruction."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchcore.errors import BenchcoreError, UsageError
from benchcore.harness.content import content_digest
from benchcore.harness.documents import Document, Result, Scale
from benchcore.harness.logs import files_at, read_document
from benchcore.harness.notes import Notes

NAME = "alpaca-eval"
PREFERENCE = Scale(1.0, 2.0)  # 1: the reference wins, 2: the model does


def read_results(path: Path, notes: Notes) -> Iterator[Result]:
    """Yield the annotations of all `annotations.json` at or below a path; the model is the second generator.

    Raises:
        UsageError: there are none.
        BenchcoreError: a file cannot be read, or is no list.
    """
    files = files_at(path, lambda name: name == "annotations.json")
    if not files:
        raise UsageError("holds no annotations.json", where=str(path))
    for file in files:
        found = read_document(file)
        if not isinstance(found, list):
            raise BenchcoreError("is no list of annotations", where=str(file))
        for at, annotation in enumerate(found):
            result = _result(annotation, file)
            if result is None:
                notes.add("unreadable", f"{file}, annotation {at}: lacks instruction, preference or a generator")
            else:
                yield result


def instruction_digest(instruction: str) -> str:
    """Hash an instruction; the script that we hand out does the same."""
    return content_digest(NAME, instruction)


def _result(annotation: Any, file: Path) -> Result | None:
    if not isinstance(annotation, dict) or "preference" not in annotation:
        return None
    instruction, model = annotation.get("instruction"), annotation.get("generator_2")
    if not isinstance(instruction, str) or not isinstance(model, str):
        return None
    digest = instruction_digest(instruction)
    preference = annotation["preference"]
    return Result(
        document=Document(
            harness=NAME,
            task="alpaca_eval",
            document_id=digest,  # outputs are joined by the instruction's text: there is no other name
            document_hash=digest,
            record={key: annotation[key] for key in ("instruction", "dataset", "prompt_id") if key in annotation},
            request=instruction,
        ),
        model=model,
        run=f"{annotation.get('annotator', 'unknown')} against {annotation.get('generator_1', 'unknown')}",
        metrics={"preference": preference if isinstance(preference, int | float) else None},
        path=str(file),
        scales={"preference": PREFERENCE},
    )

"""What harnesses' logs hold, whichever harness wrote them: the documents that it evaluates, and results on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

RawScore = bool | int | float | str | None


@dataclass(frozen=True)
class Document:
    """What a harness evaluates, as its log or a dump of its documents shows it.

    Attributes:
        harness: name of the harness, as in `HARNESSES`.
        task: the harness's own name of the task.
        document_id: the harness's own name of the document inside the task, as text: what its subset option takes.
        document_hash: the harness's hash of the content where it has one, else ours; never of the position.
        record: the harness's own record, JSON-able; templates see its fields.
        request: the text that the model was sent, where the log holds it.
        answer: what counts as right, where the log holds it.
        choices: the options, where the log holds them.
        version: of the task or of the harness, where the log holds it.
    """

    harness: str
    task: str
    document_id: str
    document_hash: str
    record: Mapping[str, Any]
    request: str | None = None
    answer: str | None = None
    choices: tuple[str, ...] = ()
    version: str | None = None


@dataclass(frozen=True)
class Scale:
    """From where to where raw scores go, and whether lower ones are better."""

    low: float
    high: float
    lower_is_better: bool = False


@dataclass(frozen=True)
class Result:
    """What one model got on one document in one run.

    Attributes:
        document: what was evaluated.
        model: as the log names it.
        run: name of the run: two logs of one model differ in it, a log read twice does not.
        epoch: number of the repetition inside the run, from 1.
        filter: which answer extraction the scores belong to, where the harness has several.
        metrics: metric -> score as the log has it; None, NaN: not scored.
        scales: metric -> its scale, where the log declares one.
        path: the log file, for messages and for the column `source_path`.
        time: when the run was made, with its time zone; None where the log does not say.
        model_is_guessed: whether the log names no model, and `model` is only what its folder is called.
    """

    document: Document
    model: str
    run: str
    metrics: Mapping[str, RawScore]
    path: str
    epoch: int = 1
    filter: str | None = None
    scales: Mapping[str, Scale] = field(default_factory=dict)
    time: datetime | None = None
    model_is_guessed: bool = False

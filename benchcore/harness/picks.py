"""What an exporter is given: the picks of a coreset with their prompts and the harness's documents bound to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Bound:
    """A harness's document that a prompt is bound to (a row of the table `bindings`)."""

    task: str
    document_id: str
    document_hash: str
    version: str | None


@dataclass(frozen=True)
class Pick:
    """One pick.

    Attributes:
        rank: from 0.
        role: `core` or `audit`.
        weight: for the whole suite.
        metadata: decoded.
        documents: those of the harness at hand that are bound to the prompt; empty where none is known.
    """

    rank: int
    prompt_id: str
    content_hash: str
    benchmark: str
    category: str
    role: str
    weight: float
    prompt: str
    answer: str | None
    choices: tuple[str, ...]
    task: str | None
    split: str | None
    language: str | None
    record_id: str | None
    source: str
    path: str
    source_row: int
    metadata: Mapping[str, Any]
    documents: tuple[Bound, ...] = ()


@dataclass(frozen=True)
class Exported:
    """What an exporter wrote.

    Attributes:
        files: below the output folder.
        command: exactly what to run, a line or more of shell, paths relative to the output folder.
        remarks: what the user should know about this harness, one line each; they go into the README of the folder.
        left_out: picks that this harness cannot run, with the reason.
    """

    files: tuple[Path, ...]
    command: str
    remarks: tuple[str, ...] = ()
    left_out: tuple[tuple[Pick, str], ...] = ()

"""The file that says how somebody's logs are to be read: what is the id or the prompt, the score, the model."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError, field_validator, model_validator

from benchcore.config import Section
from benchcore.errors import UsageError


class LogMap(Section):
    """A declared mapping; each value but `format` is a template over a row's fields, `path` and `key`."""

    format: Literal["json-lines", "json-list", "json-object", "json", "csv", "tsv", "parquet"] | None = Field(
        None, description="default: what the file's name says"
    )
    encoding: str = "utf-8"
    header: bool = True
    columns: tuple[str, ...] | None = None
    quotes: bool = True
    delimiter: str | None = Field(None, min_length=1, max_length=1, description="of csv and tsv, e.g. ';'")
    explode: str | None = Field(None, description="expression that gives the list of results in a record")
    benchmark: str | None = Field(None, description="with `id`: whose record ids these are")
    id: str | None = Field(None, description="the record id that the registry's source declares, or a prompt_id")
    prompt: str | None = Field(None, description="the prompt's text")
    answer: str | None = None
    choices: str | tuple[str, ...] | None = None
    score: str | dict[str, str] = Field(description="one template, or metric -> template")
    scale: str | dict[str, str] | None = Field(None, description="LOW:HIGH or [LOW, HIGH], or metric -> one")
    model: str | None = None
    run: str | None = None
    task: str | None = None
    epoch: str | None = None
    filter: str | None = None

    @field_validator("scale", mode="before")
    @classmethod
    def _as_text(cls, scale: Any) -> Any:
        if isinstance(scale, Mapping):
            return {metric: _ends(bounds) for metric, bounds in scale.items()}
        return _ends(scale)

    @model_validator(mode="after")
    def _says_what_is_scored(self) -> LogMap:
        if self.id is None and self.prompt is None:
            raise ValueError("it needs 'id' (with 'benchmark') or 'prompt', which say what was scored")
        metrics = {"score"} if isinstance(self.score, str) else set(self.score)
        if not metrics:
            raise ValueError("score: it names no metric")
        others = set(self.scale) - metrics if isinstance(self.scale, dict) else set()
        if others:
            raise ValueError(f"scale: '{min(others)}' is no metric; there are {', '.join(sorted(metrics))}")
        return self


def _ends(scale: Any) -> Any:
    """A scale as text: as it is, or from a list of its two ends."""
    if isinstance(scale, list | tuple) and len(scale) == 2:
        return f"{scale[0]}:{scale[1]}"
    if scale is None or isinstance(scale, str):
        return scale
    raise ValueError(f'put it in quotes, "1:10", or write [1, 10]; without quotes YAML reads it as {scale}')


def read_map(file: Path) -> LogMap:
    """Read a mapping.

    Raises:
        UsageError: it cannot be read, or a key is unknown (names the nearest) or missing.
    """
    try:
        tree = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise UsageError(f"cannot be read ({reason})", where=str(file), mend="Check the path.") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UsageError(f"is not valid YAML ({str(error).splitlines()[0]})", where=str(file)) from None
    if not isinstance(tree, dict):
        raise UsageError("is no YAML mapping", where=str(file), mend="See docs/harnesses.md for an example.")
    try:
        return LogMap.model_validate(tree)
    except ValidationError as error:
        raise _fault(error, file) from None


def _fault(error: ValidationError, file: Path) -> UsageError:
    faults = error.errors()
    first = next((fault for fault in faults if fault["type"] == "extra_forbidden"), faults[0])
    key = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        near = difflib.get_close_matches(key, LogMap.model_fields, n=1, cutoff=0.5)
        mend = f"Did you mean '{near[0]}'?" if near else f"Known keys: {', '.join(LogMap.model_fields)}."
        return UsageError(f"unknown key '{key}'", where=str(file), mend=mend)
    if first["type"] == "missing":
        return UsageError(f"the key '{key}' is missing", where=str(file))
    message = first["msg"].removeprefix("Value error, ")
    return UsageError(f"{key}: {message}" if key else message, where=str(file))

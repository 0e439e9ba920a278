"""What an encoder sees of a prompt: a template over the canonical columns, rendered in a sandbox."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson
import pyarrow as pa
from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, meta

from benchcore.config import EmbedSection
from benchcore.errors import BenchcoreError, UsageError
from benchcore.registry.identity import text_hash
from benchcore.template_sandbox import Sandbox, TooSlow, rendered, within_time

COLUMNS = (
    "prompt", "answer", "choices", "task", "category", "language", "metadata",
    "benchmark", "item_group", "split", "tags", "prompt_id",
)  # fmt: skip
_LISTS = ("choices", "tags")

# The user's own vectors belong to prompts, not to what the prompts say.
_TEMPLATE_OF_VECTORS = "{{ prompt_id }}"


class Renderer:
    """Renders the text of prompts and names it by its hash.

    Args:
        embed: its template; where vectors are the user's own, a text is the prompt's id.
        said: take the template though vectors are the user's own.

    Attributes:
        columns: those of the table `prompts` that the template uses, `prompt_id` always among them.

    Raises:
        UsageError: the template is no template, or uses a column that there is not; names the nearest one.
    """

    def __init__(self, embed: EmbedSection, *, said: bool = False) -> None:
        source = _TEMPLATE_OF_VECTORS if embed.encoder.vectors and not said else embed.text
        # Not optimized: constants would be folded while compiling, before anything is bounded.
        environment = Sandbox(
            undefined=StrictUndefined,
            finalize=_printed,
            autoescape=False,
            keep_trailing_newline=True,
            optimized=False,
        )
        try:
            used = meta.find_undeclared_variables(environment.parse(source))
            self._template = environment.from_string(source)
        except TemplateSyntaxError as error:
            raise UsageError(f"is not a template ({error.message})", where=f"embed.text: {source!r}") from None
        except TemplateError as error:
            raise UsageError(f"cannot be compiled ({error})", where=f"embed.text: {source!r}") from None
        _refuse_unknown(used, source)
        self.columns = tuple(column for column in COLUMNS if column in used or column == "prompt_id")

    def render(self, row: Mapping[str, Any]) -> str:
        """Render one prompt.

        Args:
            row: the prompt's values by column; only `columns` are looked at.

        Raises:
            BenchcoreError: the template fails on this prompt; names it.
        """
        values = {column: _value(column, row.get(column)) for column in self.columns}
        try:
            return within_time(lambda: rendered(self._template.generate(values))).strip()
        except TooSlow as error:
            raise BenchcoreError(error.what, f"embed.text, prompt {row.get('prompt_id')}", error.mend) from None
        except Exception as error:  # a template may raise anything: it computes with what the record holds
            raise BenchcoreError(
                f"the template fails on prompt {row.get('prompt_id')}: {type(error).__name__}: {error}",
                where="embed.text",
                mend="Guard the expression, as in {{ answer if answer else prompt }}.",
            ) from None

    def texts(self, rows: pa.Table | pa.RecordBatch) -> Iterator[str]:
        """Render prompts in their order; `rows` holds at least `columns`."""
        for row in rows.select(list(self.columns)).to_pylist():
            yield self.render(row)

    def hashes(self, rows: pa.Table | pa.RecordBatch) -> list[str]:
        """Name the text of each prompt, in their order: the `text_hash` of the table `embeddings`."""
        return [text_hash(text) for text in self.texts(rows)]


class _Metadata(dict[str, Any]):
    """Fields that only some benchmarks have print nothing for the others."""

    def __missing__(self, key: str) -> str:
        return ""


def _value(column: str, value: Any) -> Any:
    if column == "metadata":
        return _Metadata(orjson.loads(value)) if value else _Metadata()
    if column in _LISTS:
        return list(value or ())
    return "" if value is None else value


def _printed(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return "\n".join(str(item) for item in value)
    return value


def _refuse_unknown(used: set[str], source: str) -> None:
    unknown: Sequence[str] = sorted(used - set(COLUMNS))
    if not unknown:
        return
    near = difflib.get_close_matches(unknown[0], COLUMNS, n=1, cutoff=0.5)
    mend = f"Did you mean '{near[0]}'?" if near else f"There are {', '.join(COLUMNS)}."
    raise UsageError(f"there is no column '{unknown[0]}'", where=f"embed.text: {source!r}", mend=mend)

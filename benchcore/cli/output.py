"""Results on stdout: JSON for scripts, tables for people."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from benchcore.errors import BenchcoreError
from benchcore.visible_text import visible

if TYPE_CHECKING:
    from rich.table import Table

# Where stdout is no terminal, a table is as wide as its rows are, up to here; on one, its own width counts.
_WIDTH_IN_A_FILE = 400


def print_json(value: Any) -> None:
    """Write one JSON document; what JSON lacks (NaN) becomes null."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY
    try:
        encoded = orjson.dumps(value, option=options, default=str)
    except TypeError:  # texts that are no Unicode, as the names of files may be
        encoded = orjson.dumps(_unicode(value), option=options, default=str)
    print_line(encoded.decode())


def print_line(line: str = "") -> None:
    """Write one line; what would steer a terminal is spelled out, in JSON by escapes that mean the same."""
    with writing():
        sys.stdout.write(visible(line) + "\n")


def _unicode(value: Any) -> Any:
    """A value without lone surrogates in its texts: they come out as escapes."""
    if isinstance(value, str | Path):
        return str(value).encode(errors="backslashreplace").decode()
    if isinstance(value, Mapping):
        return {_unicode(key): _unicode(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_unicode(inner) for inner in value]
    return value


@contextmanager
def writing() -> Iterator[None]:
    """Tell in one line what keeps stdout from being written to (but for a reader that has gone, as `head` does)."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:  # a full disk, say; or closed
        drop_output()
        raise BenchcoreError(f"cannot be written ({getattr(error, 'strerror', None) or error})", "stdout") from None


def drop_output() -> None:
    """Send to nowhere what stdout still holds, so that the interpreter does not try it again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def table(title: str | None, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """A table without frame; columns whose name ends in '#' are numbers, to the right."""
    from rich.table import Table
    from rich.text import Text

    made = Table(title=title, title_justify="left", box=None, pad_edge=False, title_style="bold", show_header=True)
    for column in columns:
        number = column.endswith("#")
        made.add_column(column.removesuffix("#"), justify="right" if number else "left", overflow="fold")
    for row in rows:
        made.add_row(*(Text(shown(value)) for value in row))  # Text: what comes from tables is no markup
    return made


def print_table(title: str | None, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table, and a blank line after it."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else _WIDTH_IN_A_FILE
    console = Console(file=sys.stdout, width=width, highlight=False)
    with console.capture() as captured:
        console.print(table(title, columns, rows))
    for line in captured.get().splitlines():
        print_line(line.rstrip())
    print_line()


def shown(value: object) -> str:
    """A value as a table shows it: numbers short, what is absent as a dash, control characters as escapes."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in str(value)
    )

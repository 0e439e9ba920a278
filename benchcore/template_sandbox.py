"""Templates from outside in Jinja's sandbox, bounded: what one may make, and how long it may take for it.

Bounds keep a record, or a slip in a template, from using up a machine. They are no walls against a template that is
made to waste: docs/security.md says what remains.
"""

from __future__ import annotations

import functools
import re
import signal
import threading
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any, ParamSpec, TypeVar

from jinja2 import nodes
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from benchcore.errors import BenchcoreError

SECONDS = 10.0  # of processor time, for the templates of one record; they take microseconds
MOST = 100_000_000  # characters of a text
MOST_ELEMENTS = 10_000_000  # of a list
_LARGEST_PRODUCT = 1_000_000
_PADDING = ("center", "ljust", "rjust", "zfill", "expandtabs", "indent", "batch", "slice", "to_bytes")
_REPLACING = ("replace", "regex_replace")
_MOST_REPLACED = 1_000_000_000  # characters to replace in, times those of a replacement
# A large width in a format, or one that is taken from a value.
_WIDE = {
    "%": re.compile(r"%[^%a-zA-Z]*([0-9]{6,}|\*)"),
    "format": re.compile(r"\{[^{}]*([0-9]{6,}|\{)"),
    "format_map": re.compile(r"\{[^{}]*([0-9]{6,}|\{)"),
}

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class TooSlow(BenchcoreError):
    """Templates took more processor time for one record than they may."""


class _TimeIsUp(BaseException):
    """Passes through whatever handles the errors of a template."""


def within_time(
    function: Callable[Arguments, Result], *arguments: Arguments.args, **options: Arguments.kwargs
) -> Result:
    """Call a function that renders templates, and stop it after `SECONDS` of this process's processor time.

    Searches by regular expressions are stopped, too. Only a process's main thread can be: elsewhere nothing is.

    Raises:
        TooSlow: it was stopped. It raises, rather than to reject a record, since a slower machine must not give other
            rows, and since a file may hold a million such records.
    """
    if threading.current_thread() is not threading.main_thread():
        return function(*arguments, **options)
    _install()
    outer, _ = signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        return function(*arguments, **options)
    except _TimeIsUp:
        raise TooSlow(
            f"templates take more than {SECONDS:g} s of processor time for one record",
            mend="Mend the template (often a regular expression), or leave the file out.",
        ) from None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, outer)


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja's sandbox, in which no step makes more than `MOST` characters or elements.

    Repetition, powers, padding and formats are looked at before they are done, everything else after.
    """

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        del self.globals["lipsum"]
        self.filters = {name: bounded_filter(name, function) for name, function in self.filters.items()}
        self.filters["joined"] = _joined

    def _generate(self, source: nodes.Template, *arguments: Any, **options: Any) -> str:
        return super()._generate(_Concatenation().visit(source), *arguments, **options)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        size = _size_of(operator, left, right)
        if size > _LARGEST_PRODUCT:
            raise SecurityError(f"'{operator}' would give a value of {size:,} characters or digits")
        if operator == "%":
            _require_small(operator, left)
        return bounded(super().call_binop(context, operator, left, right))

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        owner = getattr(getattr(__obj, "__wrapped__", __obj), "__self__", None)  # `format` comes wrapped by Jinja
        if isinstance(owner, str | bytes | int):
            _require_small(__obj.__name__, owner, *args, *kwargs.values())
        return bounded(super().call(__context, __obj, *args, **kwargs))


class _Concatenation(NodeTransformer):
    """Makes `a ~ b` a filter, which is bounded as all are."""

    def visit_Concat(self, node: nodes.Concat) -> nodes.Filter:
        self.generic_visit(node)
        made = {"lineno": node.lineno, "environment": node.environment}
        return nodes.Filter(nodes.List(node.nodes, **made), "joined", [], [], None, None, **made)


def bounded(value: Any) -> Any:
    """A value as it is, if it is not too large.

    Raises:
        SecurityError: it has more than `MOST` characters, or more than `MOST_ELEMENTS`.
    """
    most = MOST if isinstance(value, str | bytes) else MOST_ELEMENTS if isinstance(value, list | tuple | dict) else None
    if most is not None and len(value) > most:
        raise SecurityError(f"a value has more than {most:,} characters or elements")
    return value


def rendered(pieces: Iterable[str]) -> str:
    """Put together what a template gives piece by piece, up to `MOST` characters.

    Raises:
        SecurityError: it gives more.
    """
    kept: list[str] = []
    characters = 0
    for piece in pieces:
        kept.append(piece)
        characters += len(piece) + 1  # so that empty pieces come to an end as well
        if characters > MOST:
            raise SecurityError(f"the template gives more than {MOST:,} characters")
    return "".join(kept)


def _joined(parts: Iterable[Any]) -> str:
    return rendered(str(part) for part in parts)


def bounded_filter(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that makes no more than `MOST` characters or elements."""
    first = 1 if hasattr(function, "jinja_pass_arg") else 0  # before it stands the context

    @functools.wraps(function)  # keeps Jinja's mark of what a filter is passed
    def filtered(*arguments: Any, **options: Any) -> Any:
        _require_small("%" if name == "format" else name, *arguments[first:], *options.values())
        return bounded(function(*arguments, **options))

    return filtered


def _require_small(name: str, value: Any = None, *given: Any) -> None:
    """Refuse a filter or a method whose result would be huge, before it is made."""
    too_large = SecurityError(f"'{name}' would give a value that is too large")
    text = value if isinstance(value, str) else ""
    places = text.count("\n") + text.count("\t") + 1  # where a line is indented or a tab made blanks
    if name in _PADDING and any(places * abs(width) > MOST for width in given if isinstance(width, int)):
        raise too_large
    if name in _REPLACING and any(len(text) * len(put) > _MOST_REPLACED for put in given[1:] if isinstance(put, str)):
        raise too_large
    if name in _WIDE and _WIDE[name].search(text.replace("{{", "").replace("%%", "")):
        raise SecurityError("a width in a format is too large, or taken from a value")


def _size_of(operator: str, left: Any, right: Any) -> int:
    """About how large the result of a repetition or a power would be."""
    if operator == "**":
        return int(abs(right)) * len(str(left)) if isinstance(left, int) and isinstance(right, int) else 0
    for sequence, times in ((left, right), (right, left)):
        if operator == "*" and isinstance(sequence, str | bytes | list | tuple) and isinstance(times, int):
            return len(sequence) * max(0, times)
    return 0


@functools.cache
def _install() -> None:
    signal.signal(signal.SIGVTALRM, _end)


def _end(_signal: int, _frame: FrameType | None) -> None:
    raise _TimeIsUp

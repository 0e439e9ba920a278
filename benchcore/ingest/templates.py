"""The one template language of sources: sandboxed Jinja, where a lone expression keeps its type."""

from __future__ import annotations

import difflib
import functools
import json
import math
import re
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, ValuesView
from itertools import islice
from typing import Any, TypeVar

from jinja2 import TemplateSyntaxError, UndefinedError, nodes
from jinja2.exceptions import SecurityError
from jinja2.runtime import StrictUndefined, Undefined
from jinja2.utils import missing

from benchcore.errors import UsageError
from benchcore.template_sandbox import Sandbox, bounded, bounded_filter, rendered

Variables = Mapping[str, Any]
_COMPARED = 1000  # fields that a missing one is compared with
T = TypeVar("T")


class TemplateFailure(Exception):
    """A template that cannot be rendered for one record; the message is the reason."""


class Template:
    """A compiled template.

    Args:
        source: the template's text.
        name: of the source that declares it, for errors.
        key: where it stands in the source, for errors and reasons (`map.prompt`).

    Raises:
        UsageError: the syntax is wrong.
    """

    def __init__(self, source: str, name: str, key: str) -> None:
        self._key = key
        environment = _environment()
        try:
            body = environment.parse(source).body
            self._constant = _constant(body)
            self.is_expression = _is_expression(source, body)
            if self.is_expression:
                self._render: Any = environment.compile_expression(source.strip()[2:-2], undefined_to_none=False)
            else:
                pieces = environment.from_string(source).generate
                self._render = lambda variables: rendered(pieces(variables))
        except (TemplateSyntaxError, SecurityError, SyntaxError, RecursionError, ValueError, TypeError) as error:
            reason = getattr(error, "message", None) or str(error) or type(error).__name__
            raise UsageError(
                f"the template {source!r} is wrong: {reason}",
                where=f"source '{name}', {key}",
                mend="See docs/sources.md for the template language.",
            ) from None

    def value(self, variables: Variables, convert: Callable[[Any], T]) -> T:
        """Render and convert: one `{{ expression }}` alone gives its value, any other template gives text.

        Raises:
            TemplateFailure: a field is missing, or the template or the conversion fails on this record.
        """
        try:
            value: Any = self._constant if self._constant is not None else self._render(variables)
            if isinstance(value, Undefined):
                str(value)  # raises, and names the field
            return convert(bounded(_listed(value)))
        except _MissingField as error:
            raise TemplateFailure(f"{self._key}: {error.reason(variables)}") from None
        except Exception as error:  # whatever a template may do to a record: the record is quarantined with the reason
            raise TemplateFailure(f"{self._key}: {str(error) or type(error).__name__}") from None

    def text(self, variables: Variables) -> str:
        """Render as text (see `text_of`)."""
        return self.value(variables, text_of)


def compile_expression(source: str, name: str, key: str) -> Template:
    """Compile an expression that is written with or without its braces.

    Raises:
        UsageError: the syntax is wrong, or it is more than one expression.
    """
    template = Template(source if "{{" in source else "{{ " + source + " }}", name, key)
    if not template.is_expression:
        where = f"source '{name}', {key}"
        raise UsageError(f"{source!r} is not one expression", where=where, mend="Write, say, '{{ examples }}'.")
    return template


def text_of(value: Any) -> str:
    """Write a value as text: None is empty, a list has one element a line, what is no text is JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, Undefined):
        return str(value)  # raises, and names the field
    if isinstance(value, list | tuple):
        return "\n".join(element_text(element) for element in value)
    return json_text(value)


def element_text(value: Any) -> str:
    """Write an element of a list as text; a list inside a list stays on one line, as JSON."""
    return json_text(value) if isinstance(value, list | tuple) else text_of(value)


def elements_of(value: Any) -> list[str]:
    """The elements of a list as texts; None has none.

    Raises:
        ValueError: the value is no list.
    """
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise ValueError(f"must give a list, not {kind_of(value)}")
    return [element_text(element) for element in value]


def kind_of(value: Any) -> str:
    """What a JSON value is, in words."""
    names = {
        list: "a list",
        dict: "an object",
        str: "a text",
        bool: "true or false",
        int: "a number",
        float: "a number",
    }
    return "null" if value is None else names.get(type(value), f"a value of type {type(value).__name__}")


def json_text(value: Any, sort_keys: bool = False) -> str:
    """Write a value as JSON in readable characters, fields in their own order; NaN and infinities become null.

    Raises:
        TypeError: a value inside has no text (bytes).
    """
    write = functools.partial(json.dumps, ensure_ascii=False, sort_keys=sort_keys, default=_other_text)
    try:
        return write(value, allow_nan=False)
    except ValueError:
        return write(_finite(value))


def _other_text(value: Any) -> str:
    if not isinstance(value, Undefined) and (isinstance(value, bytes | bytearray) or callable(value)):
        raise TypeError(f"a value of type {type(value).__name__} has no text")
    return str(value)  # dates, times, decimals, paths; an undefined name raises, and names the field


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    return [_finite(inner) for inner in value] if isinstance(value, list | tuple) else value


class _MissingField(UndefinedError):
    """A name that a template uses and that is not there."""

    def __init__(self, message: str | None, name: Any, owner: Any) -> None:
        super().__init__(message)
        self.name, self.owner = name, owner

    def reason(self, variables: Variables) -> str:
        """Say what is missing where, and offer the nearest right name."""
        record = variables.get("record", variables)  # templates over a path have no record
        at_top = self.owner is missing
        fields = record if at_top else self.owner
        if self.name is None or not (at_top or isinstance(fields, Mapping)):
            return str(self.message)
        if not isinstance(fields, Mapping):
            return f"field '{self.name}' is not there: the record is {kind_of(record)}, not an object with fields"
        known = [str(key) for key in islice(variables if at_top else fields, _COMPARED)]
        near = difflib.get_close_matches(str(self.name), known, n=1, cutoff=0.5)
        offer = f"did you mean '{near[0]}'?" if near else f"it has {', '.join(sorted(map(str, fields))[:20])}"
        return f"field '{self.name}' is not in {'the record' if fields is record else 'the object'}; {offer}"


class _Missing(StrictUndefined):
    """An undefined name that remembers itself, and where it was looked for, until it is used."""

    __slots__ = ()

    def __init__(
        self, hint: str | None = None, obj: Any = missing, name: str | None = None, exc: Any = UndefinedError
    ) -> None:
        named = functools.partial(_MissingField, name=name, owner=obj)
        super().__init__(hint, obj, name, named)  # type: ignore[arg-type]


class _Environment(Sandbox):
    """The sandbox, in which a field of a record wins over a method of the dictionary that holds it."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, dict) and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)


@functools.cache
def _environment() -> _Environment:
    # Not optimized: constants would be folded while compiling, before anything is bounded.
    environment = _Environment(undefined=_Missing, finalize=text_of, autoescape=False, optimized=False)
    environment.globals = {"range": environment.globals["range"], "namespace": environment.globals["namespace"]}
    for name, function in (("regex_replace", _regex_replace), ("regex_search", _regex_search), ("tojson", json_text)):
        environment.filters[name] = bounded_filter(name, function)
    return environment


def _regex_replace(value: Any, pattern: str, replacement: str = "") -> str:
    """Replace every match of a pattern."""
    return _pattern(pattern).sub(replacement, text_of(value))


def _regex_search(value: Any, pattern: str, last: bool = False) -> str | None:
    """The first (or last) match of a pattern, its first group if it has one; None without a match."""
    matches = list(_pattern(pattern).finditer(text_of(value)))
    if not matches:
        return None
    match = matches[-1 if last else 0]
    group: str | None = match.group(1 if match.re.groups else 0)
    return group


@functools.lru_cache(maxsize=256)
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _listed(value: Any) -> Any:
    """What filters such as `map` give is a list, once it leaves the template."""
    return list(value) if isinstance(value, Iterator | KeysView | ItemsView | ValuesView) else value


def _constant(body: list[nodes.Node]) -> str | None:
    """The text of a parsed template that holds no template syntax, else None."""
    printed = [node for part in body if isinstance(part, nodes.Output) for node in part.nodes]
    texts = [node.data for node in printed if isinstance(node, nodes.TemplateData)]
    plain = len(texts) == len(printed) and all(isinstance(part, nodes.Output) for part in body)
    return "".join(texts) if plain else None


def _is_expression(source: str, body: list[nodes.Node]) -> bool:
    """Whether a parsed template is exactly one `{{ expression }}` and nothing else."""
    text = source.strip()
    if not (text.startswith("{{") and text.endswith("}}")) or text[2:3] in "-+" or text[-3:-2] in "-+":
        return False
    printed = [node for part in body if isinstance(part, nodes.Output) for node in part.nodes]
    expressions = [node for node in printed if not (isinstance(node, nodes.TemplateData) and not node.data.strip())]
    return len(body) == 1 and len(expressions) == 1 and not isinstance(expressions[0], nodes.TemplateData)

"""What a function's result depends on: its source and the source of all of this package that it imports."""

from __future__ import annotations

import ast
import functools
import importlib.util
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchcore.registry.identity import digest

_PACKAGE = "benchcore"


def code_identity(function: Callable[..., Any]) -> str:
    """Hash the source that a function can reach inside this package, so that a changed method is measured anew.

    Args:
        function: defined in a module; or a `functools.partial` or a closure, of which the functions inside count too.
    """
    settings: list[str] = []
    while isinstance(function, functools.partial):
        settings += [repr(function.args), repr(sorted(function.keywords.items()))]
        function = function.func
    held = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    settings += [code_identity(value) if callable(value) else repr(value) for value in held]
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return digest("code", name, settings, _reachable(getattr(function, "__module__", "") or ""))


@lru_cache(maxsize=512)
def _reachable(module: str) -> list[tuple[str, str]]:
    """Names and hashes of modules that can be reached from one, in order of name."""
    found: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        source = None if name in found else _source(name)
        if source is not None:
            found[name] = digest("source", source)
            waiting += _imports(source)
    return sorted(found.items())


@lru_cache(maxsize=512)
def _source(module: str) -> str | None:
    try:
        spec = importlib.util.find_spec(module) if module else None
    except (ImportError, ValueError):  # `from module import function` names no module
        return None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    return Path(spec.origin).read_text(encoding="utf-8")


def _imports(source: str) -> list[str]:
    names: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return [name for name in names if name.partition(".")[0] == _PACKAGE]

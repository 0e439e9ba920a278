"""Whether something was compiled: then a figure would hold the compiler."""

from __future__ import annotations

import sys


def compiled() -> int:
    """How many compiled versions of loops this process has made or taken from the cache so far."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("benchcore.")]
    found = {id(value): value for module in modules for value in vars(module).values() if hasattr(value, "py_func")}
    return sum(len(loop.signatures) for loop in found.values())

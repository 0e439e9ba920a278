"""benchcore: a few prompts that stand for a whole registry of benchmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchcore.methods.coreset_selector import CoresetSelector
    from benchcore.methods.select import select

__version__ = "0.1.0"
__all__ = ["CoresetSelector", "__version__", "select"]


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: NumPy for one, scikit-learn for the other."""
    if name == "select":
        from benchcore.methods.select import select

        return select
    if name == "CoresetSelector":
        from benchcore.methods.coreset_selector import CoresetSelector

        return CoresetSelector
    raise AttributeError(f"module 'benchcore' has no attribute '{name}'")

"""Remarks about many models in few lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_SHOWN = 5
_NAMED = 3


def merged(remarks: Iterable[tuple[str, str]]) -> list[str]:
    """One line for all models of which the same is true, those of most models first; a few lines in all.

    Args:
        remarks: a model and what is true of it, each.
    """
    models: dict[str, list[str]] = {}
    for model, remark in remarks:
        models.setdefault(remark, []).append(model)
    by_count = sorted(models.items(), key=lambda item: -len(item[1]))
    lines = [f"{of_models(names)}: {remark}" for remark, names in by_count[:_SHOWN]]
    rest = sum(len(names) for _, names in by_count[_SHOWN:])
    return [*lines, *([f"and {rest:,} more models likewise, with other figures"] if rest else [])]


def of_models(names: Sequence[str]) -> str:
    """Their names where they are few, else how many they are."""
    return ", ".join(names) if len(names) <= _NAMED else f"{len(names):,} models"

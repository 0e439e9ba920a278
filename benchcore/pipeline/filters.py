"""Which prompts can be picked and are represented: the filter of a configuration, applied to the table of prompts."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchcore.config import FilterSection
from benchcore.errors import BenchcoreError, UsageError

Mask = NDArray[np.bool_]

# The columns of `prompts` that the filter looks at; `licence` comes from `sources`.
COLUMNS = ("benchmark", "category", "language", "tags", "n_characters")


def keep(prompts: pa.Table, licences: pa.Array, wanted: FilterSection) -> Mask:
    """Say which prompts the filter keeps.

    A prompt without language or licence passes an exclusion, and fails a list of wanted ones.

    Args:
        prompts: with `COLUMNS`.
        licences: the licence of each prompt's source, null where it has none.
        wanted: the filter.

    Returns:
        (n,) bool.

    Raises:
        UsageError: a benchmark or category is named that the registry does not have (the nearest one is offered).
        BenchcoreError: a part of the filter leaves no prompt; says which, and what there would be.
    """
    for column, named in _named(wanted):
        _require_known(prompts[column], named, column)
    kept = np.ones(prompts.num_rows, bool)
    for part, mask, values in _parts(prompts, licences, wanted):
        before = int(kept.sum())
        kept &= mask
        if before and not kept.any():
            raise BenchcoreError(
                f"the filter leaves no prompt of {before:,}",
                where=f"select.filter.{part}",
                mend="Widen it." if values is None else f"Widen it; there is {_most_frequent(values)}.",
            )
    return kept


def _named(wanted: FilterSection) -> Iterable[tuple[str, tuple[str, ...]]]:
    yield "benchmark", wanted.benchmarks + wanted.exclude_benchmarks
    yield "category", wanted.categories + wanted.exclude_categories


def _parts(
    prompts: pa.Table, licences: pa.Array, wanted: FilterSection
) -> Iterable[tuple[str, Mask, Iterable[str | None] | None]]:
    """Each part of the filter that is set, what it keeps, and the values that it chose from."""
    columns = {
        "languages": prompts["language"],
        "licences": licences,
        "benchmarks": prompts["benchmark"],
        "categories": prompts["category"],
    }
    for part, column in columns.items():
        values = column.to_pylist
        if getattr(wanted, part):
            yield part, _among(column, getattr(wanted, part)), values()
        if getattr(wanted, f"exclude_{part}", ()):
            yield f"exclude_{part}", ~_among(column, getattr(wanted, f"exclude_{part}")), None
    if wanted.tags:
        yield "tags", _tagged(prompts["tags"], wanted.tags), pc.list_flatten(prompts["tags"]).to_pylist()
    if wanted.exclude_tags:
        yield "exclude_tags", ~_tagged(prompts["tags"], wanted.exclude_tags), None
    length = np.asarray(prompts["n_characters"].fill_null(0))
    if wanted.min_characters:
        yield "min_characters", length >= wanted.min_characters, None
    if wanted.max_characters is not None:
        yield "max_characters", length <= wanted.max_characters, None


def _among(column: pa.ChunkedArray | pa.Array, values: Sequence[str]) -> Mask:
    return np.asarray(pc.is_in(column, value_set=pa.array(values, pa.string())))


def _tagged(column: pa.ChunkedArray, tags: Sequence[str]) -> Mask:
    lists = column.combine_chunks()
    found = _among(pc.list_flatten(lists), tags)
    mask = np.zeros(len(lists), bool)
    mask[np.asarray(pc.list_parent_indices(lists))[found]] = True
    return mask


def _require_known(column: pa.ChunkedArray, named: Sequence[str], what: str) -> None:
    known = set(column.unique().to_pylist())
    for name in named:
        if name not in known:
            near = difflib.get_close_matches(name, sorted(known), n=1)
            mend = f"Did you mean '{near[0]}'?" if near else f"There are {_most_frequent(column.to_pylist())}."
            raise UsageError(f"no {what} '{name}' in the registry", where="select.filter", mend=mend)


def _most_frequent(values: Iterable[str | None], shown: int = 8) -> str:
    counts = Counter(value for value in values if value is not None)
    if not counts:
        return "no prompt that has any"
    named = ", ".join(value for value, _ in counts.most_common(shown))
    return named + (f" and {len(counts) - shown} more" if len(counts) > shown else "")

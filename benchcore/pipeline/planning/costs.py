"""What it costs to ask a model some prompts: tokens that are read and written, and money for them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchcore.config import PlanSection, Price
from benchcore.distributed.pool import Pool
from benchcore.errors import UsageError
from benchcore.registry.root import Registry
from benchcore.registry.tables import read

Values = NDArray[np.float64]
_MILLION = 1e6


@dataclass(frozen=True, eq=False)
class Tokens:
    """Tokens of some prompts.

    Attributes:
        read: (n,) of what the model is asked.
        written: (n,) of what it answers.
    """

    read: Values
    written: Values


def tokens_of(
    section: PlanSection, registry: Registry, pinned: Mapping[str, int], pool: Pool, picks: NDArray[np.int64]
) -> Tokens:
    """Estimate the tokens of picks: of what is read by its characters (prompt and choices), of answers as configured.

    Args:
        section: characters in a token, tokens in an answer.
        registry: whose table `prompts` is read.
        pinned: table -> version.
        pool: that the picks are of.
        picks: (m,) positions in it.

    Returns:
        m of each; what is read is rounded up prompt by prompt.

    Raises:
        UsageError: tokens are given for a benchmark that there is not.
    """
    ids = pa.array(pool.prompt_id[picks].tolist(), pa.string())
    columns = ("prompt_id", "n_characters", "choices")
    rows = read(registry, "prompts", pinned.get("prompts"), columns, pc.field("prompt_id").isin(ids))
    place = np.asarray(pc.index_in(ids, value_set=rows["prompt_id"].combine_chunks()))
    characters = np.asarray(rows["n_characters"].fill_null(0), np.float64) + _in_choices(rows["choices"])
    return Tokens(np.ceil(characters[place] / section.characters_per_token), _answers(section, pool, picks))


def unanswered(section: PlanSection, pool: Pool) -> list[str]:
    """Benchmarks for whose answers no tokens are counted."""
    written = section.output_tokens
    names = sorted(set(pool.benchmark.tolist()))
    return [name for name in names if not (written.get(name) if isinstance(written, dict) else written)]


def money(price: Price, read_: float, written: float) -> float:
    """What a model costs that reads and writes so many tokens."""
    return (price.input * read_ + price.output * written) / _MILLION


def _in_choices(column: pa.ChunkedArray) -> Values:
    lists = column.combine_chunks()
    lengths = np.asarray(pc.utf8_length(pc.list_flatten(lists)).fill_null(0))
    parents = np.asarray(pc.list_parent_indices(lists))
    return np.bincount(parents, weights=lengths, minlength=len(lists)).astype(np.float64)


def _answers(section: PlanSection, pool: Pool, picks: NDArray[np.int64]) -> Values:
    written = section.output_tokens
    if not isinstance(written, dict):
        return np.full(len(picks), float(written))
    known = sorted(set(pool.benchmark.tolist()))
    for name in sorted(set(written) - set(known)):
        near = difflib.get_close_matches(name, known, n=1)
        mend = f"Did you mean '{near[0]}'?" if near else "It may be filtered out."
        raise UsageError(f"no benchmark '{name}' to pick from", where="plan.output_tokens", mend=mend)
    return np.array([float(written.get(name, 0.0)) for name in pool.benchmark[picks].tolist()])

"""The prompts that a selection is made from: those that the filter keeps, one row for each set of equal prompts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError


@dataclass(frozen=True)
class Block:
    """Where features of the prompts are to be found.

    Attributes:
        encoder: fingerprint; partition of the embeddings table.
        description: what the fingerprint stands for (name, revision, template, ...), for the manifest.
    """

    encoder: str
    description: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Pool:
    """The selectable prompts, sorted by prompt_id; duplicates inside a benchmark are collapsed onto the smallest id.

    Attributes:
        prompt_id: (n,) distinct strings, ascending.
        content_hash: (n,) strings; a coreset pins them.
        text_hash: (n,) strings; rows of the embeddings table. Equal texts of two benchmarks share one.
        benchmark: (n,) names.
        category: (n,) names; all rows of a benchmark have the same one.
        copies: (n,) int64, how many prompts of the benchmark the row stands for, itself included.
        truncated: (n,) bool, whether the encoder saw only the head of the text.
        unknown_language: (n,) bool, whether the prompt is in a language that the encoder does not know.
        encoder: fingerprint; partition of the embeddings table.
        encoder_description: what the fingerprint stands for (name, revision, template, ...), for the manifest.
        blocks: features besides the vector, by name.
        feature_text: (n,) strings under which the rows of `blocks` stand; None where they are those of `text_hash`.
        tokens: (n,) positive whole numbers, what a model has to read; None where no budget asks for them.
    """

    prompt_id: NDArray[np.str_]
    content_hash: NDArray[np.str_]
    text_hash: NDArray[np.str_]
    benchmark: NDArray[np.str_]
    category: NDArray[np.str_]
    copies: NDArray[np.int64]
    truncated: NDArray[np.bool_]
    unknown_language: NDArray[np.bool_]
    encoder: str
    encoder_description: Mapping[str, Any]
    blocks: Mapping[str, Block] = field(default_factory=dict)
    feature_text: NDArray[np.str_] | None = None
    tokens: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        columns = (self.content_hash, self.text_hash, self.said, self.benchmark, self.category)
        counts = (self.copies, self.truncated, self.unknown_language)
        if any(len(column) != self.n for column in (*columns, *counts)):
            raise ValueError("the columns of a pool differ in length")
        if self.n > 1 and not bool(np.all(self.prompt_id[:-1] < self.prompt_id[1:])):
            raise ValueError("prompt_id is not ascending and distinct")

    @property
    def embedding(self) -> Block:
        """The vectors."""
        return Block(self.encoder, self.encoder_description)

    @property
    def said(self) -> NDArray[np.str_]:
        """(n,) hashes of what the prompts say: of their texts, even where vectors are the user's own."""
        return self.text_hash if self.feature_text is None else self.feature_text

    @property
    def n(self) -> int:
        """How many rows can be picked."""
        return len(self.prompt_id)

    def positions(self, wanted: tuple[str, ...], key: str) -> NDArray[np.int64]:
        """Find prompts by id, in the order given.

        Raises:
            UsageError: an id is not in the pool, or stands twice; names them.
        """
        where = {str(identity): position for position, identity in enumerate(self.prompt_id)} if wanted else {}
        unknown = [identity for identity in wanted if identity not in where]
        if unknown:
            raise UsageError(
                f"{len(unknown)} ids are not among the {self.n} selectable prompts: {', '.join(unknown[:5])}",
                where=f"select.{key}",
                mend="They may be filtered out, retired, or copies that another id stands for.",
            )
        if len(set(wanted)) != len(wanted):
            twice = sorted({identity for identity in wanted if wanted.count(identity) > 1})
            raise UsageError(f"ids stand twice: {', '.join(twice[:5])}", where=f"select.{key}")
        return np.array([where[identity] for identity in wanted], np.int64)

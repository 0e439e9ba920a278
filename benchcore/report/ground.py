"""The prompts that a coreset was selected from, as the report needs them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Ground:
    """One row for each set of equal prompts of a benchmark, at the versions that the selection read.

    Attributes:
        prompt_id: (n,) ascending and distinct.
        text_hash: (n,) under which the vectors stand.
        benchmark: (n,) names.
        copies: (n,) how many prompts of the benchmark a row stands for, itself included.
        encoder: fingerprint of the vectors.
    """

    prompt_id: NDArray[np.str_]
    text_hash: NDArray[np.str_]
    benchmark: NDArray[np.str_]
    copies: NDArray[np.int64]
    encoder: str

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(self.prompt_id)

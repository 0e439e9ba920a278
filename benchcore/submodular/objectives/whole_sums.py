"""Sums of mass times similarity over all rows: whole numbers, so the same in any order and in any blocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.pairs.tiles import blocks
from benchcore.submodular.quantise import TOTAL_MASS
from benchcore.submodular.similarities.similarity import Similarity


def sums_over_represented(similarity: Similarity, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """For every candidate j, sum_i w_i s_ij.

    Args:
        similarity: of m candidates to n represented rows.
        weights: (n, w) whole numbers, each column with a total of at most TOTAL_MASS.

    Returns:
        (m, w), exact.
    """
    sums = np.zeros((similarity.candidates, weights.shape[1]))
    for chosen, part in blocks(similarity.candidates, similarity.represented):
        sums[chosen] += similarity.block(chosen, part).astype(np.float64) @ weights[part]
    return sums


def sums_over_candidates(similarity: Similarity) -> NDArray[np.float64]:
    """For every represented row i, sum_j s_ij, exact up to 2^29 candidates."""
    sums = np.zeros(similarity.represented)
    for chosen, part in blocks(similarity.candidates, similarity.represented):
        sums[part] += similarity.block(chosen, part).sum(axis=0, dtype=np.float64)
    return sums


def require_mass(mass: NDArray[np.float64], represented: int) -> None:
    """Refuse masses with which sums would not be exact.

    Raises:
        ValueError: not one whole number, not negative, for each represented row, or a total of nothing or too much.
    """
    if mass.shape != (represented,):
        raise ValueError(
            f"mass must have one number for each of {represented} represented rows, got shape {mass.shape}"
        )
    wrong = np.flatnonzero(~((mass >= 0) & (mass == np.floor(mass))))
    if wrong.size:
        named = ", ".join(f"mass[{row}] = {mass[row]}" for row in wrong[:5])
        raise ValueError(f"masses must be whole numbers, not negative (see integer_mass): {named}")
    if not 0 < mass.sum() <= TOTAL_MASS:
        raise ValueError(f"masses must add up to more than 0 and at most {TOTAL_MASS}, got {mass.sum():.0f}")


def require_not_negative(similarity: Similarity, objective: str) -> None:
    """Refuse a similarity with which returns would not diminish.

    Raises:
        ValueError: some similarities may be negative.
    """
    if similarity.signed:
        raise ValueError(
            f"{objective} needs similarities that are not negative: its returns would not diminish; "
            "clip or shift them, as the kernels `cosine` and `shifted_cosine` do"
        )

"""Feature-based objectives: concave functions of how much of each feature the picks have; no pairwise similarity."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.objectives.concave import CONCAVE, Concave
from benchcore.submodular.objectives.feature_rows import FeatureRows

_ROOM = 51  # bits of one plus all rows at the largest amount, so that every sum of four such is exact
_COMPILED = 2**23  # entries of a matrix from which on gains are computed by compiled loops


class FeatureBased:
    """f(A) = sum_f w_f g(sum_{j in A} x_jf), g concave (Kirchhoff and Bilmes 2014, D14-1014).

    Amounts are rounded, as they are read, to multiples of a power of two: n times the largest amount is at most 2^51 of
    these (2^-30 for a million rows with amounts up to 1), so sums over the picks are exact. The matrix is neither
    copied nor converted. Gains add up in ascending order of features. Returns diminish exactly (see `concave`).

    Args:
        features: (n, f) finite and not negative; an array, or a SciPy sparse matrix.
        weights: (f,) finite and not negative; default: 1 each.
        concave: g by name: `sqrt`, `log` (log(1 + c)), `ratio` (c / (1 + c)) or `min` (min(c, 1)). Except for sqrt the
            scale of the amounts matters: g bends where they are 1.

    Raises:
        ValueError: features or weights are negative, not finite or of another shape; amounts are too large for a
            function that bends at 1; g is none of these.
    """

    monotone = True
    slack = 0.0

    def __init__(self, features: Any, weights: NDArray[np.floating] | None = None, concave: str = "sqrt") -> None:
        if concave not in CONCAVE:
            raise ValueError(f"concave must be one of {', '.join(CONCAVE)}, got {concave!r}")
        self._rows, self._concave = FeatureRows(features), CONCAVE[concave]
        self._weights = _checked(weights, self._rows.width)
        self._one = _grid(self._concave, self._rows.n * self._rows.largest)
        self._sums = np.zeros(self._rows.width)  # of the picks, in multiples of 1 / one

    @property
    def n(self) -> int:
        """How many candidates there are."""
        return self._rows.n

    @property
    def unit(self) -> float:
        """What g = 1 at weight 1 is."""
        return float(self._concave.unit(self._one))

    @property
    def value(self) -> float:
        """The objective at the set so far."""
        return self._value(self._sums)

    def gains(self, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """By how much each of these candidates would raise the value now."""
        if self._rows.entries >= _COMPILED:
            from benchcore.submodular.objectives.feature_threads import compiled_gains

            grid = self._concave.code, self._one
            return compiled_gains(self._rows, candidates, self._weights, self._sums, grid)
        gains = np.zeros(len(candidates))
        for start in range(0, len(candidates), self._rows.at_once):
            chosen = candidates[start : start + self._rows.at_once]
            row, feature, amounts = self._rows.entries_of(chosen)
            rises = self._concave.rise(self._sums[feature], np.rint(amounts * self._one), self._one)
            # One by one, in the order of features, as no other sum of NumPy's does.
            gains[start : start + len(chosen)] = np.bincount(row, self._weights[feature] * rises, len(chosen))
        return gains

    def tighten(self, bounds: NDArray[np.float64]) -> bool:
        """Nothing is cheaper than the gains."""
        return False

    def add(self, candidate: int) -> None:
        """Put a candidate into the set."""
        _, feature, amounts = self._rows.entries_of(np.array([candidate]))
        self._sums[feature] += np.rint(amounts * self._one)

    def fresh(self) -> Self:
        """The same objective at the empty set."""
        other = copy.copy(self)
        other._sums = np.zeros_like(self._sums)
        return other

    def total(self) -> float:
        """The value of the set of all candidates."""
        sums = np.zeros_like(self._sums)
        for start in range(0, self.n, self._rows.at_once):
            _, feature, amounts = self._rows.entries_of(np.arange(start, min(start + self._rows.at_once, self.n)))
            sums += np.bincount(feature, np.rint(amounts * self._one), len(sums))
        return self._value(sums)

    def _value(self, sums: NDArray[np.float64]) -> float:
        terms = self._weights * self._concave.rise(np.zeros_like(sums), sums, self._one)
        return float(np.cumsum(terms)[-1])  # one by one


def _checked(weights: NDArray[np.floating] | None, width: int) -> NDArray[np.float64]:
    if weights is None:
        return np.ones(width)
    checked = np.asarray(weights, np.float64)
    if checked.shape != (width,):
        raise ValueError(f"weights must be one for each of {width} features, got shape {checked.shape}")
    wrong = np.flatnonzero(~(np.isfinite(checked) & (checked >= 0)))
    if wrong.size:
        named = ", ".join(f"weights[{feature}] = {checked[feature]}" for feature in wrong[:5])
        raise ValueError(f"weights must be finite and not negative: {named}")
    return checked


def _grid(concave: Concave, most: float) -> float:
    """How many steps the amount 1 has, a power of 2."""
    bits = _ROOM - int(np.frexp(concave.bend + most)[1])
    if bits < 0 < concave.bend:
        raise ValueError(
            f"amounts that may add up to {most:g} leave no digits for a function that bends at {concave.bend:g}; "
            "scale the features down, or use sqrt"
        )
    return float(2.0 ** min(bits, 1000))

"""Kernels by name: from vectors to similarities in whole numbers."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.quantise import (
    NORM,
    UNIT,
    Rows,
    centred_lengths,
    mass_weighted_mean,
    quantise,
    quantise_lengths,
    require_directions,
    require_finite,
)
from benchcore.submodular.similarities.curve import Curve, decay_curve, power_curve
from benchcore.submodular.similarities.curved import CurvedSimilarity
from benchcore.submodular.similarities.dot import DotSimilarity
from benchcore.submodular.similarities.rbf import RADIUS, median_square, rbf_rows, rbf_similarity, sample
from benchcore.submodular.similarities.similarity import TOP, Similarity

Vectors = NDArray[np.floating]

DIRECTIONAL = ("cosine", "centered_cosine", "shifted_cosine")  # bring each row to length 1
KERNELS = (*DIRECTIONAL, "rbf", "linear")

_SPREAD = 64  # a longest row this many times the median would leave the others too few steps to be told apart


class Between(Protocol):
    """From rows of one kernel to their similarities."""

    def __call__(self, candidates: Rows, represented: Rows | None = None, *, clipped: bool = True) -> Similarity:
        """The similarity of candidates to represented rows, to themselves where these are None.

        Args:
            candidates: (m, d) of the kernel's `rows`.
            represented: (n, d) likewise.
            clipped: negative similarities become 0. False gives the positive semi-definite form, which
                log-determinants need.

        Raises:
            ValueError: a power of similarities that may be negative.
        """
        ...


@dataclass(frozen=True, eq=False)
class Kernel:
    """A kernel with what it took from its pool: a centre, a scale, a bandwidth.

    Attributes:
        name: in KERNELS.
        rows: turns (n, d) finite vectors into whole numbers, on the pool's terms.
        between: makes a similarity of such rows.
    """

    name: str
    rows: Callable[[Vectors], Rows]
    between: Between


def similarity(
    vectors: Vectors,
    kernel: str = "centered_cosine",
    *,
    mass: NDArray[np.float64] | None = None,
    power: float = 1.0,
    bandwidth: float | None = None,
    clipped: bool = True,
    represented: Vectors | None = None,
) -> Similarity:
    """Similarities of rows to each other, or to represented rows, which then are the kernel's pool.

    Args:
        vectors: (m, d) the candidates.
        kernel: see `fit`.
        mass: (n,) of the pool; see `fit`.
        power: see `fit`.
        bandwidth: see `fit`.
        clipped: see `Between`.
        represented: (n, d); default: the candidates.

    Raises:
        ValueError: as `fit`.
    """
    if represented is None:
        own = fit(vectors, kernel, mass=mass, power=power, bandwidth=bandwidth)
        return own.between(own.rows(vectors), clipped=clipped)
    pool = fit(represented, kernel, mass=mass, power=power, bandwidth=bandwidth, others=(vectors,))
    return pool.between(pool.rows(vectors), pool.rows(represented), clipped=clipped)


def fit(
    vectors: Vectors,
    kernel: str = "centered_cosine",
    *,
    mass: NDArray[np.float64] | None = None,
    power: float = 1.0,
    bandwidth: float | None = None,
    others: Sequence[Vectors] = (),
    ids: Sequence[object] | NDArray[np.str_] | None = None,
) -> Kernel:
    """A kernel on a pool's terms.

    | name | s(x, y) |
    |---|---|
    | `cosine` | max(0, x.y), of unit vectors |
    | `centered_cosine` | the same, after subtracting the pool's mean: encoders are anisotropic |
    | `shifted_cosine` | (1 + x.y) / 2, of unit vectors |
    | `rbf` | exp(-|x - y|^2 / (2 h^2)) |
    | `linear` | max(0, x.y), of the vectors as they are |

    Args:
        vectors: (n, d) the pool.
        kernel: a name in KERNELS.
        mass: (n,) whole numbers for the weighted mean that is subtracted; default: all the same.
        power: sharpens: s^power, at least 1.
        bandwidth: h of `rbf`, in the vectors' own units; default: the median distance of rows that differ (of up to
            1,024 evenly spaced rows).
        others: further (m, d) vectors that rows will be made of (a query): `rbf` and `linear` must scale for them too.
        ids: (n,) names of the pool's rows for errors; default: row numbers.

    Raises:
        ValueError: a row is not finite, all zeros where the kernel needs a direction, or far longer than most where it
            keeps lengths; an argument does not fit the kernel.
    """
    _require_known(kernel, power, bandwidth)
    require_usable(vectors, kernel, ids)
    for other in others:
        require_usable(other, kernel)
        if other.shape[1] != vectors.shape[1]:
            raise ValueError(f"vectors have {vectors.shape[1]} dimensions, those to compare them to {other.shape[1]}")
    weights = np.ones(len(vectors)) if mass is None else mass
    origin = np.zeros(vectors.shape[1])
    if kernel == "shifted_cosine":
        return Kernel(kernel, partial(quantise, centre=origin), _bent(power_curve(power, shifted=True), float(TOP)))
    if kernel in DIRECTIONAL:
        centre = mass_weighted_mean(vectors, weights) if kernel == "centered_cosine" else origin
        return Kernel(kernel, partial(quantise, centre=centre), _products(power, float(UNIT)))
    if kernel == "linear":
        longest = _longest(vectors, origin, others)
        rows = partial(quantise_lengths, centre=origin, longest=longest)
        return Kernel(kernel, rows, _products(power, (NORM / longest) ** 2))
    return _rbf(vectors, weights, power, bandwidth, others)


def require_usable(vectors: Vectors, kernel: str, ids: Sequence[object] | NDArray[np.str_] | None = None) -> None:
    """Refuse rows that a kernel cannot compare.

    Args:
        vectors: (n, d) any real numbers.
        kernel: a name in KERNELS.
        ids: (n,) names for the error; default: row numbers.

    Raises:
        ValueError: a row holds NaN or infinity, or is all zeros where the kernel needs a direction; names the ids.
    """
    require = require_directions if kernel in DIRECTIONAL else require_finite
    require(vectors, range(len(vectors)) if ids is None else ids)


def _rbf(
    vectors: Vectors, mass: NDArray[np.float64], power: float, bandwidth: float | None, others: Sequence[Vectors]
) -> Kernel:
    centre = mass_weighted_mean(vectors, mass)
    longest = _longest(vectors, centre, others)
    rows = partial(rbf_rows, centre=centre, longest=longest)
    steps = 0.0 if bandwidth is None else bandwidth * (RADIUS / longest)
    square = median_square(rows(vectors[sample(vectors)])) if bandwidth is None else steps * steps
    curve = decay_curve(power / (2 * square) if square else math.inf)

    def between(candidates: Rows, represented: Rows | None = None, *, clipped: bool = True) -> Similarity:
        return rbf_similarity(candidates, represented, curve)  # has nothing to clip

    return Kernel("rbf", rows, between)


def _products(power: float, unit: float) -> Between:
    """Dot products, bent only where a power asks for it."""
    if power != 1:
        bent = _bent(power_curve(power), _sharpened(unit, power))

    def between(candidates: Rows, represented: Rows | None = None, *, clipped: bool = True) -> Similarity:
        if power == 1:
            return DotSimilarity(candidates, represented, clipped=clipped, unit=unit)
        if not clipped:
            raise ValueError(f"power {power} needs similarities that are not negative: use power 1, or shifted_cosine")
        return bent(candidates, represented)

    return between


def _bent(curve: Curve, unit: float) -> Between:
    def between(candidates: Rows, represented: Rows | None = None, *, clipped: bool = True) -> Similarity:
        others = candidates if represented is None else represented
        return CurvedSimilarity(candidates, others, curve, symmetric=others is candidates, unit=unit)

    return between


def _sharpened(unit: float, power: float) -> float:
    """What the unit becomes when similarities are raised to a power."""
    exponent = math.log2(TOP) + power * math.log2(unit / TOP)
    if abs(exponent) > 900:
        raise ValueError(f"these vectors to the power of {power} leave the range of numbers: bring them to length 1")
    return float(2.0**exponent)


def _longest(vectors: Vectors, centre: NDArray[np.float64], others: Sequence[Vectors]) -> float:
    """The length of the longest of all rows, 1 if all are zero."""
    lengths = centred_lengths(vectors, centre)
    longest = max(float(part.max(initial=0.0)) for part in (lengths, *(centred_lengths(o, centre) for o in others)))
    if longest == 0:
        return 1.0
    median = float(np.median(lengths[lengths > 0])) if lengths.any() else longest
    if longest > _SPREAD * median:
        raise ValueError(
            f"the longest vector is {longest / median:,.0f} times as long as the median one (at most {_SPREAD} times "
            f"keeps the others apart): bring vectors to comparable lengths, or use a cosine kernel"
        )
    return longest


def _require_known(kernel: str, power: float, bandwidth: float | None) -> None:
    if kernel not in KERNELS:
        near = difflib.get_close_matches(kernel, KERNELS, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(KERNELS)}"
        raise ValueError(f"unknown kernel '{kernel}': {hint}")
    if not (math.isfinite(power) and power >= 1):
        raise ValueError(f"a power must be a number of at least 1 (it sharpens), got {power}")
    if bandwidth is not None and kernel != "rbf":
        raise ValueError(f"only rbf has a bandwidth, not {kernel}")
    if bandwidth is not None and not (math.isfinite(bandwidth) and bandwidth > 0):
        raise ValueError(f"a bandwidth must be a positive number, got {bandwidth}")

"""What is left of each row's variance given the picks: the pivots of a Cholesky factor, extended when asked for.

For M = I + a K the gain of log det M_A by a candidate j is log d_j^2, where d_j^2 = M_jj - |c_j|^2 and c_j is the row
of j in the Cholesky factor of the picks (Chen, Zhang and Zhou 2018, arXiv 1709.05135, section 3). A row falls behind
while nobody asks for it, and catches up by the same steps in the same order: no bit depends on when it was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from benchcore.submodular.quantise import Rows

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]

_ROWS = 4096  # rows that catch up at a time
_COLUMNS = 32  # columns of a factor that are made at a time
_WORTH_A_CALL = 8192  # numbers for which another call costs less than work done twice
_EXACT = 53  # bits of a double's whole numbers
_FINE = 2.0**-13  # so that a coarse and a fine part hold what a double does of numbers that are at most the grid


class ConditionalVariance(Protocol):
    """d_j^2 of every row given a growing sequence of picks; at least 1 where K is positive semi-definite."""

    @property
    def n(self) -> int:
        """How many rows there are."""
        ...

    @property
    def highest(self) -> float:
        """No d_j^2 is ever larger."""
        ...

    def given_picks(self, rows: Indices) -> Floats:
        """d_j^2 of these rows now."""
        ...

    def pick(self, row: int) -> None:
        """Condition on one more row."""
        ...

    def fresh(self) -> Self:
        """The same with no picks."""
        ...

    def log_det(self) -> float:
        """log det M of all rows."""
        ...


class KernelVariance:
    """Of M given by its entries: O(n k) memory, and O(k) steps for a row and a pick.

    Args:
        diagonal: (n,) of M.
        entries: of M, given rows and picks that are not among these: a new (rows, picks) array.
        least: what no d_j^2 may be below, but for rounding; what lies below by less is raised to it.
        rounding: by how much rounding may lower any d_j^2 for each pick.
        remedy: what to do about a kernel that is not positive semi-definite, for the error.
    """

    def __init__(
        self,
        diagonal: Floats,
        entries: Callable[[Indices, Indices], Floats],
        least: float,
        rounding: float,
        remedy: str,
    ) -> None:
        self.diagonal, self.entries = diagonal, entries
        self._least, self.rounding, self._remedy = least, rounding, remedy
        self._restart()

    def _restart(self) -> None:
        self._left = self.diagonal.copy()
        self._known = np.zeros(self.n, np.int64)  # how many picks a row has taken into account
        self._picks: list[int] = []
        self._factor: list[Floats] = []  # columns of the Cholesky factor, one a pick, with only known rows filled in
        self._roots: list[float] = []  # of the picks' d^2

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(self.diagonal)

    @property
    def highest(self) -> float:
        """No d_j^2 is ever larger."""
        return float(self.diagonal.max(initial=1.0))

    def given_picks(self, rows: Indices) -> Floats:
        """d_j^2 of these rows now.

        Raises:
            ValueError: M - least I is not positive semi-definite; names the row.
        """
        for group in _behind(rows, self._known, len(self._picks)):
            self._catch_up(group)
        left = self._left[rows]
        error = self.rounding * (len(self._picks) + 1)
        wrong = np.flatnonzero(left <= (max(self._least - error, 0.0) if self._least else error))
        if wrong.size:
            raise ValueError(
                f"the kernel is not positive semi-definite: candidate {rows[wrong[0]]} is left with a variance of "
                f"{left[wrong[0]]:.6g} after {len(self._picks)} picks, where at least {self._least:g} must be left; "
                f"{self._remedy}"
            )
        raised: Floats = np.maximum(left, self._least)
        return raised

    def pick(self, row: int) -> None:
        """Condition on one more row."""
        root = float(np.sqrt(self.given_picks(np.array([row]))[0]))
        self._picks.append(row)
        self._roots.append(root)
        if len(self._picks) > _COLUMNS * len(self._factor):
            self._factor.append(np.empty((_COLUMNS, self.n)))

    def fresh(self) -> Self:
        """The same with no picks."""
        new = copy(self)
        new._restart()
        return new

    def log_det(self) -> float:
        """log det M of all rows: O(n^3) steps and O(n^2) memory."""
        rows = np.arange(self.n)
        matrix = self.entries(rows, rows)
        matrix[rows, rows] = self.diagonal
        return log_det(matrix, self._least)

    def _catch_up(self, rows: Indices) -> None:
        """Bring some rows up to the last pick; columns from the least known of them on are found (again)."""
        known, first = self._known[rows], int(self._known[rows].min())
        picks = np.array(self._picks, np.int64)
        done, weights = self._factor_of(rows), self._factor_of(picks[first:])
        rest = np.ascontiguousarray(self.entries(rows, picks[first:]).T)
        product = np.empty_like(rest)
        for k in range(first):
            np.multiply(weights[k][:, None], done[k], out=product)
            rest -= product
        for k, root in enumerate(self._roots[first:], first):
            found, after = rest[k - first], k - first + 1
            found /= root
            np.multiply(weights[k, after:, None], found, out=product[after:])
            rest[after:] -= product[after:]
            self._factor[k // _COLUMNS][k % _COLUMNS, rows] = found
            self._left[rows] -= np.where(known <= k, found * found, 0.0)
        self._known[rows] = len(picks)

    def _factor_of(self, rows: Indices) -> Floats:
        """(columns, rows) of the factor; what the rows do not know yet is arbitrary."""
        return np.concatenate([np.zeros((0, len(rows))), *(columns[:, rows] for columns in self._factor)])


class LowRankVariance:
    """Of M = I + b X X' for whole-number rows X: O(n + d (d + k)) memory, O(d) steps for a row and a pick, for any k.

    d_j^2 = 1 + b x_j' P x_j with P = (I + b X_A' X_A)^-1, and a pick p lowers it by b (x_j' v)^2, where v = P x_p
    sqrt(b) / d_p is at most 1 long (Sherman and Morrison). v and P are multiplied by rows as a coarse and a fine part,
    each of them whole numbers so small that products are exact in double precision, whatever BLAS does.

    Args:
        rows: (n, d) whole numbers.
        scale: b.
    """

    def __init__(self, rows: Rows, scale: float) -> None:
        self._rows, self._scale = rows, scale
        squares = np.zeros(len(rows))
        for start in range(0, len(rows), _ROWS):
            squares[start : start + _ROWS] = (rows[start : start + _ROWS].astype(np.float64) ** 2).sum(axis=1)
        self.diagonal = 1.0 + scale * squares
        longest = int(np.ceil(np.log2(float(squares.max(initial=1.0))) / 2))
        self._grid = 2.0 ** (_EXACT - 1 - longest)
        self._restart()

    def _restart(self) -> None:
        self._left = self.diagonal.copy()
        self._known = np.zeros(self.n, np.int64)
        self._directions: list[Floats] = []  # v, as (2, d) of `_split`
        self._inverse = self._grid * np.eye(self._rows.shape[1])  # P, times the grid

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    @property
    def highest(self) -> float:
        """No d_j^2 is ever larger."""
        return float(self.diagonal.max(initial=1.0))

    def given_picks(self, rows: Indices) -> Floats:
        """d_j^2 of these rows now."""
        for group in _behind(rows, self._known, len(self._directions)):
            self._catch_up(group)
        left: Floats = np.maximum(self._left[rows], 1.0)
        return left

    def pick(self, row: int) -> None:
        """Condition on one more row."""
        variance = float(self.given_picks(np.array([row]))[0])
        coarse, fine = _split(self._inverse) @ self._rows[row].astype(np.float64)
        direction = (coarse + fine * _FINE) * np.sqrt(self._scale / variance)
        self._inverse -= np.multiply.outer(direction, direction / self._grid)
        self._directions.append(_split(direction))

    def fresh(self) -> Self:
        """The same with no picks."""
        new = copy(self)
        new._restart()
        return new

    def log_det(self) -> float:
        """log det M of all rows, which is log det (I + b X'X): O(n d^2) steps."""
        products = np.zeros((self._rows.shape[1], self._rows.shape[1]))
        for start in range(0, self.n, _ROWS):
            block = self._rows[start : start + _ROWS].astype(np.float64)
            products += block.T @ block
        return log_det(np.eye(len(products)) + self._scale * products, 1.0)

    def _catch_up(self, rows: Indices) -> None:
        known, first = self._known[rows], int(self._known[rows].min())
        parts = np.concatenate(self._directions[first:]) @ self._rows[rows].astype(np.float64).T
        steps = parts[0::2] + parts[1::2] * _FINE
        steps *= np.sqrt(self._scale) / self._grid
        steps *= steps
        for k, lowered in enumerate(steps, first):
            self._left[rows] -= np.where(known <= k, lowered, 0.0)
        self._known[rows] = len(self._directions)


def _split(steps: Floats) -> Floats:
    """Numbers as whole numbers and whole multiples of _FINE: (2, ...)."""
    coarse = np.rint(steps)
    return np.stack([coarse, np.rint((steps - coarse) / _FINE)])


def log_det(matrix: Floats, least: float) -> float:
    """log det of a positive definite matrix, which is overwritten, with pivots of at least `least`."""
    value = 0.0
    for k in range(len(matrix)):
        pivot = max(float(matrix[k, k]), least)
        column = matrix[k + 1 :, k] / np.sqrt(pivot)
        matrix[k + 1 :, k + 1 :] -= np.multiply.outer(column, column)
        value += float(np.log(pivot))
    return value


def _behind(rows: Indices, known: Indices, picks: int) -> Iterator[Indices]:
    """Rows that lag behind the picks, in groups where none lags more than twice as far as another, or small ones."""
    lag = picks - known[rows]
    order = np.argsort(-lag, kind="stable")[: np.count_nonzero(lag)]
    behind, nearness = rows[order], -lag[order]
    start = 0
    while start < len(order):
        most = -int(nearness[start])
        near = int(np.searchsorted(nearness, -most / 2, side="right"))
        stop = min(max(near, start + _WORTH_A_CALL // most), start + _ROWS)
        yield behind[start:stop]
        start = stop

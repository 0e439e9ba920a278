"""What objectives are made of: the pool's vectors or features, its kernel, a query, what is to be avoided."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError
from benchcore.methods.native import as_matrix, is_sparse
from benchcore.submodular.quantise import Rows
from benchcore.submodular.similarities.kernels import Kernel, fit
from benchcore.submodular.similarities.precomputed import DenseSimilarity, SparseSimilarity
from benchcore.submodular.similarities.similarity import Similarity

PRECOMPUTED = "precomputed"


@dataclass(frozen=True, eq=False)
class Comparison:
    """By which kernel rows are compared, and with what beside each other.

    Attributes:
        kernel: a name in KERNELS, or `precomputed`: data are taken for a kernel by that name only.
        power: sharpens the kernel.
        bandwidth: of `rbf`.
        query: (q, d) vectors that picks should be near to, or None.
        avoid: (p, d) vectors that picks should be far from, or None.
    """

    kernel: str = "centered_cosine"
    power: float = 1.0
    bandwidth: float | None = None
    query: Any = None
    avoid: Any = None

    @property
    def given(self) -> bool:
        """Whether similarities are given instead of vectors."""
        return self.kernel == PRECOMPUTED


@dataclass(frozen=True, eq=False)
class Material:
    """Rows and what they are compared by; what an objective does not ask for is never made.

    Attributes:
        data: (n, d) vectors or features, or with the kernel `precomputed` (n, n) similarities; an array, or a sparse
            matrix where that will do.
        ids: (n,) names for errors.
        mass: (n,) whole numbers.
        comparison: its query and what it avoids are vectors in single precision.
        memory: bytes that objectives may keep beside the rows.
    """

    data: Any
    ids: NDArray[np.str_]
    mass: NDArray[np.float64]
    comparison: Comparison
    memory: int

    def similarity(self, *, clipped: bool = True) -> Similarity:
        """Of the rows to each other.

        Raises:
            UsageError: a given kernel is negative somewhere, and that may not be.
        """
        if not self.comparison.given:
            return self.fitted.between(self.rows, clipped=clipped)
        if clipped and self._given.signed:
            raise UsageError(
                "the kernel is negative somewhere, with which this objective's returns need not diminish",
                where="kernel",
                mend="Clip it (numpy.maximum(kernel, 0)) or shift it.",
            )
        return self._given

    def to_query(self, *, clipped: bool = True) -> Similarity:
        """Of the rows to the query."""
        return self.fitted.between(self.rows, self.query_rows, clipped=clipped)

    def of_query(self) -> Similarity:
        """Of the query to itself, unclipped."""
        return self.fitted.between(self.query_rows, clipped=False)

    def to_avoid(self) -> Similarity:
        """Of the rows to what is to be avoided."""
        return self.fitted.between(self.rows, self._others(self.comparison.avoid, "avoid"))

    @cached_property
    def query_rows(self) -> Rows:
        """(q, d) the query in whole numbers."""
        return self._others(self.comparison.query, "query")

    @cached_property
    def rows(self) -> Rows:
        """(n, d) the vectors in whole numbers."""
        return self.fitted.rows(self.vectors)

    @cached_property
    def fitted(self) -> Kernel:
        """The kernel on the pool's terms."""
        if self.comparison.given:
            raise UsageError("this objective needs vectors, and the kernel is precomputed", where="objective")
        wanted = self.comparison
        return fit(
            self.vectors,
            wanted.kernel,
            mass=self.mass,
            power=wanted.power,
            bandwidth=wanted.bandwidth,
            others=[other for other in (wanted.query, wanted.avoid) if other is not None],
            ids=self.ids,
        )

    @cached_property
    def vectors(self) -> NDArray[np.float32]:
        """(n, d) the data in single precision."""
        return as_vectors(self.data, "embeddings")

    @cached_property
    def _given(self) -> DenseSimilarity | SparseSimilarity:
        if self.comparison.power != 1 or self.comparison.bandwidth is not None:
            raise UsageError("a precomputed kernel is taken as it is, without a power or a bandwidth", where="kernel")
        turned = self.data.T  # similarities take candidates first, users what is represented: sum_i max_j matrix[i, j]
        return SparseSimilarity(turned.tocsr()) if is_sparse(turned) else DenseSimilarity(turned)

    def _others(self, vectors: NDArray[np.float32] | None, name: str) -> Rows:
        if vectors is None:
            raise UsageError(f"this objective needs vectors to compare with: give {name}", where=name)
        return self.fitted.rows(vectors)


def as_vectors(data: Any, where: str) -> NDArray[np.float32]:
    """Rows of real numbers in single precision, as they lie in memory if they can.

    Raises:
        UsageError: it is no such array.
    """
    array = as_matrix(data, where)
    if is_sparse(array):
        raise UsageError("expected dense vectors, got a sparse matrix", where=where, mend="Use .toarray().")
    with np.errstate(over="ignore"):  # too large for single precision becomes infinity, which is refused by name
        return np.ascontiguousarray(array, np.float32)

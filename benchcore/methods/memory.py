"""How much memory a selection needs, so that one that cannot end is not begun."""

from __future__ import annotations

from collections.abc import Iterable

from benchcore.errors import UsageError
from benchcore.machine import in_words
from benchcore.submodular.pairs.kept import KEPT_BYTES, MOST_PAIRS

_BLOCKS = 96 * 2**20  # blocks of similarities, and what quantising takes for some thousand rows at a time
_LOW_RANK = ("cosine", "centered_cosine", "linear")


def bytes_needed(
    objectives: Iterable[str],
    n: int,
    d: int,
    k: int,
    *,
    kernel: str = "centered_cosine",
    copied: int = 0,
    compared: int = 0,
) -> int:
    """Memory that a selection takes at its peak beyond its arguments, and without what only makes it faster.

    Args:
        objectives: names of the objective, or of a mixture's parts.
        n: rows.
        d: dimensions.
        k: picks.
        kernel: its name.
        copied: bytes of the arguments that must be copied (sorted by id, or brought to single precision).
        compared: vectors of a query and of what is to be avoided.
    """
    names = set(objectives)
    records = n * (8 * 10 + 8 * (max(k, 1).bit_length() + 2))  # the optimizer's bounds, those of landmarks, the pool
    if names <= {"random"}:
        return records
    needed = copied + records + _BLOCKS
    if names - {"feature_based"} and kernel != "precomputed":
        rows = 4 * (n + compared) * (d + 2)
        needed += 3 * rows if kernel == "rbf" else rows  # as they are, mirrored, and while either is put together
    low_rank = kernel in _LOW_RANK
    return needed + sum(_kept(name, n + compared, d, k, low_rank=low_rank) for name in names)


def require_memory(needed: int, available: int | None) -> None:
    """Refuse a selection that does not fit.

    Args:
        needed: bytes.
        available: bytes; None where unknown.

    Raises:
        UsageError: with both figures.
    """
    if available is not None and needed > available:
        raise UsageError(
            f"the selection would take {in_words(needed)} of memory, and {in_words(available)} are free",
            where="memory",
            mend="Pick from fewer rows, fewer dimensions or on a larger machine; `benchcore select` works on shards.",
        )


def _kept(name: str, n: int, d: int, k: int, *, low_rank: bool) -> int:
    """What one objective keeps beside the rows, at least."""
    if name == "log_determinant" and low_rank:
        return 8 * (d * (d + k) + 4096 * k)
    if name == "log_determinant":
        return 8 * n * k
    if name == "logdetmi":
        return 8 * n * (2 * k + 2)
    if name in ("facility_location", "flvmi") and n * n <= MOST_PAIRS:
        return 8 * 4 * n + 2 * KEPT_BYTES * n * n
    return 8 * 4 * n

"""Binary blocks inside the page: compressed, in base64, for the browser to open after it has painted."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

TEXT_BYTES = 24_000_000  # of all beginnings together, before compression
LONGEST_BEGINNING = 160  # characters


def packed(content: bytes) -> str:
    """Deflate and base64: nothing in it can end a script element."""
    return base64.b64encode(zlib.compress(content, 6)).decode()


def beginning_length(n: int) -> int:
    """How many characters of each of n prompts the page can hold."""
    return max(24, min(LONGEST_BEGINNING, TEXT_BYTES // max(n, 1)))


def columns(
    *,
    positions: NDArray[np.int16],
    nearest: NDArray[np.int64],
    coverage: NDArray[np.float64],
    benchmarks: NDArray[np.int64],
    copies: NDArray[np.int64],
    texts: Sequence[bytes],
    ids: Sequence[str],
) -> bytes:
    """One column after the other, as data.js reads them; the widest numbers first, so that all are aligned."""
    lengths = [len(text) for text in texts]
    parts: tuple[NDArray[Any], ...] = (
        nearest.astype("<u4"),
        positions[:, 0].astype("<i2"),
        positions[:, 1].astype("<i2"),
        benchmarks.astype("<u2"),
        np.minimum(copies, 65_535).astype("<u2"),
        np.array(lengths, "<u2"),
        np.rint(255 * np.clip(coverage, 0, 1)).astype("u1"),
    )
    return b"".join(part.tobytes() for part in parts) + bytes.fromhex("".join(ids))

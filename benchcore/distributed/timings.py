"""How long the steps of a selection took."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

log = logging.getLogger(__name__)

Timings = dict[str, float]  # seconds by step


@contextmanager
def timed(step: str, timings: Timings) -> Iterator[None]:
    """Note and say how long a step takes."""
    started = time.monotonic()
    yield
    timings[step] = time.monotonic() - started
    log.info("select: %s took %.1f s", step, timings[step])

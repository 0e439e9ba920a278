"""Commands run in this process: what they set for the whole process ends with the test."""

import logging
import signal
from collections.abc import Iterator

import pytest

from benchcore.pipeline.logs import configure_logging, logging_style


@pytest.fixture(autouse=True)
def _process_as_before() -> Iterator[None]:
    """SIGTERM and logging."""
    root, ours = logging.getLogger(), logging.getLogger("benchcore")
    handler, style = signal.getsignal(signal.SIGTERM), logging_style()
    handlers, levels = root.handlers[:], (root.level, ours.level)
    yield
    signal.signal(signal.SIGTERM, handler)
    configure_logging(style)
    logging.captureWarnings(False)
    root.handlers[:] = handlers
    root.setLevel(levels[0])
    ours.setLevel(levels[1])

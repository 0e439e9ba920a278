"""What hostile things need to be tried on."""

from __future__ import annotations

from tests.ingest.conftest import corpus

__all__ = ["corpus"]

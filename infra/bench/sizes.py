"""How large cases are, and what is run before them so that no figure holds compilation."""

from __future__ import annotations

from dataclasses import dataclass

# Just large enough for the compiled loops; a child whose run compiles something nevertheless fails.
_WARM_ROWS = {"facility_location": 8_000, "feature_based": 84_000, "log_determinant": 1_000}


@dataclass(frozen=True)
class Sizes:
    """Sizes of a run of the bench.

    Attributes:
        part: 1, or by what all sizes are divided to try the bench itself: its figures then mean nothing.
    """

    part: int = 1

    def of(self, full: int) -> int:
        """A number of rows or picks."""
        return max(full // self.part, 1)

    def warm_rows(self, objective: str) -> int:
        """Rows of the run before the one that is measured."""
        return self.of(_WARM_ROWS[objective])

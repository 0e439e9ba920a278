"""What a check says: what is wrong, where, how often, and which command mends it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["broken", "notice"]

EXAMPLES = 5

RESTORE = "Restore an earlier version of the table (docs/operations.md)."


@dataclass(frozen=True)
class Finding:
    """One invariant that does not hold, or one thing to know.

    Attributes:
        check: the name of the invariant.
        severity: `broken` for what must not be; `notice` for what may be, and should be known.
        where: the table or the folder.
        what: what is wrong, in words that follow the count.
        count: how many rows, prompts, coresets or files.
        examples: the first few of them.
        mend: what to do about it.
    """

    check: str
    severity: Severity
    where: str
    what: str
    count: int
    examples: tuple[str, ...] = ()
    mend: str = ""

    @property
    def line(self) -> str:
        """All of it in one line, without the severity."""
        more = ", ..." if self.count > len(self.examples) else ""
        named = f" ({', '.join(self.examples)}{more})" if self.examples else ""
        return " ".join(f"{self.where}: {self.count:,} {self.what}{named}. {self.mend}".split())

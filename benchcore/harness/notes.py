"""What was noticed while reading logs: each kind of thing counted, with a few examples, so that nothing is silent."""

from __future__ import annotations

from dataclasses import dataclass, field

EXAMPLES = 5


@dataclass
class Notes:
    """Counts of what was noticed, in the order of first notice.

    Attributes:
        counts: kind -> how often.
        examples: kind -> the first few, as `path row 7: reason`.
    """

    counts: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, kind: str, example: str) -> None:
        """Note one thing of a kind (`unreadable`, `without score`, ...)."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        seen = self.examples.setdefault(kind, [])
        if len(seen) < EXAMPLES and example not in seen:
            seen.append(example)

"""What was noticed while reading logs: each kind of thing counted, with a few examples, so that nothing is silent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

EXAMPLES = 5
_CHARACTERS = 500


@dataclass
class Notes:
    """Counts of what was noticed, in the order of first notice.

    Attributes:
        counts: kind -> how often.
        examples: kind -> the first few, as `path row 7: reason`.
    """

    counts: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, kind: str, example: str, reason: str = "") -> None:
        """Note one thing of a kind (`unreadable`, `without score`, ...).

        Args:
            kind: of thing.
            example: where it was, and what; cut where it is very long.
            reason: the end of the example; where it is given, one example of each reason is kept.
        """
        self.counts[kind] = self.counts.get(kind, 0) + 1
        seen = self.examples.setdefault(kind, [])
        if len(seen) >= EXAMPLES or (reason and any(one.endswith(reason) for one in seen)):
            return
        if len(example) > _CHARACTERS:
            example = f"{example[: _CHARACTERS // 2]} ... {example[-_CHARACTERS // 2 :]}"
        if example not in seen:
            seen.append(example)

    def add_many(self, kind: str, examples: str | Sequence[str], count: int) -> None:
        """Note many things of one kind at once, of which some are examples."""
        if count:
            shown = [examples] if isinstance(examples, str) else examples
            for example in shown:
                self.add(kind, example)
            self.counts[kind] = self.counts.get(kind, 0) + count - len(shown)

"""What the registry of methods knows about each."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchcore.methods.id_order import solve_in_id_order
from benchcore.methods.problem import Method, Problem, Selection


@dataclass(frozen=True)
class Entry:
    """A named method; it can be called like the method itself.

    Attributes:
        method: from a problem to a selection.
        needs: feature blocks that the problem must have: `embedding`, `surface`, `ngrams`; `scores` marks a method
            that looks at the scores of source models.
        uses: blocks that it looks at beside those where the problem has them.
        nested: whether a smaller k gives a prefix.
        drawn: whether the picks depend on the seed.
        balances: whether `balanced` problems are picked in balance; others take no notice of it.
        whole_tasks: whether its items are whole tasks of a leaderboard, rather than prompts.
    """

    method: Method
    needs: tuple[str, ...] = ()
    uses: tuple[str, ...] = field(default=(), kw_only=True)
    nested: bool = False
    drawn: bool = False
    balances: bool = True
    whole_tasks: bool = False

    @property
    def score_free(self) -> bool:
        """Whether no model's score is looked at."""
        return "scores" not in self.needs

    def __call__(self, problem: Problem) -> Selection:
        """Pick `problem.k` items: the same ids whatever the order of the rows."""
        return solve_in_id_order(self.method, problem)

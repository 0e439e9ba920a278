"""What is compared: methods, with and without balance, and estimators, with panels of some sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchcore.errors import UsageError
from benchcore.estimation.estimator import EstimatorEntry
from benchcore.estimation.group_weights import own_weights
from benchcore.methods.entry import Entry
from benchcore.methods.names import require_known

CONTROL, HEADLINE = "random", "macro"
UNBALANCED = ":unbalanced"

# What is compared where nothing else is asked for: the controls, what the product offers first, and rivals.
USUAL_METHODS = (
    CONTROL,
    "plain_random",
    "nested_swaps",
    "balanced_swaps",
    "facility_location",
    "facility_location_free",
    "facility_location_swaps",
    "kernel_herding",
    "kmeans",
    "local_pivotal",
)
USUAL_ESTIMATORS = (HEADLINE, "plain", "own")


@dataclass(frozen=True)
class Contestant:
    """A method as it takes part.

    Attributes:
        name: that of the registry, with `@3` where it sees three models alone, and `:unbalanced` where it picks
            without quotas.
        entry: the method.
        balanced: whether it picks in balance.
        panel: how many of the models that may be looked at it sees, the same as estimators with a panel of that size;
            0: all.
    """

    name: str
    entry: Entry
    balanced: bool = True
    panel: int = 0


@dataclass(frozen=True)
class Judge:
    """An estimator as it takes part.

    Attributes:
        name: that of the registry, with `@3` for a panel of three models.
        entry: the estimator.
        panel: how many models it looks at; 0: none.
    """

    name: str
    entry: EstimatorEntry
    panel: int = 0

    @property
    def takes_own(self) -> bool:
        """Whether it uses the weights that methods give their picks: some give none."""
        return self.entry.weights is own_weights


def contestants(names: Sequence[str] | None, methods: Mapping[str, Entry]) -> list[Contestant]:
    """Look up methods that pick prompts by name; None: all.

    Raises:
        UsageError: a name is not known, or has a panel that its method does not look at.
    """
    found = {}
    of_prompts = [name for name, entry in methods.items() if not entry.whole_tasks]
    for name in of_prompts if names is None else names:
        plain, panel, size = name.removesuffix(UNBALANCED).partition("@")
        require_known(plain, of_prompts, "method", "--methods")
        entry = methods[plain]
        if panel and (entry.score_free or not _is_count(size)):
            mend = "For example panel_swaps@3."
            raise UsageError(f"'{name}' is no method that looks at a panel", where="--methods", mend=mend)
        found[name] = Contestant(name, entry, not name.endswith(UNBALANCED), int(size or 0))
    return list(found.values())


def _is_count(text: str) -> bool:
    return text.isdecimal() and int(text) > 0


def judges(names: Sequence[str] | None, estimators: Mapping[str, EstimatorEntry], panel: Sequence[int]) -> list[Judge]:
    """Look up estimators by name, each that needs a panel once for every size; None: all.

    Raises:
        UsageError: a name is not known.
    """
    found: dict[str, Judge] = {}
    for name in estimators if names is None else names:
        plain, _, size = name.partition("@")
        require_known(plain, estimators, "estimator", "--estimators")
        entry = estimators[plain]
        if size and not (entry.needs_panel and _is_count(size)):
            raise UsageError(f"'{name}' is no estimator with a panel", where="--estimators", mend="For example aipw@3.")
        sizes = (int(size),) if size else panel
        for count in sizes if entry.needs_panel else (0,):
            label = f"{plain}@{count}" if count else plain
            found[label] = Judge(label, entry, count)
    return list(found.values())

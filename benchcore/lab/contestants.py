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


@dataclass(frozen=True)
class Contestant:
    """A method as it takes part.

    Attributes:
        name: that of the registry, with `:unbalanced` where it picks without quotas.
        entry: the method.
        balanced: whether it picks in balance.
    """

    name: str
    entry: Entry
    balanced: bool = True


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
    """Look up methods by name; None: all.

    Raises:
        UsageError: a name is not known.
    """
    found = {}
    for name in methods if names is None else names:
        plain = name.removesuffix(UNBALANCED)
        require_known(plain, methods, "method", "--methods")
        found[name] = Contestant(name, methods[plain], name == plain)
    return list(found.values())


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
        if size and not (entry.needs_panel and size.isdigit() and int(size) > 0):
            raise UsageError(f"'{name}' is no estimator with a panel", where="--estimators", mend="For example aipw@3.")
        sizes = (int(size),) if size else panel
        for count in sizes if entry.needs_panel else (0,):
            label = f"{plain}@{count}" if count else plain
            found[label] = Judge(label, entry, count)
    return list(found.values())

"""What merges of nearest candidates leave out: the prompts of which no such candidate was picked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.distributed import checkpoints
from benchcore.registry.identity import digest
from benchcore.registry.root import Registry
from benchcore.submodular.optimizers.result import Greedy


@dataclass(frozen=True, eq=False)
class Reached:
    """Prompts by the first pick that was among their nearest candidates in the last merge.

    Attributes:
        prompts: (k,) how many, pick by pick.
        mass: (k,) of these, whole numbers.
    """

    prompts: NDArray[np.int64]
    mass: NDArray[np.float64]

    def uncovered(self, k: int, prompts: int, mass: float) -> dict[str, float]:
        """The shares of all prompts and of all mass that the first k picks leave out, for the manifest."""
        return {
            "uncovered": 1 - int(self.prompts[:k].sum()) / prompts,
            "uncovered_mass": 1 - float(self.mass[:k].sum()) / mass,
        }

    def save(self, registry: Registry, order: str) -> None:
        """Keep it beside the order that is named so."""
        checkpoints.save(registry, _key(order), Greedy(self.prompts, self.mass))

    @staticmethod
    def load(registry: Registry, order: str) -> Reached | None:
        """That of the order that is named so; None when there is none that is whole."""
        found = checkpoints.load(registry, _key(order))
        return None if found is None else Reached(found.order, found.gains)


def _key(order: str) -> str:
    return digest("reached", order)

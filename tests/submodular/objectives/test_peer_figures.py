"""What apricot 0.6.1 and submodlib 0.0.3 pick from the same whole numbers, and what it is worth."""

from __future__ import annotations

import numpy as np
import pytest

from benchcore.submodular.constraints.constraint import Cardinality
from benchcore.submodular.objectives.feature_based import FeatureBased
from benchcore.submodular.objectives.graph_cut import GraphCut
from benchcore.submodular.objectives.saturated_coverage import SaturatedCoverage
from benchcore.submodular.optimizers.lazy import lazy_greedy
from benchcore.submodular.similarities.dot import DotSimilarity

STEPS = 96


def features() -> np.ndarray:
    """(80, 10) whole numbers; every feature reaches 0 and STEPS, which submodlib would otherwise scale it to."""
    i, f = np.ogrid[:80, :10]
    rows = (i * i * 31 + f * f * 57 + i * f * 19 + i * 7) % 97
    rows = np.where(rows < 40, 0, rows)
    rows[78], rows[79] = 0, STEPS
    return rows.astype(np.float32)


@pytest.mark.parametrize(
    ("objective", "picks", "value"),
    [
        ("graph cut 0.3", [79, 62, 16, 68, 49, 10, 28, 17, 27, 6], 1971.2222607010046),
        ("graph cut 1.0", [79, 62, 16, 68, 49, 28, 17, 10, 27, 6], 1669.6395417451859),
        ("saturated coverage 0.1", [79, 62, 16, 68, 17, 0, 1, 2, 3, 4], 1037.8822374131946),
        ("saturated coverage 0.2", [79, 62, 16, 68, 49, 10, 28, 17, 27, 56], 2058.7001953125027),
        ("feature-based sqrt", [79, 62, 16, 68, 28, 10, 17, 49, 5, 6], 25.385833390018707),
        ("feature-based log", [79, 62, 16, 68, 28, 17, 10, 49, 5, 69], 20.063268369175958),
        ("feature-based ratio", [79, 62, 68, 16, 28, 17, 10, 5, 49, 56], 8.65293834888154),
    ],
)
def test_picks_and_values_are_the_peers(objective: str, picks: list[int], value: float):
    """Sums over rows where ours are means; single precision where theirs is."""
    name, _, parameter = objective.rpartition(" ")
    similarity, mass = DotSimilarity(8 * features(), unit=float((8 * STEPS) ** 2)), np.ones(80)
    found, rows = {
        "graph cut": lambda: (GraphCut(similarity, mass, float(parameter)), 80),
        "saturated coverage": lambda: (SaturatedCoverage(similarity, mass, float(parameter)), 80),
        "feature-based": lambda: (FeatureBased(features() / STEPS, concave=parameter), 1),
    }[name]()
    run = lazy_greedy(found, Cardinality(np.ones(80, bool), 10))

    assert run.order.tolist() == picks
    assert found.value / found.unit * rows == pytest.approx(value, rel=1e-6)

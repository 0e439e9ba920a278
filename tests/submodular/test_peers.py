"""Against submodlib-py 0.0.3, on the same kernels: its figures are kept in `peer_figures.json`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchcore.submodular.constraints.constraint import Cardinality
from benchcore.submodular.objectives.facility_location import FacilityLocation
from benchcore.submodular.objectives.feature_based import FeatureBased
from benchcore.submodular.objectives.graph_cut import GraphCut
from benchcore.submodular.objectives.log_det_information import LogDetMI
from benchcore.submodular.objectives.log_determinant import LogDeterminant
from benchcore.submodular.objectives.objective import Objective
from benchcore.submodular.objectives.query_information import COM, FLQMI, FLVMI, GCMI
from benchcore.submodular.optimizers.lazy import lazy_greedy
from benchcore.submodular.similarities.precomputed import DenseSimilarity
from tests.submodular.peer_instances import PeerCase, cases

FIGURES = {
    figures["name"]: figures for figures in json.loads(Path(__file__).with_name("peer_figures.json").read_text())
}
PRECISION = 1e-5  # submodlib keeps similarities in single precision
each = pytest.mark.parametrize("case", list(cases()), ids=lambda case: case.name)


def ours(case: PeerCase) -> tuple[Objective, float, float]:
    """Our objective, what turns its values into submodlib's, and what submodlib adds for a pick."""
    n, mass, parameters = case.n, np.ones(case.n), case.parameters
    kernel, signed = case.kernel(), case.kernel(signed=True)
    within, across = DenseSimilarity(kernel[:n, :n]), DenseSimilarity(kernel[:n, n:], same=False)
    if case.objective == "log-determinant":  # submodlib's is log det(K + I / a)
        return LogDeterminant(DenseSimilarity(signed[:n, :n]), parameters[0]), 1.0, -float(np.log(parameters[0]))
    if case.objective == "LogDetMI":
        parts = DenseSimilarity(signed[:n, n:], same=False), DenseSimilarity(signed[n:, n:])
        return LogDetMI(DenseSimilarity(signed[:n, :n]), *parts, *parameters), 1.0, 0.0
    objective = {
        "facility location": lambda: FacilityLocation(within, mass),
        "graph cut": lambda: GraphCut(within, mass, *parameters),
        "feature-based": lambda: FeatureBased(case.features(), None, *parameters),
        "FLVMI": lambda: FLVMI(within, across, mass, *parameters),
        "FLQMI": lambda: FLQMI(across, *parameters),
        "GCMI": lambda: GCMI(across, *parameters),
        "COM": lambda: COM(across, *parameters),
    }[case.objective]()
    by_mass = case.objective in ("facility location", "graph cut", "FLVMI")  # ours are shares of all rows
    return objective, (n if by_mass else 1.0) / objective.unit, 0.0


def test_submodlib_answered_every_case():
    """A case that it failed on would say so here; none is left out."""
    assert [case.name for case in cases()] == list(FIGURES)
    assert not [figures for figures in FIGURES.values() if "failed" in figures]


@each
def test_its_picks_are_greedy_by_our_gains(case: PeerCase):
    """At every step of its run, its pick has the largest of our gains (or a tie's), and the gain that it says."""
    figures = FIGURES[case.name]
    objective, scale, extra = ours(case)
    left = np.arange(case.n)
    room = PRECISION * max(1.0, abs(figures["gains"][0]))
    for pick, theirs in zip(figures["picks"], figures["gains"], strict=True):
        gains = objective.gains(left) * scale + extra
        at_pick = float(gains[left == pick][0])

        assert abs(at_pick - theirs) <= room
        assert at_pick >= gains.max() - room
        objective.add(pick)
        left = left[left != pick]
    assert np.isclose(figures["value"], objective.value * scale + extra * case.k, rtol=PRECISION, atol=room)


@each
def test_our_value_is_not_below_its(case: PeerCase):
    """By more than a ten-thousandth of it; and our picks are its, up to the first tie."""
    figures = FIGURES[case.name]
    objective, scale, extra = ours(case)
    found = lazy_greedy(objective, Cardinality(np.ones(case.n, bool), case.k))
    room = PRECISION * max(1.0, abs(figures["gains"][0]))
    again = ours(case)[0]
    for mine, theirs in zip(found.order.tolist(), figures["picks"], strict=True):
        if mine != theirs:  # only where the two gain the same
            assert abs(np.diff(again.gains(np.array([mine, theirs])))[0]) * scale <= room
            break
        again.add(mine)

    assert objective.value * scale + extra * case.k >= figures["value"] - 1e-4 * abs(figures["value"])

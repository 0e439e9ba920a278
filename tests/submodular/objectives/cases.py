"""Every objective of the project, once: a new one is added with one line, and passes every law of `test_laws`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from benchcore.submodular.objectives.avoidance import avoidance_floor
from benchcore.submodular.objectives.facility_location import FacilityLocation
from benchcore.submodular.objectives.feature_based import FeatureBased
from benchcore.submodular.objectives.graph_cut import GraphCut
from benchcore.submodular.objectives.log_det_information import LogDetMI
from benchcore.submodular.objectives.log_determinant import LogDeterminant, LowRankLogDeterminant
from benchcore.submodular.objectives.mixture import Mixture
from benchcore.submodular.objectives.objective import Objective
from benchcore.submodular.objectives.query_information import COM, FLQMI, FLVMI, GCMI
from benchcore.submodular.objectives.saturated_coverage import SaturatedCoverage
from benchcore.submodular.similarities.dot import DotSimilarity
from tests.submodular.objectives import references
from tests.submodular.objectives.instances import Instance
from tests.submodular.objectives.references import Reference, feature_weights


@dataclass(frozen=True)
class Case:
    """An objective and what is promised of it.

    Attributes:
        name: of the test.
        build: the objective of an instance, at the empty set.
        reference: its formula, in its own terms.
        whole: values are whole numbers, so that gains are their differences, to the last bit below 2^53.
        submodular: whether returns diminish.
        order_free: whether the bits depend on the set alone and not on the order in which it grew.
        quantised: by how much whole numbers may move values from the formula's.
    """

    name: str
    build: Callable[[Instance], Objective]
    reference: Reference
    whole: bool = False
    submodular: bool = True
    order_free: bool = True
    quantised: float = 1e-9

    def __str__(self) -> str:
        return self.name


def _saturated(share: float) -> Case:
    return Case(
        f"saturated coverage {share}",
        lambda given: SaturatedCoverage(given.similarity, given.mass, share),
        references.saturated_coverage(share),
        whole=True,
        quantised=1e-7,  # ceilings are whole similarities
    )


def _cut(redundancy: float) -> Case:
    return Case(
        f"graph cut {redundancy}",
        lambda given: GraphCut(given.similarity, given.mass, redundancy),
        references.graph_cut(redundancy),
    )


def _features(concave: str, function: Callable[[np.ndarray], np.ndarray], form: Callable[[np.ndarray], object]) -> Case:
    return Case(
        f"feature-based {concave}",
        lambda given: FeatureBased(form(given.features), feature_weights(given), concave),
        references.feature_based(function),
    )


def _query(given: Instance) -> DotSimilarity:
    return DotSimilarity(given.rows, given.queries)


def _concave_over_modular(psi: str, function: Callable[[np.ndarray], np.ndarray]) -> Case:
    return Case(f"COM {psi}", lambda given: COM(_query(given), 0.7, psi), references.com(0.7, function))


def _log_det_information(eta: float, ridge: float) -> Case:
    return Case(
        f"LogDetMI {eta}",
        lambda given: LogDetMI(
            DotSimilarity(given.rows, clipped=False),
            DotSimilarity(given.rows, given.queries, clipped=False),
            DotSimilarity(given.queries, clipped=False),
            eta,
            ridge,
        ),
        references.log_det_information(eta, ridge),
        submodular=False,
        order_free=False,
    )


CASES = [
    Case(
        "facility location",
        lambda given: FacilityLocation(given.similarity, given.mass),
        references.facility_location,
        whole=True,
    ),
    _saturated(0.2),
    _saturated(1.0),
    _cut(0.0),
    _cut(0.4),
    _cut(3.0),
    _features("sqrt", np.sqrt, sparse.csr_array),
    _features("log", np.log1p, np.asarray),
    _features("ratio", lambda c: c / (1 + c), sparse.csr_matrix),
    _features("min", lambda c: np.minimum(c, 1), np.asfortranarray),
    Case(
        "mixture",
        lambda given: Mixture(
            [
                (0.7, FacilityLocation(given.similarity, given.mass)),
                (0.0, GraphCut(given.similarity, given.mass, 9.0)),
                (1.3, FeatureBased(given.features, feature_weights(given), "log")),
            ]
        ),
        references.mixture((0.7, references.facility_location), (1.3, references.feature_based(np.log1p))),
        quantised=1e-7,
    ),
    Case(
        "conditional gain",
        lambda given: FacilityLocation(
            given.similarity, given.mass, avoidance_floor(DotSimilarity(given.rows, given.avoid), 0.6)
        ),
        references.conditional_gain(0.6),
        whole=True,
        quantised=1e-7,  # the floor is whole similarities
    ),
    Case(
        "log-determinant of a kernel",
        lambda given: LogDeterminant(DotSimilarity(given.rows, clipped=False), 2.0),
        references.log_determinant(2.0),
        order_free=False,
    ),
    Case(
        "log-determinant of rows",
        lambda given: LowRankLogDeterminant(given.rows, 30.0),
        references.log_determinant(30.0),
        order_free=False,
    ),
    Case(
        "FLVMI",
        lambda given: FLVMI(given.similarity, _query(given), given.mass, 0.8),
        references.flvmi(0.8),
        whole=True,
        quantised=1e-7,  # caps are whole similarities
    ),
    Case("FLQMI", lambda given: FLQMI(_query(given), 0.3), references.flqmi(0.3)),
    Case("GCMI", lambda given: GCMI(_query(given), 0.3), references.gcmi(0.3)),
    _concave_over_modular("sqrt", np.sqrt),
    _concave_over_modular("log", np.log1p),
    _concave_over_modular("ratio", lambda x: x / (1 + x)),
    _concave_over_modular("min", lambda x: np.minimum(x, 1)),
    _log_det_information(1.0, 0.1),
    _log_det_information(0.5, 1.0),
]

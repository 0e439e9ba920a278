"""Objectives by name. An objective here is a function from `Material`, and parameters with defaults."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError
from benchcore.methods.arguments import LARGEST, SMALLEST, choice, number
from benchcore.methods.columns import numbers
from benchcore.methods.material import Material
from benchcore.methods.names import require_known
from benchcore.methods.native import is_sparse, require_magnitude
from benchcore.submodular.objectives.concave import CONCAVE
from benchcore.submodular.objectives.objective import Objective

_ROWS = 4096
_FLAT = 1e-9  # of amounts beside 1


def facility_location(material: Material, *, nu: float = 1.0) -> Objective:
    """sum_i m_i max_j s_ij; with rows to avoid, only what exceeds `nu` times the similarity to these."""
    from benchcore.submodular.objectives.avoidance import avoidance_floor
    from benchcore.submodular.objectives.facility_location import FacilityLocation

    floor = None if material.comparison.avoid is None else avoidance_floor(material.to_avoid(), nu)
    # It takes negative similarities for 0 itself, which saves a pass; given ones are refused instead.
    clipped = material.comparison.given or material.comparison.power != 1
    return FacilityLocation(material.similarity(clipped=clipped), material.mass, floor, memory=material.memory)


def saturated_coverage(material: Material, *, saturation: float = 0.1) -> Objective:
    """sum_i m_i min(sum_j s_ij, saturation times that over all)."""
    from benchcore.submodular.objectives.saturated_coverage import SaturatedCoverage

    return SaturatedCoverage(material.similarity(), material.mass, saturation)


def graph_cut(material: Material, *, redundancy: float = 0.5) -> Objective:
    """sum_ij m_i s_ij over all i, less `redundancy` times the similarity of the picks to each other."""
    from benchcore.submodular.objectives.graph_cut import GraphCut

    return GraphCut(material.similarity(), material.mass, redundancy)


def feature_based(
    material: Material,
    *,
    concave: str = "sqrt",
    feature_weights: NDArray[np.floating] | None = None,
    features: Any = None,
) -> Objective:
    """sum_f w_f g(sum_j x_jf); the features are the embeddings themselves where no others are given."""
    from benchcore.submodular.objectives.feature_based import FeatureBased

    if features is None and material.comparison.given:
        raise UsageError("feature_based needs features, and the embeddings are a precomputed kernel", where="features")
    rows = material.data if features is None else features
    _require_amounts(rows, material.ids)
    require_magnitude(rows, "features")
    _require_bent(rows, concave)
    return FeatureBased(rows, _feature_weights(feature_weights, rows.shape[1]), concave)


def log_determinant(material: Material, *, scale: float = 1.0) -> Objective:
    """log det(I + scale K)."""
    from benchcore.submodular.objectives.log_determinant import LogDeterminant, LowRankLogDeterminant

    similarity = material.similarity(clipped=False)
    if material.comparison.kernel in ("cosine", "centered_cosine", "linear"):
        return LowRankLogDeterminant(material.rows, scale, similarity.unit)
    return LogDeterminant(similarity, scale)


def flqmi(material: Material, *, eta: float = 1.0) -> Objective:
    """Facility location's mutual information with the query: covers the query."""
    from benchcore.submodular.objectives.query_information import FLQMI

    return FLQMI(material.to_query(), eta)


def flvmi(material: Material, *, eta: float = 1.0) -> Objective:
    """The same over all rows: covers those that are like the query."""
    from benchcore.submodular.objectives.query_information import FLVMI

    return FLVMI(material.similarity(), material.to_query(), material.mass, eta)


def gcmi(material: Material, *, lam: float = 1.0) -> Objective:
    """Graph cut's mutual information with the query: likeness alone."""
    from benchcore.submodular.objectives.query_information import GCMI

    return GCMI(material.to_query(), lam)


def com(material: Material, *, eta: float = 1.0, psi: str = "sqrt") -> Objective:
    """Concave over modular: a concave sum for each row of the query."""
    from benchcore.submodular.objectives.query_information import COM

    return COM(material.to_query(), eta, psi)


def logdetmi(material: Material, *, eta: float = 1.0, ridge: float = 1.0) -> Objective:
    """The log-determinant's mutual information with the query: spread that the query explains."""
    from benchcore.submodular.objectives.log_det_information import LogDetMI

    own, query = material.similarity(clipped=False), material.to_query(clipped=False)
    return LogDetMI(own, query, material.of_query(), eta, ridge)


OBJECTIVES: dict[str, Callable[..., Objective]] = {
    "facility_location": facility_location,
    "saturated_coverage": saturated_coverage,
    "graph_cut": graph_cut,
    "feature_based": feature_based,
    "log_determinant": log_determinant,
    "flqmi": flqmi,
    "flvmi": flvmi,
    "gcmi": gcmi,
    "com": com,
    "logdetmi": logdetmi,
}
QUERY_OBJECTIVES = ("flqmi", "flvmi", "gcmi", "com", "logdetmi")


def parameters_of(name: str) -> tuple[str, ...]:
    """Names of the parameters of an objective."""
    return tuple(list(inspect.signature(OBJECTIVES[name]).parameters)[1:])


def make_objective(wanted: str | Mapping[str, float], material: Material, parameters: Mapping[str, Any]) -> Objective:
    """The objective of a name, or the mixture of several with their weights.

    Args:
        wanted: a name in OBJECTIVES, or a weight for each of some.
        material: what it is made of.
        parameters: by name; a mixture's go to every part that has them.

    Raises:
        UsageError: a name is unknown.
        ValueError: a parameter or the material does not suit.
    """
    weights = {wanted: 1.0} if isinstance(wanted, str) else dict(wanted)
    for name in weights:
        require_known(name, OBJECTIVES, "objective", "objective")
    known = {parameter for name in weights for parameter in parameters_of(name)}
    for name in parameters:
        if name not in known:
            owners = [other for other in OBJECTIVES if name in parameters_of(other)]
            whose = f"of {', '.join(owners)}, not " if owners else "not "
            raise UsageError(f"is a parameter {whose}of {', '.join(weights)}", where=name)
    parameters = _checked(weights, parameters)
    parts = [
        (
            weight,
            OBJECTIVES[name](material, **{key: parameters[key] for key in parameters_of(name) if key in parameters}),
        )
        for name, weight in weights.items()
    ]
    if isinstance(wanted, str):
        return parts[0][1]
    from benchcore.submodular.objectives.mixture import Mixture

    return Mixture(parts)


def _checked(names: Iterable[str], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of the kind that their defaults have."""
    checked = dict(parameters)
    for name in names:
        for key, parameter in inspect.signature(OBJECTIVES[name]).parameters.items():
            if key not in parameters:
                continue
            if isinstance(parameter.default, float):
                checked[key] = number(parameters[key], key)
            elif isinstance(parameter.default, str):
                checked[key] = choice(parameters[key], CONCAVE, key)
    return checked


def _feature_weights(weights: Any, width: int) -> NDArray[np.float64] | None:
    """A weight for each feature, none of them so large or all so small that sums leave double precision."""
    if weights is None:
        return None
    checked = numbers(weights, width, "feature_weights")
    if not ((checked >= 0) & (checked <= LARGEST)).all() or not checked.max() >= SMALLEST:
        raise UsageError(
            f"must be numbers from 0 to {LARGEST:g}, some of them above {SMALLEST:g}", where="feature_weights"
        )
    return checked


def _require_amounts(features: Any, ids: NDArray[np.str_]) -> None:
    """Refuse features that are negative or not finite, by id."""
    if is_sparse(features):
        entries = np.flatnonzero(~((features.data >= 0) & (features.data < np.inf)))
        wrong = np.unique(np.searchsorted(features.indptr, entries, side="right") - 1)
    else:
        found = [
            start + np.flatnonzero(~((part >= 0) & (part < np.inf)).all(axis=1))
            for start in range(0, len(features), _ROWS)
            for part in (features[start : start + _ROWS],)
        ]
        wrong = np.concatenate(found)
    if wrong.size:
        named = ", ".join(str(ids[row]) for row in wrong[:5])
        raise UsageError(f"features of {len(wrong)} rows are negative or not finite: {named}", where="features")


def _require_bent(features: Any, concave: str) -> None:
    """Refuse amounts that would all vanish beside the 1 where the function bends."""
    stored = features.data if is_sparse(features) else features
    largest = float(stored.max(initial=0)) if stored.size else 0.0
    if CONCAVE[concave].bend and 0 < largest < _FLAT:
        raise UsageError(
            f"the largest is {largest:g}, where {concave}, which bends at 1, is flat",
            where="features",
            mend="Multiply them by some number, or use concave='sqrt'.",
        )

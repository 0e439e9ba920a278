"""Estimators by name: from scores on the picks to scores for the whole."""

from __future__ import annotations

from benchcore.estimation.estimator import EstimatorEntry
from benchcore.estimation.group_weights import macro_weights, own_weights, plain_weights
from benchcore.estimation.item_response_estimates import gp_irt, irt_blend, irt_difference, p_irt
from benchcore.estimation.kernel_weights import kernel_quadrature_weights, kernel_ridge_weights
from benchcore.estimation.nearest_weights import raked_weights, voronoi_weights, voronoi_weights_in_groups
from benchcore.estimation.panel import aipw, panel_difference, panel_ridge
from benchcore.estimation.shrunk_weights import shrunk_weights
from benchcore.estimation.weighted import by_missing, in_groups, whole

ESTIMATORS: dict[str, EstimatorEntry] = {
    "plain": EstimatorEntry(whole(plain_weights), plain_weights),
    "macro": EstimatorEntry(in_groups(macro_weights), macro_weights),
    "own": EstimatorEntry(whole(own_weights), own_weights),
    "voronoi": EstimatorEntry(whole(voronoi_weights), voronoi_weights, needs_embedding=True),
    "voronoi_in_groups": EstimatorEntry(
        in_groups(voronoi_weights_in_groups), voronoi_weights_in_groups, needs_embedding=True
    ),
    "raked": EstimatorEntry(in_groups(raked_weights), raked_weights, needs_embedding=True),
    "kernel_quadrature": EstimatorEntry(
        in_groups(kernel_quadrature_weights), kernel_quadrature_weights, needs_embedding=True
    ),
    "kernel_ridge": EstimatorEntry(by_missing(whole(kernel_ridge_weights)), kernel_ridge_weights, needs_embedding=True),
    "shrunk": EstimatorEntry(in_groups(shrunk_weights), shrunk_weights, needs_embedding=True),
    "panel_ridge": EstimatorEntry(by_missing(panel_ridge), needs_panel=True),
    "panel_difference": EstimatorEntry(by_missing(panel_difference), needs_panel=True),
    "aipw": EstimatorEntry(by_missing(aipw), needs_panel=True),
    "p_irt": EstimatorEntry(p_irt, needs_panel=True),
    "gp_irt": EstimatorEntry(gp_irt, needs_panel=True),
    "irt_difference": EstimatorEntry(by_missing(irt_difference), needs_panel=True),
    "irt_blend": EstimatorEntry(irt_blend, needs_panel=True),
}

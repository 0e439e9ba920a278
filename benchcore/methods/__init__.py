"""The named selection methods. A method is a function from a Problem to a Selection; naming it here is all it takes."""

from __future__ import annotations

from benchcore.methods.entry import Entry
from benchcore.methods.facility_location import facility_location
from benchcore.methods.score_based.anchor_points import anchor_points
from benchcore.methods.score_based.disagreement import disagreement
from benchcore.methods.score_based.mid_difficulty import mid_difficulty
from benchcore.methods.score_based.optimal_random_search import optimal_random_search
from benchcore.methods.score_based.panel_balanced import panel_balanced
from benchcore.methods.score_based.panel_swaps import panel_swaps
from benchcore.methods.score_based.ridge_forward import ridge_forward
from benchcore.methods.score_based.tiny_correctness import tiny_correctness
from benchcore.methods.score_based.tiny_irt import tiny_irt
from benchcore.methods.score_free.balanced_herding import balanced_herding
from benchcore.methods.score_free.balanced_swaps import balanced_swaps
from benchcore.methods.score_free.dpp import dpp
from benchcore.methods.score_free.facility_location_free import facility_location_free
from benchcore.methods.score_free.facility_location_swaps import facility_location_swaps
from benchcore.methods.score_free.graph_cut import graph_cut
from benchcore.methods.score_free.herding_swaps import herding_swaps
from benchcore.methods.score_free.kcenter import kcenter
from benchcore.methods.score_free.kernel_herding import kernel_herding
from benchcore.methods.score_free.kmeans import kmeans
from benchcore.methods.score_free.kmedoids import kmedoids
from benchcore.methods.score_free.local_pivotal import local_pivotal
from benchcore.methods.score_free.mmd_critic import mmd_critic
from benchcore.methods.score_free.nested_swaps import nested_swaps
from benchcore.methods.score_free.plain_random import plain_random
from benchcore.methods.score_free.ridge_leverage import ridge_leverage
from benchcore.methods.score_free.saturated_coverage import saturated_coverage
from benchcore.methods.score_free.semdedup import semdedup
from benchcore.methods.stratified_random import stratified_random
from benchcore.methods.task_level.registry import TASK_METHODS

_TEXT = ("surface", "ngrams")  # features of the text, where there are some

METHODS: dict[str, Entry] = {
    "facility_location": Entry(facility_location, ("embedding",), nested=True),
    "random": Entry(stratified_random, nested=True, drawn=True),
    "plain_random": Entry(plain_random, nested=True, drawn=True, balances=False),
    "semdedup": Entry(semdedup, ("embedding",), nested=True, drawn=True),
    "kmeans": Entry(kmeans, ("embedding",), drawn=True),
    "kmedoids": Entry(kmedoids, ("embedding",), drawn=True),
    "kcenter": Entry(kcenter, ("embedding",), nested=True),
    "kernel_herding": Entry(kernel_herding, ("embedding",), nested=True),
    "balanced_herding": Entry(balanced_herding, ("embedding",), uses=_TEXT, nested=True),
    "mmd_critic": Entry(mmd_critic, ("embedding",), nested=True),
    "dpp": Entry(dpp, ("embedding",), nested=True),
    "saturated_coverage": Entry(saturated_coverage, ("embedding",), nested=True),
    "graph_cut": Entry(graph_cut, ("embedding",), nested=True),
    "facility_location_free": Entry(facility_location_free, ("embedding",), nested=True, balances=False),
    "ridge_leverage": Entry(ridge_leverage, ("embedding",), drawn=True),
    "local_pivotal": Entry(local_pivotal, ("embedding",), uses=_TEXT, drawn=True),
    "balanced_swaps": Entry(balanced_swaps, ("embedding",), uses=_TEXT, drawn=True),
    "nested_swaps": Entry(nested_swaps, ("embedding",), uses=_TEXT, nested=True, drawn=True),
    "herding_swaps": Entry(herding_swaps, ("embedding",), uses=_TEXT),
    "facility_location_swaps": Entry(facility_location_swaps, ("embedding",), uses=_TEXT),
    "anchor_points": Entry(anchor_points, ("scores",), drawn=True),
    "tiny_correctness": Entry(tiny_correctness, ("scores",), drawn=True),
    "tiny_irt": Entry(tiny_irt, ("scores",), drawn=True),
    "disagreement": Entry(disagreement, ("scores",), nested=True),
    "mid_difficulty": Entry(mid_difficulty, ("scores",), nested=True),
    "optimal_random_search": Entry(optimal_random_search, ("scores",), drawn=True),
    "panel_balanced": Entry(panel_balanced, ("scores",), drawn=True),
    "panel_swaps": Entry(panel_swaps, ("embedding", "scores"), uses=_TEXT, drawn=True),
    "ridge_forward": Entry(ridge_forward, ("scores",), nested=True),
    **TASK_METHODS,
}

# The best without scores on the lab's suites of those whose smaller selections are prefixes: docs/lab.md.
DEFAULT = "nested_swaps"

"""The methods that pick whole tasks, by name."""

from __future__ import annotations

from benchcore.methods.entry import Entry
from benchcore.methods.problem import Method
from benchcore.methods.task_level.backward_elimination import backward_elimination
from benchcore.methods.task_level.explained_variance import forward_ols, mean_explained, total_explained
from benchcore.methods.task_level.facility_location import (
    bento,
    facility_correlation,
    facility_distance,
    facility_rbf,
    facility_rbf_centred,
)
from benchcore.methods.task_level.geometry import farthest_first, kmedoids, leverage
from benchcore.methods.task_level.information import entropy, mutual_information
from benchcore.methods.task_level.shrunk_swaps import shrunk_swaps
from benchcore.methods.task_level.sum_to_one import sum_to_one


def _on_tasks(method: Method, *, needs: str = "scores", nested: bool = True, drawn: bool = False) -> Entry:
    return Entry(method, (needs,), nested=nested, drawn=drawn, balances=False, whole_tasks=True)


TASK_METHODS: dict[str, Entry] = {
    "task_shrunk_swaps": _on_tasks(shrunk_swaps, nested=False),
    "task_facility_correlation": _on_tasks(facility_correlation),
    "task_facility_distance": _on_tasks(facility_distance),
    "task_facility_rbf": _on_tasks(facility_rbf),
    "task_facility_rbf_centred": _on_tasks(facility_rbf_centred),
    "task_bento": _on_tasks(bento, needs="transfer"),
    "task_mean_explained": _on_tasks(mean_explained),
    "task_total_explained": _on_tasks(total_explained),
    "task_entropy": _on_tasks(entropy),
    "task_mutual_information": _on_tasks(mutual_information),
    "task_forward_ols": _on_tasks(forward_ols),
    "task_sum_to_one": _on_tasks(sum_to_one),
    "task_backward_elimination": _on_tasks(backward_elimination),
    "task_farthest_first": _on_tasks(farthest_first),
    "task_kmedoids": _on_tasks(kmedoids, nested=False, drawn=True),
    "task_leverage": _on_tasks(leverage),
}

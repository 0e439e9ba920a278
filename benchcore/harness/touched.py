"""How many picks of each coreset have scores: what is still to be run before an estimate is whole."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from benchcore.registry.manifests import list_manifests
from benchcore.registry.root import Registry
from benchcore.registry.scores import read_scores
from benchcore.registry.tables import read

EXAMPLES = 5


@dataclass(frozen=True)
class Touched:
    """How far one model has come with one coreset.

    Attributes:
        picks: of the coreset.
        scored: picks with at least one score, measured on the version of the prompt that the coreset pins.
        missing: the first of the others, by rank, as `benchmark prompt_id`.
    """

    coreset_id: str
    model: str
    picks: int
    scored: int
    missing: tuple[str, ...]


def touched_coresets(registry: Registry, models: Sequence[str]) -> tuple[Touched, ...]:
    """The coresets of which some of these models have scores, the newest first, models by name."""
    order = [manifest.coreset_id for manifest in reversed(list_manifests(registry))]
    picks: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    columns = ("coreset_id", "rank", "benchmark", "prompt_id", "content_hash")
    rows = read(registry, "coresets", columns=columns).sort_by("rank")
    for coreset_id, _, *pick in zip(*(column.to_pylist() for column in rows.columns), strict=True):
        picks[coreset_id].append((pick[0], pick[1], pick[2]))
    asked = {prompt_id for listed in picks.values() for _, prompt_id, _ in listed}
    found = read_scores(registry, prompt_ids=asked, models=models, columns=("model", "prompt_id", "content_hash"))
    scored: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for model, prompt_id, content in zip(*(column.to_pylist() for column in found.columns), strict=True):
        scored[model].add((prompt_id, content))
    counted = (
        _touched(coreset_id, model, picks[coreset_id], scored[model])
        for coreset_id in order
        for model in sorted(scored)
    )
    return tuple(touched for touched in counted if touched.scored)


def _touched(
    coreset_id: str, model: str, picks: Sequence[tuple[str, str, str]], scored: set[tuple[str, str]]
) -> Touched:
    missing = [f"{benchmark} {name}" for benchmark, name, content in picks if (name, content) not in scored]
    return Touched(coreset_id, model, len(picks), len(picks) - len(missing), tuple(missing[:EXAMPLES]))

"""Models that have scores on nearly all prompts that a coreset stands for: they need no estimate."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from benchcore.registry.root import Registry
from benchcore.registry.tables import among, dataset, read
from benchcore.scoring.matrix import ScoreMatrix
from benchcore.scoring.panel import SCORED
from benchcore.scoring.picked import Picked

_COUNTED = 5_000_000  # rows that are read at most to count models where files hold several
_READ = 1_000_000  # and to tell whether rows are of different prompts


def everywhere(registry: Registry, coreset: Picked, matrix: ScoreMatrix) -> list[tuple[str, int]]:
    """Find models with scores on nearly all prompts, and on how many each.

    A look that is cheap enough to take each time: rows are counted by what the files' footers say, and few are read.
    So it finds no model that there is not, but of very many it tells the first. Whether the prompts are as they were is
    not looked at.

    Args:
        registry: holds `scores`.
        coreset: its benchmarks say how many prompts there are.
        matrix: of its picks; a model without scores on nearly all of these has none on nearly all prompts.
    """
    least = SCORED * float(coreset.sizes.sum())
    seen = (np.isfinite(matrix.scores) | matrix.uncounted).sum(axis=0) >= SCORED * coreset.k
    candidates = [name for name, enough in zip(matrix.models, seen.tolist(), strict=True) if enough]
    scores = dataset(registry, "scores")
    if not candidates or scores.count_rows() < least:
        return []
    counts, left, looked_at = _rows_by_model(scores), _READ, []
    for name in candidates:
        if least <= counts[name] <= left:
            left -= counts[name]
            looked_at.append(name)
    if not looked_at:
        return []
    benchmarks = among("benchmark", [benchmark.name for benchmark in coreset.benchmarks])
    prompts = read(registry, "prompts", columns=("prompt_id",), where=benchmarks)["prompt_id"].combine_chunks()
    rows = scores.to_table(columns=["model", "prompt_id"], filter=among("model", looked_at))
    places = pa.table({"model": rows["model"], "place": pc.index_in(rows["prompt_id"], value_set=prompts)}).drop_null()
    found = places.group_by("model").aggregate([("place", "count_distinct")]).to_pylist()
    return sorted((row["model"], row["place_count_distinct"]) for row in found if row["place_count_distinct"] >= least)


def _rows_by_model(scores: ds.Dataset) -> Counter[str]:
    """How many rows models have, at least."""
    counts: Counter[str] = Counter()
    left = _COUNTED
    for fragment in scores.get_fragments():
        mixed = []
        for part in fragment.row_groups:
            ends = (part.statistics or {}).get("model")
            if ends is not None and ends["min"] == ends["max"]:
                counts[ends["min"]] += part.num_rows
            elif part.num_rows <= left:
                left -= part.num_rows
                mixed.append(part.id)
        if mixed:
            models = fragment.subset(row_group_ids=mixed).to_table(columns=["model"])["model"].value_counts()
            counts.update({row["values"]: row["counts"] for row in models.to_pylist()})
    return counts

"""What the page's scripts work with: the picks in full, and one point for each prompt."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from benchcore.report.ground import Ground
from benchcore.report.hostile_text import bounded, named, visible
from benchcore.report.packing import columns
from benchcore.report.view import Material

_PICK_TEXT = 16_000_000  # characters of all picks together
_LONGEST_PICK = 20_000
_CHOICES = 50


def point_order(ground: Ground) -> NDArray[np.int64]:
    """Rows by benchmark: texts that are like each other compress best side by side."""
    return np.lexsort((ground.prompt_id, ground.benchmark)).astype(np.int64)


def data_block(material: Material) -> bytes:
    """JSON: names, and the picks by rank with their whole texts up to a length."""
    ground, coverage = material.ground, material.findings.territories.coverage
    names = np.unique(ground.benchmark).tolist()
    category = {row["benchmark"]: row["category"] for row in material.manifest.coverage}
    categories = sorted(set(category.values()))
    place = np.argsort(point_order(ground))  # of each row among the points
    code = {name: number for number, name in enumerate(names)}
    suite = material.weights.get("suite", {})
    longest = min(_LONGEST_PICK, _PICK_TEXT // max(len(material.picks), 1))
    picks: list[dict[str, Any]] = [
        {
            "point": int(place[row]),
            "benchmark": code[pick["benchmark"]],
            "role": visible(pick["role"]),
            "weight": suite.get(pick["prompt_id"], 0.0),
            "gain": pick["gain"],
            "represents": pick["represents"],
            "coverage": float(coverage[row]),
            "prompt": bounded(visible(pick["prompt"]), longest),
            "answer": bounded(visible(pick["answer"]), longest),
            "choices": [bounded(visible(choice), 2000) for choice in (pick["choices"] or ())[:_CHOICES]],
        }
        for pick, row in zip(material.picks, material.findings.picks, strict=True)
    ]
    return orjson.dumps(
        {
            "n": ground.n,
            "benchmarks": [named(name) for name in names],
            "categories": [named(name) for name in categories],
            "categoryOf": [categories.index(category[name]) for name in names],
            "regions": [int(place[region.centre]) for region in material.findings.regions],
            "picks": picks,
        }
    )


def points_block(material: Material) -> bytes:
    """The columns of all points; see `packing.columns`."""
    assert material.positions is not None  # nosec B101 # for the type checker: a map has them
    ground, reached = material.ground, material.findings.territories
    order = point_order(ground)
    return columns(
        positions=material.positions[order],
        nearest=reached.nearest[order],
        coverage=reached.coverage[order],
        benchmarks=np.unique(ground.benchmark, return_inverse=True)[1][order],
        copies=ground.copies[order],
        texts=_texts(material, order),
        ids=ground.prompt_id[order].tolist(),
    )


def texts_block(material: Material) -> bytes:
    """The beginnings of all prompts, one after the other."""
    return b"".join(_texts(material, point_order(material.ground)))


def _texts(material: Material, order: NDArray[np.int64]) -> list[bytes]:
    return [visible(material.beginnings[row]).encode() for row in order.tolist()]

"""What the template shows, worked out of what was read and found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import orjson

from benchcore.registry.manifests import Manifest, certainty, manifest_warnings
from benchcore.report.curve_picture import curve_picture
from benchcore.report.findings import Findings
from benchcore.report.ground import Ground
from benchcore.report.layout import Positions
from benchcore.scoring.estimates import Estimates
from benchcore.scoring.picked import LEAST

# What the page opens up on demand, from the manifest.
_PROVENANCE = {
    "Configuration that decides the picks": "semantic_configuration",
    "Encoders": "encoders",
    "Table versions that were read": "table_versions",
    "Library versions": "library_versions",
    "Seconds by step": "timings",
    "Digest of the input": "input_digest",
}
_COPIES_SHOWN = 20
_TARGETS_SHOWN = 10_000  # of all models together; a page of more would be slow to open


@dataclass(frozen=True, eq=False)
class Material:
    """What a page is made of.

    Attributes:
        manifest: of the coreset.
        picks: by rank, each with its prompt; all text in them is taken for hostile.
        weights: target -> prompt id -> weight.
        ground: the prompts that the coreset was selected from.
        findings: about them.
        beginnings: (n,) of their texts.
        estimates: of models; without models where there are no scores.
        positions: (n, 2) on the map; None for a page without one.
    """

    manifest: Manifest
    picks: Sequence[Mapping[str, Any]]
    weights: Mapping[str, Mapping[str, float]]
    ground: Ground
    findings: Findings
    beginnings: Sequence[str]
    estimates: Estimates
    positions: Positions | None


def view(material: Material) -> dict[str, Any]:
    """Names and values for the template."""
    manifest, found = material.manifest, material.findings
    coverage = [
        row | dict(zip(("inside", "elsewhere"), found.repeated.get(row["benchmark"], (0.0, 0.0)), strict=True))
        for row in sorted(manifest.coverage, key=lambda row: (row["category"], row["benchmark"]))
    ]
    facts = asdict(manifest)
    bound, models = manifest.certificate.get("upper_bound"), _models(material.estimates)
    return {
        "manifest": manifest,
        "semantic": manifest.semantic_configuration,
        "certificate": manifest.certificate,
        "certainty": certainty(manifest.certificate),
        "coverage": coverage,
        "categories": _categories(coverage),
        "prompts": sum(row["prompts"] for row in manifest.coverage),
        "warnings": manifest_warnings(manifest),
        "picks": _with_weights(material),
        "roles": sorted({str(pick["role"]) for pick in material.picks}),
        "gains": any(pick["gain"] for pick in material.picks),
        "curve": curve_picture(found.territories.prefixes, bound),
        "targets": _targets(material.weights, manifest),
        "least": LEAST,
        "regions": _regions(material),
        "alike": _alike(material),
        "more_alike": found.more_alike,
        "copies": _copies(found),
        "models": models,
        "detailed": _detailed(models),
        "estimates": material.estimates,
        "provenance": [(title, _pretty(facts[name])) for title, name in _PROVENANCE.items()],
    }


def _categories(coverage: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Coverage by category: the mean of its benchmarks, by their mass."""
    found = []
    for name in sorted({row["category"] for row in coverage}):
        rows = [row for row in coverage if row["category"] == name]
        mass = sum(row["mass"] for row in rows)
        mean = sum(row["mass"] * row["coverage"] for row in rows) / mass if mass else 0.0
        counts = {key: sum(row[key] for row in rows) for key in ("prompts", "picks")}
        found.append({"category": name, "benchmarks": len(rows), "coverage": mean, "mass": mass, **counts})
    return found


def _with_weights(material: Material) -> list[dict[str, Any]]:
    suite = material.weights.get("suite", {})
    return [{**pick, "weight": suite.get(pick["prompt_id"], 0.0)} for pick in material.picks]


def _targets(weights: Mapping[str, Mapping[str, float]], manifest: Manifest) -> list[dict[str, Any]]:
    """Each target's picks and how many equally weighted ones they are worth."""
    borrowed = sum(row.get("mass", 0.0) for row in manifest.coverage if row.get("borrowed"))
    found = []
    for target in sorted(weights, key=lambda name: (name != "suite", not name.startswith("category:"), name)):
        carried = np.array(list(weights[target].values()))
        n_eff = float(carried.sum() ** 2 / (carried**2).sum())
        largest = float(carried.max())
        lent = borrowed if target == "suite" else 0.0
        found.append({"target": target, "picks": len(carried), "n_eff": n_eff, "largest": largest, "borrowed": lent})
    return found


def _regions(material: Material) -> list[dict[str, Any]]:
    ground, regions = material.ground, []
    for region in material.findings.regions:
        names, counts = np.unique(ground.benchmark[region.members], return_counts=True)
        most = np.argsort(-counts, kind="stable")[:4]
        regions.append(
            {
                "point": region.centre,
                "prompts": int(ground.copies[region.members].sum()),
                "gain": region.gain,
                "before": region.before,
                "after": region.after,
                "benchmarks": [(str(names[row]), int(counts[row])) for row in most],
                "more": max(0, len(names) - 4),
                "text": material.beginnings[region.centre],
            }
        )
    return regions


def _alike(material: Material) -> list[dict[str, Any]]:
    return [
        asdict(pair) | {"texts": [material.beginnings[row] for row in pair.pair]} for pair in material.findings.alike
    ]


def _copies(found: Findings) -> dict[str, Any]:
    inside = {one: count for (one, other), count in found.copies.items() if one == other}
    across = {pair: count for pair, count in found.copies.items() if pair[0] != pair[1]}
    order = sorted(across, key=lambda pair: (-across[pair], pair))
    return {
        "inside": sum(inside.values()),
        "across": sum(across.values()),
        "pairs": [(*pair, across[pair]) for pair in order[:_COPIES_SHOWN]],
        "more": max(0, len(order) - _COPIES_SHOWN),
    }


def _models(estimates: Estimates) -> list[dict[str, Any]]:
    """Models, the best suite score first, those that are not estimable last."""
    by_model: dict[str, list[Any]] = {}
    for target in estimates.targets:
        by_model.setdefault(target.model, []).append(target)
    found = [
        {"model": name, "suite": next((each for each in targets if each.target == "suite"), None), "targets": targets}
        for name, targets in by_model.items()
    ]

    def score(row: Mapping[str, Any]) -> tuple[bool, float, str]:
        estimate = row["suite"].estimate if row["suite"] is not None else None
        return estimate is None, -(estimate or 0.0), row["model"]

    return sorted(found, key=score)


def _detailed(models: Sequence[Mapping[str, Any]]) -> int:
    """How many models, from the first, are shown with all of their targets."""
    return max(1, _TARGETS_SHOWN // max((len(row["targets"]) for row in models), default=1))


def _pretty(value: Any) -> str:
    if isinstance(value, str):
        return value
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode()

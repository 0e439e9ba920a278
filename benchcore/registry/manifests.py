"""Reading what is known of a coreset: its manifest, its picks and its weights."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from benchcore.errors import BenchcoreError
from benchcore.registry.root import Registry
from benchcore.registry.tables import read

_JSON_COLUMNS = (
    "semantic_configuration",
    "table_versions",
    "encoders",
    "certificate",
    "coverage",
    "library_versions",
    "timings",
    "plan",
)
_MOST_UNCOVERED = 0.05  # of the prompts, before neighbours are said to be too few
_WITHOUT_CENTRE = ("coreset_id", *_JSON_COLUMNS, "input_digest", "seed", "k", "value", "run_id")


@dataclass(frozen=True)
class Manifest:
    """What a coreset was made of and how good it is; JSON columns are decoded (see registry/schemas.py)."""

    coreset_id: str
    semantic_configuration: dict[str, Any]
    input_digest: str
    table_versions: dict[str, int]
    encoders: dict[str, Any]
    seed: int
    k: int
    value: float
    certificate: dict[str, Any]
    coverage: list[dict[str, Any]]
    library_versions: dict[str, str]
    timings: dict[str, float]
    plan: dict[str, Any]
    run_id: str

    @property
    def mean_coverage(self) -> float:
        """The mass-weighted mean similarity of a prompt to its nearest pick: the value, but where there is a query."""
        return math.fsum(row["mass"] * row["coverage"] for row in self.coverage)

    @property
    def query(self) -> str | None:
        """Whether the picks were held against other prompts: `toward` or `away`."""
        return next((name for name in ("toward", "away") if name in self.semantic_configuration), None)


def list_manifests(registry: Registry) -> list[Manifest]:
    """All coresets of a registry, the oldest run first."""
    rows = read(registry, "manifests", columns=_WITHOUT_CENTRE).to_pylist()
    return sorted((_decode(row) for row in rows), key=lambda manifest: (manifest.run_id, manifest.coreset_id))


def find_manifest(registry: Registry, coreset_id: str) -> Manifest | None:
    """The manifest of one coreset, or None when there is no such coreset."""
    rows = read(registry, "manifests", columns=_WITHOUT_CENTRE, where=pc.field("coreset_id") == coreset_id).to_pylist()
    return _decode(rows[0]) if rows else None


def resolve_manifest(registry: Registry, name: str) -> Manifest:
    """The manifest of a coreset named by its id, by the beginning of it, or as `latest` (that of the newest run).

    Raises:
        BenchcoreError: no coreset, or more than one, has an id that begins so.
    """
    manifests = list_manifests(registry)
    if name == "latest" and manifests:
        return manifests[-1]
    found = [manifest for manifest in manifests if name and manifest.coreset_id.startswith(name)]
    if len(found) == 1:
        return found[0]
    if not manifests:
        mend = "`benchcore run CONF` or `benchcore select CONF` makes one."
        raise BenchcoreError("there is no coreset yet", where=registry.root, mend=mend)
    ids = [manifest.coreset_id for manifest in manifests]
    if found:
        raise BenchcoreError(f"{len(found)} coresets begin with '{name}'", where=registry.root, mend="Give more of it.")
    near = difflib.get_close_matches(name, ids, n=1)
    hint = f"Did you mean {near[0]}?" if near else "`benchcore registry list` names those there are."
    raise BenchcoreError(f"no coreset '{name}'", where=registry.root, mend=hint)


def read_picks(registry: Registry, coreset_id: str) -> pa.Table:
    """The rows of `coresets` of one coreset, by rank."""
    return read(registry, "coresets", where=pc.field("coreset_id") == coreset_id).sort_by("rank")


def read_weights(registry: Registry, coreset_id: str, target: str = "suite") -> dict[str, float]:
    """The weight of each pick for one target; they sum to 1."""
    wanted = (pc.field("coreset_id") == coreset_id) & (pc.field("target") == target)
    rows = read(registry, "coreset_weights", columns=("prompt_id", "weight"), where=wanted)
    return dict(zip(rows["prompt_id"].to_pylist(), rows["weight"].to_pylist(), strict=True))


def manifest_warnings(manifest: Manifest) -> list[str]:
    """What a reader should know before trusting a coreset: one line each, from its plan and coverage by benchmark."""
    told = uncovered_warnings(manifest.plan, manifest.k)
    for counter, what in (
        ("truncated", "are longer than the encoder reads; their ends were not seen"),
        ("unknown_language", "are in a language that the encoder does not know"),
    ):
        counts = {row["benchmark"]: row[counter] for row in manifest.coverage if row.get(counter)}
        if counts:
            worst = sorted(counts, key=lambda name: (-counts[name], name))
            named = ", ".join(f"{name} {counts[name]:,}" for name in worst[:5])
            rest = f", {len(worst) - 5} more benchmarks" if len(worst) > 5 else ""
            told.append(f"{sum(counts.values()):,} prompts {what} ({named}{rest}).")
    absent = sorted(row["benchmark"] for row in manifest.coverage if not row["picks"])
    if absent:
        named = ", ".join(absent[:5]) + (f", {len(absent) - 5} more" if len(absent) > 5 else "")
        told.append(f"{len(absent)} benchmarks have no pick ({named}): their own scores cannot be estimated.")
    return told


def uncovered_warnings(plan: Mapping[str, Any], k: int) -> list[str]:
    """A line where merges looked at too few neighbours of each prompt, with how many would do; else none.

    Of m candidates, k drawn at random leave exp(-t k / m) of the prompts that look at t uncovered: 5 % at t = 3 m / k.

    Args:
        plan: of a manifest.
        k: picks.
    """
    share = plan.get("uncovered", 0.0)
    if share <= _MOST_UNCOVERED:
        return []
    looked_at, candidates = plan["neighbours"], plan["merges"][-1]["candidates"]
    enough = min(max(math.ceil(3 * candidates / k), 2 * looked_at), candidates)
    return [
        f"{100 * share:.1f} % of the prompts are covered by nothing: no pick is among the {looked_at:,} candidates"
        f" nearest to them, so that late picks are arbitrary; select.neighbours of about {enough:,} would do."
    ]


def certainty(certificate: Mapping[str, Any]) -> str:
    """What is to be said of a bound that a sample gave: `, 99 % confidence`; nothing of an exact one."""
    return f", {100 * certificate['confidence']:.0f} % confidence" if "confidence" in certificate else ""


def _decode(row: dict[str, Any]) -> Manifest:
    decoded = {name: orjson.loads(row[name]) if row[name] is not None else {} for name in _JSON_COLUMNS}
    return Manifest(**{**row, **decoded})

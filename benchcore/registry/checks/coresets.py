"""Coresets that are whole, and what has become of their picks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from benchcore.registry.checks.finding import EXAMPLES, RESTORE, Finding, Severity
from benchcore.registry.checks.snapshot import Snapshot
from benchcore.registry.checks.versions import lost_pins
from benchcore.registry.tables import among

_TOLERANCE = 1e-6  # of a sum of weights

_STALE = "They stay what they were; `benchcore select CONF` picks from the prompts as they are now."


@dataclass(frozen=True)
class Standing:
    """What has become of the picks of a coreset since.

    Attributes:
        picks: how many it has.
        edited: picks whose prompt has another content now.
        retired: picks that their files no longer have.
        gone: picks that the table of prompts no longer has.
    """

    picks: int
    edited: int
    retired: int
    gone: int

    @property
    def in_words(self) -> str:
        """`2 edited, 1 retired`; nothing of a coreset whose picks are as they were."""
        counts = (("edited", self.edited), ("retired", self.retired), ("gone", self.gone))
        return ", ".join(f"{count:,} {name}" for name, count in counts if count)


def standings(snapshot: Snapshot) -> dict[str, Standing]:
    """By coreset, what has become of its picks; memory goes by the number of picks."""
    picks: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for batch in snapshot.batches("coresets", ("coreset_id", "prompt_id", "content_hash")):
        for coreset_id, prompt_id, content in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            picks[coreset_id].append((prompt_id, content))
    now = _now(snapshot, {prompt_id for listed in picks.values() for prompt_id, _ in listed})
    return {coreset_id: _standing(listed, now) for coreset_id, listed in picks.items()}


def _now(snapshot: Snapshot, wanted: set[str]) -> dict[str, tuple[str, bool]]:
    """Prompt -> its content, and whether it is retired."""
    found = {}
    columns = ("prompt_id", "content_hash", "retired_at")
    for batch in snapshot.batches("prompts", columns, among("prompt_id", wanted)):
        retired = batch.column("retired_at").is_valid().to_pylist()
        rows = zip(batch.column("prompt_id").to_pylist(), batch.column("content_hash").to_pylist(), strict=True)
        found.update({name: (content, gone) for (name, content), gone in zip(rows, retired, strict=True)})
    return found


def _standing(picks: list[tuple[str, str]], now: dict[str, tuple[str, bool]]) -> Standing:
    there = [(content, now[prompt_id]) for prompt_id, content in picks if prompt_id in now]
    return Standing(
        picks=len(picks),
        edited=sum(content != current for content, (current, _) in there),
        retired=sum(retired for content, (current, retired) in there if content == current),
        gone=len(picks) - len(there),
    )


def changed_since(snapshot: Snapshot) -> dict[str, str]:
    """By coreset, in words, what is not as it was when it was selected; those of which all is are left out."""
    told: dict[str, list[str]] = defaultdict(list)
    for coreset_id, standing in standings(snapshot).items():
        if standing.in_words:
            told[coreset_id].append(f"picks: {standing.in_words}")
    lost = {
        coreset for versions in lost_pins(snapshot).values() for pinning in versions.values() for coreset in pinning
    }
    for manifest in snapshot.manifests:
        if manifest.coreset_id in lost or "prompts" not in manifest.table_versions:
            told[manifest.coreset_id].append("what it was picked from is gone")
    return {coreset_id: "; ".join(parts) for coreset_id, parts in told.items()}


def coresets(snapshot: Snapshot) -> Iterator[Finding]:
    """Look for picks that are missing, and for picks whose prompts have changed or are gone."""
    found = standings(snapshot)
    none = Standing(0, 0, 0, 0)
    lacking = [one.coreset_id for one in snapshot.manifests if found.get(one.coreset_id, none).picks != one.k]
    yield from _finding("picks", "broken", "with other picks than their manifest counts", lacking, RESTORE)
    stale, lost, purged = list[str](), list[str](), list[str]()
    for manifest in snapshot.manifests:
        standing = found.get(manifest.coreset_id, none)
        told = f"{manifest.coreset_id}: of {standing.picks:,} picks {standing.in_words}"
        if standing.gone:
            (lost if "prompts" in manifest.table_versions else purged).append(told)
        elif standing.in_words:
            stale.append(told)
    yield from _finding("orphans", "broken", "with picks that the table of prompts lacks", lost, RESTORE)
    yield from _finding("purged", "notice", "with picks that were purged", purged, _STALE)
    yield from _finding("stale", "notice", "with picks that have changed since", stale, _STALE)


def _finding(check: str, severity: Severity, what: str, told: list[str], mend: str) -> Iterator[Finding]:
    if told:
        yield Finding(check, severity, "coresets", what, len(told), tuple(told[:EXAMPLES]), mend)


def weights(snapshot: Snapshot) -> Iterator[Finding]:
    """Look for targets whose weights do not sum to 1."""
    sums = Counter[tuple[str, str]]()
    for batch in snapshot.batches("coreset_weights", ("coreset_id", "target", "weight")):
        grouped = pa.Table.from_batches([batch]).group_by(["coreset_id", "target"]).aggregate([("weight", "sum")])
        for coreset_id, target, total in zip(*(column.to_pylist() for column in grouped.columns), strict=True):
            sums[coreset_id, target] += total
    wrong = {place: total for place, total in sums.items() if not abs(total - 1) <= _TOLERANCE}
    if wrong:
        examples = tuple(
            f"{coreset} {target}: {total:.4g}" for (coreset, target), total in list(wrong.items())[:EXAMPLES]
        )
        what = "targets have weights that do not sum to 1"
        yield Finding("weights", "broken", "coreset_weights", what, len(wrong), examples, RESTORE)

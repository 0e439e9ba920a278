"""The data files of the versions that are read: the newest of each table, and those that manifests pin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchcore.registry.checks.finding import EXAMPLES, RESTORE, Finding
from benchcore.registry.checks.snapshot import Snapshot
from benchcore.registry.pins import files_at, pinned_versions, stored_files
from benchcore.registry.tables import open_table

_AGAIN = (
    "Its picks, weights and scores stay; what it was picked from cannot be read again. Bring the files back from a copy"
    " of the registry, or select anew with `benchcore select CONF`."
)


def versions(snapshot: Snapshot) -> Iterator[Finding]:
    """Look for versions that are read and lack files, and for those that another engine's vacuum would take."""
    for name, newest in snapshot.versions.items():
        needed = files_at(snapshot.registry, name, newest) or set()
        lacking = sorted(needed - stored_files(snapshot.registry, name).keys())
        if lacking:
            what = "data files of the newest version are missing"
            yield Finding("files", "broken", name, what, len(lacking), tuple(lacking[:EXAMPLES]), RESTORE)
    gone = lost_pins(snapshot)
    for name, lost in gone.items():
        what = "versions that manifests pin cannot be read any more"
        yield Finding("pins", "broken", name, what, len(lost), _examples(lost), _AGAIN)
    for name, pins in pinned_versions(snapshot.manifests).items():
        if name in snapshot.versions:
            yield from _endangered(snapshot, name, {v: pins[v] for v in pins if v not in gone.get(name, {})})


def lost_pins(snapshot: Snapshot) -> dict[str, dict[int, list[str]]]:
    """Table -> version that cannot be read any more -> the coresets that pin it."""
    found = {}
    for name, pins in pinned_versions(snapshot.manifests).items():
        if name in snapshot.damaged:
            continue
        stored = stored_files(snapshot.registry, name).keys() if name in snapshot.versions else set()
        needed = {version: files_at(snapshot.registry, name, version) for version in pins}
        lost = {v: pins[v] for v, files in needed.items() if files is None or not files <= stored}
        if lost:
            found[name] = lost
    return found


def _endangered(snapshot: Snapshot, name: str, pins: Mapping[int, Sequence[str]]) -> Iterator[Finding]:
    removable = _removable(snapshot, name) if pins else frozenset()
    endangered = {v: pins[v] for v in pins if removable & (files_at(snapshot.registry, name, v) or set())}
    if endangered:
        what = "versions that manifests pin would lose files to a vacuum that knows no manifests (Spark's, say)"
        mend = "`benchcore registry vacuum` sets the table's retention, and itself keeps what is pinned."
        yield Finding("pins", "notice", name, what, len(endangered), _examples(endangered), mend)


def _removable(snapshot: Snapshot, name: str) -> frozenset[str]:
    """What a vacuum by the table's own retention would remove now."""
    table = open_table(snapshot.registry, name, snapshot.versions[name])
    return frozenset() if table is None else frozenset(table.vacuum(dry_run=True))


def _examples(versions: Mapping[int, Sequence[str]]) -> tuple[str, ...]:
    return tuple(
        f"version {version} of {coresets[0]}" + (f" and {len(coresets) - 1} more" if len(coresets) > 1 else "")
        for version, coresets in list(versions.items())[:EXAMPLES]
    )

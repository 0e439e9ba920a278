"""All checks of the tables, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchcore.registry.checks.accounting import accounting
from benchcore.registry.checks.coresets import coresets, weights
from benchcore.registry.checks.finding import Finding
from benchcore.registry.checks.keys import unique_keys
from benchcore.registry.checks.left_behind import left_behind
from benchcore.registry.checks.orphans import orphans
from benchcore.registry.checks.readable import readable
from benchcore.registry.checks.repeats import lost_originals
from benchcore.registry.checks.snapshot import Snapshot, UnreadableError
from benchcore.registry.checks.values import values
from benchcore.registry.checks.versions import versions

Check = Callable[[Snapshot], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    readable,
    versions,
    unique_keys,
    accounting,
    lost_originals,
    orphans,
    coresets,
    weights,
    values,
    left_behind,
)


def check(snapshot: Snapshot, checks: tuple[Check, ...] = CHECKS) -> list[Finding]:
    """Run checks over the tables as they are.

    Memory goes by the number of rows of the largest table, eight bytes each, and by the number of picks.

    Args:
        snapshot: pins the tables.
        checks: the room's own, and others that need more than the tables.

    Returns:
        What is broken first. A table that cannot be read is one finding, whichever checks need it.
    """
    found = list[Finding]()
    for look in checks:
        try:
            found.extend(look(snapshot))
        except UnreadableError as error:
            if not any(finding.where == error.table and finding.severity == "broken" for finding in found):
                found.append(Finding("readable", "broken", error.table, error.what, 1, mend=error.mend or ""))
    return sorted(found, key=lambda finding: finding.severity)

"""Every row of a file is a prompt, a prompt that repeats another, or in quarantine: `sources` says so, and it is so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import orjson
import pyarrow.compute as pc

from benchcore.registry.checks.finding import EXAMPLES, RESTORE, Finding
from benchcore.registry.checks.repeats import Repeats
from benchcore.registry.checks.snapshot import Snapshot

Place = tuple[str, str]  # source, path
Account = Mapping[str, Any]  # a row of `sources`
Accounts = Mapping[Place, Account]

_CHECK = "accounting"
_COLUMNS = ("source", "path", "rows_read", "rows_kept", "rows_duplicate", "rows_quarantined", "superseded_by")
_MEND = (
    "Run `benchcore ingest CONF`: a run that was killed leaves this, and the next one mends it. If it stays, something"
    f" else wrote to the table. {RESTORE}"
)


def accounting(snapshot: Snapshot) -> Iterator[Finding]:
    """Compare the accounts of all current files with the tables, and with themselves."""
    accounts = _current(snapshot)
    yield from _sums(accounts)
    yield from _prompts(snapshot, accounts)
    yield from _quarantine(snapshot, accounts)


def _sums(accounts: Accounts) -> Iterator[Finding]:
    wrong = {
        place: f"{row['rows_read']:,} read, {_parts(row):,} kept, duplicate or quarantined"
        for place, row in accounts.items()
        if row["rows_read"] != _parts(row)
    }
    yield from _finding("sources", "files whose rows do not add up", wrong)


def _prompts(snapshot: Snapshot, accounts: Accounts) -> Iterator[Finding]:
    repeats = Repeats.of(snapshot)
    other = {}
    for place, row in accounts.items():
        kept, copies = repeats.kept[place], repeats.copies[place]
        if kept != row["rows_kept"] or not _copies_agree(snapshot, place, copies, row):
            other[place] = f"{kept:,} + {copies:,} duplicates, not {row['rows_kept']:,} + {row['rows_duplicate']:,}"
    yield from _finding("prompts", "files that have other numbers of prompts than `sources` says", other)
    counts = repeats.kept + repeats.copies
    unknown = {place: f"{count:,} prompts" for place, count in counts.items() if place not in accounts}
    yield from _finding("prompts", "files that `sources` does not have", unknown)


def _quarantine(snapshot: Snapshot, accounts: Accounts) -> Iterator[Finding]:
    found, other = Counter[Place](), {}
    for batch in snapshot.batches("quarantine", ("source", "path")):
        found.update(zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True))
    for place in sorted(accounts.keys() | found.keys()):
        wanted = accounts[place]["rows_quarantined"] if place in accounts else 0
        if found[place] != wanted:
            other[place] = f"{found[place]:,}, not {wanted:,}"
    yield from _finding("quarantine", "files that have another number of rows than `sources` says", other)


def _current(snapshot: Snapshot) -> dict[Place, Account]:
    found = {}
    for batch in snapshot.batches("sources", _COLUMNS, pc.field("superseded_by").is_null()):
        for row in batch.to_pylist():
            found[row["source"], row["path"]] = row
    return found


def _parts(row: Account) -> int:
    return sum(row[name] or 0 for name in ("rows_kept", "rows_duplicate", "rows_quarantined"))


def _copies_agree(snapshot: Snapshot, place: Place, copies: int, row: Account) -> bool:
    """Of harnesses' logs, documents that an earlier log shows count as duplicates too, and are no prompts."""
    return copies == row["rows_duplicate"] or (copies < row["rows_duplicate"] and _is_log(snapshot, place[0]))


def _is_log(snapshot: Snapshot, source: str) -> bool:
    """Whether prompts of a source name the document of a harness that they came from."""
    first = next(iter(snapshot.batches("prompts", ("metadata",), pc.field("source") == source)), None)
    if first is None or not len(first):
        return False
    document = orjson.loads(first.column("metadata")[0].as_py() or "{}").get("document")
    return isinstance(document, dict) and "harness" in document


def _finding(where: str, what: str, found: Mapping[Place, str]) -> Iterator[Finding]:
    if found:
        examples = tuple(f"{source} {path}: {told}" for (source, path), told in list(found.items())[:EXAMPLES])
        yield Finding(_CHECK, "broken", where, what, len(found), examples, _MEND)

"""Names that users write: the right one, or an error that shows the nearest."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from benchcore.errors import UsageError

_SHOWN = 20  # names that an error lists at most


def require_known(name: str, known: Iterable[str], what: str, where: str | None = None) -> None:
    """Refuse a name that is not known.

    Args:
        name: as the user wrote it.
        known: all right names.
        what: what it names, for the error.
        where: the argument it was given in.

    Raises:
        UsageError: with the nearest right name, or all of them.
    """
    names = list(known)
    if name in names:
        return
    near = difflib.get_close_matches(str(name), names, n=1)
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    mend = f"Did you mean '{near[0]}'?" if near else f"There are {', '.join(names[:_SHOWN])}{more}."
    raise UsageError(f"unknown {what} '{name}'", where=where, mend=mend if names else None)

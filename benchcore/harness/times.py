"""When a run was made, from the forms in which logs write it."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache

# As lm-eval and lighteval name files, and OpenCompass folders.
_IN_NAMES = ("%Y-%m-%dT%H-%M-%S.%f", "%Y-%m-%dT%H-%M-%S", "%Y%m%d_%H%M%S")
_FIRST, _LAST = datetime(1970, 1, 2, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


def time_of(written: object) -> datetime | None:
    """A time in UTC; None where it is none. What has no time zone is taken to be UTC.

    Args:
        written: seconds since 1970, a date as ISO 8601 has it, or one as names of files and folders have it.
    """
    if isinstance(written, int | float) and not isinstance(written, bool):
        return _of_seconds(written)
    return _of_text(written.strip()) if isinstance(written, str) else None


@lru_cache(maxsize=1024)
def _of_text(text: str) -> datetime | None:
    for form in _IN_NAMES:
        with suppress(ValueError):
            return _usual(datetime.strptime(text, form).replace(tzinfo=UTC))
    with suppress(ValueError, OverflowError):
        time = datetime.fromisoformat(text)
        return _usual(time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC))
    with suppress(ValueError):
        return _of_seconds(float(text))
    return None


def _of_seconds(seconds: float) -> datetime | None:
    if not _FIRST.timestamp() <= seconds < _LAST.timestamp():  # NaN is not, either
        return None
    return datetime.fromtimestamp(seconds, UTC)


def _usual(time: datetime) -> datetime | None:
    return time if _FIRST <= time < _LAST else None

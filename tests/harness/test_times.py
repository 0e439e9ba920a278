"""When runs were made, as logs write it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchcore.harness import HARNESSES
from benchcore.harness.notes import Notes
from benchcore.harness.times import time_of
from tests.harness.sample_logs import SAMPLES
from tests.harness.test_laws import SCORES, log_of, rows_of

TIMES = {
    "lm-eval": datetime(2026, 3, 4, 5, 6, 7, 80910, tzinfo=UTC),
    "inspect": datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC),
    "every-eval-ever": datetime.fromtimestamp(1_760_000_000, UTC),
    "lighteval": datetime(2026, 3, 1, 10, tzinfo=UTC),
    "opencompass": datetime(2026, 3, 1, 10, tzinfo=UTC),
}


@pytest.mark.parametrize("name", list(SAMPLES))
def test_results_have_the_time_that_their_log_says(name: str, tmp_path: Path):
    """Or none."""
    read_results = HARNESSES[name].results
    assert read_results is not None

    found = list(read_results(log_of(name, tmp_path / "log", rows_of(), SCORES), Notes()))

    assert {result.time for result in found} == {TIMES.get(name)}


@pytest.mark.parametrize(
    ("written", "time"),
    [
        ("2026-03-04T05-06-07.25", datetime(2026, 3, 4, 5, 6, 7, 250_000, tzinfo=UTC)),
        ("2026-03-04T05-06-07", datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)),
        ("20260304_050607", datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)),
        (" 2026-03-04T05:06:07+02:00 ", datetime(2026, 3, 4, 3, 6, 7, tzinfo=UTC)),
        *((day, datetime(2026, 3, 4, tzinfo=UTC)) for day in ("2026-03-04", "20260304")),
        ("1760000000.5", datetime.fromtimestamp(1_760_000_000.5, UTC)),
        (1_760_000_000, datetime.fromtimestamp(1_760_000_000, UTC)),
        *((text, None) for text in ("", "yesterday", "nan", "inf", "1e300", "0001-01-01T00:00+14:00", "9999-12-31")),
        *((value, None) for value in (None, True, -1, 0, float("nan"), 10**400, [1], {})),
    ],
)
def test_a_time_is_read_or_there_is_none(written: object, time: datetime | None):
    """What logs hold may be anything; without a zone it is UTC."""
    assert time_of(written) == time

"""The log of runs."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchcore.errors import UsageError
from benchcore.registry.root import Registry
from benchcore.registry.runs import RUN_ID, new_run_id, record_run, require_run_name
from benchcore.registry.tables import current_version, read

TIMES = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))


@given(first=TIMES, apart=st.timedeltas(timedelta(seconds=1), timedelta(days=9999)))
def test_ids_sort_by_time(first: datetime, apart: timedelta):
    """A run that starts a second later or more has a later id, whatever its random part."""
    earlier, later = new_run_id(first), new_run_id(first + apart)

    assert RUN_ID.match(earlier)
    assert earlier < later


def test_two_runs_of_one_second_have_two_ids():
    """Two schedulers that start at once do not meet."""
    now = datetime.now(UTC)

    assert len({new_run_id(now) for _ in range(200)}) == 200


def test_a_schedulers_name_ends_the_id():
    """A run can be found by what its scheduler calls it, and still sorts by its start."""
    assert new_run_id(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "night-20260102") == "20260102T030405-night-20260102"


@pytest.mark.parametrize("name", ["", "-a", "A", "a b", "a/b", "a\n", "a" * 64, "$(id)"])
def test_a_name_that_no_id_can_hold_is_refused(name: str):
    """Ids stand in tables, logs and file names: a name is small letters, digits and hyphens."""
    with pytest.raises(UsageError, match="cannot be part of a run's id"):
        require_run_name(name)


def test_a_run_is_recorded_once(tmp_path: Path):
    """The row holds what ran and what it counted; recording it again changes nothing."""
    registry, started = Registry.at(tmp_path / "r"), datetime(2026, 1, 1, tzinfo=UTC)
    for outcome in ("done", "failed"):
        record_run(
            registry,
            "20260101T000000-abcdef",
            command="run x.yaml",
            configuration_hash="hash",
            started=started,
            outcome=outcome,
            counts={"ingest": {"rows_read": 3}},
        )

    (row,) = read(registry, "runs").to_pylist()
    assert (row["command"], row["configuration_hash"], row["outcome"]) == ("run x.yaml", "hash", "done")
    assert row["started"] == started
    assert json.loads(row["counts"]) == {"ingest": {"rows_read": 3}}
    assert current_version(registry, "runs") == 0

"""The log of runs: one row for each run that changed a table, whether it ended well or not."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Literal

import orjson
import pyarrow as pa

from benchcore.errors import UsageError
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import append_missing

Outcome = Literal["done", "failed"]

RUN_ID = re.compile(r"^\d{8}T\d{6}-[0-9a-z][0-9a-z-]{0,62}$")
_NAME = re.compile(r"[0-9a-z][0-9a-z-]{0,62}")


def new_run_id(now: datetime | None = None, name: str | None = None) -> str:
    """Name a run by its UTC start and six random digits: names sort by time, and two runs never share one.

    Args:
        now: its start; default: the time it is.
        name: what its scheduler calls it, in the place of the digits; retries of one name differ by their start.
    """
    return f"{(now or datetime.now(UTC)).astimezone(UTC):%Y%m%dT%H%M%S}-{name or secrets.token_hex(3)}"


def require_run_name(name: str) -> None:
    """Check that a scheduler's name for a run can be part of its id.

    Raises:
        UsageError: it is not of small letters, digits and hyphens, or too long.
    """
    if _NAME.fullmatch(name) is None:
        raise UsageError(
            f"'{name}' cannot be part of a run's id",
            where="--run-id",
            mend="It takes up to 63 small letters, digits and hyphens, and does not begin with a hyphen.",
        )


def record_run(
    registry: Registry,
    run_id: str,
    *,
    command: str,
    configuration_hash: str,
    started: datetime,
    outcome: Outcome,
    counts: Mapping[str, Mapping[str, int]],
) -> None:
    """Write the row of a run that changed something; a run that is already recorded stays as it is.

    The caller holds the registry's lock.

    Args:
        registry: where the table lies.
        run_id: as `new_run_id` gave it.
        command: the step or command that ran.
        configuration_hash: of the configuration and the sources it included.
        started: aware time.
        outcome: `done`, or `failed` for a run that wrote some of its tables and then stopped.
        counts: step -> counter -> number, in the order of steps.
    """
    row = {
        "run_id": run_id,
        "command": command,
        "configuration_hash": configuration_hash,
        "started": started,
        "finished": datetime.now(UTC),
        "outcome": outcome,
        "counts": orjson.dumps(counts).decode(),
    }
    append_missing(registry, "runs", pa.Table.from_pylist([row], SCHEMAS["runs"]))

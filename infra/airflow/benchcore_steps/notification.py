"""Tells people how a night went: one line to the webhook of the connection `benchcore_notify`, where there is one."""

from __future__ import annotations

import json
import logging
import urllib.request
from typing import TYPE_CHECKING

from airflow.sdk import Connection, task
from airflow.sdk.exceptions import AirflowFailException, AirflowNotFoundException

if TYPE_CHECKING:
    from airflow.sdk import Context

log = logging.getLogger(__name__)

CONNECTION = "benchcore_notify"  # of type http, with the whole address as its host


@task(trigger_rule="all_done")
def notify(run: str, steps: list[str], **context: object) -> None:
    """Say how the steps ended, and fail if one did not end well: the state of a run is that of its last task.

    Raises:
        AirflowFailException: a step failed, or could not start.
    """
    ti, run_id = context["ti"], context["run_id"]
    states = ti.get_task_states(dag_id=ti.dag_id, run_ids=[run_id], task_ids=steps)[run_id]  # type: ignore[attr-defined]
    bad = [f"{step}: {states.get(step)}" for step in steps if states.get(step) != "success"]
    said = f"benchcore {run}: {', '.join(bad) or 'done'}"
    announce(said)
    if bad:
        raise AirflowFailException(said)


def timed_out(context: Context) -> None:
    """Say that a night took too long: Airflow skips what is unfinished then, and with it the task `notify`."""
    if context.get("reason") == "timed_out":
        announce(f"benchcore {context['run_id']}: it took too long and was given up")


def announce(text: str) -> None:
    """Post a line, as chat services take it.

    Raises:
        OSError: the service cannot be reached or refuses.
    """
    log.info("%s", text)
    try:
        address = Connection.get(CONNECTION).host
    except AirflowNotFoundException:
        log.warning("nobody is told: there is no connection %s", CONNECTION)
        return
    if not address.startswith(("https://", "http://")):
        raise ValueError(f"the host of the connection {CONNECTION} must be a whole http(s) address")
    body = json.dumps({"text": text}).encode()
    request = urllib.request.Request(address, data=body, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30):  # nosec B310 # http(s) alone, see above
        pass

"""The objects that run a step: one job of the template that the cluster's own schedule holds, and how far it is.

The templates are those of `infra/kubernetes`, as they are on the cluster: resources, images and security stand there
alone.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Object = Mapping[str, Any]
State = Literal["under way", "done", "failed"]

RUN_LABEL = "benchcore/run"


def _append_arguments(job: dict[str, Any], arguments: list[str]) -> None:
    job["spec"]["arguments"] = [*job["spec"].get("arguments", ()), *arguments]


def _append_to_entrypoint(job: dict[str, Any], arguments: list[str]) -> None:
    job["spec"]["entrypoint"] = " ".join([job["spec"]["entrypoint"], *arguments])


def _append_to_container(job: dict[str, Any], arguments: list[str]) -> None:
    (container,) = job["spec"]["template"]["spec"]["containers"]
    container["args"] = [*container.get("args", ()), *arguments]


def _state_of_application(status: Object) -> State:
    """`FAILED` comes after the operator's last retry; all other states but `COMPLETED` go on."""
    state = status.get("applicationState", {}).get("state")
    if state == "COMPLETED":
        return "done"
    return "failed" if state == "FAILED" else "under way"


def _state_of_ray_job(status: Object) -> State:
    """Its end is told by `jobDeploymentStatus`, its success by `jobStatus` alone.

    While KubeRay retries, `jobStatus` can say FAILED; a job that somebody stopped ends as `Complete`; and one beyond
    its deadline ends with `jobStatus` at RUNNING.
    """
    ended = status.get("jobDeploymentStatus")
    if ended not in ("Complete", "Failed", "ValidationFailed"):
        return "under way"
    return "done" if ended == "Complete" and status.get("jobStatus") == "SUCCEEDED" else "failed"


def _state_of_job(status: Object) -> State:
    true = {condition["type"] for condition in status.get("conditions", ()) if condition["status"] == "True"}
    if "Complete" in true:
        return "done"
    return "failed" if "Failed" in true else "under way"


@dataclass(frozen=True)
class Kind:
    """A kind of job, and the schedule that holds its template.

    Attributes:
        group, version: of both.
        schedules, jobs: their names in the API's paths.
        kind: of the job.
        template: where its spec stands in the schedule's.
        append: adds arguments to the command of a job.
        state: how far a job is, from its status.
    """

    group: str
    version: str
    schedules: str
    jobs: str
    kind: str
    template: tuple[str, ...]
    append: Callable[[dict[str, Any], list[str]], None]
    state: Callable[[Object], State]


_RAY = Kind(
    group="ray.io",
    version="v1",
    schedules="raycronjobs",
    jobs="rayjobs",
    kind="RayJob",
    template=("jobTemplate",),
    append=_append_to_entrypoint,
    state=_state_of_ray_job,
)
KINDS: Mapping[str, Kind] = {
    "ingest": Kind(
        group="sparkoperator.k8s.io",
        version="v1beta2",
        schedules="scheduledsparkapplications",
        jobs="sparkapplications",
        kind="SparkApplication",
        template=("template",),
        append=_append_arguments,
        state=_state_of_application,
    ),
    "embed": _RAY,
    "select": _RAY,
    "report": Kind(
        group="batch",
        version="v1",
        schedules="cronjobs",
        jobs="jobs",
        kind="Job",
        template=("jobTemplate", "spec"),
        append=_append_to_container,
        state=_state_of_job,
    ),
}


def job_of(step: str, schedule: Object, *, name: str, run: str) -> dict[str, Any]:
    """The job that a schedule would make, with a name of its own.

    Args:
        step: one of `KINDS`.
        schedule: the object that holds the template, as the API gives it.
        name: of the job.
        run: what the scheduler calls this run; goes into the job's label and, as `--run-id`, into the registry's books.
    """
    kind = KINDS[step]
    spec = schedule["spec"]
    for part in kind.template:
        spec = spec[part]
    job = {
        "apiVersion": f"{kind.group}/{kind.version}",
        "kind": kind.kind,
        "metadata": {"name": name, "labels": {**schedule["metadata"].get("labels", {}), RUN_LABEL: run}},
        "spec": copy.deepcopy(dict(spec)),
    }
    kind.append(job, ["--run-id", run])
    return job


def state_of(step: str, job: Object) -> State:
    """How far a job is, as its operator says; never by its pods, which can end well though the job failed."""
    return KINDS[step].state(job.get("status") or {})

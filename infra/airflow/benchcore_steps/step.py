"""A step of the nightly job as a task of Airflow."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from airflow.providers.cncf.kubernetes.hooks.kubernetes import KubernetesHook
from airflow.sdk import BaseSensorOperator
from airflow.sdk.exceptions import AirflowException
from kubernetes.client import ApiException

from benchcore_steps.jobs import KINDS, RUN_LABEL, Object, job_of, state_of

if TYPE_CHECKING:
    from airflow.sdk import Context


class Step(BaseSensorOperator):
    """Makes the step's job on the cluster, and looks after it from time to time until its operator says how it ended.

    A sensor, since between two looks it holds no worker, and a worker that dies leaves nothing behind: what a run has
    made is found by its label and name. An attempt takes over what an earlier one has left under way or done, so that a
    job that Airflow has lost is not run twice; and should it be, the registry's lock and the jobs themselves see to it
    that nothing happens twice.

    None of the provider's operators would do: they follow a pod (Spark's, too), and pods can end well though the job
    failed, or badly though its operator retries it; for a RayJob there is none.
    """

    template_fields: Sequence[str] = ("run_name",)

    def __init__(
        self, *, step: str, run_name: str, namespace: str, kubernetes_conn_id: str = "kubernetes_default", **kwargs: Any
    ) -> None:
        """Name a step of the job.

        Args:
            step: `ingest`, `embed`, `select` or `report`.
            run_name: template; what the run is called in names and labels: small letters, digits and hyphens.
            namespace: where `infra/kubernetes` was applied.
            kubernetes_conn_id: Airflow's connection to the cluster.
            kwargs: those of a sensor.
        """
        super().__init__(**{"task_id": step, "mode": "reschedule", **kwargs})
        self.step = step
        self.run_name = run_name
        self.namespace = namespace
        self.kubernetes_conn_id = kubernetes_conn_id

    def poke(self, context: Context) -> bool:
        """Make the job, unless this run has one; whether it is done.

        Raises:
            AirflowException: it failed; the next attempt makes another one.
        """
        job = self._job(context["ti"].try_number)
        name, state = f"{KINDS[self.step].kind} {job['metadata']['name']}", state_of(self.step, job)
        self.log.info("%s: %s", name, state)
        if state == "failed":
            self.log.error("its status: %s", job["status"])
            raise AirflowException(f"{name} failed; its log is that of its pods")
        return state == "done"

    def _job(self, attempt: int) -> Object:
        """What this run has under way or done; else the job of this attempt."""
        api, kind = KubernetesHook(conn_id=self.kubernetes_conn_id).custom_object_client, KINDS[self.step]
        jobs = (kind.group, kind.version, self.namespace, kind.jobs)
        schedule = f"benchcore-{self.step}"
        name = f"{schedule}-{self.run_name}-{attempt}"
        labels = f"{RUN_LABEL}={self.run_name},benchcore/step={self.step}"
        existing = api.list_namespaced_custom_object(*jobs, label_selector=labels)["items"]
        sound = [job for job in existing if state_of(self.step, job) != "failed"]
        mine = [job for job in existing if job["metadata"]["name"] == name]
        if sound or mine:
            return (sound or mine)[0]
        template = api.get_namespaced_custom_object(kind.group, kind.version, self.namespace, kind.schedules, schedule)
        try:
            body = job_of(self.step, template, name=name, run=self.run_name)
            return api.create_namespaced_custom_object(*jobs, body=body)
        except ApiException as error:
            if error.status != HTTPStatus.CONFLICT:  # else the same attempt runs twice, and the other one was first
                raise
            return api.get_namespaced_custom_object(*jobs, name=name)

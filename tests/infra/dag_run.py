"""Runs a night of the DAG against an API server, in an environment of Airflow's own, and prints how its tasks ended.

The operators are played: whatever job appears gets the status that is said for it. Arguments: the DAG's folder, the
administrator's kubeconfig, the logical date, and the statuses as JSON: step -> those of its first job, its second, ...
"""

import json
import sys
import threading
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from airflow.dag_processing.dagbag import BundleDagBag
from kubernetes import config
from kubernetes.client import CustomObjectsApi


def play(api: CustomObjectsApi, kinds: dict[str, Any], statuses: dict[str, list[Any]], over: threading.Event) -> None:
    """Give each job its status, again and again until the night is over."""
    while not over.wait(0.2):
        for step, said in statuses.items():
            where = (kinds[step].group, kinds[step].version, "benchcore", kinds[step].jobs)
            jobs = api.list_namespaced_custom_object(*where, label_selector=f"benchcore/step={step}")["items"]
            for job in jobs:
                name = job["metadata"]["name"]
                status = said[min(int(name.rpartition("-")[2]), len(said)) - 1]
                if not job.get("status"):
                    api.patch_namespaced_custom_object_status(*where, name, {"status": status})


def main(folder: Path, admin: str, date: str, statuses: dict[str, list[Any]]) -> None:
    """Run the night, its pauses aside."""
    bag = BundleDagBag(folder, bundle_path=folder, bundle_name="dags-folder")
    dag = bag.dags["benchcore_nightly"]
    from benchcore_steps.jobs import KINDS  # the bag has put its folder on the path

    for task in dag.tasks:
        task.retry_delay, task.retry_exponential_backoff = timedelta(0), False
        if hasattr(task, "poke_interval"):
            task.poke_interval = 0.5
    over = threading.Event()
    api = CustomObjectsApi(config.new_client_from_config(admin))
    threading.Thread(target=play, args=(api, KINDS, statuses, over), daemon=True).start()
    run = dag.test(logical_date=datetime.fromisoformat(date))
    over.set()
    tasks = {ti.task_id: str(ti.state) for ti in run.get_task_instances()}
    sys.stdout.write("\n" + json.dumps({"run": str(run.state), "tasks": tasks}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], json.loads(sys.argv[4]))

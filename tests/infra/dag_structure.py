"""Prints the DAG's structure as JSON; run by tests/infra/test_airflow.py in an environment of Airflow's own."""

import json
import sys
from pathlib import Path

from airflow.dag_processing.dagbag import BundleDagBag

folder = Path(sys.argv[1])
bag = BundleDagBag(folder, bundle_path=folder, bundle_name="tested")
dags = {
    name: {
        "schedule": dag.timetable.expression,
        "catchup": dag.catchup,
        "max_active_runs": dag.max_active_runs,
        "dagrun_timeout": dag.dagrun_timeout.total_seconds(),
        "told_when_it_fails": dag.on_failure_callback is not None,
        "tasks": {
            task.task_id: {
                "after": sorted(task.upstream_task_ids),
                "trigger_rule": task.trigger_rule.value,
                "retries": task.retries,
                "backoff": bool(task.retry_exponential_backoff),
                "execution_timeout": task.execution_timeout.total_seconds(),
                "run": task.run_name if hasattr(task, "run_name") else task.op_args[0],
                "templated": list(task.template_fields),
                "mode": getattr(task, "mode", None),
            }
            for task in dag.tasks
        },
    }
    for name, dag in bag.dags.items()
}
sys.stdout.write(json.dumps({"errors": bag.import_errors, "dags": dags}))

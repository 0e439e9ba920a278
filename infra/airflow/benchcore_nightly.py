"""The nightly job as a DAG of Airflow 3: ingest, embed, select, report, and a word about how it went.

Put this folder into Airflow's DAGs, apply `infra/kubernetes/overlays/airflow`, and let the connection
`kubernetes_default` log in as the service account `benchcore-scheduler`. $BENCHCORE_NAMESPACE names another namespace
than `benchcore`.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

from airflow.sdk import DAG, chain
from benchcore_steps.notification import notify, timed_out
from benchcore_steps.step import Step

STEPS = ["ingest", "embed", "select", "report"]

# A run is known by its logical date; one that was triggered by hand may have none, and then by the time it was due.
RUN = "{{ (dag_run.logical_date or dag_run.run_after).strftime('%Y%m%dt%H%M%S') }}"

with DAG(
    "benchcore_nightly",
    description="Which prompts stand for the whole registry, every night anew",
    schedule="0 2 * * *",
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,  # a night that was missed is made up for by the next
    max_active_runs=1,
    dagrun_timeout=timedelta(hours=12),
    on_failure_callback=timed_out,
    default_args={
        "retries": 3,
        "retry_delay": timedelta(minutes=5),
        "retry_exponential_backoff": True,
        "max_retry_delay": timedelta(hours=1),
        "execution_timeout": timedelta(minutes=10),  # of one look at the cluster
    },
    tags=["benchcore"],
) as dag:
    steps = [
        Step(
            step=step,
            run_name=RUN,
            namespace=os.environ.get("BENCHCORE_NAMESPACE", "benchcore"),
            poke_interval=timedelta(minutes=1),
            timeout=timedelta(hours=10),
        )
        for step in STEPS
    ]
    chain(*steps, notify(RUN, STEPS))

"""The nightly DAG: what it makes of the cluster's templates, and its structure as the real Airflow reads it."""

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from infra.airflow.benchcore_steps.jobs import KINDS, job_of, state_of
from tests.infra.api_server import api_server
from tests.infra.manifests import CRDS, ROOT, STEPS

AIRFLOW = ROOT / "infra" / "airflow"
ENVIRONMENT = "BENCHCORE_AIRFLOW_ENVIRONMENT"


def airflow(command: list[object], home: Path, **variables: str) -> str:
    """What a command prints in the environment of Airflow; skips where there is none."""
    python = Path(os.environ.get(ENVIRONMENT, ROOT / ".cache" / "airflow")) / "bin" / "python"
    if not python.is_file():
        pytest.skip(f"Airflow is not installed: run infra/airflow/environment, or set {ENVIRONMENT}")
    own = {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "ERROR",
    }
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW")}
    done = subprocess.run(
        [python, *command], env=environment | own | variables, capture_output=True, text=True, check=False, cwd=home
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    home = tmp_path_factory.mktemp("airflow")
    printed = airflow([ROOT / "tests" / "infra" / "dag_structure.py", AIRFLOW], home)
    structure: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return structure


def test_airflow_reads_it(read: dict[str, Any]):
    """One DAG, and no error."""
    assert read["errors"] == {}
    assert list(read["dags"]) == ["benchcore_nightly"]


def test_the_steps_follow_each_other(read: dict[str, Any]):
    """Each begins when the one before is done; the last one speaks whatever happened."""
    tasks = read["dags"]["benchcore_nightly"]["tasks"]

    order = [*STEPS, "notify"]
    assert {name: task["after"] for name, task in tasks.items()} == {
        name: order[max(0, i - 1) : i] for i, name in enumerate(order)
    }
    assert {name: task["trigger_rule"] for name, task in tasks.items()} == {
        **dict.fromkeys(STEPS, "all_success"),
        "notify": "all_done",
    }


def test_a_night_is_run_once_and_ends(read: dict[str, Any]):
    """Never two at a time, none for nights long gone, retries with growing pauses, and an end to everything."""
    dag = read["dags"]["benchcore_nightly"]

    assert (dag["schedule"], dag["catchup"], dag["max_active_runs"]) == ("0 2 * * *", False, 1)
    assert dag["dagrun_timeout"] > 0
    assert dag["told_when_it_fails"]
    for task in dag["tasks"].values():
        assert task["retries"] == 3
        assert task["backoff"]
        assert task["execution_timeout"] > 0
    assert {dag["tasks"][step]["mode"] for step in STEPS} == {"reschedule"}


def test_a_run_is_known_by_its_logical_date(read: dict[str, Any]):
    """In the names of its jobs, and in the registry's books."""
    for name, task in read["dags"]["benchcore_nightly"]["tasks"].items():
        assert "dag_run.logical_date" in task["run"]
        assert ("op_args" if name == "notify" else "run_name") in task["templated"]


def schedule(step: str) -> dict[str, Any]:
    """The smallest that holds a template."""
    spec: dict[str, Any] = {
        "ingest": {"template": {"arguments": ["conf.yaml"]}},
        "embed": {"jobTemplate": {"entrypoint": "python embed.py conf.yaml"}},
        "select": {"jobTemplate": {"entrypoint": "python selection.py conf.yaml"}},
        "report": {"jobTemplate": {"spec": {"template": {"spec": {"containers": [{"args": ["conf.yaml"]}]}}}}},
    }[step]
    return {"metadata": {"name": f"benchcore-{step}", "labels": {"benchcore/step": step}, "uid": "u"}, "spec": spec}


@pytest.mark.parametrize("step", STEPS)
def test_a_job_is_the_template_with_a_name_and_the_run(step: str):
    """The template itself stays as it was, and nothing of the schedule's own identity comes along."""
    template = schedule(step)
    job = job_of(step, template, name="n-1", run="20260102t020000")

    assert template == schedule(step)
    assert job["metadata"] == {"name": "n-1", "labels": {"benchcore/step": step, "benchcore/run": "20260102t020000"}}
    assert json.dumps(job["spec"]).count("--run-id") == 1
    assert (job["apiVersion"], job["kind"]) == (f"{KINDS[step].group}/{KINDS[step].version}", KINDS[step].kind)


STATES: list[tuple[str, Any, str]] = [
    ("ingest", None, "under way"),
    ("ingest", {"applicationState": {"state": "RUNNING"}}, "under way"),
    ("ingest", {"applicationState": {"state": "SUBMISSION_FAILED"}}, "under way"),  # the operator submits it again
    ("ingest", {"applicationState": {"state": "PENDING_RERUN"}}, "under way"),
    ("ingest", {"applicationState": {"state": "FAILED"}}, "failed"),
    ("ingest", {"applicationState": {"state": "COMPLETED"}}, "done"),
    ("embed", {}, "under way"),
    ("embed", {"jobDeploymentStatus": "Initializing"}, "under way"),
    ("embed", {"jobDeploymentStatus": "Running", "jobStatus": "SUCCEEDED"}, "under way"),
    ("embed", {"jobDeploymentStatus": "Retrying", "jobStatus": "FAILED"}, "under way"),
    ("embed", {"jobDeploymentStatus": "Failed", "jobStatus": "RUNNING"}, "failed"),  # beyond its deadline
    ("embed", {"jobDeploymentStatus": "Complete", "jobStatus": "STOPPED"}, "failed"),  # by a person
    ("embed", {"jobDeploymentStatus": "ValidationFailed"}, "failed"),
    ("embed", {"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"}, "done"),
    ("report", {"active": 1}, "under way"),
    ("report", {"conditions": [{"type": "Failed", "status": "False"}]}, "under way"),
    ("report", {"conditions": [{"type": "Failed", "status": "True"}]}, "failed"),
    ("report", {"conditions": [{"type": "SuccessCriteriaMet", "status": "True"}]}, "under way"),
    ("report", {"conditions": [{"type": "Complete", "status": "True"}]}, "done"),
]


@pytest.mark.parametrize(("step", "status", "state"), STATES)
def test_the_operator_says_how_a_job_ended(step: str, status: Any, state: str):
    """What is retried goes on; what ended in any way but well has failed."""
    assert state_of(step, {"status": status}) == state


SPARK = {state: {"applicationState": {"state": state}, "driverInfo": {}} for state in ("FAILED", "COMPLETED")}
RAY = {
    state: {"jobDeploymentStatus": "Failed" if state == "FAILED" else "Complete", "jobStatus": state}
    for state in ("FAILED", "STOPPED", "SUCCEEDED")
}
JOB = {
    "startTime": "2026-01-02T03:00:00Z",
    "completionTime": "2026-01-02T03:00:01Z",
    "succeeded": 1,
    "conditions": [{"type": "SuccessCriteriaMet", "status": "True"}, {"type": "Complete", "status": "True"}],
}


@contextmanager
def chat() -> Iterator[tuple[str, list[str]]]:
    """A service that is posted to: its address, and what it was told so far."""
    told: list[str] = []

    class Service(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"])
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/hook", told
        server.shutdown()


@pytest.mark.slow
def test_nights_on_a_cluster(tmp_path: Path):
    """Real Airflow and a real API server, which gives the scheduler's account its rights; only operators are played.

    One night ends well, though two jobs failed at first; another does not, and says so.
    """
    with api_server(tmp_path) as server, chat() as (address, told):
        server.define(CRDS)
        server.kubectl("apply", "-k", ROOT / "infra/kubernetes/overlays/airflow")
        account = server.config_of("benchcore-scheduler", "benchcore")
        variables = {
            "AIRFLOW__CORE__DAGS_FOLDER": str(AIRFLOW),
            "AIRFLOW_CONN_KUBERNETES_DEFAULT": json.dumps(
                {"conn_type": "kubernetes", "extra": {"kube_config_path": str(account)}}
            ),
            "AIRFLOW_CONN_BENCHCORE_NOTIFY": json.dumps({"conn_type": "http", "host": address}),
        }
        airflow(["-m", "airflow", "db", "migrate"], tmp_path, **variables)

        def night(date: str, **statuses: list[Any]) -> dict[str, Any]:
            command = [ROOT / "tests/infra/dag_run.py", AIRFLOW, server.config, date, json.dumps(statuses)]
            ended: dict[str, Any] = json.loads(airflow(command, tmp_path, **variables).splitlines()[-1])
            return ended

        good = night(
            "2026-01-02T02:00:00+00:00",
            ingest=[SPARK["FAILED"], SPARK["COMPLETED"]],
            embed=[RAY["STOPPED"], RAY["SUCCEEDED"]],
            select=[RAY["SUCCEEDED"]],
            report=[JOB],
        )
        assert good == {"run": "success", "tasks": dict.fromkeys([*STEPS, "notify"], "success")}
        assert told == ["benchcore 20260102t020000: done"]
        made = server.kubectl("-n", "benchcore", "get", "sparkapplications,rayjobs,jobs", "-o", "json")
        jobs = {job["metadata"]["name"]: json.dumps(job["spec"]) for job in json.loads(made)["items"]}
        tries = {"ingest": 2, "embed": 2, "select": 1, "report": 1}
        assert set(jobs) == {
            f"benchcore-{step}-20260102t020000-{attempt + 1}" for step in STEPS for attempt in range(tries[step])
        }
        assert all("--run-id" in spec and "20260102t020000" in spec for spec in jobs.values())

        again = night("2026-01-02T02:00:00+00:00")
        assert again["run"] == "success"
        assert (
            len(server.kubectl("-n", "benchcore", "get", "sparkapplications,rayjobs,jobs", "-o", "name").split()) == 6
        )

        bad = night(
            "2026-01-03T02:00:00+00:00",
            ingest=[SPARK["COMPLETED"]],
            embed=[RAY["SUCCEEDED"]],
            select=[RAY["FAILED"]],
        )
        assert bad["run"] == "failed"
        assert bad["tasks"] == {
            **dict.fromkeys(["ingest", "embed"], "success"),
            **dict.fromkeys(["select", "notify"], "failed"),
            "report": "upstream_failed",
        }
        assert told[-1] == "benchcore 20260103t020000: select: failed, report: upstream_failed"

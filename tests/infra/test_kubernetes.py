"""The manifests: what a cluster would say of them, what every job keeps to, and that images and jobs fit them."""

import copy
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchcore.config import load_config, load_sources
from infra.airflow.benchcore_steps.jobs import KINDS, job_of
from tests.infra.api_server import api_server
from tests.infra.manifests import (
    CRDS,
    KUBERNETES,
    OVERLAYS,
    ROOT,
    STEPS,
    UPKEEP,
    built,
    built_at,
    faults,
    pod_of,
    pod_templates,
    schedule_of,
    upkeep_of,
)

ONCE = KUBERNETES / "once.jq"
SECRETS = {"benchcore-store", "benchcore-ray-token"}  # docs/cluster.md makes them, by hand


def pinned(package: str) -> str:
    """Its version in constraints.txt."""
    (version,) = re.findall(rf"^{re.escape(package)}==(.+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    return version


def templates(overlay: str) -> list[dict[str, Any]]:
    return [template for item in built(overlay) for template in pod_templates(item)]


def containers(overlay: str) -> list[dict[str, Any]]:
    return [container for template in templates(overlay) for container in template["spec"]["containers"]]


def jobs_made_once(overlay: str) -> list[dict[str, Any]]:
    """The jobs that Airflow makes of the templates."""
    return [job_of(step, schedule_of(step, overlay), name=f"benchcore-{step}-1", run="1") for step in STEPS]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_a_cluster_takes_every_object(overlay: str, tmp_path: Path):
    """Kubernetes' own kinds and the operators', the pods inside, and the jobs that are made of the templates."""
    found = faults([*built(overlay), *jobs_made_once(overlay)], tmp_path)

    kinds = {name.split("-")[1] for name in found}
    assert kinds >= {"SparkApplication", "ScheduledSparkApplication", "RayJob", "RayCronJob", "CronJob", "Job"}
    assert {name: fault for name, fault in found.items() if fault} == {}


def test_an_overlay_of_ones_own_has_its_images_sources_and_settings(tmp_path: Path):
    """As docs/cluster.md says: on the base, every image by its name, the ConfigMaps replaced."""
    for name in ("registry.yaml", "incidents.yaml"):
        (tmp_path / name).write_text(f"mine: {name}\n")
    made = {
        "resources": [os.path.relpath(KUBERNETES / "base", tmp_path)],
        "generatorOptions": {"disableNameSuffixHash": True},
        "images": [
            {"name": f"benchcore-{name}", "newName": f"mine/{name}", "newTag": "2"} for name in ("spark", "ray")
        ],
        "configMapGenerator": [
            {"name": "benchcore-configuration", "behavior": "replace", "files": ["registry.yaml"]},
            {"name": "benchcore-sources", "behavior": "replace", "files": ["incidents.yaml"]},
        ],
    }
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(made))
    objects = built_at(tmp_path)
    data = {item["metadata"]["name"]: item["data"] for item in objects if item["kind"] == "ConfigMap"}

    assert set(re.findall(r"image: (\S+)", yaml.safe_dump_all(objects))) == {"mine/spark:2", "mine/ray:2"}
    assert data["benchcore-configuration"] == {"registry.yaml": "mine: registry.yaml\n"}
    assert data["benchcore-sources"] == {"incidents.yaml": "mine: incidents.yaml\n"}


def _misspelt_deadline(schedule: dict[str, Any]) -> None:
    schedule["spec"]["jobTemplate"]["activeDeadlineSecond"] = 1


def _unknown_field_of_a_ray_pod(schedule: dict[str, Any]) -> None:
    head = schedule["spec"]["jobTemplate"]["rayClusterSpec"]["headGroupSpec"]
    head["template"]["spec"]["containers"][0]["securityContext"]["readOnly"] = True


def _unknown_mode(schedule: dict[str, Any]) -> None:
    schedule["spec"]["jobTemplate"]["rayClusterSpec"]["authOptions"]["mode"] = "tokn"


def _number_for_a_text(schedule: dict[str, Any]) -> None:
    schedule["spec"]["template"]["driver"]["coreLimit"] = 2


def _unknown_field_of_a_spark_pod(schedule: dict[str, Any]) -> None:
    schedule["spec"]["template"]["executor"]["template"]["spec"]["securityContexts"] = {}


def _missing_application(schedule: dict[str, Any]) -> None:
    del schedule["spec"]["template"]["mainApplicationFile"]


def _unknown_field_of_a_job(schedule: dict[str, Any]) -> None:
    schedule["spec"]["jobTemplate"]["spec"]["backofLimit"] = 2


MISTAKES: list[tuple[str, Callable[[dict[str, Any]], None]]] = [
    ("embed", _misspelt_deadline),
    ("embed", _unknown_field_of_a_ray_pod),
    ("select", _unknown_mode),
    ("ingest", _number_for_a_text),
    ("ingest", _unknown_field_of_a_spark_pod),
    ("ingest", _missing_application),
    ("report", _unknown_field_of_a_job),
]


def test_mistakes_are_found(tmp_path: Path):
    """A misspelt or unknown field at any depth, a wrong type or value, a missing one: else the above says nothing."""
    wrong = []
    for step, make in MISTAKES:
        schedule = copy.deepcopy(schedule_of(step, "production"))
        make(schedule)
        wrong.append(schedule)

    found = faults(wrong, tmp_path)

    assert {int(name[:2]) for name, fault in found.items() if fault} == set(range(len(MISTAKES)))


@pytest.mark.parametrize("step", STEPS)
def test_a_job_by_hand_is_the_schedules(step: str):
    """`once.jq` makes what Airflow makes, its name and its run aside."""
    if shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    schedule = schedule_of(step, "production")
    made = subprocess.run(
        ["jq", "-f", ONCE], input=json.dumps(schedule), capture_output=True, text=True, check=True
    ).stdout
    by_hand, by_airflow = json.loads(made), job_of(step, schedule, name="n", run="r")
    appended = by_airflow["spec"]
    if step == "ingest":
        del appended["arguments"][-2:]
    elif step == "report":
        del appended["template"]["spec"]["containers"][0]["args"][-2:]
    else:
        appended["entrypoint"] = appended["entrypoint"].removesuffix(" --run-id r")

    assert by_hand["metadata"]["generateName"] == f"benchcore-{step}-"
    assert (by_hand["kind"], by_hand["apiVersion"]) == (by_airflow["kind"], by_airflow["apiVersion"])
    assert by_hand["spec"] == appended


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_requests_are_limits(overlay: str):
    """No pod is promised more than it gets, or evicted for taking it. Spark makes one number of both for memory."""
    for container in containers(overlay):
        if container["name"].startswith("spark-kubernetes-"):
            continue
        assert container["resources"]["requests"] == container["resources"]["limits"], container["name"]
        assert container["resources"]["limits"].keys() >= {"cpu", "memory"}
    spec = schedule_of("ingest", overlay)["spec"]["template"]
    for pod in (spec["driver"], spec["executor"]):
        assert pod["coreRequest"] == pod["coreLimit"] == str(pod["cores"])
        assert pod["memory"] and pod["memoryOverhead"] and "memoryLimit" not in pod


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_pods_keep_to_the_restricted_standard(overlay: str):
    """And to more: the root file system cannot be written, and only Spark's driver may talk to Kubernetes."""
    for template in templates(overlay):
        spec = template["spec"]
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["runAsUser"] > 0
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        names = [container["name"] for container in spec["containers"]]
        assert spec.get("automountServiceAccountToken") is False or names == ["spark-kubernetes-driver"]
        for container in spec["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert {"/tmp", "/home/benchcore"} <= {mount["mountPath"] for mount in container["volumeMounts"]}
    (namespace,) = (item for item in built(overlay) if item["kind"] == "Namespace")
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_secrets_are_named_and_never_told(overlay: str):
    """No Secret is built, no variable has its value here, and those that are referred to are the two of the guide."""
    text = yaml.safe_dump_all(built(overlay))
    referred = set(re.findall(r"(?:secretRef:\s+name|secretName): (\S+)", text))

    assert "Secret" not in {item["kind"] for item in built(overlay)}
    assert not [container for container in containers(overlay) if container.get("env")]
    assert not re.search(r"(?i)(access_?key|secret_?key|password|auth_token)\S*[:=]", text)
    assert referred == SECRETS


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_what_is_referred_to_is_there(overlay: str):
    """ConfigMaps, accounts and claims of the pods; kustomize itself says nothing of a name that leads nowhere."""
    there = {(item["kind"], item["metadata"]["name"]) for item in built(overlay)}
    wanted = set()
    for template in templates(overlay):
        spec = template["spec"]
        wanted |= {("ServiceAccount", spec["serviceAccountName"])} if "serviceAccountName" in spec else set()
        for volume in spec["volumes"]:
            wanted |= {("ConfigMap", volume["configMap"]["name"])} if "configMap" in volume else set()
            claim = volume.get("persistentVolumeClaim")
            wanted |= {("PersistentVolumeClaim", claim["claimName"])} if claim else set()
        for container in spec["containers"]:
            sources = [source["configMapRef"] for source in container.get("envFrom", ()) if "configMapRef" in source]
            wanted |= {("ConfigMap", source["name"]) for source in sources}
    spark = schedule_of("ingest", overlay)["spec"]["template"]
    wanted |= {("ServiceAccount", spark[pod]["serviceAccount"]) for pod in ("driver", "executor")}

    assert wanted <= there
    assert ("NetworkPolicy", "benchcore") in there


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_versions_are_those_of_the_constraints(overlay: str):
    """Images by this release's tag; Ray's and Spark's versions are those that the images are built with."""
    release = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    spark = schedule_of("ingest", overlay)["spec"]["template"]
    images = [spark["image"], *(container["image"] for container in containers(overlay) if "image" in container)]
    clusters = [schedule_of(step, overlay)["spec"]["jobTemplate"]["rayClusterSpec"] for step in ("embed", "select")]

    assert len(images) == 10
    assert {image.rpartition(":")[2] for image in images} == {release}
    assert {cluster["rayVersion"] for cluster in clusters} == {pinned("ray")}
    assert spark["sparkVersion"] == pinned("pyspark")


@pytest.mark.parametrize("step", ["embed", "select"])
def test_a_ray_job_leaves_nothing_behind_and_asks_for_a_token(step: str):
    """What KubeRay looks at beyond its schema: authentication is off unless the mode says token; names have a limit."""
    for overlay in OVERLAYS:
        job = schedule_of(step, overlay)["spec"]["jobTemplate"]
        cluster = job["rayClusterSpec"]
        assert job["shutdownAfterJobFinishes"] is True
        assert job["ttlSecondsAfterFinished"] > 0 and job["activeDeadlineSeconds"] > 0
        assert job["submitterConfig"] == {"backoffLimit": 0}
        assert job["backoffLimit"] >= 0
        assert cluster["authOptions"] == {"mode": "token", "secretName": "benchcore-ray-token"}
        for group in cluster["workerGroupSpecs"]:
            assert group["minReplicas"] == group["replicas"] == group["maxReplicas"]
    assert len(f"benchcore-{step}-20260102t020000-10") <= 47


def test_one_at_a_time():
    """A night that is still under way lets the next one out; and a step begins after the one that it needs."""
    assert {schedule_of(step, "production")["spec"]["concurrencyPolicy"] for step in ("ingest", "report")} == {"Forbid"}
    hours = [int(schedule_of(step, "production")["spec"]["schedule"].split()[1]) for step in STEPS]
    assert hours == sorted(set(hours))


def test_one_scheduler_at_a_time():
    """Production runs by the operators' schedules; where Airflow or a person starts the steps, these rest."""
    for step in STEPS:
        assert "suspend" not in schedule_of(step, "production")["spec"]
        assert schedule_of(step, "airflow")["spec"]["suspend"] is True
        assert schedule_of(step, "dev")["spec"]["suspend"] is True


@pytest.mark.parametrize("upkeep", UPKEEP)
def test_upkeep_runs_beside_any_scheduler(upkeep: str):
    """Airflow has no step for it. It comes after the steps, and takes the arguments that it is given."""
    jobs = {overlay: upkeep_of(upkeep, overlay)["spec"] for overlay in OVERLAYS}
    (container,) = jobs["production"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    command = [*container["command"], *container["args"]]
    done = subprocess.run(
        [sys.executable, "-m", *command, "--help"], capture_output=True, text=True, check=False
    )  # options are looked at before help is given

    assert done.returncode == 0, done.stderr
    assert command[:3] == ["benchcore", "registry", upkeep]
    assert [jobs[overlay].get("suspend") for overlay in OVERLAYS] == [True, None, None]
    last = max(int(schedule_of(step, "production")["spec"]["schedule"].split()[1]) for step in STEPS)
    assert int(jobs["production"]["schedule"].split()[1]) > last


def test_a_scheduler_may_do_what_it_needs_and_no_more():
    """Airflow's account reads templates, and makes and watches jobs; it can read no secret and start no pod."""
    (role,) = (item for item in built("airflow") if item["kind"] == "Role" and "scheduler" in item["metadata"]["name"])
    allowed = {(rule["apiGroups"][0], rule["resources"][0], verb) for rule in role["rules"] for verb in rule["verbs"]}

    wanted = {(kind.group, kind.schedules, "get") for kind in KINDS.values()}
    wanted |= {(kind.group, kind.jobs, verb) for kind in KINDS.values() for verb in ("create", "get", "list")}
    assert allowed == wanted


@pytest.mark.parametrize("step", STEPS)
def test_the_jobs_take_their_arguments(step: str, monkeypatch: pytest.MonkeyPatch):
    """The script is there, takes all options, a run's name among them, and the configuration takes what they set."""
    job = job_of(step, schedule_of(step, "production"), name="n", run="20260102t020000")["spec"]
    if step == "ingest":
        script, arguments = job["mainApplicationFile"].removeprefix("local://"), job["arguments"]
    elif step == "report":
        (container,) = job["template"]["spec"]["containers"]
        script, arguments = container["command"][1], container["args"]
    else:
        _, script, *arguments = job["entrypoint"].split()
    here = ROOT / Path(script).relative_to("/opt/benchcore")
    done = subprocess.run(
        [sys.executable, here, *arguments, "--help"], capture_output=True, text=True, check=False
    )  # options are looked at before help is given
    assert done.returncode == 0, done.stderr
    assert arguments[-2:] == ["--run-id", "20260102t020000"]

    (settings,) = (item["data"] for item in built("production") if item["metadata"]["name"] == "benchcore-settings")
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    options = dict(itertools.pairwise(arguments))
    overrides = [arguments[i + 1] for i, argument in enumerate(arguments) if argument == "--set"]
    here = [override.replace("/etc/benchcore/sources", str(ROOT / "conf/sources")) for override in overrides]
    config = load_config(ROOT / "conf" / Path(arguments[0]).name, here, options["--root"])
    assert config.registry.root == settings["BENCHCORE_ROOT"]
    if step == "ingest":
        assert config.sources.data == settings["BENCHCORE_DATA"]
        assert load_sources(config)


def test_every_source_is_carried_to_the_cluster():
    """kustomize takes no patterns, so the list is written out; and a ConfigMap holds a megabyte."""
    listed = yaml.safe_load((ROOT / "conf/kustomization.yaml").read_text())["configMapGenerator"]
    sources = {Path(file).name for generated in listed for file in generated["files"] if file.startswith("sources/")}
    (carried,) = (item for item in built("production") if item["metadata"]["name"] == "benchcore-sources")

    assert sources == {file.name for file in (ROOT / "conf/sources").glob("*.yaml")} == set(carried["data"])
    assert sum(len(text.encode()) for text in carried["data"].values()) < 2**20


@pytest.mark.slow
def test_a_cluster_takes_what_the_guide_tells_to_apply(tmp_path: Path):
    """A real API server takes overlays, secrets and jobs by hand; its admission takes all pods but a privileged one."""
    with api_server(tmp_path) as server:
        server.define(CRDS)
        for overlay in ("dev", "production"):
            server.kubectl("apply", "--validate=strict", "-k", KUBERNETES / "overlays" / overlay)
        (tmp_path / "store.env").write_text("AWS_ACCESS_KEY_ID=a\nAWS_SECRET_ACCESS_KEY=b\n")
        secret = ("-n", "benchcore", "create", "secret", "generic")
        server.kubectl(*secret, "benchcore-store", "--from-env-file", tmp_path / "store.env")
        server.kubectl(*secret, "benchcore-ray-token", "--from-file=auth_token=/dev/stdin", given="0123")

        for step in STEPS[:3]:
            kind = "scheduledsparkapplication" if step == "ingest" else "raycronjob"
            schedule = server.kubectl("-n", "benchcore", "get", kind, f"benchcore-{step}", "-o", "json")
            once = subprocess.run(["jq", "-f", ONCE], input=schedule, capture_output=True, text=True, check=True)
            server.kubectl("create", "--validate=strict", "-f", "-", given=once.stdout)
        server.kubectl("-n", "benchcore", "create", "job", "benchcore-report-now", "--from=cronjob/benchcore-report")
        jobs = server.kubectl("-n", "benchcore", "get", "sparkapplications,rayjobs,jobs", "-o", "name").split()
        assert len(jobs) == 4

        create = ("-n", "benchcore", "create", "--dry-run=server", "-f", "-")
        for template in templates("production"):
            server.kubectl(*create, given=json.dumps(pod_of(template)))
        privileged = copy.deepcopy(pod_of(templates("production")[0]))
        privileged["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = True
        refused = server.try_kubectl(*create, given=json.dumps(privileged))
        assert 'violates PodSecurity "restricted' in refused.stderr

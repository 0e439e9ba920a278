"""The parts of the cluster: how each is started, and how one sees that it is ready."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from family import Family
from settings import BUCKET, LOOPBACK, Settings, free_port, token_file, write_privately

from benchcore.errors import BenchcoreError

_READY_S = 300.0
_STARTS = 3
_OBJECT_STORE_MB = 100
_LOG_LINES = 5
# With 0, Ray takes the loopback address for its own and listens there alone (what it is for: systems whose firewall
# would ask); but then it starts no further nodes.
STAYS_ON_LOOPBACK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"


class Parts:
    """Starts what is not running, in the order in which parts need each other, and waits until it is ready."""

    def __init__(self, family: Family, state: Path, settings: Settings, environment: Mapping[str, str]) -> None:
        self._family, self._state, self._settings, self._environment = family, state, settings, environment

    def store(self, program: Path) -> None:
        """The S3 server, and the bucket."""
        folder = self._folder("s3")
        keys = {"ROOT_ACCESS_KEY_ID": self._settings.access_key, "ROOT_SECRET_ACCESS_KEY": self._settings.secret_key}
        tags = [] if _has_attributes(folder) else self._tags_apart()
        command = [
            str(program),
            "--port",
            f"{LOOPBACK}:{self._settings.s3_port}",
            "--quiet",
            "posix",
            *tags,
            str(folder),
        ]
        self._start("s3", command, {**os.environ, **keys}, self._make_bucket)

    def _tags_apart(self) -> list[str]:
        """Options by which the server keeps tags in files of their own, and what that costs."""
        sys.stderr.write(
            f"local-cluster: the file system of {self._state} keeps no attributes, so the S3 server shows a file's new "
            "tag before its new content, and of two writers at once both may get the lock: start one at a time\n"
        )
        return ["--sidecar", str(self._folder("s3-tags"))]

    def spark(self) -> None:
        """The master, and workers of one core and 1 GB each; a master that was killed knows its jobs again."""
        folder = self._folder("spark")
        scripts = Path(self._environment["SPARK_HOME"]) / "bin"
        environment = {
            **os.environ,
            **self._environment,
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_LOCAL_DIRS": str(folder / "scratch"),
        }
        command = [str(scripts / "spark-class"), "org.apache.spark.deploy.master.Master", "--host", LOOPBACK]
        command += ["--port", str(self._settings.spark_port), "--webui-port", str(self._settings.spark_page_port)]
        self._start("spark-master", command, environment, partial(self._has_spark_workers, 0))
        for number in range(1, self._settings.workers + 1):
            command = [str(scripts / "spark-class"), "org.apache.spark.deploy.worker.Worker", "--host", LOOPBACK]
            command += ["--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", str(folder / "work")]
            command.append(self._settings.spark_address)
            self._start(f"spark-worker-{number}", command, environment, partial(self._has_spark_workers, number))

    def ray(self) -> None:
        """The head, which runs no tasks, and nodes of one CPU each."""
        scripts = Path(sys.executable).parent
        environment = {
            **os.environ,
            **self._environment,
            "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
            "RAY_agent_register_timeout_ms": "120000",  # on a busy machine its agents are slow to come up
        }
        head = ["--head", "--port", str(self._settings.ray_port), "--num-cpus", "0"]
        head += ["--dashboard-host", LOOPBACK, "--dashboard-port", str(self._settings.jobs_port)]
        head += ["--include-dashboard", "true", "--ray-client-server-port", str(free_port())]
        head += ["--temp-dir", f"{self._settings.ray_folder}/r"]  # Ray opens its folder to all; the one above is closed
        nodes = [f"ray-node-{number}" for number in range(1, self._settings.workers + 1)]
        if self._family.leader("ray-head") is None:  # nodes of a head that is gone keep the new one from its address
            for node in nodes:
                self._family.end(node)
        self._start("ray-head", [str(scripts / "ray"), *self._ray_start(), *head], environment, self._takes_jobs)
        for number, node in enumerate(nodes, 1):
            command = [sys.executable, str(Path(__file__).with_name("ray_on_loopback.py")), *self._ray_start()]
            command += ["--address", self._settings.ray_address, "--num-cpus", "1"]
            of_node = {**environment, STAYS_ON_LOOPBACK: "1"}
            self._start(node, command, of_node, partial(self._has_ray_nodes, number + 1))

    def _ray_start(self) -> list[str]:
        command = ["start", "--block", "--disable-usage-stats", "--node-ip-address", LOOPBACK]
        command += ["--object-store-memory", str(_OBJECT_STORE_MB * 1024**2)]
        for port in ("dashboard-agent-listen", "dashboard-agent-grpc", "runtime-env-agent", "metrics-export"):
            command += [f"--{port}-port", str(free_port())]
        return command

    def _folder(self, name: str) -> Path:
        folder = self._state / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _start(self, part: str, command: list[str], environment: Mapping[str, str], ready: Callable[[], bool]) -> None:
        """Start a part unless it runs, and wait until it is ready; what ends before that is tried again, twice."""
        until, left = time.monotonic() + _READY_S, _STARTS
        while True:
            if self._family.leader(part) is None:
                if not left:
                    break
                self._family.end(part)  # of a part that died, others may be left
                self._family.start(part, command, environment)
                left -= 1
            if ready():
                return
            if time.monotonic() > until:
                break
            time.sleep(0.3)
        log = self._state / "logs" / f"{part}.log"
        last = " / ".join(log.read_text(errors="replace").strip().splitlines()[-_LOG_LINES:])
        raise BenchcoreError(f"{part} does not come up ({last})", where=str(log), mend="Take all down, and try again.")

    def _make_bucket(self) -> bool:
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError
        from botocore.session import get_session

        keys = {"aws_access_key_id": self._settings.access_key, "aws_secret_access_key": self._settings.secret_key}
        client = get_session().create_client(
            "s3",
            "us-east-1",
            endpoint_url=self._settings.s3_address,
            config=Config(retries={"max_attempts": 1}),
            **keys,
        )
        try:
            if BUCKET not in [bucket["Name"] for bucket in client.list_buckets()["Buckets"]]:
                client.create_bucket(Bucket=BUCKET)
        except BotoCoreError:
            return False
        return True

    def _has_spark_workers(self, least: int) -> bool:
        """Whether the master answers and knows so many workers."""
        try:
            with urllib.request.urlopen(f"http://{LOOPBACK}:{self._settings.spark_page_port}/json/", timeout=5) as page:
                return bool(json.load(page)["aliveworkers"] >= least)
        except (OSError, ValueError):
            return False

    def _takes_jobs(self) -> bool:
        token = token_file(self._state).read_text()
        request = urllib.request.Request(
            f"{self._settings.jobs_address}/api/jobs/", headers={"Authorization": f"Bearer {token}"}
        )
        try:
            with urllib.request.urlopen(request, timeout=5):
                return True
        except (OSError, urllib.error.HTTPError):
            return False

    def _has_ray_nodes(self, least: int) -> bool:
        code = (
            "import ray, sys; ray.init(address=sys.argv[1], logging_level='ERROR', log_to_driver=False);"
            "sys.exit(sum(node['Alive'] for node in ray.nodes()) < int(sys.argv[2]))"
        )
        ran = subprocess.run(
            [sys.executable, "-c", code, self._settings.ray_address, str(least)],
            env={**os.environ, **self._environment},
            capture_output=True,
            check=False,
        )
        return ran.returncode == 0


def _has_attributes(folder: Path) -> bool:
    """Whether the file system keeps attributes, in which the server keeps its tags."""
    probe = folder / ".probe"
    probe.touch()
    try:
        os.setxattr(probe, "user.probe", b"1")
    except OSError:
        return False
    finally:
        probe.unlink()
    return True


def write_spark_defaults(folder: Path, settings: Settings, jars: list[Path], recovery: Path) -> None:
    """What an image of Spark has built in: jars on the path, where the master is, where it keeps what it knows.

    And the secret without which Spark would run anybody's code: whoever reaches its port can submit.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = ":".join(f"{jar}/*" for jar in jars)
    lines = {
        "spark.master": settings.spark_address,
        "spark.authenticate": "true",
        "spark.authenticate.secret": settings.spark_secret,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.host": LOOPBACK,
        "spark.driver.memory": "1g",
        "spark.driver.extraClassPath": path,
        "spark.executor.extraClassPath": path,
        "spark.executor.memory": "1g",
        "spark.executor.cores": "1",
        "spark.ui.enabled": "false",
        "spark.deploy.recoveryMode": "FILESYSTEM",  # else the job of a master that was killed waits for ever
        "spark.deploy.recoveryDirectory": str(recovery),
    }
    write_privately(folder / "spark-defaults.conf", "".join(f"{key} {value}\n" for key, value in lines.items()))
    import benchcore.ingest

    shutil.copy(Path(benchcore.ingest.__file__).with_name("log4j2.properties"), folder)

"""A real API server of Kubernetes, alone: it keeps and judges objects, and nothing runs.

Its programs are those that operators are tested with: $KUBEBUILDER_ASSETS names a folder with `kube-apiserver`, `etcd`
and `kubectl`, as `setup-envtest use` makes one.
"""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

ASSETS = "KUBEBUILDER_ASSETS"
_TOKEN = "admin-of-a-test"


@dataclass(frozen=True)
class ApiServer:
    """A server under way; `config` is the kubeconfig of its administrator."""

    address: str
    config: Path

    def kubectl(self, *arguments: object, given: str | None = None) -> str:
        """What kubectl prints; it must not fail."""
        done = self.try_kubectl(*arguments, given=given)
        assert done.returncode == 0, f"{arguments}\n{done.stderr}"
        return done.stdout

    def try_kubectl(self, *arguments: object, given: str | None = None) -> subprocess.CompletedProcess[str]:
        """The same, whatever comes of it."""
        command = [_program("kubectl"), "--kubeconfig", self.config, *arguments]
        return subprocess.run(command, input=given, capture_output=True, text=True, check=False)

    def define(self, folder: Path) -> None:
        """Make the kinds known whose definitions are in a folder."""
        self.kubectl("create", "-f", folder)
        self.kubectl("wait", "--for=condition=Established", "customresourcedefinitions", "--all", "--timeout=120s")

    def config_of(self, account: str, namespace: str) -> Path:
        """The kubeconfig of a service account, with a token of its own."""
        token = self.kubectl("create", "token", account, "-n", namespace).strip()
        return _config(self.config.with_name(f"{account}.yaml"), self.address, token)


@contextmanager
def api_server(folder: Path) -> Iterator[ApiServer]:
    """Start one on the loopback address; skips where its programs are not installed."""
    if ASSETS not in os.environ:
        pytest.skip(f"no API server of Kubernetes: let {ASSETS} name what `setup-envtest use` has installed")
    store, peer, port = _free_ports(3)
    key = folder / "accounts.key"
    subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
    (folder / "tokens.csv").write_text(f"{_TOKEN},admin,admin,system:masters\n")
    urls = f"http://127.0.0.1:{store}", f"http://127.0.0.1:{peer}"
    etcd = [
        *(_program("etcd"), "--data-dir", folder / "etcd", "--unsafe-no-fsync"),
        *("--listen-client-urls", urls[0], "--advertise-client-urls", urls[0]),
        *("--listen-peer-urls", urls[1], "--initial-advertise-peer-urls", urls[1]),
        *("--initial-cluster", f"default={urls[1]}"),
    ]
    server = [
        *(_program("kube-apiserver"), "--etcd-servers", urls[0], "--bind-address", "127.0.0.1"),
        *(
            "--secure-port",
            str(port),
            "--cert-dir",
            folder / "certificates",
            "--token-auth-file",
            folder / "tokens.csv",
        ),
        *("--authorization-mode", "RBAC", "--service-cluster-ip-range", "10.0.0.0/24"),
        *("--service-account-issuer", "https://kubernetes.default.svc"),
        *("--service-account-key-file", key, "--service-account-signing-key-file", key),
    ]
    started: list[subprocess.Popen[bytes]] = []
    try:
        for name, command in (("etcd", etcd), ("kube-apiserver", server)):
            with (folder / f"{name}.log").open("wb") as log:
                started.append(subprocess.Popen(command, stdout=log, stderr=log))
        address = f"https://127.0.0.1:{port}"
        made = ApiServer(address, _config(folder / "admin.yaml", address, _TOKEN))
        _await_ready(made, folder / "kube-apiserver.log")
        yield made
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()


def _await_ready(server: ApiServer, log: Path, seconds: float = 240.0) -> None:
    until = time.monotonic() + seconds
    while server.try_kubectl("get", "--raw", "/readyz").returncode != 0:
        assert time.monotonic() < until, log.read_text()[-3000:]


def _program(name: str) -> str:
    own = Path(os.environ.get(ASSETS, "")) / name
    found = str(own) if own.is_file() else shutil.which(name)
    if found is None:
        pytest.skip(f"no {name} in ${ASSETS} nor on the path")
    return found


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [made.getsockname()[1] for made in sockets]
    for made in sockets:
        with suppress(OSError):
            made.close()
    return ports


def _config(file: Path, address: str, token: str) -> Path:
    """Only the loopback address is talked to, with a certificate that the server has made for itself."""
    file.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "c", "cluster": {"server": address, "insecure-skip-tls-verify": True}}],
                "users": [{"name": "u", "user": {"token": token}}],
                "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
                "current-context": "x",
            }
        )
    )
    return file

"""A real S3 server for the tests, where its program is at hand: `infra/local-cluster/up` builds it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

_CACHE = Path(__file__).resolve().parents[2] / ".cache" / "bin"
_WAIT_S = 30.0


def program() -> Path | None:
    """The newest of the checkout's cache, else that of the path."""
    built = sorted(_CACHE.glob("versitygw-v*"))
    found = shutil.which("versitygw")
    return built[-1] if built else Path(found) if found else None


class Server:
    """One bucket, `bench`, over a folder; on the loopback address, with keys of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.bucket = folder / "s3" / "bench"
        self.bucket.mkdir(parents=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self.environment = {
            "AWS_ACCESS_KEY_ID": "of-the-tests",
            "AWS_SECRET_ACCESS_KEY": "of-the-tests-alone",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self._port}",
        }
        self._folder, self._options = folder, options
        self.keeps_tags = _has_attributes(folder)
        self.start()

    def start(self) -> None:
        """Start it, or start it again at its address, and wait until it listens."""
        keys = {"ROOT_ACCESS_KEY_ID": "of-the-tests", "ROOT_SECRET_ACCESS_KEY": "of-the-tests-alone"}
        command = [str(program()), "--port", f"127.0.0.1:{self._port}", "--quiet", *self._options, "posix"]
        if not self.keeps_tags:
            command += ["--sidecar", str(self._folder)]
        command.append(str(self.bucket.parent))
        with (self._folder / "s3.log").open("a") as log:
            self._process = subprocess.Popen(command, env=keys, stdout=log, stderr=log)
        for _ in range(int(_WAIT_S / 0.1)):
            try:
                socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
                return
            except OSError:
                try:
                    self._process.wait(timeout=0.1)
                except subprocess.TimeoutExpired:
                    continue
                raise AssertionError("the S3 server does not come up") from None
        raise AssertionError("the S3 server does not listen")

    def kill(self) -> None:
        """kill -9."""
        self._process.kill()
        self._process.wait()


def _has_attributes(folder: Path) -> bool:
    """Whether the file system keeps attributes, in which the server keeps a file's tag."""
    try:
        os.setxattr(folder, "user.probe", b"1")
    except OSError:
        return False
    return True

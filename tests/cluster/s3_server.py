"""A real S3 server for the tests, where its program is at hand: `infra/local-cluster/up` builds it."""

from __future__ import annotations

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

    def __init__(self, folder: Path) -> None:
        self.bucket = folder / "s3" / "bench"
        self.bucket.mkdir(parents=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.environment = {
            "AWS_ACCESS_KEY_ID": "of-the-tests",
            "AWS_SECRET_ACCESS_KEY": "of-the-tests-alone",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
        }
        keys = {"ROOT_ACCESS_KEY_ID": "of-the-tests", "ROOT_SECRET_ACCESS_KEY": "of-the-tests-alone"}
        command = [str(program()), "--port", f"127.0.0.1:{self.port}", "--quiet", "posix"]
        command += [
            "--sidecar",
            str(folder),
            str(folder / "s3"),
        ]  # tags in files: not every file system keeps attributes
        with (folder / "s3.log").open("w") as log:
            self.process = subprocess.Popen(command, env=keys, stdout=log, stderr=log)
        self._wait()

    def _wait(self) -> None:
        """Until it listens."""
        for _ in range(int(_WAIT_S / 0.1)):
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                try:
                    self.process.wait(timeout=0.1)
                except subprocess.TimeoutExpired:
                    continue
                raise AssertionError("the S3 server does not come up") from None
        raise AssertionError("the S3 server does not listen")

    def stop(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait()

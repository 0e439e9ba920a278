"""What a local cluster is made with: its ports, keys and token, chosen once and kept until it is taken down."""

from __future__ import annotations

import dataclasses
import json
import os
import secrets
import socket
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchcore.errors import BenchcoreError, UsageError

LOOPBACK = "127.0.0.1"
BUCKET = "benchcore"
_FILE = "settings.json"


@dataclass(frozen=True)
class Settings:
    """Ports and keys, whether the store is its own, and where Ray has its folder: paths of sockets must be short."""

    s3_port: int
    spark_port: int
    spark_page_port: int
    ray_port: int
    jobs_port: int
    workers: int
    access_key: str
    secret_key: str
    spark_secret: str
    own_store: bool
    ray_folder: str

    @property
    def s3_address(self) -> str:
        return f"http://{LOOPBACK}:{self.s3_port}"

    @property
    def spark_address(self) -> str:
        return f"spark://{LOOPBACK}:{self.spark_port}"

    @property
    def ray_address(self) -> str:
        return f"{LOOPBACK}:{self.ray_port}"

    @property
    def jobs_address(self) -> str:
        return f"http://{LOOPBACK}:{self.jobs_port}"


def kept(state: Path) -> Settings | None:
    """The settings of the cluster of a state folder; None when it has been taken down.

    Raises:
        BenchcoreError: they cannot be understood.
    """
    file = state / _FILE
    try:
        return Settings(**json.loads(file.read_text()))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        mend = "Take the cluster down (infra/local-cluster/down), and up again."
        raise BenchcoreError("these are no settings of this release", where=str(file), mend=mend) from error


def choose(state: Path, ports: Mapping[str, int], workers: int, *, own_store: bool) -> Settings:
    """Choose free ports where none is asked for, and new keys, and keep them where nobody else may read.

    Raises:
        UsageError: somebody listens on a port that is asked for.
    """
    for name, port in ports.items():
        if port and not _is_free(port):
            raise UsageError(f"port {port} is taken", where=f"--{name.replace('_', '-')}", mend="Choose another one.")
    settings = Settings(
        **{name: port or free_port() for name, port in ports.items()},
        spark_page_port=free_port(),
        workers=workers,
        access_key=secrets.token_hex(10),
        secret_key=secrets.token_hex(20),
        spark_secret=secrets.token_hex(32),
        own_store=own_store,
        ray_folder=tempfile.mkdtemp(prefix="ray-"),
    )
    try:
        write_privately(token_file(state), secrets.token_hex(32))
        write_privately(state / _FILE, json.dumps(dataclasses.asdict(settings), indent=1) + "\n")
    except OSError:
        Path(settings.ray_folder).rmdir()
        raise
    return settings


def forget(state: Path) -> None:
    """Remove the settings, the keys and the token."""
    for file in (state / _FILE, token_file(state), state / "env"):
        file.unlink(missing_ok=True)


def token_file(state: Path) -> Path:
    """Where Ray's token lies."""
    return state / "ray-token"


def write_privately(file: Path, text: str) -> None:
    """Write a file, whole or not at all, that its owner alone can read from its first byte on."""
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")  # of mode 0600
    try:
        with os.fdopen(descriptor, "w") as opened:
            opened.write(text)
        Path(name).replace(file)
    except OSError:
        Path(name).unlink()
        raise


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # what ended a moment ago does no harm
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True

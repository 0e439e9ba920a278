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

LOOPBACK = "127.0.0.1"
BUCKET = "benchcore"
_FILE = "settings.json"


@dataclass(frozen=True)
class Settings:
    """Ports and keys, and where Ray keeps its sockets, whose paths may only be 100 characters long."""

    s3_port: int
    spark_port: int
    spark_page_port: int
    ray_port: int
    jobs_port: int
    workers: int
    access_key: str
    secret_key: str
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
    """The settings of the cluster of a state folder; None when it has been taken down."""
    try:
        return Settings(**json.loads((state / _FILE).read_text()))
    except FileNotFoundError:
        return None


def choose(state: Path, ports: Mapping[str, int], workers: int) -> Settings:
    """Choose free ports where none is asked for, and new keys, and keep them where nobody else may read."""
    settings = Settings(
        **{name: port or free_port() for name, port in ports.items()},
        spark_page_port=free_port(),
        workers=workers,
        access_key=secrets.token_hex(10),
        secret_key=secrets.token_hex(20),
        ray_folder=tempfile.mkdtemp(prefix="ray-"),
    )
    write_privately(state / _FILE, json.dumps(dataclasses.asdict(settings), indent=1) + "\n")
    write_privately(token_file(state), secrets.token_hex(32))
    return settings


def forget(state: Path) -> None:
    """Remove the settings, the keys and the token."""
    for file in (state / _FILE, token_file(state), state / "env"):
        file.unlink(missing_ok=True)


def token_file(state: Path) -> Path:
    """Where Ray's token lies."""
    return state / "ray-token"


def write_privately(file: Path, text: str) -> None:
    """Write a file that its owner alone can read."""
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
        opened.write(text)


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])

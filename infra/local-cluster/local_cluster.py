"""The commands `up` and `down` beside this file."""

from __future__ import annotations

import argparse
import fcntl
import importlib.util
import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from family import Family
from parts import STAYS_ON_LOOPBACK, Parts, write_spark_defaults
from settings import BUCKET, Settings, choose, forget, kept, token_file, write_privately
from versitygw import versitygw

from benchcore.config import SparkSection
from benchcore.errors import BenchcoreError, UsageError
from benchcore.ingest.jars import jars_folder, resolve_jars, resolve_s3_jars, s3_jars_folder
from benchcore.ingest.java import java_home_or_error

_CHECKOUT = Path(__file__).resolve().parents[2]
_PORTS = ("s3_port", "spark_port", "ray_port", "jobs_port")
_WORKERS = 2
_NEEDED = ("s3fs", "obstore", "aiohttp_cors")  # of the extras s3 and cluster


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns its exit status."""
    chosen = _parser().parse_args(arguments)
    state = chosen.state.resolve()
    try:
        with _alone(state):
            return _up(chosen, state) if chosen.command == "up" else _down(state, remove=chosen.remove)
    except BenchcoreError as error:
        sys.stderr.write(f"local-cluster: error: {error}\n")
        return error.exit_status
    except OSError as error:  # a state folder that cannot be made or written, a full disk
        sys.stderr.write(f"local-cluster: error: {error.filename or state}: {error.strerror or error}\n")
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="local-cluster", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    up, down = commands.add_parser("up"), commands.add_parser("down")
    for command in (up, down):
        command.add_argument(
            "--state", type=Path, default=_CHECKOUT / ".cache" / "local-cluster", metavar="DIR",
            help="folder of keys, logs and what is stored (default: .cache/local-cluster of the checkout)",
        )  # fmt: skip
    for port in _PORTS:
        up.add_argument(
            f"--{port.replace('_', '-')}", type=int, default=0, metavar="N", help="default: one that is free"
        )
    up.add_argument("--workers", type=_positive, metavar="N", help="of Spark, and nodes of Ray (default: 2)")
    up.add_argument("--without-s3", action="store_true", help="the store is that of the environment's AWS_* variables")
    down.add_argument("--remove", action="store_true", help="remove the folder with all that was stored")
    return parser


def _positive(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError("there must be one at least")
    return int(text)


@contextmanager
def _alone(state: Path) -> Iterator[None]:
    """One `up` or `down` at a time."""
    state.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (state / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _up(chosen: argparse.Namespace, state: Path) -> int:
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"packages are missing: {', '.join(missing)}", mend="Run `make setup`.")
    section = SparkSection()
    resolve_jars(jars_folder(section))
    resolve_s3_jars(s3_jars_folder(section))
    settings = kept(state)
    if settings is not None:
        _require_same(chosen, settings)
    program = versitygw(_CHECKOUT / ".cache") if (settings.own_store if settings else not chosen.without_s3) else None
    if settings is None:
        ports = {name: getattr(chosen, name) for name in _PORTS}
        settings = choose(state, ports, chosen.workers or _WORKERS, own_store=program is not None)
    environment = _environment(state, settings)
    lines = [f"export {name}={shlex.quote(value)}\n" for name, value in environment.items()]
    write_privately(state / "env", "".join(lines))
    jars = [jars_folder(section), s3_jars_folder(section)]
    write_spark_defaults(state / "spark" / "conf", settings, jars, _recovery(state))
    parts = Parts(Family(state), state, settings, environment)
    if program is not None:
        parts.store(program)
    parts.spark()
    parts.ray()
    _show(state, settings)
    return 0


def _require_same(chosen: argparse.Namespace, settings: Settings) -> None:
    """What is up stays as it was made.

    Raises:
        UsageError: an option asks for something else.
    """
    asked = {name: getattr(chosen, name) for name in (*_PORTS, "workers") if getattr(chosen, name)}
    others = [name for name, value in asked.items() if value != getattr(settings, name)]
    if chosen.without_s3 and settings.own_store:
        others.append("without_s3")
    if others:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in others)
        raise UsageError(f"the cluster that is up was made without {named}", mend="Take it down first.")


def _down(state: Path, *, remove: bool) -> int:
    ended = Family(state).end()
    with suppress(BenchcoreError):  # settings of another release: what they name stays
        settings = kept(state)
        if settings is not None:
            shutil.rmtree(settings.ray_folder, ignore_errors=True)
    forget(state)
    shutil.rmtree(_recovery(state), ignore_errors=True)
    if remove:
        shutil.rmtree(state)
    sys.stdout.write(f"{ended} processes ended\n" if ended else "nothing was up\n")
    return 0


def _recovery(state: Path) -> Path:
    """Where Spark's master keeps what it knows of its workers and jobs."""
    return state / "spark" / "recovery"


def _environment(state: Path, settings: Settings) -> dict[str, str]:
    """What a shell needs to submit jobs; the cluster's own processes have it too."""
    import pyspark

    store = {
        "AWS_ACCESS_KEY_ID": settings.access_key,
        "AWS_SECRET_ACCESS_KEY": settings.secret_key,
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ALLOW_HTTP": "true",  # of deltalake, for those who open a table by themselves
        "AWS_ENDPOINT_URL": settings.s3_address,
    }
    return {
        **(store if settings.own_store else {}),
        "RAY_ADDRESS": settings.ray_address,
        "RAY_API_SERVER_ADDRESS": settings.jobs_address,
        STAYS_ON_LOOPBACK: "0",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(token_file(state)),
        "JAVA_HOME": str(java_home_or_error()),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_CONF_DIR": str(state / "spark" / "conf"),
        "SPARK_MASTER": settings.spark_address,
        "PYSPARK_PYTHON": sys.executable,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }


def _show(state: Path, settings: Settings) -> None:
    lines = {
        "Spark": settings.spark_address,
        "Ray": settings.ray_address,
        "Ray's jobs": settings.jobs_address,
        **({"S3": settings.s3_address, "root": f"s3://{BUCKET}/registry"} if settings.own_store else {}),
        "then": f"source {shlex.quote(str(state / 'env'))}",
    }
    sys.stdout.write("".join(f"{name:<11}{value}\n" for name, value in lines.items()))


if __name__ == "__main__":
    sys.exit(main())

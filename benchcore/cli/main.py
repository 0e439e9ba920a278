"""The command `benchcore`: parse, call, print or exit. Status: 0 done, 1 failed, 2 wrong usage or configuration."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from types import FrameType
from typing import Annotated

import typer

import benchcore
from benchcore.cli import compare, doctor, estimate, exchange, lab, leaderboard, pick, plan, registry, steps
from benchcore.cli.output import drop_output, print_line, writing
from benchcore.errors import BenchcoreError
from benchcore.masking import masked
from benchcore.pipeline.logs import error_line
from benchcore.progress import logs_are_json
from benchcore.visible_text import visible

INTERRUPTED, TERMINATED = 130, 143  # 128 + the signal's number, as shells have it

# The class of all errors that typer finds in a command line; where it lives differs between typer's versions.
_WrongUsage: type[Exception] = typer.BadParameter.__mro__[1]

_told_to_end = threading.Event()  # by SIGTERM; what unwinds the stack after it may be another exception than ours

# Set by what `--install-completion` writes for the shell.
_COMPLETION = "_BENCHCORE_COMPLETE"

# Packages that come with extras, for whoever runs a step without its extra.
_EXTRAS = {
    "pyspark": "spark",
    "delta": "spark",
    "ray": "ray",
    "psutil": "ray",
    "torch": "encode",
    "sentence_transformers": "encode",
}

app = typer.Typer(
    name="benchcore",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    """Pick the few prompts that stand for a whole registry of benchmarks."""
    if version:
        print_line(f"benchcore {benchcore.__version__}")
    elif context.invoked_subcommand is None:
        sys.stderr.write(context.get_help() + "\n")
        raise typer.Exit(2)


app.command("run")(steps.run)
app.command("ingest")(steps.ingest)
app.command("embed")(steps.embed)
app.command("select")(steps.select)
app.command("report")(steps.report)
app.command("pick")(pick.pick)
app.command("plan")(plan.plan)
app.command("export")(exchange.export)
app.command("import")(exchange.import_)
app.command("estimate")(estimate.estimate)
app.command("compare")(compare.compare)
app.command("doctor")(doctor.doctor)
app.add_typer(registry.app, name="registry")
app.add_typer(lab.app, name="lab")
app.add_typer(leaderboard.app, name="leaderboard")


def main() -> None:
    """Entry point of the console script and of `python -m benchcore`."""
    _open_streams()
    if _COMPLETION in os.environ:  # a shell asks how a command line could go on; typer answers and exits
        app(prog_name="benchcore")
    sys.exit(execute(app, sys.argv[1:]))


def execute(commands: typer.Typer, arguments: Sequence[str], name: str = "benchcore") -> int:
    """Run a command line and say how it ended, in one line where it did not end well.

    Args:
        commands: the commands to choose from (`jobs/` bring their own).
        arguments: without the program's name.
        name: the program's, for its help.

    Returns:
        The exit status.
    """
    _told_to_end.clear()
    signal.signal(signal.SIGTERM, _terminate)
    command = typer.main.get_command(commands)
    try:
        with command.make_context(name, list(arguments)) as context:
            command.invoke(context)
        with writing():
            sys.stdout.flush()
    except typer.Exit as end:
        return int(end.exit_code)
    except BrokenPipeError:  # the reader of our output has gone, as `head` does; the shell shows the reader's status
        drop_output()
    except SystemExit as end:
        if _told_to_end.is_set():
            return _fail(end, debug=False)
        return end.code if isinstance(end.code, int) else 1
    except (Exception, KeyboardInterrupt) as error:
        return _fail(error, debug="--debug" in arguments)
    return 0


def _open_streams() -> None:
    """Let what goes to a closed stderr go nowhere; a closed stdout can be opened for reading only, so writing fails."""
    for number, flags in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):  # no file may take these numbers
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)  # takes the lowest number that is free, which is this one
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)


def _terminate(sent: int, _frame: FrameType | None) -> None:
    """Unwind the stack, so that blocks on it end what they started; inside of Ray it comes out with another status."""
    _told_to_end.set()
    sys.exit(sent)


def _fail(error: BaseException, *, debug: bool) -> int:
    """Tell an error in one line, after its traceback if that is wanted; gives the exit status."""
    line, status = _told(error)
    if debug:
        sys.stderr.write(masked(visible("".join(traceback.format_exception(error)))))
    elif line.startswith("unexpected "):
        line = f"{line} (--debug shows the traceback)"
    if logs_are_json():
        line = error_line(line, status)
    sys.stderr.write(f"{line}\n" if logs_are_json() else f"benchcore: error: {line}\n")
    return status


def _told(error: BaseException) -> tuple[str, int]:
    if _told_to_end.is_set():
        return "terminated", TERMINATED
    if isinstance(error, BenchcoreError):
        return str(error), error.exit_status
    if isinstance(error, KeyboardInterrupt):
        return "interrupted", INTERRUPTED
    if isinstance(error, _WrongUsage):
        return _usage(error), 2
    if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] in _EXTRAS:
        package = str(error.name).partition(".")[0]
        return f"{package} is not installed. Install it with: pip install 'benchcore[{_EXTRAS[package]}]'.", 1
    return masked(visible(" ".join(_unforeseen(error).split()))), 1


def _unforeseen(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:  # a folder that may not be read, a disk that is full
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return f"unexpected {type(error).__name__}: {error}"


def _usage(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    message = " ".join(error.format_message().split()).replace("?.", "?")  # type: ignore[attr-defined]
    stop = "" if message.endswith((".", "?")) else "."
    return f"{message}{stop} See `{context.command_path if context else 'benchcore'} --help`."

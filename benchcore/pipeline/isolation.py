"""A function in a process of its own: Spark's JVM and Ray never share one, and the child never outlives its parent."""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle  # nosec B403 # see the two places
import signal
import threading
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, ParamSpec, TypeVar, cast

from benchcore.errors import BenchcoreError
from benchcore.pipeline.logs import LogStyle, configure_logging, logging_style

log = logging.getLogger(__name__)

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def run_isolated(
    function: Callable[Arguments, Result], *arguments: Arguments.args, **options: Arguments.kwargs
) -> Result:
    """Call a function in a fresh process and give back what it returns or raises.

    The child leads a process group of its own, so that a Ctrl-C at the terminal reaches only the parent; the parent
    then kills the whole group, a JVM included. When the parent dies, however it dies, the child does the same.
    What the function writes to stdout goes to stderr: stdout is for results.

    Args:
        function: importable by name; arguments and result can be pickled.

    Raises:
        BenchcoreError: the child died without an answer; also whatever the function raises (a BenchcoreError keeps
            its parts, other errors carry the child's traceback as a note).
    """
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    child = context.Process(
        target=_serve, args=(sending, logging_style(), function, arguments, options), name=function.__name__
    )
    child.start()
    sending.close()  # only the child holds it now: its death ends the wait below
    try:
        answer = _receive(receiving)
        child.join()
    except BaseException:
        _kill_group(child)
        raise
    finally:
        receiving.close()
    return cast(Result, _unpack(answer, child, function.__name__))


def _receive(receiving: Connection) -> tuple[str, Any] | None:
    try:
        # The pipe is this process's and its child's alone, which runs the same code.
        return cast(tuple[str, Any], pickle.loads(receiving.recv_bytes()))  # nosec B301
    except EOFError:
        return None


def _unpack(answer: tuple[str, Any] | None, child: BaseProcess, name: str) -> Any:
    if answer is None:
        code = child.exitcode or 0
        how = f"was killed by signal {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
        raise BenchcoreError(
            f"the process of the step '{name}' {how} before it was done",
            mend="Run the command again: it goes on where it stopped; if it was short of memory, give it more.",
        )
    kind, value = answer
    if kind == "returned":
        return value
    error, trace = value
    if trace and not isinstance(error, BenchcoreError):
        error.add_note(f"in the process of the step '{name}':\n{trace}")
    raise error


def _serve(
    sending: Connection, style: LogStyle, function: Callable[..., Any], arguments: tuple[Any, ...], options: Any
) -> None:
    os.setpgid(0, 0)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    os.dup2(2, 1)
    configure_logging(style)
    try:
        answer = ("returned", function(*arguments, **options))
    except BaseException as error:
        answer = ("raised", (_picklable(error), traceback.format_exc()))
    sending.send_bytes(pickle.dumps(answer))
    sending.close()


def _die_with_parent() -> None:
    """Wait for the parent's end, then kill this process and whatever it started (SIGKILL to a group cannot be missed).

    A thread rather than prctl's death signal: that one reaches this process alone, and a JVM that outlives it for a
    moment could still commit after the lock on the registry is free.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.killpg(0, signal.SIGKILL)


def _kill_group(child: BaseProcess) -> None:
    if child.pid is None or child.exitcode is not None:
        return
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:  # so young that it leads no group yet
        child.kill()
    child.join()


def _picklable(error: BaseException) -> BaseException:
    try:
        pickle.loads(pickle.dumps(error))  # nosec B301 # an object of our own
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error

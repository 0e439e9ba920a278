"""Errors that a user can mend: what is wrong, where, and what to do about it, in one line."""

from __future__ import annotations

from benchcore.masking import masked
from benchcore.visible_text import visible


class BenchcoreError(Exception):
    """A failure that is told in one line, without a traceback; the process ends with `exit_status`.

    Args:
        what: what is wrong, naming the offending values.
        where: the file, table, key or row it was found in.
        mend: what the user can do about it.
    """

    exit_status = 1

    def __init__(self, what: str, where: str | None = None, mend: str | None = None) -> None:
        super().__init__(what, where, mend)  # all three, so that the error survives pickling between processes
        self.what, self.where, self.mend = what, where, mend

    def __str__(self) -> str:
        line = f"{self.where}: {self.what}" if self.where else self.what
        stop = "" if line.endswith("?") else "."
        whole = f"{line.rstrip('.')}{stop} {self.mend}" if self.mend else line
        return masked(visible(" ".join(whole.split())))  # it quotes what came from outside, on terminals and in logs


class UsageError(BenchcoreError):
    """The command or the configuration is wrong; nothing was started."""

    exit_status = 2

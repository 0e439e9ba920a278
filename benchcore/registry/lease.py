"""The write lock of a registry on an object store: a file that its holder renews, put on condition of what is there.

Nobody's clock is trusted but the waiter's own: who waits takes over once the file has stayed the same for as long as it
says that it is good for. A holder that stood still for so long finds another's token in the file, and writes nothing.
"""

from __future__ import annotations

import dataclasses
import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import orjson

from benchcore.errors import BenchcoreError
from benchcore.registry.object_store import conditional_store, refusal
from benchcore.registry.root import Registry

log = logging.getLogger(__name__)

LEASE_S = 60.0  # three times as long as a store may be gone without anybody's losing it
_LONGEST_LEASE_S = 86_400.0
_RENEWALS = 4  # in the time that a lease is good for
_FILE = "_lock.json"


@dataclass(frozen=True)
class Claim:
    """What the file says: who holds the lock, if anybody (`token`), and for how long each renewal is good.

    `renewals` makes each file differ from the one before, and with it the store's tag of the content.
    """

    token: str | None
    command: str
    process: int
    host: str
    since: str
    lease_s: float
    renewals: int = 0

    def __str__(self) -> str:
        return f"'{self.command}' (process {self.process} on {self.host}, since {self.since})"


_NOBODY = Claim(token=None, command="", process=0, host="", since="", lease_s=LEASE_S)


class LostError(BenchcoreError):
    """Another writer has taken the lock over."""


@contextmanager
def hold(registry: Registry, command: str, timeout_s: float, lease_s: float = LEASE_S) -> Iterator[Registry]:
    """Hold the write lock of a registry on an object store; a thread renews it.

    Args:
        registry: whose tables are to be written.
        command: what the holder is doing, for whoever waits.
        timeout_s: how long to wait for another writer.
        lease_s: after how long without a sign of life another one may take over.

    Yields:
        the registry for those who write: `require` finds in it that they may.

    Raises:
        BenchcoreError: another writer still holds the lock after `timeout_s`, or the store cannot be reached.
    """
    store = _Store(registry)
    since = datetime.now(UTC).isoformat(timespec="seconds")
    claim = Claim(uuid.uuid4().hex, command, os.getpid(), socket.gethostname(), since, lease_s)
    _acquire(store, claim, timeout_s)
    done = threading.Event()
    renewing = threading.Thread(target=_keep_renewing, args=(store, claim, done), daemon=True, name="lease")
    renewing.start()
    try:
        yield dataclasses.replace(registry, lease=claim.token)
    finally:
        done.set()
        renewing.join()
        _release(store, claim)


def require(registry: Registry) -> None:
    """Make sure, before a commit, that the lock is still held, and renew it; nothing to do for a local folder.

    Any process that was given the registry of `hold` may ask.

    Raises:
        LostError: another writer has taken it over.
        BenchcoreError: the store cannot be reached.
    """
    if registry.is_local:
        return
    if registry.lease is None:
        raise BenchcoreError(
            "is about to be written without its lock; nothing was written",
            where=registry.root,
            mend="This is a defect of benchcore: please report it.",
        )
    _renew(_Store(registry), registry.lease)


class _Store:
    """The one file, and the three things that are done with it."""

    def __init__(self, registry: Registry) -> None:
        registry.require_writable()
        self.root = registry.root
        self._store = conditional_store(registry.root)

    def read(self) -> tuple[Claim, str | None]:
        """What the file says and its tag; where there is none, that nobody holds the lock, and no tag.

        Raises:
            BenchcoreError: the store cannot be reached, or the file is not one of ours.
        """
        import obstore

        with self._reachable():
            try:
                answer = obstore.get(self._store, _FILE)
            except FileNotFoundError:
                return _NOBODY, None
            content, tag = bytes(answer.bytes()), str(answer.meta["e_tag"])
        try:
            return _claim(content), tag
        except (ValueError, TypeError) as error:
            mend = f"When nobody writes, remove {_FILE} from the root."
            raise BenchcoreError(f"{_FILE} is no lock of ours ({error})", where=self.root, mend=mend) from error

    def put(self, claim: Claim, tag: str | None) -> bool:
        """Put the file where it still has the tag (None: where there is none); says whether that was so."""
        import obstore
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        content = orjson.dumps(dataclasses.asdict(claim))
        with self._reachable():
            try:
                obstore.put(self._store, _FILE, content, mode="create" if tag is None else {"e_tag": tag})
            except (AlreadyExistsError, PreconditionError):
                return False
        return True

    @contextmanager
    def _reachable(self) -> Iterator[None]:
        from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError

        try:
            yield
        except (PermissionDeniedError, UnauthenticatedError) as error:
            raise refusal(f"the object store refuses to give or take {_FILE}", self.root) from error
        except (BaseError, OSError) as error:
            reason = " ".join(str(error).split())[:300]
            mend = "Run the command again when it is there."
            raise BenchcoreError(f"the object store does not answer ({reason})", self.root, mend) from error


def _claim(content: bytes) -> Claim:
    """What the file says.

    Raises:
        ValueError, TypeError: it is none of ours.
    """
    claim = Claim(**orjson.loads(content))
    if not 0 < claim.lease_s <= _LONGEST_LEASE_S:
        raise ValueError(f"a lease of {claim.lease_s!r} s")
    return claim


class _Watch:
    """For how long a file has stayed the same, as far as one has seen it."""

    def __init__(self) -> None:
        self._tag, self._since, self._looked = "", 0.0, 0.0

    def unchanged_s(self, tag: str, longest_gap_s: float) -> float:
        """Seconds since the tag was first seen; after a longer gap, in which its writer had no chance, from now on."""
        before, self._looked = self._looked, time.monotonic()
        if tag != self._tag or self._looked - before > longest_gap_s:
            self._tag, self._since = tag, self._looked
        return self._looked - self._since


def _acquire(store: _Store, claim: Claim, timeout_s: float) -> None:
    """Wait until the lock is free or its holder has given no sign of life for as long as its lease is good."""
    started, watch, told = time.monotonic(), _Watch(), ""
    while True:
        holder, tag = store.read()
        held = holder.token not in (None, claim.token)  # ours: it was put, though the answer was lost
        expired = held and watch.unchanged_s(str(tag), holder.lease_s / _RENEWALS) >= holder.lease_s
        if not held or expired:
            if store.put(claim, tag):
                break
            continue
        if holder.token != told:
            log.info("waiting for %s; should it be dead, for %.0f s", holder, holder.lease_s)
            told = str(holder.token)
        if time.monotonic() - started >= timeout_s:
            raise BenchcoreError(
                f"the registry is locked by {holder}, and stayed so for {timeout_s:g} s",
                where=store.root,
                mend="Wait for it to end, or raise registry.lock_timeout_s.",
            )
        time.sleep(min(0.5, holder.lease_s / 10))
    if expired:
        log.warning("%s gave no sign of life for %.0f s: its lock is taken over", holder, holder.lease_s)


def _renew(store: _Store, token: str) -> None:
    """Put the file anew, with our token, where it has our token."""
    while True:
        claim, tag = store.read()
        if claim.token != token:
            holder = "nobody" if claim.token is None else claim
            raise LostError(
                f"the lock was lost while this process stood still; it is held by {holder}; nothing more was written",
                where=store.root,
                mend="Run the command again: it goes on where it stopped.",
            )
        if store.put(dataclasses.replace(claim, renewals=claim.renewals + 1), tag):
            return  # else another thread or process of ours was faster


def _keep_renewing(store: _Store, claim: Claim, done: threading.Event) -> None:
    while not done.wait(claim.lease_s / _RENEWALS):
        try:
            _renew(store, str(claim.token))
        except LostError as error:
            log.warning("%s", error)
            return
        except BenchcoreError as error:  # it may come back in time
            log.warning("the lock cannot be renewed: %s", error)


def _release(store: _Store, claim: Claim) -> None:
    """Let others in at once; where that fails, they come in when the lease is over."""
    try:
        last, tag = store.read()
        if last.token == claim.token:
            store.put(dataclasses.replace(last, token=None, renewals=last.renewals + 1), tag)
    except BenchcoreError as error:
        log.warning("the lock cannot be given back, and is good for %.0f s more: %s", claim.lease_s, error)

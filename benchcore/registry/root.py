"""The root of a registry: one local folder or object-store address that holds all of its tables."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchcore.errors import BenchcoreError, UsageError
from benchcore.registry import object_store
from benchcore.registry.places import require_store
from benchcore.registry.schemas import SCHEMAS

_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_AMBIGUOUS = {"", ".", ".."}  # as parts of an S3 address: some libraries shorten them, others take them for names


def is_uri(location: str) -> bool:
    """Say whether a location carries a scheme (`s3://...`) rather than naming a local path."""
    return bool(_SCHEME.match(location))


@dataclass(frozen=True)
class Registry:
    """Where the tables of one registry lie.

    Attributes:
        root: absolute local path or URI, without a trailing slash.
        lease: on an object store, the token of the write lock that `lock.writer_lock` holds.
    """

    root: str
    lease: str | None = field(default=None, compare=False, repr=False)

    @classmethod
    def at(cls, location: str | Path) -> Registry:
        """Name a registry by a path or URI; nothing is created.

        Raises:
            UsageError: the URI names no store of files, or holds a password or key.
        """
        text = str(location)
        if text.startswith("file://"):
            text = text.removeprefix("file://")
        if is_uri(text):
            require_store(text, "registry.root")
            scheme, _, path = text.partition("://")
            text = f"{scheme.lower()}://{path}"
            if object_store.is_s3(text) and _AMBIGUOUS & set(path.removesuffix("/").split("/")):
                mend = "It is s3://BUCKET/FOLDER, without '..', '.' or '//'."
                raise UsageError(f"{text} names no folder of a bucket", where="registry.root", mend=mend)
        return cls(text.rstrip("/") if is_uri(text) else str(Path(text).expanduser().resolve()))

    @property
    def is_local(self) -> bool:
        """True for a folder of this machine."""
        return not is_uri(self.root)

    def uri(self, table: str) -> str:
        """Address of one table.

        Raises:
            KeyError: no table has this name.
        """
        if table not in SCHEMAS:
            raise KeyError(f"no table '{table}'; there are {', '.join(SCHEMAS)}")
        return f"{self.root}/{table}"

    def sidecar(self, *parts: str) -> str:
        """Address of a file that is no table (staging, checkpoints, reports), below an underscored folder."""
        return "/".join((self.root, *parts))

    def filesystem(self) -> Any:
        """The fsspec file system that holds the root."""
        return object_store.file_system(self.root)

    def delta_options(self) -> dict[str, str] | None:
        """What deltalake needs to reach the root, as its `storage_options`."""
        return object_store.delta_options(self.root)

    def holds_tables(self) -> bool:
        """Whether any table lies there, readable or not."""
        try:
            found = self.filesystem().ls(self.root, detail=False)
        except FileNotFoundError:
            return False
        return any(name.rstrip("/").rpartition("/")[2] in SCHEMAS for name in found)

    def require_writable(self) -> None:
        """Create a folder if it is missing, ask an object store whether it is there, or say in one line what is wrong.

        Raises:
            BenchcoreError: the root cannot be created, written or reached.
        """
        if not self.is_local:
            object_store.require_reachable(self.root)
            return
        probe = Path(self.root) / ".write-probe"
        try:
            probe.parent.mkdir(parents=True, exist_ok=True)
            probe.touch()
            probe.unlink(missing_ok=True)
        except OSError as error:
            raise BenchcoreError(
                f"the registry root cannot be written ({error.strerror})",
                where=self.root,
                mend="Choose another with --root, or mend its owner and permissions.",
            ) from error

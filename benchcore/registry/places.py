"""Addresses that may be read and written: stores of files, none of the layers that fsspec can wind around them."""

from __future__ import annotations

from benchcore.errors import UsageError
from benchcore.masking import masked

# fsspec knows more: layers that read their instructions from another file (`reference`, chains with `::`), or that hand
# requests on to a service. No address of a configuration shall get that far.
_STORES = (
    *("file", "local", "memory", "hdfs", "webhdfs", "http", "https", "webdav", "ftp", "sftp", "ssh", "smb"),
    *("s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oss", "oci", "hf"),
)


def require_store(location: str, where: str) -> None:
    """Check that an address (with `://`) names a store of files.

    Args:
        location: the address.
        where: the key that holds it, for messages.

    Raises:
        UsageError: it names something else, or holds a password or key.
    """
    if masked(location) != location:  # addresses are shown and written in many places
        mend = "Give keys by the environment (AWS_ACCESS_KEY_ID, ...)."
        raise UsageError(f"{masked(location)} holds a secret", where=where, mend=mend)
    scheme = location.partition("://")[0].lower()
    if "::" in location or scheme not in _STORES:
        raise UsageError(
            f"{location} is no address of a store of files",
            where=where,
            mend=f"Addresses begin with one of {', '.join(sorted(_STORES))}, and hold no '::'.",
        )

"""What each library needs to reach an object store; all of it comes from the environment, the same for all.

`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`, or the machine's role; `AWS_REGION`; and for any
other store than Amazon's `AWS_ENDPOINT_URL`. Every library finds the keys by itself: none passes through here.
"""

from __future__ import annotations

import functools
import os
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pyarrow.fs as pafs

from benchcore.errors import BenchcoreError, UsageError
from benchcore.masking import masked

# A store may be gone for half a minute (a restart, a moved address): nobody gives up before that, and all about then.
_PATIENCE_S = 60
_RUST_RETRIES = 1000  # they come in quick succession: the time decides
_BOTO_ATTEMPTS, _ARROW_ATTEMPTS = 7, 10  # with waits that double; s3fs asks boto five times
_PROBE_S = 5
_PROFILES = ("shared-credentials-file", "config-file", "sso", "login")  # only botocore reads these


def is_s3(address: str) -> bool:
    """Whether an address speaks S3's protocol."""
    return address.startswith(("s3://", "s3a://"))


def endpoint() -> str | None:
    """The address of the S3 service; None for Amazon's own.

    Raises:
        UsageError: it holds a name or password, which libraries understand differently.
    """
    given = os.environ.get("AWS_ENDPOINT_URL")
    if given and masked(given) != given:
        raise UsageError(
            "the address of the object store holds a name or password",
            where="AWS_ENDPOINT_URL",
            mend="Give keys by AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
        )
    return given


def region() -> str | None:
    """The region to sign for; a store that is not Amazon's has one name for all."""
    given = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    return given or ("us-east-1" if endpoint() else None)


def delta_options(root: str) -> dict[str, str] | None:
    """Options for deltalake: a commit is a conditional put, so that no commit takes the place of another."""
    if not is_s3(root):
        return None
    options = {
        "conditional_put": "etag",
        "allow_http": str(_is_plain()).lower(),
        "max_retries": str(_RUST_RETRIES),
        "retry_timeout": f"{_PATIENCE_S}s",
    }
    return options if region() is None else {**options, "region": str(region())}


def file_system(root: str) -> Any:
    """The fsspec file system of an address or path; it looks anew each time, since others write there too."""
    import fsspec

    options: dict[str, Any] = {"use_listings_cache": False}
    if is_s3(root):
        options |= {
            "endpoint_url": endpoint(),
            "client_kwargs": {"region_name": region()},
            "config_kwargs": {"retries": {"mode": "standard", "max_attempts": _BOTO_ATTEMPTS}},
        }
    return fsspec.core.url_to_fs(root, **options)[0]


def arrow_folder(address: str) -> pafs.FileSystem | None:
    """Arrow's own file system, rooted at a folder of an S3 store; None for other stores."""
    if not is_s3(address):
        return None
    url = urlsplit(endpoint() or "")
    retry = pafs.AwsStandardS3RetryStrategy(max_attempts=_ARROW_ATTEMPTS)
    options = {"endpoint_override": url.netloc, "scheme": url.scheme} if url.netloc else {}
    store = pafs.S3FileSystem(region=region(), retry_strategy=retry, **options)
    return pafs.SubTreeFileSystem(address.partition("://")[2], store)


@functools.cache  # its connections stay open
def conditional_store(root: str) -> Any:
    """The obstore store of an address, which can put a file on condition of what is there.

    Raises:
        BenchcoreError: obstore is not installed.
    """
    try:
        from obstore.store import from_url
    except ImportError as error:
        raise _not_installed("obstore", root) from error
    patience = {"max_retries": _RUST_RETRIES, "retry_timeout": timedelta(seconds=_PATIENCE_S)}
    options: dict[str, Any] = {"retry_config": patience}
    if is_s3(root):
        options |= {"client_options": {"allow_http": _is_plain()}, "region": region() or "us-east-1"}
    return from_url(root, **options)


@functools.cache  # once a process: what fails later is told by those who fail
def require_reachable(root: str) -> None:
    """Ask an S3 store for the first file below a root, so that what is wrong is told at once and in one line.

    Raises:
        BenchcoreError: a package, the keys, the bucket or the store itself is not there.
    """
    if not is_s3(root):
        return
    try:
        import s3fs  # noqa: F401
        from botocore.session import get_session
    except ImportError as error:
        raise _not_installed("s3fs", root) from error
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError

    limits = Config(connect_timeout=_PROBE_S, read_timeout=_PROBE_S, retries={"mode": "standard", "max_attempts": 2})
    bucket, _, prefix = root.partition("://")[2].partition("/")
    session = get_session()
    try:
        keys = session.get_credentials()
        if keys is None or keys.method in _PROFILES:
            raise _no_keys(root, keys is not None)
        client = session.create_client("s3", endpoint_url=endpoint(), region_name=region(), config=limits)
        client.list_objects_v2(Bucket=bucket, Prefix=prefix and f"{prefix}/", MaxKeys=1)
    except ClientError as error:
        raise _refused(root, bucket, error.response) from error
    except (BotoCoreError, ValueError) as error:
        raise BenchcoreError(
            f"the object store cannot be reached ({error})",
            where=root,
            mend="Check AWS_ENDPOINT_URL (not set: Amazon's own) and the network.",
        ) from error


def _is_plain() -> bool:
    """Whether the endpoint was given without encryption: then it was meant."""
    return (endpoint() or "").startswith("http://")


def _not_installed(package: str, root: str) -> BenchcoreError:
    mend = "Install it with: pip install 'benchcore[s3]'."
    return BenchcoreError(f"{package} is not installed", where=root, mend=mend)


def _no_keys(root: str, in_a_profile: bool) -> BenchcoreError:
    if in_a_profile:
        what = "the keys are in a profile, which not every library here reads"
        mend = 'Put them into the environment: eval "$(aws configure export-credentials --format env)".'
    else:
        what = "there are no keys for the object store"
        mend = "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run where a role gives them."
    return BenchcoreError(what, where=root, mend=mend)


def _refused(root: str, bucket: str, response: Any) -> BenchcoreError:
    code, status = response["Error"].get("Code"), response["ResponseMetadata"].get("HTTPStatusCode")
    if code == "NoSuchBucket":
        return BenchcoreError(f"there is no bucket '{bucket}'", where=root, mend="Make it, or mend the root.")
    return refusal(f"the object store refuses ({code}, status {status})", root)


def refusal(what: str, root: str) -> BenchcoreError:
    """The error for keys that are unknown or may not do what is asked for."""
    return BenchcoreError(
        what, where=root, mend="Check the keys and what they may do: list, get, put and delete below the root."
    )

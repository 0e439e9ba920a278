"""Spark on an object store: its own scheme for S3, and settings out of the environment that all engines share."""

from __future__ import annotations

from benchcore.registry.object_store import endpoint, is_s3, region


def spark_address(address: str) -> str:
    """An address as Spark reads it: Hadoop calls S3 `s3a`."""
    return f"s3a://{address.removeprefix('s3://')}" if address.startswith("s3://") else address


def spark_settings(root: str) -> dict[str, str]:
    """Spark's settings for a registry's root; no keys: the driver and the executors read them from the environment."""
    if not is_s3(root):
        return {}
    settings = {"endpoint.region": region() or ""}
    service = endpoint()
    if service:
        settings |= {
            "endpoint": service,
            "path.style.access": "true",
            "connection.ssl.enabled": str(not service.startswith("http://")).lower(),
        }
    return {f"spark.hadoop.fs.s3a.{key}": value for key, value in settings.items() if value}

"""A registry on an object store: the same as in a folder, and one line for each way in which it cannot be had."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from benchcore.embedding import files
from benchcore.errors import BenchcoreError
from benchcore.ingest.object_stores import spark_address, spark_settings
from benchcore.registry.lock import writer_lock
from benchcore.registry.object_store import require_reachable
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import append_missing, current_version, pin, read, replace_where, upsert
from tests.cluster.s3_server import Server


def _coresets(*coresets: str) -> pa.Table:
    rows = [{"coreset_id": name, "rank": rank, "prompt_id": f"{name}{rank}"} for name in coresets for rank in (1, 2)]
    return pa.Table.from_pylist(rows, SCHEMAS["coresets"])


def _worked_on(location: str) -> dict[str, Any]:
    """All that can be done with tables and with files beside them, and what is there at the end."""
    with writer_lock(Registry.at(location), "test", timeout_s=0) as registry:
        added = [append_missing(registry, "coresets", _coresets(*names)) for names in ("ab", "ab", "bc")]
        replaced = [
            replace_where(registry, "coresets", "coreset_id", "b", _coresets("b").slice(0, 1)) for _ in range(2)
        ]
        upsert(registry, "sources", pa.Table.from_pylist([{"source": "s", "path": "p"}], SCHEMAS["sources"]))
        upsert(registry, "sources", pa.Table.from_pylist([{"source": "s", "path": "q"}], SCHEMAS["sources"]))
        folder = registry.sidecar("_staging", "x")
        files.write_atomically(registry, f"{folder}/one", b"1")
        files.write_atomically(registry, f"{folder}/two", b"2")
        listed = [path.rpartition("/")[2] for path in files.list_files(registry, folder)]
        content = files.read_bytes(registry, f"{folder}/two")
        files.remove_folder(registry, folder)
        return {
            "added": added,
            "replaced": replaced,
            "files": [listed, content, files.exists(registry, f"{folder}/one")],
            "pinned": pin(registry, ["coresets", "sources", "prompts"]),
            "coresets": read(registry, "coresets", where=pc.field("rank") == 1).sort_by("coreset_id").to_pylist(),
            "before": read(registry, "coresets", version=0).num_rows,
            "sources": read(registry, "sources", columns=["path"]).to_pylist(),
        }


def test_it_holds_what_a_folder_would(root: str, tmp_path: Path):
    """The same calls give the same answers and leave the same tables."""
    assert _worked_on(root) == _worked_on(str(tmp_path / "registry"))


@pytest.fixture
def a_profile(s3: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys in a file beside those of the environment, and no role to ask for."""
    profile = tmp_path / "credentials"
    profile.write_text("[mine]\naws_access_key_id = a\naws_secret_access_key = b\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(profile))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.mark.parametrize(
    ("address", "environment", "told"),
    [
        ("s3://nowhere/r", {}, "there is no bucket 'nowhere'"),
        ("s3://bench/r", {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "the object store cannot be reached"),
        ("s3://bench/r", {"AWS_ENDPOINT_URL": "no address"}, "the object store cannot be reached"),
        ("s3://bench/r", {"AWS_SECRET_ACCESS_KEY": "wrong"}, "the object store refuses (SignatureDoesNotMatch"),
        ("s3://bench/r", {"AWS_ACCESS_KEY_ID": None}, "there are no keys for the object store"),
        ("s3://bench/r", {"AWS_ACCESS_KEY_ID": None, "AWS_PROFILE": "mine"}, "the keys are in a profile"),
    ],
)
@pytest.mark.usefixtures("a_profile")
def test_what_is_wrong_is_told_at_once(
    monkeypatch: pytest.MonkeyPatch, address: str, environment: dict[str, Any], told: str
):
    """Before a command does anything, in one line that holds no key."""
    for name, value in environment.items():
        monkeypatch.delenv(name, raising=False) if value is None else monkeypatch.setenv(name, value)
    require_reachable.cache_clear()

    with pytest.raises(BenchcoreError) as raised:
        Registry.at(address).require_writable()
    assert told in str(raised.value)
    assert "of-the-tests" not in str(raised.value)


def test_nothing_is_read_from_a_store_that_went_away(root: str, monkeypatch: pytest.MonkeyPatch):
    """An error of the store is not taken for a table that is not there, which would be made anew."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")

    with pytest.raises(BenchcoreError, match="table 'prompts' cannot be read"):
        current_version(Registry.at(root), "prompts")


def test_spark_is_told_all_but_the_keys(monkeypatch: pytest.MonkeyPatch):
    """Spark reads the same store by its own scheme; keys are in no setting, since settings are shown and logged."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "a-secret")
    monkeypatch.setenv("AWS_REGION", "eu-north-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://store:9000")
    settings = spark_settings("s3://bucket/registry")

    assert spark_address("s3://bucket/registry/prompts") == "s3a://bucket/registry/prompts"
    assert spark_address("/srv/registry/prompts") == "/srv/registry/prompts"
    assert settings == {
        "spark.hadoop.fs.s3a.endpoint.region": "eu-north-1",
        "spark.hadoop.fs.s3a.endpoint": "http://store:9000",
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
    }
    assert spark_settings("/srv/registry") == {}

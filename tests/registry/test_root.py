"""Where a registry lies, and whether it can be written."""

from pathlib import Path

import pytest

from benchcore.errors import BenchcoreError, UsageError
from benchcore.registry.root import Registry, is_uri


@pytest.mark.parametrize("location", ["s3://bucket/registry", "abfss://c@a.dfs.core.windows.net/r", "gs://b/r"])
def test_an_address_is_kept_as_it_is(location: str):
    """Object stores are not local, and a slash at the end makes no other registry."""
    assert is_uri(location)
    assert Registry.at(location) == Registry.at(location + "/")
    assert not Registry.at(location).is_local
    assert Registry.at(location).uri("prompts") == f"{location}/prompts"


def test_a_scheme_is_the_same_in_capitals():
    """Else it would be a folder of that name."""
    assert Registry.at("S3://Bucket/r") == Registry.at("s3://Bucket/r")


@pytest.mark.parametrize("path", ["", "/r", "b//r", "b/../r", "b/r/..", "b/./r", "..", "b/r//"])
def test_a_root_that_libraries_would_take_for_different_ones_is_refused(path: str):
    """Some shorten dots and slashes, others take them for names."""
    with pytest.raises(UsageError, match="names no folder of a bucket"):
        Registry.at(f"s3://{path}")


def test_ways_to_write_one_folder_name_one_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Relative, absolute, with file:// and with a slash at the end."""
    monkeypatch.chdir(tmp_path)
    expected = Registry(str(tmp_path.resolve() / "r"))

    assert Registry.at("r") == expected
    assert Registry.at("./r/") == expected
    assert Registry.at(tmp_path / "r") == expected
    assert Registry.at(f"file://{tmp_path.resolve()}/r") == expected


def test_naming_a_registry_creates_nothing(tmp_path: Path):
    """Only the first writer makes the folder."""
    registry = Registry.at(tmp_path / "r")
    assert not (tmp_path / "r").exists()

    registry.require_writable()

    assert list((tmp_path / "r").iterdir()) == []


def test_a_root_that_cannot_be_written_is_told_in_one_line(tmp_path: Path):
    """Below a regular file no folder can be made, not even by root."""
    (tmp_path / "file").touch()

    with pytest.raises(BenchcoreError, match=r"cannot be written \(Not a directory\).*--root"):
        Registry.at(tmp_path / "file" / "r").require_writable()


def test_a_table_that_there_is_not_is_refused(tmp_path: Path):
    """A typing error in code does not create a table."""
    with pytest.raises(KeyError, match="no table 'promts'"):
        Registry.at(tmp_path).uri("promts")

"""`benchcore doctor`: a line for each need, and the way to mend each lack."""

import json
from importlib import metadata
from pathlib import Path

import pytest

from benchcore.cli.main import app, execute
from benchcore.config import Config
from benchcore.pipeline.diagnosis import examine

NEEDS = {"Python", "Java", "Delta's jars", "pyspark", "ray", "encoder", "disk", "memory", "cores", "registry root"}


def findings(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, dict]]:
    status = execute(app, ["doctor", "--json", *arguments])
    told = json.loads(capsys.readouterr().out)
    assert told["able"] == (status == 0)
    return status, {finding["name"]: finding for finding in told["findings"]}


def test_every_need_is_looked_at_and_nothing_is_left_behind(capsys, tmp_path: Path):
    """Looking at a root that does not exist does not make it."""
    _, found = findings(capsys, "--root", str(tmp_path / "registry"))

    assert found.keys() >= NEEDS
    assert found["pyspark"]["detail"] == metadata.version("pyspark")
    assert all(finding["ok"] or finding["mend"] for finding in found.values())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("registry root", ("--root", "{folder}/file/registry"), "cannot be written"),
        ("Delta's jars", ("--set", "spark.jars={folder}"), "not in"),
        ("memory", ("--set", "spark.driver_memory=9000g"), "free"),
        ("encoder", ("--set", "embed.encoder.package=no-such-package"), "is not installed"),
        ("encoder", ("--set", "embed.encoder.vectors={folder}/none.parquet"), "none.parquet"),
    ],
)
def test_a_lack_is_told_with_its_mending_and_status_one(capsys, tmp_path: Path, name: str, arguments, told: str):
    """The rest is looked at all the same."""
    (tmp_path / "file").touch()
    status, found = findings(capsys, *(argument.format(folder=tmp_path) for argument in arguments))

    assert status == 1
    assert not found[name]["ok"]
    assert told in found[name]["detail"]
    assert found[name]["mend"]
    assert found.keys() >= NEEDS


def test_no_java_is_told(capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """With how to install one."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    _, found = findings(capsys)

    assert not found["Java"]["ok"]
    assert "openjdk-17-jre-headless" in found["Java"]["mend"]


def test_the_lines_for_people_say_the_same(capsys, tmp_path: Path):
    """One line each, and one below each lack."""
    (tmp_path / "file").touch()
    status = execute(app, ["doctor", "--root", str(tmp_path / "file" / "registry")])
    lines = capsys.readouterr().out.splitlines()

    assert status == 1
    lack = next(number for number, line in enumerate(lines) if line.startswith("LACK  registry root"))
    assert "--root" in lines[lack + 1]


def test_a_model_that_lies_in_no_package_is_not_fetched(monkeypatch: pytest.MonkeyPatch):
    """Only --deep may use the network."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    config = Config.model_validate({"embed": {"encoder": {"name": "someone/some-model"}}})
    (found,) = [finding for finding in examine(config) if finding.name == "encoder"]

    assert found.ok
    assert "--deep" in found.detail

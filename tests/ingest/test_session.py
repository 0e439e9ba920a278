"""Finding Java and Delta's jars, and the session that they give."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from benchcore.config import SparkSection
from benchcore.errors import BenchcoreError
from benchcore.ingest.jars import jars_folder, jars_present, resolve_jars
from benchcore.ingest.java import java_home_or_error


def java(folder: Path, version: str, modules: str) -> Path:
    """A program that answers as a Java of some version would."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        f'#!/bin/sh\ncase "$1" in -version) echo \'openjdk version "{version}"\' >&2;; *) echo "{modules}";; esac\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return folder


def test_a_fitting_java_is_taken_from_java_home_or_the_path(tmp_path: Path, monkeypatch):
    """JAVA_HOME wins; without it the java on the path counts."""
    home = java(tmp_path / "jdk", "21.0.4", "java.base@21\njdk.incubator.vector@21")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert java_home_or_error() == home
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(home / "bin"), prepend=os.pathsep)
    assert java_home_or_error() == home


@pytest.mark.parametrize(
    ("version", "modules", "told"),
    [
        ("1.8.0_402", "jdk.incubator.vector@8", "17 or 21"),
        ("24", "jdk.incubator.vector@24", "this is 24"),
        ("17.0.1", "java.base@17", "lacks the module jdk.incubator.vector"),
    ],
)
def test_a_java_that_does_not_fit_is_named(tmp_path: Path, monkeypatch, version: str, modules: str, told: str):
    """The error says what is wrong with it and what to install."""
    monkeypatch.setenv("JAVA_HOME", str(java(tmp_path / "jdk", version, modules)))

    with pytest.raises(BenchcoreError, match=told) as raised:
        java_home_or_error()
    assert "apt-get install openjdk-17-jre-headless" in str(raised.value)


def test_no_java_at_all(tmp_path: Path, monkeypatch):
    """Neither JAVA_HOME nor the path leads to one."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BenchcoreError, match="there is none on this machine"):
        java_home_or_error()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(BenchcoreError, match="JAVA_HOME holds no bin/java"):
        java_home_or_error()


def test_the_folder_of_jars_is_the_setting_then_the_variable_then_the_checkout(tmp_path: Path, monkeypatch):
    """Each is asked in turn."""
    monkeypatch.setenv("BENCHCORE_JARS", str(tmp_path / "variable"))
    assert jars_folder(SparkSection(jars=str(tmp_path / "setting"))) == tmp_path / "setting"
    assert jars_folder(SparkSection()) == tmp_path / "variable"
    monkeypatch.delenv("BENCHCORE_JARS")
    assert jars_folder(SparkSection()) == Path(__file__).resolve().parents[2] / ".cache" / "jars"


def test_jars_that_are_there_are_not_fetched_again(spark, monkeypatch):
    """A session has resolved them; from then on neither Java nor a network is needed for that."""
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    folder = jars_folder(SparkSection())

    assert jars_present(folder)
    jars = resolve_jars(folder)
    assert any(jar.name.startswith("io.delta_delta-spark") for jar in jars)
    assert not any("hadoop-client" in jar.name for jar in jars)  # Spark's own


def test_the_session_runs_delta_on_this_interpreter_and_writes_nothing_here(spark, tmp_path: Path, monkeypatch):
    """Workers have this environment's packages and no TCP, tables are Delta's, no warehouse appears in this folder."""
    monkeypatch.chdir(tmp_path)

    def worker(batches):
        import os
        import sys

        import pyarrow as pa

        local = os.environ.get("PYTHON_UNIX_DOMAIN_ENABLED")
        for _ in batches:
            yield pa.RecordBatch.from_pydict({"executable": [sys.executable], "local": [local]})

    import sys

    (row,) = spark.range(0, 1, 1, 1).mapInArrow(worker, "executable string, local string").collect()
    spark.range(3).write.format("delta").save(str(tmp_path / "table"))

    assert row.executable == sys.executable
    assert row.local.lower() == "true"
    assert (tmp_path / "table" / "_delta_log").is_dir()
    assert [entry.name for entry in tmp_path.iterdir()] == ["table"]
    assert not [entry for entry in Path.cwd().iterdir() if entry.name in ("spark-warehouse", "metastore_db")]

"""`benchcore registry`: looking changes nothing, and what is shown is what is stored."""

import json
from pathlib import Path

import pytest

from benchcore.cli.main import app, execute
from benchcore.registry.root import Registry
from tests.registry.stored import prompt, store, store_coreset


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "registry"
    picks = [prompt("\x1b[31mone[/bold]", 1), prompt("two", 1)]
    store(Registry.at(root), "prompts", [*picks, prompt("two", 2)])
    store_coreset(Registry.at(root), "abcdef", picks)
    return root


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = execute(app, ["registry", *map(str, arguments)])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_list_names_tables_and_coresets(capsys, root: Path):
    """With their versions and rows; tables that do not exist are left out."""
    status, out, _ = run(capsys, "list", "--root", root, "--json")

    listed = json.loads(out)
    assert status == 0
    assert {"table": "prompts", "version": 0, "rows": 3} in listed["tables"]
    assert not [row for row in listed["tables"] if row["table"] == "scores"]
    assert [(row["coreset"], row["picks"], row["ratio"]) for row in listed["coresets"]] == [("abcdef", 2, 0.8)]


def test_list_for_people_has_the_same(capsys, root: Path):
    """A table of tables and one of coresets."""
    _, out, _ = run(capsys, "list", "--root", root)

    assert "prompts" in out
    assert "abcdef" in out


def test_show_has_manifest_picks_and_weights(capsys, root: Path):
    """A coreset is found by the beginning of its id."""
    _, out, _ = run(capsys, "show", "abc", "--root", root, "--json")

    shown = json.loads(out)
    assert shown["manifest"]["coreset_id"] == "abcdef"
    assert [(pick["rank"], pick["weight"]) for pick in shown["picks"]] == [(0, 0.5), (1, 0.5)]


def test_names_cannot_drive_the_terminal(capsys, root: Path):
    """Control characters are spelled out, and markup is text."""
    _, out, _ = run(capsys, "show", "abc", "--root", root)

    assert "\x1b" not in out
    assert "\\x1b[31mone[/bold]" in out


def test_history_of_a_registry_without_runs_is_empty(capsys, root: Path):
    """And no error."""
    assert run(capsys, "history", "--root", root, "--json") == (0, "[]\n", "")


@pytest.mark.parametrize("command", [("list",), ("history",), ("show", "x")])
def test_a_root_without_registry_is_told_and_not_made(capsys, tmp_path: Path, command: tuple[str, ...]):
    """A typing error in --root creates nothing."""
    status, out, err = run(capsys, *command, "--root", tmp_path / "none")

    assert (status, out) == (1, "")
    assert "none: there is no registry" in err
    assert not (tmp_path / "none").exists()


def test_a_coreset_that_there_is_not_is_told(capsys, root: Path):
    """With the nearest one."""
    status, _, err = run(capsys, "show", "abcdeg", "--root", root)

    assert status == 1
    assert err == f"benchcore: error: {root}: no coreset 'abcdeg'. Did you mean abcdef?\n"

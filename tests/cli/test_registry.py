"""`benchcore registry`: looking changes nothing, and what is shown is what is stored."""

import json
from pathlib import Path

import pytest

from benchcore.cli.main import app, execute
from benchcore.registry.root import Registry
from benchcore.registry.tables import read
from tests.registry.stored import edit, prompt, store, store_coreset
from tests.registry.whole import account


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


@pytest.mark.parametrize("command", [("list",), ("history",), ("show", "x"), ("check",)])
def test_a_root_without_registry_is_told_and_not_made(capsys, tmp_path: Path, command: tuple[str, ...]):
    """A typing error in --root creates nothing."""
    status, out, err = run(capsys, *command, "--root", tmp_path / "none")

    assert (status, out) == (1, "")
    assert "none: there is no registry" in err
    assert not (tmp_path / "none").exists()


def test_a_folder_of_something_else_is_no_registry(capsys, tmp_path: Path):
    """`check` of the folder above the registry must not say that all is well."""
    (tmp_path / "registry" / "prompts").mkdir(parents=True)
    status, out, err = run(capsys, "check", "--root", tmp_path)

    assert (status, out) == (1, "")
    assert "there is no registry: no table lies there" in err


def test_a_coreset_that_there_is_not_is_told(capsys, root: Path):
    """With the nearest one."""
    status, _, err = run(capsys, "show", "abcdeg", "--root", root)

    assert status == 1
    assert err == f"benchcore: error: {root}: no coreset 'abcdeg'. Did you mean abcdef?\n"


def test_check_says_that_all_is_well_or_what_is_not(capsys, root: Path):
    """A broken invariant is one line and the status 1; notices are no failure."""
    status, out, _ = run(capsys, "check", "--root", root)
    assert status == 1
    assert "broken  accounting  prompts: 2 files that `sources` does not have" in out

    store(Registry.at(root), "sources", [account("\x1b[31mone[/bold]", 1, 1, 0, 0), account("two", 2, 2, 0, 0)])
    status, out, _ = run(capsys, "check", "--root", root, "--json")
    checked = json.loads(out)
    assert (status, checked["broken"], checked["notices"], checked["vectors_checked"]) == (0, 0, 0, False)


def test_purge_says_what_would_go_and_does_it_when_told_to(capsys, root: Path):
    """With the coresets that it breaks; and that reading the raw files again would bring the prompts back."""
    registry, name = Registry.at(root), prompt("two", 1)["prompt_id"]
    store(registry, "sources", [account("\x1b[31mone[/bold]", 1, 1, 0, 0), account("two", 2, 2, 0, 0)])

    status, out, _ = run(capsys, "purge", "--root", root, "--prompt", name)
    assert status == 0
    for line in ("broken: coreset abcdef loses 1 of its picks", "comes back when they are read again", "--yes does it"):
        assert line in out
    assert read(registry, "prompts").num_rows == 3

    status, out, _ = run(capsys, "purge", "--root", root, "--prompt", name, "--yes", "--json")
    assert (status, json.loads(out)["counts"]["rows_of_prompts"]) == (0, 1)
    assert read(registry, "prompts").num_rows == 2
    assert read(registry, "runs")["command"].to_pylist() == [f"registry purge --prompt {name}"]
    _, out, _ = run(capsys, "list", "--root", root, "--json")
    assert json.loads(out)["coresets"][0]["since"] == "picks: 1 gone; what it was picked from is gone"
    assert run(capsys, "check", "--root", root)[0] == 0


@pytest.mark.parametrize(
    ("named", "told"),
    [(("--benchmark", "tow"), "never had a benchmark 'tow'. Did you mean 'two'?"), ((), "Give --prompt ID")],
)
def test_a_purge_of_nothing_is_wrong_usage(capsys, root: Path, named: tuple[str, ...], told: str):
    """A typing error must not look like a purge that is done."""
    status, _, err = run(capsys, "purge", "--root", root, "--yes", *named)

    assert status == 2
    assert told in err


def test_vacuum_says_what_it_removed_and_is_recorded(capsys, root: Path):
    """A dry run is not, nor is one that found nothing."""
    edit(Registry.at(root), "prompts", [])
    edit(Registry.at(root), "prompts", [])

    for options, files in ((("--dry-run",), 1), ((), 1), ((), 0)):
        status, out, _ = run(capsys, "vacuum", "--root", root, "--keep-days", 0, *options)
        assert (status, out.splitlines()[-1].split(",")[0]) == (0, f"{files} files")

    (row,) = read(Registry.at(root), "runs").to_pylist()
    assert (row["command"], json.loads(row["counts"])["vacuum"]["files"]) == ("registry vacuum --keep-days 0", 1)

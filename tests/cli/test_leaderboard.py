"""`benchcore leaderboard`: from a matrix to picks, from picks to predictions, and every wrong use in one line."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchcore.cli.main import app, execute

TASKS = tuple(f"task{number:02d}" for number in range(14))
MODELS = tuple(f"kin{number % 9}-v{number}" for number in range(160))


def scores(percent: bool = False) -> np.ndarray:
    """Three groups of tasks that go together, and one general strength."""
    random = np.random.default_rng(0)
    strength, special = random.normal(size=160), random.normal(size=(160, 3))
    columns = [strength + 0.7 * special[:, task % 3] + 0.2 * random.normal(size=160) for task in range(14)]
    return np.round(np.clip(0.5 + 0.1 * np.column_stack(columns), 0.02, 0.98), 4) * (100 if percent else 1)


def write(file: Path, cells: np.ndarray, models: tuple[str, ...] = MODELS, tasks: tuple[str, ...] = TASKS) -> Path:
    with file.open("w", newline="") as stream:
        lines = csv.writer(stream)
        lines.writerow(["model", *tasks])
        lines.writerows([model, *row] for model, row in zip(models, cells.tolist(), strict=True))
    return file


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    return write(tmp_path / "board.csv", scores())


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):
    def call(*arguments: object) -> tuple[int, str, str]:
        status = execute(app, ["leaderboard", *map(str, arguments)])
        said = capsys.readouterr()
        return status, said.out, said.err

    return call


def test_picks_come_first_and_then_their_error_on_other_models(run, matrix: Path, tmp_path: Path):
    """The table of picks, errors at each k under both splits, and the tasks that are predicted worst."""
    status, out, err = run("select", matrix, "-k", 4, "--repeats", 3, "--out", tmp_path / "out")

    assert (status, err) == (0, "")
    assert out.index("4 of 14 tasks") < out.index("Error of the predicted mean") < out.index("predicted worst")
    picks = json.loads((tmp_path / "out" / "picks.json").read_text())["picks"]
    assert (tmp_path / "out" / "tasks.txt").read_text().split() == picks
    assert [line.split()[1] for line in out.splitlines()[2:6]] == picks
    errors = json.loads((tmp_path / "out" / "errors.json").read_text())
    assert {(row["split"], row["k"]) for row in errors["errors"]} == {
        (split, k) for split in ("random", "strongest") for k in (1, 2, 3, 4)
    }
    assert all(row["mae_low"] <= row["mae"] <= row["mae_high"] for row in errors["errors"])
    assert errors["errors"][3]["mae"] < errors["errors"][0]["mae"]


def test_json_holds_what_is_printed(run, matrix: Path):
    """One document: picks, errors and what was mended; the same command gives the same again."""
    status, out, _ = run("select", matrix, "-k", 3, "--repeats", 2, "--json")
    found = json.loads(out)

    assert status == 0
    assert len(found["picks"]) == 3
    assert (found["models"], found["tasks_in_all"]) == (160, 14)
    assert {row["split"] for row in found["errors"]} == {"random", "strongest"}
    assert {"mae", "mae_low", "mae_high", "kendall_tau", "top1_regret"} <= set(found["errors"][0])
    assert [task["task"] for task in found["tasks"]] == list(TASKS)
    assert run("select", matrix, "-k", 3, "--repeats", 2, "--json")[1] == out


def test_limits_hold(run, matrix: Path, tmp_path: Path):
    """Must-include, must-exclude, at most one from a group, and a budget in another unit than the costs."""
    (tmp_path / "groups.txt").write_text("task01,task02,task03,task04,task05\n")
    (tmp_path / "costs.csv").write_text("task,hours\n" + "".join(f"{t},{1 + at % 4}\n" for at, t in enumerate(TASKS)))
    limits = ("--include", "task02", "--exclude", "task00", "--at-most-one-from", tmp_path / "groups.txt")
    status, out, _ = run("select", matrix, "-k", 6, *limits, "--no-check", "--json")
    picks = json.loads(out)["picks"]

    assert (status, picks[0], len(picks)) == (0, "task02", 6)
    assert not set(picks) & {"task00", "task01", "task03", "task04", "task05"}
    budget = ("--budget", "360min", "--costs", tmp_path / "costs.csv", "--repeats", 2, "--json")
    status, out, _ = run("select", matrix, *budget)
    found = json.loads(out)
    assert status == 0
    assert 0 < found["cost"] <= 6
    assert {row["split"] for row in found["errors"]} == {"random", "strongest"}
    both = json.loads(run("select", matrix, "-k", 2, *budget[:1], "60h", *budget[2:])[1])
    assert len(both["picks"]) == 2
    assert [row["k"] for row in both["errors"]] == [2, 2]


def test_what_is_exported_runs_as_python_and_reads_as_yaml(run, matrix: Path):
    """An `mteb.Benchmark`, a group of lm-eval, or a plain list; nothing else is on stdout."""
    import yaml

    _, listed, _ = run("select", matrix, "-k", 3, "--export", "list")
    _, snippet, _ = run("select", matrix, "-k", 3, "--export", "mteb")
    _, group, _ = run("select", matrix, "-k", 3, "--export", "lm-eval")
    made: dict[str, object] = {}
    mteb = type("mteb", (), {"Benchmark": lambda **given: made.update(given), "get_tasks": lambda tasks: tasks})
    exec(snippet.replace("import mteb", ""), {"mteb": mteb})

    assert made == {"name": "board_3", "tasks": listed.split()}
    assert yaml.safe_load(group) == {"group": "board_3", "task": listed.split()}


def test_predictions_for_held_out_models_lie_in_their_intervals(run, tmp_path: Path):
    """Picks chosen on 80 models, scores of 80 others: about nine in ten true values lie inside, means too."""
    cells = scores(percent=True)
    board = write(tmp_path / "board.csv", cells[:80], MODELS[:80])
    run("select", board, "-k", 4, "--no-check", "--out", tmp_path)
    picks = json.loads((tmp_path / "picks.json").read_text())["picks"]
    columns = [TASKS.index(pick) for pick in picks]
    new = write(tmp_path / "new.csv", cells[80:, columns], MODELS[80:], tuple(picks))
    status, out, _ = run("predict", tmp_path / "picks.json", new, "--json")
    found = json.loads(out)

    assert status == 0
    assert [model["model"] for model in found] == list(MODELS[80:])
    inside = np.array([[t["low"] <= true <= t["high"] for t, true in zip(model["tasks"], row, strict=True)]
                       for model, row in zip(found, cells[80:], strict=True)])  # fmt: skip
    assert inside[:, columns].all()
    assert 0.8 < np.delete(inside, columns, axis=1).mean() <= 1.0
    low, mean, high = (np.array([model[end] for model in found]) for end in ("mean_low", "mean", "mean_high"))
    true = cells[80:].mean(axis=1)
    assert 0.8 < np.mean((low <= true) & (true <= high)) <= 1.0
    assert np.abs(mean - true).mean() < 0.5 * np.abs(true - cells[:80].mean()).mean()


def test_a_model_outside_of_what_was_seen_is_told(run, matrix: Path, tmp_path: Path):
    """Stronger than all, or with scores that do not go together; a missing pick and an unknown task are told too."""
    run("select", matrix, "-k", 3, "--no-check", "--out", tmp_path)
    picks = json.loads((tmp_path / "picks.json").read_text())["picks"]
    (tmp_path / "best.json").write_text(json.dumps(dict.fromkeys(picks, 0.99)))
    (tmp_path / "odd.json").write_text(json.dumps(dict(zip(picks, (0.95, 0.05, 0.95), strict=True))))
    (tmp_path / "usual.json").write_text(json.dumps(dict.fromkeys(picks, "52%")))
    (tmp_path / "part.csv").write_text(f"task,score\n{picks[0]},0.5\n{picks[1]},n/a\nother,0.4\n")

    assert "stronger (" in run("predict", tmp_path / "picks.json", tmp_path / "best.json")[2]
    assert "as no model's of the matrix do" in run("predict", tmp_path / "picks.json", tmp_path / "odd.json")[2]
    status, out, err = run("predict", tmp_path / "picks.json", tmp_path / "usual.json")
    assert (status, err) == (0, "")
    assert "90 % interval" in out
    status, out, err = run("predict", tmp_path / "picks.json", tmp_path / "part.csv")
    assert status == 0
    assert f"no score on {picks[1]}, {picks[2]}" in err
    assert "other" in err
    assert "measured" in out


def test_no_errors_of_other_picks_lie_beside_new_ones(run, matrix: Path, tmp_path: Path):
    """Picks without a check take away what was measured of those before."""
    run("select", matrix, "-k", 2, "--repeats", 1, "--out", tmp_path / "out")
    assert (tmp_path / "out" / "errors.json").exists()
    run("select", matrix, "-k", 3, "--no-check", "--out", tmp_path / "out")

    assert not (tmp_path / "out" / "errors.json").exists()


def test_control_characters_of_names_reach_no_terminal(run, matrix: Path, tmp_path: Path):
    """A model's name is text, not an order to the terminal."""
    run("select", matrix, "-k", 2, "--no-check", "--out", tmp_path)
    picks = json.loads((tmp_path / "picks.json").read_text())["picks"]
    (tmp_path / "new.csv").write_text(f"model,{','.join(picks)}\nbad\x1b[31mname,0.99,\n")
    status, out, err = run("predict", tmp_path / "picks.json", tmp_path / "new.csv")

    assert status == 0
    assert "name" in out
    assert "\x1b" not in out + err


def test_redundancy_finds_the_three_groups(run, matrix: Path):
    """Tasks that go together are told as a cluster each."""
    status, out, _ = run("redundancy", matrix, "--same", 0.8, "--json")
    found = json.loads(out)

    assert status == 0
    assert {frozenset(cluster["tasks"]) for cluster in found["clusters"]} == {
        frozenset(TASKS[group::3]) for group in range(3)
    }
    assert "task00" in run("redundancy", matrix, "--same", 0.8)[1]


def test_compare_writes_a_row_a_cell(run, matrix: Path, tmp_path: Path):
    """Every method that was asked for with every estimator, and the control."""
    asked = ("-k", "3,5", "--splits", "random", "--repeats", 2, "--methods", "task_shrunk_swaps,task_forward_ols")
    status, out, _ = run("compare", matrix, *asked, "--estimators", "shrunk_blend", "--json", tmp_path / "rows.json")
    rows = json.loads((tmp_path / "rows.json").read_text())

    assert status == 0
    assert {(row["method"], row["estimator"], row["k"]) for row in rows} == {
        (method, estimator, k)
        for method in ("random", "task_shrunk_swaps", "task_forward_ols")
        for estimator in ("ridge", "shrunk_blend")
        for k in (3, 5)
    }
    assert {"matrix", "split", "mae", "kendall_tau", "top1_regret", "ratio", "is_default"} <= set(rows[0])
    assert sum(row["is_default"] for row in rows) == 2
    assert "(default)" in out


def test_a_registry_gives_back_what_was_stored(run, tmp_path: Path):
    """In its own units and directions; storing it again changes nothing; the job reads it."""
    board = write(tmp_path / "board.csv", scores(percent=True))
    root = tmp_path / "registry"
    assert run("store", board, "--root", root, "--name", "ours", "--lower-is-better", "task13")[1].endswith("written\n")
    assert run("store", board, "--root", root, "--name", "ours", "--lower-is-better", "task13")[1].endswith(
        "unchanged\n"
    )
    direct = run("select", board, "-k", 3, "--no-check", "--json", "--lower-is-better", "task13")[1]
    job = Path(__file__).resolve().parents[2] / "jobs" / "leaderboard.py"
    command = [sys.executable, job, "select", root, "--leaderboard", "ours", "-k", "3", "--no-check", "--json"]
    stored = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert json.loads(stored)["picks"] == json.loads(direct)["picks"]
    assert json.loads(stored)["leaderboard"] == "ours"
    run("store", board, "--root", root, "--name", "theirs")
    status, _, err = run("select", root, "-k", 3)
    assert status == 2
    assert "several leaderboards: ours, theirs" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Missing option '-k'"),
        (("-k", 15), "cannot pick 15 of 14 tasks"),
        (("-k", 0), "cannot pick 0"),
        (("-k", 3, "--include", "task99"), "unknown task 'task99'"),
        (("-k", 3, "--include", "task01", "--exclude", "task01"), "both included and excluded: task01"),
        (("--budget", "40h"), "--costs"),
        (("-k", 3, "--export", "helm"), "unknown form 'helm'"),
        (("-k", 3, "--export", "list", "--json"), "both would be printed"),
        (("-k", 3, "--seed", -1), "--seed"),
        (("-k", 3, "--scale", "ten"), "'ten' is no scale"),
        (("-k", 3, "--repeated", "drop"), "unknown way with repeated models 'drop'"),
        (("-k", 3, "--ignore", "task1"), "unknown column 'task1'"),
    ],
)
def test_wrong_use_is_one_line(run, matrix: Path, arguments: tuple[object, ...], said: str):
    """Status 2, what is wrong, and no traceback."""
    status, out, err = run("select", matrix, *arguments)

    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_wrong_files_are_one_line(run, matrix: Path, tmp_path: Path):
    """Picks that are none, scores off the scale, scores on other tasks, budgets in another unit."""
    run("select", matrix, "-k", 2, "--no-check", "--out", tmp_path)
    picks = json.loads((tmp_path / "picks.json").read_text())["picks"]
    (tmp_path / "off.json").write_text(json.dumps(dict.fromkeys(picks, 52)))
    (tmp_path / "other.json").write_text('{"x": 0.5}')
    (tmp_path / "costs.json").write_text(json.dumps(dict.fromkeys(TASKS, 2)))
    cases = [
        (("predict", matrix, tmp_path / "off.json"), "is not JSON"),
        (("predict", tmp_path / "costs.json", tmp_path / "off.json"), "is no file of picks"),
        (("predict", tmp_path / "picks.json", tmp_path / "off.json"), "outside of the matrix's scale (0 to 1)"),
        (("predict", tmp_path / "picks.json", tmp_path / "other.json"), "none of the matrix's tasks"),
        (("predict", tmp_path / "picks.json", tmp_path / "none.json"), "does not exist"),
        (("select", matrix, "--budget", "3h", "--costs", tmp_path / "costs.json"), "costs have no unit"),
        (("select", tmp_path / "none.csv", "-k", 3), "does not exist"),
        (("select", tmp_path, "-k", 3), "holds no leaderboard"),
        (("redundancy", matrix, "--same", 2), "no correlation"),
    ]
    for arguments, said in cases:
        status, out, err = run(*arguments)

        assert (status, out) == (2, ""), arguments
        assert said in err, arguments
        assert err.count("\n") == 1, arguments

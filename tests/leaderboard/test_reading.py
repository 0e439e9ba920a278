"""Leaderboards from files: what is read, what is mended and told, and what is refused in one line."""

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchcore.errors import UsageError
from benchcore.leaderboard.matrix import Scale
from benchcore.leaderboard.reading.beside import budget_in
from benchcore.leaderboard.reading.declared import Declared
from benchcore.leaderboard.reading.new_scores import read_new_scores
from benchcore.leaderboard.reading.read import read_matrix
from benchcore.leaderboard.reading.stored import _exact

MODELS = tuple(f"alpha-{size}b" for size in (1, 3, 7, 13, 34, 70))
TASKS = ("algebra", "botany", "chess", "drama")


def figures(seed: int = 0) -> np.ndarray:
    """Scores of six models on four tasks, with a share that all tasks have in common."""
    random = np.random.default_rng(seed)
    return np.round(np.linspace(0.3, 0.8, 6)[:, None] + random.uniform(-0.1, 0.1, (6, 4)), 3)


def rows(scores: object = None, models: object = MODELS, tasks: object = TASKS) -> list[list[object]]:
    cells = figures() if scores is None else scores
    return [["model", *tasks], *([model, *row] for model, row in zip(models, list(cells), strict=True))]


def write(file: Path, lines: list[list[object]]) -> str:
    with file.open("w", newline="") as stream:
        csv.writer(stream).writerows(lines)
    return str(file)


def test_csv_parquet_and_json_give_the_same_matrix(tmp_path: Path):
    """One leaderboard, however it was written."""
    scores = figures()
    own = [dict(zip(TASKS, row.tolist(), strict=True)) for row in scores]
    records = [{"model": model, **row} for model, row in zip(MODELS, own, strict=True)]
    by_model = dict(zip(MODELS, own, strict=True))
    long = [["model", "task", "score"], *([m, t, s] for m, row in by_model.items() for t, s in row.items())]
    files = {
        "a.json": json.dumps(records),
        "b.json": json.dumps(by_model),
        "c.json": json.dumps({"models": MODELS, "tasks": TASKS, "scores": scores.tolist()}),
        "d.jsonl": "\n".join(json.dumps(record) for record in records),
        "e.json": json.dumps({name: {str(row): r[name] for row, r in enumerate(records)} for name in records[0]}),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    pq.write_table(pa.Table.from_pylist(records), tmp_path / "f.parquet")
    write(tmp_path / "g.csv", rows(scores))
    write(tmp_path / "h.csv", long)

    for file in sorted(tmp_path.iterdir()):
        matrix = read_matrix(str(file))

        assert (matrix.models, matrix.tasks) == (MODELS, TASKS), file.name
        assert np.array_equal(scores, matrix.scores), file.name
        assert matrix.repairs == (), file.name
        assert set(matrix.families) == {"alpha"}


def test_missing_cells_stay_missing_and_words_for_them_are_told(tmp_path: Path):
    """Empty cells need no word; `n/a` and `-` are read as missing, and said."""
    lines = rows()
    lines[1][1], lines[2][2], lines[3][3], lines[3][4] = "", "n/a", "-", "N/A"
    matrix = read_matrix(write(tmp_path / "m.csv", lines))

    assert np.argwhere(np.isnan(matrix.scores)).tolist() == [[0, 0], [1, 1], [2, 2], [2, 3]]
    assert any("'n/a' 1x" in repair and "'-' 1x" in repair for repair in matrix.repairs)


def test_percent_signs_html_and_spreads_become_numbers(tmp_path: Path):
    """What was taken out of a cell is told, and the number is right whatever its column's scale."""
    lines = rows()
    lines[1][1], lines[2][2], lines[3][3] = "97.3%", "<b>0.5</b>", "0.25 ± 0.01"
    lines[4][0], lines[0][4] = '<a href="https://example.org">alpha-13b</a>', "<b>drama</b>"
    matrix = read_matrix(write(tmp_path / "m.csv", lines))

    assert np.allclose([0.973, 0.5, 0.25], matrix.scores[[0, 1, 2], [0, 1, 2]])
    assert matrix.models == MODELS
    assert any("percent sign" in repair for repair in matrix.repairs)
    assert any("3 cells with HTML" in repair for repair in matrix.repairs)


def test_percent_is_recognised_and_told(tmp_path: Path):
    """A leaderboard of percentages is the same leaderboard."""
    matrix = read_matrix(write(tmp_path / "m.csv", rows(figures() * 100)))

    assert np.allclose(figures(), matrix.scores)
    assert any("read as percent" in repair for repair in matrix.repairs)
    assert matrix.scales == (Scale(0.0, 100.0),) * 4


def test_mixed_scales_are_refused_with_the_columns_named(tmp_path: Path):
    """Nothing is guessed: columns that differ from the others are named, and declaring them is the way out."""
    scores = figures() * [1, 1, 100, 1]
    file = write(tmp_path / "m.csv", rows(scores))
    with pytest.raises(UsageError, match=r"mixed scales: between 0 and 100 in 1 column \(chess\)"):
        read_matrix(file)

    assert np.allclose(figures(), read_matrix(file, Declared(scales={"chess": (0, 100)})).scores)


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ([0.3, 0.4, 0.5, 66.0, 70.0, 80.0], "mixed scales inside a column: chess"),
        ([2.0, 4.5, 5.1, 6.6, 7.3, 9.1], "could be on a scale of 10 or percentages: chess"),
        ([900, 1000, 1100, 1150, 1200, 1300], r"neither in 0-1 nor in 0-100: chess \(900 to 1300\)"),
        (["a", 0.5, 0.5, 0.6, 0.7, 0.8], "column 'chess', row 'alpha-1b': 'a' is no score"),
    ],
)
def test_what_cannot_be_known_is_refused(tmp_path: Path, column: list[object], said: str):
    """Each in one line that names the column and says how to declare it."""
    lines = rows()
    for line, cell in zip(lines[1:], column, strict=True):
        line[3] = cell
    with pytest.raises(UsageError, match=said) as refused:
        read_matrix(write(tmp_path / "m.csv", lines))
    assert "--ignore" in str(refused.value)


def test_a_percent_column_with_scores_near_zero_is_no_mixture(tmp_path: Path):
    """Hard tasks have scores below 1 percent, and then some just above."""
    scores = figures() * 100
    scores[:, 0] = [0.2, 0.9, 1.4, 2.8, 17.0, 40.0]

    assert np.allclose(scores / 100, read_matrix(write(tmp_path / "m.csv", rows(scores))).scores)


def test_lower_is_better_is_declared_or_told_by_name_and_the_other_tasks(tmp_path: Path):
    """Both ways give the scores turned round; a name alone is not enough."""
    tasks = ("algebra", "botany", "chess", "wer")
    scores = figures() * [1, 1, 1, -1] + [0, 0, 0, 1]
    by_name = read_matrix(write(tmp_path / "m.csv", rows(scores, tasks=tasks)))
    declared = read_matrix(write(tmp_path / "n.csv", rows(scores)), Declared(lower_is_better=("drama",)))

    assert np.allclose(figures(), by_name.scores)
    assert np.allclose(figures(), declared.scores)
    assert any("lower is better" in repair and "wer" in repair for repair in by_name.repairs)
    with pytest.raises(UsageError, match="'wer' is named as if lower were better"):
        read_matrix(write(tmp_path / "o.csv", rows(tasks=tasks)))


def test_columns_that_are_no_tasks(tmp_path: Path):
    """Texts, sizes and averages are left out and told; a family column that is named counts."""
    lines = rows()
    lines[0] += ["Average", "params", "licence", "kin"]
    for at, line in enumerate(lines[1:]):
        line += [0.5, 10**at, "MIT", f"kin{at % 2}"]
    matrix = read_matrix(write(tmp_path / "m.csv", lines), Declared(family_column="kin"))

    assert matrix.tasks == TASKS
    assert matrix.families == ("kin0", "kin1") * 3
    for left_out in ("licence", "params", "Average"):
        assert any(left_out in repair for repair in matrix.repairs)
    assert read_matrix(str(tmp_path / "m.csv"), Declared(tasks=("algebra", "chess"))).tasks == ("algebra", "chess")
    with pytest.raises(UsageError, match="Did you mean 'chess'"):
        read_matrix(str(tmp_path / "m.csv"), Declared(ignore=("ches",)))


def test_a_matrix_the_wrong_way_round_is_recognised(tmp_path: Path):
    """It is said, and --transpose turns it."""
    lines = [list(line) for line in zip(*rows(), strict=True)]
    lines[0][0] = ""
    file = write(tmp_path / "m.csv", lines)
    with pytest.raises(UsageError, match=r"wrong way round: rows are named like tasks .* --transpose"):
        read_matrix(file)
    turned = read_matrix(file, Declared(transpose=True))

    assert (turned.models, turned.tasks) == (MODELS, TASKS)
    assert np.array_equal(figures(), turned.scores)


def test_constant_and_empty_tasks_and_models_that_say_nothing_are_left_out(tmp_path: Path):
    """Each of them is named."""
    lines = rows([*figures(), [None] * 4, [None, 0.4, None, None]], [*MODELS, "mute", "terse"])
    lines[0] += ["dull", "blank"]
    for line in lines[1:]:
        line += [0.5 if line[0] in MODELS else None, None]
    matrix = read_matrix(write(tmp_path / "m.csv", lines))

    assert (matrix.models, matrix.tasks) == (MODELS, TASKS)
    told = "\n".join(matrix.repairs)
    for name in ("same score: dull", "any score: blank", "mute", "single score: terse"):
        assert name in told


def test_names_that_come_twice(tmp_path: Path):
    """Equal rows are merged and told; different ones need a word from the user; tasks are refused."""
    scores = figures()
    same = read_matrix(write(tmp_path / "a.csv", rows([*scores, scores[0]], [*MODELS, MODELS[0]])))
    assert np.array_equal(scores, same.scores)
    assert any("repeated: alpha-1b" in repair for repair in same.repairs)

    file = write(tmp_path / "b.csv", rows([*scores, scores[1]], [*MODELS, MODELS[0]]))
    with pytest.raises(UsageError, match="different scores in several rows: alpha-1b"):
        read_matrix(file)
    mean = read_matrix(file, Declared(repeated="mean"))
    assert np.allclose(scores[:2].mean(axis=0), mean.scores[0])

    with pytest.raises(UsageError, match="more than once: algebra"):
        read_matrix(write(tmp_path / "c.csv", rows(tasks=("algebra", "algebra", "chess", "drama"))))


def test_fewer_models_than_tasks_works_with_a_warning(tmp_path: Path):
    """Four models and six tasks."""
    lines = rows(np.random.default_rng(1).uniform(0.2, 0.9, (4, 6)), MODELS[:4], tuple("uvwxyz"))
    matrix = read_matrix(write(tmp_path / "m.csv", lines))

    assert matrix.scores.shape == (4, 6)
    assert any("fewer models (4) than tasks (6)" in repair for repair in matrix.repairs)
    with pytest.raises(UsageError, match=r"3 models and 6 tasks .* too few"):
        read_matrix(write(tmp_path / "n.csv", lines[:4]))


def mteb_file(folder: Path, task: str, splits: dict[str, list[float]], version: str) -> None:
    scores = {
        split: [{"main_score": score, "hf_subset": f"s{at}", "languages": []} for at, score in enumerate(own)]
        for split, own in splits.items()
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{task}.json").write_text(json.dumps({"task_name": task, "mteb_version": version, "scores": scores}))


def test_a_folder_of_mteb_results(tmp_path: Path):
    """The mean over subsets of the test split, of the newest revision that has the task, and all of it is told."""
    for at, model in enumerate(MODELS):
        mteb_file(tmp_path / model / "r1", "Sts", {"test": [0.1 * at, 0.1 * at + 0.2], "dev": [0.9]}, "1.9.0")
        mteb_file(tmp_path / model / "r1", "Clusters", {"validation": [0.05 * at]}, "1.2")
    mteb_file(tmp_path / MODELS[0] / "r2", "Sts", {"test": [0.77]}, "1.10.0")
    (tmp_path / MODELS[0] / "r2" / "model_meta.json").write_text("{}")
    matrix = read_matrix(str(tmp_path))
    declared = read_matrix(str(tmp_path), Declared(revisions={MODELS[0]: "r1"}))

    assert matrix.tasks == ("Clusters", "Sts")
    by_model = dict(zip(matrix.models, matrix.scores, strict=True))
    assert np.allclose([0.0, 0.77], by_model[MODELS[0]])
    assert np.allclose([0.05, 0.2], by_model[MODELS[1]])
    assert np.allclose([0.0, 0.1], declared.scores[declared.models.index(MODELS[0])])
    assert any("several revisions" in repair for repair in matrix.repairs)
    assert any("validation 6x" in repair for repair in matrix.repairs)


def aggregate(model: str, results: list[dict[str, object]], time: int = 1) -> str:
    made = [
        {
            "evaluation_name": result["name"],
            "source_data": {"dataset_name": "d", "source_type": "other"},
            "metric_config": {"metric_id": result.get("metric", "accuracy"), "lower_is_better": False, **result["is"]},
            "score_details": {"score": result["score"]},
        }
        for result in results
    ]
    return json.dumps(
        {
            "schema_version": "0.3.0",
            "evaluation_id": f"x/{model}/{time}",
            "retrieved_timestamp": str(time),
            "source_metadata": {},
            "eval_library": {"name": "unknown", "version": "unknown"},
            "model_info": {"name": model, "id": f"org/{model}"},
            "evaluation_results": made,
        }
    )


def test_a_folder_of_every_eval_ever_aggregates(tmp_path: Path):
    """Scales and directions come from the files, the newest result counts, and metrics are told apart."""
    unit, elo, error = (
        {"min_score": 0, "max_score": 1},
        {"min_score": 800, "max_score": 1400},
        {"metric_unit": "percent"},
    )
    for at, model in enumerate(MODELS):
        folder = tmp_path / "data" / "bench" / "org" / model
        folder.mkdir(parents=True)
        results = [
            {"name": "quiz", "is": unit, "score": 0.1 + 0.1 * at},
            {"name": "quiz", "is": unit, "score": 0.2 + 0.1 * at, "metric": "f1"},
            {"name": "arena", "is": elo, "score": 800 + 60 * at},
            {"name": "slips", "is": {**error, "lower_is_better": True}, "score": 80 - 10 * at},
        ]
        (folder / "a.json").write_text(aggregate(model, results, time=5))
    older = [{"name": "arena", "is": elo, "score": 1399}]
    (tmp_path / "data" / "bench" / "org" / MODELS[0] / "b.json").write_text(aggregate(MODELS[0], older, time=2))
    (tmp_path / "data" / "stray.json").write_text("{}")
    matrix = read_matrix(str(tmp_path / "data"))

    assert matrix.models == tuple(sorted(f"org/{model}" for model in MODELS))
    assert matrix.tasks == ("arena", "quiz:accuracy", "quiz:f1", "slips")
    assert np.allclose([0.0, 0.1, 0.2, 0.2], matrix.scores[matrix.models.index("org/alpha-1b")])
    assert np.allclose([0.5, 0.6, 0.7, 0.7], matrix.scores[matrix.models.index("org/alpha-70b")])
    told = "\n".join(matrix.repairs)
    assert "gave way to newer" in told
    assert "stray.json" in told


def test_real_result_files_are_read(shared_data: Path):
    """MTEB's own files, and one in the shared schema; both are too few models to choose from, which is said."""
    mteb = read_matrix(str(shared_data / "leaderboards" / "mteb_raw"), usable=False)
    shared = read_matrix(str(shared_data / "harness_logs" / "every_eval_ever" / "data"), usable=False)

    assert len(mteb.models) == 3
    assert (~np.isnan(mteb.scores)).sum() == 75
    assert (shared.models, shared.tasks) == (("demo-org/demo-model",), ("demo-source.demo_bench",))
    assert shared.scores.tolist() == [[0.75]]
    with pytest.raises(UsageError, match="too few"):
        read_matrix(str(shared_data / "leaderboards" / "mteb_raw"))


def test_leaderboards_that_ship_are_those_of_the_files(shared_data: Path):
    """`dataset:mmlu57` and its file give the same matrix."""
    shipped = read_matrix("dataset:mmlu57")
    read = read_matrix(str(shared_data / "leaderboards" / "mmlu57" / "mmlu_57_subjects.csv"))

    assert (shipped.models, shipped.tasks) == (read.models, read.tasks)
    assert np.allclose(shipped.scores, read.scores, atol=1e-4, equal_nan=True)


def test_costs_and_groups_come_from_files_beside(tmp_path: Path):
    """A unit is the column's name; every task needs a cost; a task can be in one group."""
    file = write(tmp_path / "m.csv", rows())
    (tmp_path / "costs.csv").write_text("task,hours\nalgebra,1\nbotany,2.5\nchess,4\ndrama,8\n")
    (tmp_path / "groups.txt").write_text("algebra, chess\n")
    matrix = read_matrix(file, Declared(costs=tmp_path / "costs.csv", groups=tmp_path / "groups.txt"))

    assert matrix.costs is not None
    assert (matrix.costs.tolist(), matrix.cost_unit) == ([1.0, 2.5, 4.0, 8.0], "hours")
    assert matrix.groups == ("group 1", "", "group 1", "")
    (tmp_path / "costs.json").write_text('{"algebra": 1, "botany": 2}')
    with pytest.raises(UsageError, match="no cost of 2 tasks: chess, drama"):
        read_matrix(file, Declared(costs=tmp_path / "costs.json"))


def test_new_scores_are_converted_where_the_source_says_its_unit(tmp_path: Path):
    """A share that a file declares becomes percent; direction and other scales that do not go together are refused."""
    share, percent = {"min_score": 0, "max_score": 1}, Scale(0.0, 100.0)
    (tmp_path / "a.json").write_text(aggregate("new", [{"name": "quiz", "is": share, "score": 0.62}]))

    assert read_new_scores(str(tmp_path), ["quiz"], [percent])[1].tolist() == [[0.62]]
    assert read_new_scores(str(tmp_path), ["quiz"], [Scale()])[1].tolist() == [[0.62]]
    with pytest.raises(UsageError, match="declared to lie in 0-1 there, and in 800-1400"):
        read_new_scores(str(tmp_path), ["quiz"], [Scale(800.0, 1400.0)])
    declared = {**share, "lower_is_better": True}
    (tmp_path / "a.json").write_text(aggregate("new", [{"name": "quiz", "is": declared, "score": 0.62}]))
    with pytest.raises(UsageError, match="lower is better for task 'quiz' there"):
        read_new_scores(str(tmp_path), ["quiz"], [percent])


def test_new_scores_that_look_like_shares_are_no_percent(tmp_path: Path):
    """They are refused unless a percent sign says that they are; scores a little below 0 are mended as in a matrix."""
    file, scales = tmp_path / "new.json", [Scale(0.0, 100.0)] * 2

    def read(scores: dict[str, object], scales: list[Scale] = scales) -> tuple[list[list[float]], tuple[str, ...]]:
        file.write_text(json.dumps(scores))
        _, found, notes = read_new_scores(str(file), ["a", "b"], scales)
        return found.tolist(), notes

    with pytest.raises(UsageError, match=r"all scores of model 'new' lie between 0 and 1.*0\.71%"):
        read({"a": 0.71, "b": 0.5})
    assert np.allclose([[0.0071, 0.005]], read({"a": "0.71%", "b": "0.5%"})[0])
    assert np.allclose([[0.005, 0.71]], read({"a": 0.5, "b": 71})[0])
    scores, notes = read({"a": -0.002, "b": 0.5}, [Scale()] * 2)
    assert scores == [[0.0, 0.5]]
    assert any("below 0" in note and "a" in note for note in notes)
    with pytest.raises(UsageError, match=r"-0\.002 lies outside"):
        read({"a": -0.002, "b": 0.5}, [Scale(-0.001, 1.0)] * 2)


def test_a_task_is_no_evidence_of_its_own_direction(tmp_path: Path):
    """Of two tasks the one that counts errors rises with the mean of both, although it falls as the other rises."""
    random = np.random.default_rng(0)
    wer = random.uniform(0.2, 0.8, 60)
    lines = rows(np.column_stack([wer, 0.9 - wer / 2 + random.normal(0, 0.1, 60)]), [f"m{at}" for at in range(60)])
    lines[0] = ["model", "wer", "one"]
    matrix = read_matrix(write(tmp_path / "m.csv", lines))

    assert [scale.lower_is_better for scale in matrix.scales] == [True, False]
    assert any("lower is better, as the names say" in repair for repair in matrix.repairs)


def test_what_is_said_of_directions_is_followed_or_refused(tmp_path: Path):
    """Not both for one task; `all` wins over names and over the source."""
    file = write(tmp_path / "m.csv", rows(tasks=("algebra", "wer", "chess", "drama")))
    for lower, higher in ((("wer",), ("wer",)), (("all",), ("all",))):
        with pytest.raises(UsageError, match="both said to be better"):
            read_matrix(file, Declared(lower_is_better=lower, higher_is_better=higher))
    one = read_matrix(file, Declared(lower_is_better=("wer",), higher_is_better=("all",)))
    most = read_matrix(file, Declared(lower_is_better=("all",), higher_is_better=("wer",)))

    assert [scale.lower_is_better for scale in one.scales] == [False, True, False, False]
    assert [scale.lower_is_better for scale in most.scales] == [True, False, True, True]
    falling = {"min_score": 0, "max_score": 1, "lower_is_better": True}
    for at, model in enumerate(MODELS):
        results = [{"name": name, "is": falling, "score": 0.1 + 0.1 * at} for name in ("quiz", "test")]
        (tmp_path / f"{model}.json").write_text(aggregate(model, results))
    read = read_matrix(str(tmp_path), Declared(higher_is_better=("all",)))
    assert not any(scale.lower_is_better for scale in read.scales)


def test_the_mean_of_repeated_rows_has_one_unit(tmp_path: Path):
    """97.3% and 0.953 have none; percent signs stay with the mean of percent."""
    lines = rows([*figures(), figures()[0]], [*MODELS, MODELS[0]])
    lines[1][1], lines[-1][1] = "97.3%", "95.3%"
    mean = read_matrix(write(tmp_path / "a.csv", lines), Declared(repeated="mean"))
    lines[1][1], lines[-1][1] = "", "95.3%"
    other = read_matrix(write(tmp_path / "b.csv", lines), Declared(repeated="mean"))
    lines[1][1], lines[-1][1] = "97.3%", 0.953

    assert np.isclose(0.963, mean.scores[0, 0])
    assert np.isclose(0.953, other.scores[0, 0])
    with pytest.raises(UsageError, match="on 'algebra' with a percent sign and without one"):
        read_matrix(write(tmp_path / "c.csv", lines), Declared(repeated="mean"))


@pytest.mark.parametrize(
    ("written", "unit", "amount"),
    [
        ("1.5h", "minutes", 90.0), ("1,500", "tokens", 1500.0), ("$40", "usd", 40.0), (".5 h", "hours", 0.5),
        ("1,5h", "hours", None), ("1,50", "hours", None), ("$40", "hours", None), ("$40h", "hours", None),
    ],
)  # fmt: skip
def test_amounts_are_read_or_refused(written: str, unit: str, amount: float | None):
    """A comma groups thousands or is refused; money is no time."""
    if amount is None:
        with pytest.raises(UsageError, match=r"is no amount|and the costs are in"):
            budget_in(written, unit)
    else:
        assert budget_in(written, unit) == amount


def test_a_decimal_comma_in_costs_is_refused(tmp_path: Path):
    """It would make the cost ten times what it is."""
    file = write(tmp_path / "m.csv", rows())
    (tmp_path / "costs.json").write_text('{"algebra": "1,5", "botany": 2, "chess": 3, "drama": 4}')
    with pytest.raises(UsageError, match="'algebra' costs '1,5', which is no number"):
        read_matrix(file, Declared(costs=tmp_path / "costs.json"))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", '{"x": {"t": 0.5, "u": 0.4}, "x": {"t": 0.6, "u": 0.1}}', "'x' comes twice"),
        ("b.json", '{"models": "ab", "tasks": ["t"], "scores": [[0.1], [0.2]]}', "are not lists"),
        ("f.json", '{"models": "ab", "tasks": "tu", "scores": 5}', "are not lists"),
        ("g.csv", "<html><body>404</body></html>", "page of HTML"),
        ("h.csv", "model,a,b\nm,0.5,\x1b[31mX\nn,0.5,0.6\no,0.4,0.5\n", "row 'm': '.31mX' is no score"),
        ("c.json", "[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ("d.csv", "alpha,0.31,0.52\nbeta,0.4,0.6\n", "first row looks like scores"),
        ("e.csv", b"model,t\xe9st\na,0.5\n", "Save it as UTF-8"),
    ],
)
def test_files_that_would_lose_something_are_refused(tmp_path: Path, name: str, content: str | bytes, said: str):
    """Names that come twice, texts for lists, a missing header, other encodings."""
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UsageError, match=said):
        read_matrix(str(tmp_path / name))


def test_costs_and_new_scores_that_name_a_task_twice_are_refused(tmp_path: Path):
    """Either of the two could be meant."""
    file = write(tmp_path / "m.csv", rows())
    (tmp_path / "costs.csv").write_text("task,hours\nalgebra,1\nalgebra,2\nbotany,2\nchess,4\ndrama,8\n")
    with pytest.raises(UsageError, match="more than once what these cost: algebra"):
        read_matrix(file, Declared(costs=tmp_path / "costs.csv"))
    (tmp_path / "new.json").write_text('{"algebra": 0.5, "algebra": 0.6}')
    with pytest.raises(UsageError, match="'algebra' comes twice"):
        read_new_scores(str(tmp_path / "new.json"), TASKS, [Scale()] * 4)


def test_several_scores_of_a_pair_in_rows_are_refused_or_as_the_user_says(tmp_path: Path):
    """As rows of a wide table are."""
    lines = [[m, t, s] for m, row in zip(MODELS, figures(), strict=True) for t, s in zip(TASKS, row, strict=True)]
    twice = [*lines[0][:2], lines[0][2] + 0.2]
    file = write(tmp_path / "m.csv", [["model", "task", "score"], *lines, twice])
    with pytest.raises(UsageError, match=r"several scores on task 'algebra'.*--repeated"):
        read_matrix(file)

    first, last, mean = (read_matrix(file, Declared(repeated=how)).scores[0, 0] for how in ("first", "last", "mean"))
    assert np.allclose([lines[0][2], lines[0][2] + 0.2, lines[0][2] + 0.1], [first, last, mean])


def test_a_column_that_is_the_mean_of_the_others_is_no_task(tmp_path: Path):
    """However it is named; --tasks says otherwise, and twins are none."""
    scores = figures()
    names = (*TASKS, "score")
    lines = rows(np.column_stack([scores, scores.mean(axis=1).round(3)]), tasks=names)
    file = write(tmp_path / "m.csv", lines)
    matrix = read_matrix(file)

    assert matrix.tasks == TASKS
    assert any("score: the mean of the others" in repair for repair in matrix.repairs)
    assert read_matrix(file, Declared(tasks=names)).tasks == names
    twins = np.repeat(scores[:, :1], 5, axis=1)
    assert read_matrix(write(tmp_path / "n.csv", rows(twins, tasks=names))).tasks == names


def test_a_scale_for_all_is_not_meant_for_shares(tmp_path: Path):
    """Columns of shares beside percents are named; their own scale, or leaving them out, is the way on."""
    scores = figures() * [100, 100, 100, 1]
    file = write(tmp_path / "m.csv", rows(scores))
    with pytest.raises(UsageError, match=r"no score is above 1 in 1 column \(drama\)"):
        read_matrix(file, Declared(scale=(0, 100)))

    assert np.allclose(figures(), read_matrix(file, Declared(scale=(0, 100), scales={"drama": (0, 1)})).scores)


def test_columns_that_say_the_same_on_another_scale_are_named(tmp_path: Path):
    """`algebra Raw` beside `algebra`: the option that leaves it out can be copied."""
    scores = np.column_stack([100 * figures(), figures()[:, :1]])
    file = write(tmp_path / "m.csv", rows(scores, tasks=(*TASKS, "algebra Raw")))
    for declared in (Declared(), Declared(scale=(0, 100))):
        with pytest.raises(UsageError, match="others over again: --ignore 'algebra Raw'"):
            read_matrix(file, declared)
    assert read_matrix(file, Declared(ignore=("algebra Raw",))).tasks == TASKS


def test_bounds_are_stored_with_all_their_digits():
    """What is read again is what was stored, or the scores would lie outside of their scale."""
    for bound in (0.0, 100.0, 1234567.0, 0.1 + 0.2, 1e-12, -1385.123456789):
        assert float(_exact(bound)) == bound
    assert _exact(100.0) == "100"


def test_unknown_tasks_are_told_with_the_one_that_may_be_meant(tmp_path: Path):
    """`mmlu_botany` is `botany`; a single share among percents is told as well."""
    (tmp_path / "new.json").write_text('{"mmlu_botany": 60, "algebra": 60, "chess": 0.7}')
    notes = read_new_scores(str(tmp_path / "new.json"), TASKS, [Scale(0.0, 100.0)] * 4)[2]

    assert any("mmlu_botany (did you mean 'botany'?)" in note for note in notes)
    assert any("below 1 are read as percent, like all others: chess (0.7)" in note for note in notes)


@pytest.mark.parametrize("seed", range(12))
def test_any_small_matrix_is_read_or_refused(tmp_path: Path, seed: int):
    """Holes, twins, ties and single rows: a matrix that can be used, or one line."""
    random = np.random.default_rng(seed)
    cells = random.uniform(size=(int(random.integers(1, 9)), int(random.integers(1, 9)))).round(seed % 3)
    cells[random.uniform(size=cells.shape) < seed / 15] = np.nan
    lines = [["model", *(f"t{task}" for task in range(cells.shape[1]))]]
    lines += [[f"m{row}", *("" if np.isnan(cell) else cell for cell in own)] for row, own in enumerate(cells.tolist())]
    try:
        matrix = read_matrix(write(tmp_path / "m.csv", lines))
    except UsageError as refused:
        assert "too few" in str(refused)
        return
    held = ~np.isnan(matrix.scores)
    assert (held.sum(axis=1) >= 2).all()
    assert all(np.unique(column[~np.isnan(column)]).size > 1 for column in matrix.scores.T)
    assert np.nanmin(matrix.scores) >= 0
    assert np.nanmax(matrix.scores) <= 1

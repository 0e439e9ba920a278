"""`benchcore pick`: from a file to picks, and every wrong file in one line."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_array, save_npz

from benchcore.cli.main import app, execute
from benchcore.methods.select import select


def rows(n: int = 60, d: int = 8) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, d)).astype(np.float32)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    np.save(tmp_path / "x.npy", rows())
    return tmp_path / "x.npy"


@pytest.fixture
def groups(tmp_path: Path) -> Path:
    (tmp_path / "groups.txt").write_text("".join(f"g{number % 3}\n" for number in range(60)))
    return tmp_path / "groups.txt"


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = execute(app, ["pick", *map(str, arguments)])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_the_command_gives_what_the_function_gives(capsys, file: Path, groups: Path):
    """Picks, gains, weights, value and certificate are those of the core on the same array."""
    status, out, err = run(capsys, file, "-k", 9, "--groups", groups, "--json")
    expected = select(rows(), 9, groups=[f"g{number % 3}" for number in range(60)])

    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found["indices"] == expected.indices.tolist()
    assert found["ids"] == [str(index) for index in expected.indices]
    assert found["gains"] == expected.gains.tolist()
    assert found["weights"] == expected.weights.tolist()
    assert found["value"] == expected.value
    assert found["certificate"]["ratio"] == expected.certificate.ratio


def test_options_reach_the_core(capsys, file: Path, groups: Path):
    """Each of them changes what is asked for."""
    arguments = ("--groups", groups, "--mass", "micro", "--no-balance", "--include", "5", "--exclude", "7", "--json")
    _, out, _ = run(capsys, file, "-k", 9, *arguments)
    members = [f"g{number % 3}" for number in range(60)]
    expected = select(rows(), 9, groups=members, mass="micro", balanced=False, include=("5",), exclude=("7",))

    assert json.loads(out)["indices"] == expected.indices.tolist()
    assert json.loads(out)["indices"][0] == 5


def test_without_json_there_is_an_id_a_line(capsys, file: Path, tmp_path: Path):
    """Ready for a shell's loop."""
    names = [f"prompt {number}" for number in range(60)]
    (tmp_path / "ids.txt").write_text("\r\n".join(names) + "\r\n")

    _, out, _ = run(capsys, file, "-k", 4, "--ids", tmp_path / "ids.txt")

    assert out.splitlines() == list(select(rows(), 4, ids=names).ids)


@pytest.mark.parametrize(
    ("vector", "identity", "group"), [("vector", "id", "group"), ("embedding", "prompt_id", "benchmark")]
)
def test_a_parquet_file_may_bring_ids_and_groups(capsys, tmp_path: Path, vector: str, identity: str, group: str):
    """Columns as people name them, and as our tables do."""
    names, members = [f"p{number:02}" for number in range(60)], [f"g{number % 3}" for number in range(60)]
    pq.write_table(pa.table({vector: rows().tolist(), identity: names, group: members}), tmp_path / "x.data")

    _, out, _ = run(capsys, tmp_path / "x.data", "-k", 9, "--json")

    assert json.loads(out)["ids"] == list(select(rows(), 9, ids=names, groups=members).ids)


def test_fixed_size_lists_are_vectors_too(capsys, tmp_path: Path):
    """As other tools write them."""
    lists = pa.FixedSizeListArray.from_arrays(pa.array(rows().ravel()), 8)
    pq.write_table(pa.table({"vector": lists}), tmp_path / "x.parquet")

    _, out, _ = run(capsys, tmp_path / "x.parquet", "-k", 5)

    assert out.split() == list(select(rows(), 5).ids)


def test_everything_that_select_takes_can_be_said(capsys, file: Path, groups: Path, tmp_path: Path):
    """Objective, kernel, quotas, costs, includes from files, a query: as the function has them."""
    members, costs = [f"g{number % 3}" for number in range(60)], np.arange(1.0, 61)
    prices, listed, other = tmp_path / "costs.txt", tmp_path / "listed.txt", tmp_path / "query.npy"
    prices.write_text("".join(f"{cost}\n" for cost in costs))
    listed.write_text("8\n9\n")
    np.save(other, rows()[:4])
    said = {
        ("-k", 6, "--objective", "graph_cut", "--kernel", "rbf", "--power", 2, "--parameter", "redundancy=0.1"): {
            "k": 6, "objective": "graph_cut", "kernel": "rbf", "power": 2, "redundancy": 0.1
        },
        ("-k", 6, "--groups", groups, "--quota", "g1=2:3", "--quota", "g2=:1"): {
            "k": 6, "groups": members, "quotas": {"g1": (2, 3), "g2": (None, 1)}
        },
        ("--costs", prices, "--budget", 30, "--include", 1, "--include-file", listed): {
            "costs": costs, "budget": 30, "include": ["1", "8", "9"]
        },
        ("--cover", 0.5, "--exclude-file", listed): {"cover": 0.5, "exclude": ["8", "9"]},
        ("-k", 6, "--objective", "com", "--query", other, "--parameter", "psi=log"): {
            "k": 6, "objective": "com", "query": rows()[:4], "psi": "log"
        },
        ("-k", 6, "--avoid", other): {"k": 6, "avoid": rows()[:4]},
        ("-k", 6, "--optimizer", "stochastic", "--seed", 5): {"k": 6, "optimizer": "stochastic", "seed": 5},
        ("-k", 6, "--swaps", 3): {"k": 6, "swaps": 3},
    }  # fmt: skip
    default = select(rows(), 6)
    for options, arguments in said.items():
        status, out, _ = run(capsys, file, *options, "--json")
        expected = select(rows(), **arguments)

        assert status == 0
        assert json.loads(out)["indices"] == expected.indices.tolist()
        assert json.loads(out)["value"] == expected.value
        assert expected.gains.tolist() != default.gains.tolist()


def test_columns_of_a_parquet_file_can_be_named(capsys, tmp_path: Path):
    """Where they are not named as usual."""
    names, members = [f"p{number:02}" for number in range(60)], [f"g{number % 3}" for number in range(60)]
    costs = [1 + number % 4 for number in range(60)]
    columns = {"vector": rows().tolist(), "key": names, "topic": members, "tokens": costs, "id": names[::-1]}
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    named = ("--id-column", "key", "--group-column", "topic", "--json")

    _, picked, _ = run(capsys, tmp_path / "x.parquet", "-k", 9, *named)
    _, bought, _ = run(capsys, tmp_path / "x.parquet", "--budget", 9, *named)

    assert json.loads(picked)["ids"] == list(select(rows(), 9, ids=names, groups=members).ids)
    expected = select(rows(), ids=names, groups=members, costs=costs, budget=9)
    assert json.loads(bought)["ids"] == list(expected.ids)


def test_prices_may_stand_in_an_array_of_their_own(capsys, file: Path, tmp_path: Path):
    """As NumPy saves it, instead of in lines."""
    costs = np.arange(1.0, 61)
    np.save(tmp_path / "costs.npy", costs)

    _, out, _ = run(capsys, file, "--costs", tmp_path / "costs.npy", "--budget", 30)

    assert out.split() == list(select(rows(), costs=costs, budget=30).ids)


def _in_shell(file: Path, redirection: str) -> subprocess.CompletedProcess[str]:
    command = f"exec {sys.executable} -m benchcore pick {file} -k 3 {redirection}"
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)


def test_a_closed_stderr_keeps_nobody_from_the_picks(file: Path):
    """There is only nowhere to tell anything."""
    done = _in_shell(file, "2>&-")

    assert (done.returncode, done.stdout.split()) == (0, list(select(rows(), 3).ids))


@pytest.mark.parametrize(
    ("redirection", "told"), [(">&-", "Bad file descriptor"), (">/dev/full", "No space left on device")]
)
def test_a_stdout_that_takes_nothing_is_told(file: Path, redirection: str, told: str):
    """In one line, and the status says that it failed."""
    done = _in_shell(file, redirection)

    assert done.returncode == 1
    assert done.stderr == f"benchcore: error: stdout: cannot be written ({told})\n"


def test_sparse_features_are_read(capsys, tmp_path: Path):
    """As SciPy saves them."""
    features = csr_array(np.maximum(rows(), 0))
    save_npz(tmp_path / "x.npz", features)

    _, out, _ = run(capsys, tmp_path / "x.npz", "-k", 5, "--objective", "feature_based")

    assert out.split() == list(select(features, 5, objective="feature_based").ids)


def _save(path: Path, array: np.ndarray) -> Path:
    np.save(path, array, allow_pickle=True)
    return path


def _with_nan() -> np.ndarray:
    array = rows()
    array[[3, 7], 2] = np.nan
    return array


@pytest.mark.parametrize(
    ("array", "told"),
    [
        (np.array([{}, 1], dtype=object), "x.npy: holds Python objects. Save a plain matrix"),
        (np.array([["a", "b"]]), "needs numbers, has <U1"),
        (np.zeros(5, np.float32), "needs an array of shape (rows, dimensions), has (5,)"),
        (np.zeros((0, 4), np.float32), "needs an array of shape (rows, dimensions), has (0, 4)"),
        (_with_nan(), "2 of 60 vectors are not finite: 3, 7"),
    ],
)
def test_an_array_that_cannot_be_used_is_told(capsys, tmp_path: Path, array: np.ndarray, told: str):
    """With the file or the rows, and how to mend it; status 2, nothing on stdout."""
    status, out, err = run(capsys, _save(tmp_path / "x.npy", array), "-k", 1)

    assert (status, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("{folder}/none.npy", "-k", 1), "none.npy: cannot be read (No such file or directory)"),
        (("{folder}", "-k", 1), "cannot be read (Is a directory)"),
        (("{folder}/groups.txt", "-k", 1), "groups.txt: is neither a .npy nor a Parquet file"),
        (("{folder}/cut.npy", "-k", 1), "cut.npy: cannot be read"),
        (("{folder}/cut.parquet", "-k", 1), "cut.parquet: is no Parquet file that can be read"),
        (("{folder}/other.parquet", "-k", 1), "has no column 'vector' (columns: a)"),
        (("{folder}/flat.parquet", "-k", 1), "must hold lists of numbers, holds int64"),
        (("{folder}/ragged.parquet", "-k", 1), "row 1 has 1 dimensions, row 0 has 2"),
        (("{folder}/x.npy", "-k", 61), "k: cannot pick 61 of 60"),
        (("{folder}/x.npy", "-k", -1), "Choose k from 0 to 60"),
        (("{folder}/x.npy", "-k", "many"), "See `benchcore pick --help`"),
        (("{folder}/x.npy",), "Missing option '-k'"),
        (("{folder}/x.npy", "-k", 1, "--groups", "{folder}/short.txt"), "has 2 lines, and the array has 60 rows"),
        (("{folder}/x.npy", "-k", 1, "--groups", "{folder}/x.npy"), "x.npy: cannot be read (not UTF-8)"),
        (("{folder}/x.npy", "-k", 1, "--ids", "{folder}/none.txt"), "none.txt: cannot be read (No such file"),
        (("{folder}/x.npy", "-k", 1, "--include", "99"), "unknown ids: 99"),
        (("{folder}/x.npy", "-k", 1, "--method", "facility_locatoin"), "Did you mean 'facility_location'?"),
        (("{folder}/x.npy", "-k", 1, "--mass", "makro"), "unknown mass 'makro'"),
        (("{folder}/x.npy", "-k", 1, "--kernel", "cosin"), "Did you mean 'cosine'?"),
        (("{folder}/x.npy", "-k", 1, "--quota", "g1=2"), "'g1=2' is not GROUP=LOW:HIGH"),
        (("{folder}/x.npy", "-k", 1, "--quota", "g1=a:b"), "'g1=a:b' is not GROUP=LOW:HIGH"),
        (("{folder}/x.npy", "-k", 1, "--parameter", "redundancy"), "'redundancy' is not NAME=VALUE"),
        (("{folder}/x.npy", "-k", 1, "--parameter", "redundancy=1"), "is a parameter of graph_cut"),
        (("{folder}/x.npy", "-k", 1, "--parameter", "redundance=1"), "Did you mean 'redundancy'?"),
        (("{folder}/x.npy", "-k", 1, "--parameter", "power=2"), "unknown parameter 'power'"),
        (("{folder}/x.npy", "-k", 1, "--id-column", "key"), "only a Parquet file has columns"),
        (("{folder}/x.npy", "--budget", 5), "budget without costs"),
        (("{folder}/x.npy", "--budget", 5, "--costs", "{folder}/groups.txt"), "row 0 costs 'g0', which is no number"),
        (("{folder}/empty.parquet", "-k", 1), "empty.parquet: has no rows"),
        (("{folder}/null.parquet", "-k", 1), "1 rows have no vector (null), row 1 first"),
        (("{folder}/zero.parquet", "-k", 1), "zero.parquet: rows have no numbers"),
        (("{folder}/named.parquet", "-k", 1, "--id-column", "nope"), "no column 'nope' (columns: vector, a, b)"),
        (("{folder}/named.parquet", "-k", 1, "--id-column", "vector"), "column 'vector' holds the vectors"),
        (("{folder}/named.parquet", "-k", 1, "--id-column", "b"), "ids: row 0 has no value (None)"),
        (("{folder}/x.npy", "-k", 1, "--quota", "a=1:2"), "names the group 'a', and rows have no groups"),
        (("{folder}/x.npy", "-k", 1, "--ids", "{folder}/x.npy"), "Give a text file with one value a line"),
        (("{folder}/x.npy", "--budget", 5, "--costs", "{folder}/x.npy"), "has numbers of shape (60, 8), and the array"),
        (("{folder}/x.npy", "-k", 1, "--seed", -1), "seed: must be a whole number of at least 0, got -1"),
        (("{folder}/x.npy", "-k", 1, "--groups", "{folder}/groups.txt", "--optimizer", "sieve_streaming"), "--no-bal"),
        (("{folder}/cut.npz", "-k", 1), "cut.npz: is no sparse matrix that can be read"),
    ],
)
def test_wrong_arguments_are_told(capsys, file: Path, groups: Path, arguments: tuple, told: str):
    """One line that names the file or the option; status 2."""
    tmp_path = groups.parent
    (tmp_path / "short.txt").write_text("a\nb\n")
    (tmp_path / "cut.npy").write_bytes(file.read_bytes()[:200])
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "cut.npz").write_bytes(b"PK\x03\x04 and no more")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    pq.write_table(pa.table({"vector": [1]}), tmp_path / "flat.parquet")
    pq.write_table(pa.table({"vector": [[1.0, 2.0], [1.0]]}), tmp_path / "ragged.parquet")
    lists = pa.list_(pa.float32())
    pq.write_table(pa.table({"vector": pa.array([], lists)}), tmp_path / "empty.parquet")
    pq.write_table(pa.table({"vector": pa.array([[1.0], None], lists)}), tmp_path / "null.parquet")
    pq.write_table(pa.table({"vector": pa.array([[], []], lists)}), tmp_path / "zero.parquet")
    pq.write_table(pa.table({"vector": [[1.0], [2.0]], "a": [1, 2], "b": [None, "x"]}), tmp_path / "named.parquet")

    status, out, err = run(capsys, *(str(argument).format(folder=tmp_path) for argument in arguments))

    assert (status, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1


def test_a_thousand_rows_cold_take_less_than_three_seconds(tmp_path: Path):
    """A fresh interpreter, imports and all; processor time on one thread, since test machines are busy."""
    np.save(tmp_path / "x.npy", rows(1000, 384))
    command = [sys.executable, "-m", "benchcore", "pick", str(tmp_path / "x.npy"), "-k", "100", "--json"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    one_thread = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=one_thread)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)

    assert len(json.loads(done.stdout)["ids"]) == 100
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 3

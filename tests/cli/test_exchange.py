"""`benchcore export` and `import`: a coreset goes out, scores come back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchcore.cli.main import app, execute
from benchcore.registry.root import Registry
from benchcore.registry.tables import read
from tests.registry.stored import prompt, store, store_coreset

ROWS = [prompt("tides", number, prompt=f"Name harbour {number}.", record_id=f"r{number}") for number in range(3)]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "registry"
    store(Registry.at(root), "prompts", ROWS)
    store_coreset(Registry.at(root), "abcdef", ROWS[:2])
    return root


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = execute(app, list(map(str, arguments)))
    said = capsys.readouterr()
    return status, said.out, said.err


def test_a_coreset_goes_out_and_its_scores_come_back(capsys, root: Path, tmp_path: Path):
    """The newest one; each says what it did, as JSON where that is wanted."""
    out, results = tmp_path / "out", tmp_path / "results.jsonl"
    exported = run(capsys, "export", "latest", "--harness", "jsonl", "--out", out, "--root", root, "--json")
    picks = [json.loads(line) for line in (out / "picks.jsonl").read_text().splitlines()]
    results.write_text("".join(json.dumps({"prompt_id": pick["prompt_id"], "score": 1}) + "\n" for pick in picks))

    command = ("import", results, "--harness", "jsonl", "--model", "m", "--root", root, "--json")
    first, second = (run(capsys, *command) for _ in range(2))

    assert (exported[0], json.loads(exported[1])["exported"]) == (0, 2)
    assert [json.loads(said)["scores"] for _, said, _ in (first, second)] == [2, 0]
    assert json.loads(first[1])["coresets"][0]["scored"] == 2


def test_for_people_there_are_tables_and_what_was_noticed_on_stderr(capsys, root: Path, tmp_path: Path):
    """Unmatched results with an example."""
    results = tmp_path / "results.csv"
    results.write_text(f"prompt_id,model,score\n{ROWS[0]['prompt_id']},m,1\nnobody\x1b,m,1\n")

    status, out, err = run(capsys, "import", results, "--harness", "jsonl", "--root", root)

    assert status == 0
    assert "new scores" in out
    assert "abcdef" in out
    assert "unmatched: 1" in err
    assert "nobody" in err
    assert "\x1b" not in err


def test_the_command_to_run_is_told(capsys, root: Path, tmp_path: Path):
    """After the counts."""
    status, out, _ = run(capsys, "export", "abc", "--harness", "jsonl", "--out", tmp_path / "out", "--root", root)

    assert status == 0
    assert "your-script picks.jsonl" in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--harness", "lm_eval"), "no harness 'lm_eval'"),
        ((), "whose logs are these?"),
        (("--harness", "mapped"), "Give --map"),
        (("--harness", "jsonl", "--map", "m.yaml"), "--map goes without"),
        (("--harness", "jsonl", "--scale", "x"), "'x' is no scale"),
        (("--harness", "jsonl", "--bind", "a=tidse"), "Did you mean 'tides'"),
        (("--harness", "jsonl", "--prompt", "{{ a"), "template"),
    ],
)
def test_wrong_usage_is_told(capsys, root: Path, tmp_path: Path, arguments: tuple[str, ...], told: str):
    """Status 2, one line, the nearest right name."""
    (tmp_path / "r.jsonl").write_text('{"prompt_id": "p", "score": 1, "model": "m"}\n')

    status, _, err = run(capsys, "import", tmp_path / "r.jsonl", *arguments, "--root", root)

    assert status == 2
    assert told in err
    assert len(err.strip().splitlines()) == 1


def test_logs_of_ones_own_by_a_mapping_and_a_configuration(capsys, root: Path, tmp_path: Path):
    """The last path is the configuration, which names the registry."""
    (tmp_path / "conf.yaml").write_text(f"registry: {{root: {root}}}\n")
    (tmp_path / "map.yaml").write_text("benchmark: tides\nid: '{{ id }}'\nscore: '{{ ok }}'\nmodel: m\n")
    (tmp_path / "log.jsonl").write_text('{"id": "r1", "ok": true}\n')
    where = (tmp_path / "log.jsonl", tmp_path / "conf.yaml")

    status, out, _ = run(capsys, "import", *where, "--map", tmp_path / "map.yaml", "--json")

    assert (status, json.loads(out)["scores"]) == (0, 1)


def test_a_registry_that_there_is_not_is_not_made(capsys, tmp_path: Path):
    """By neither command."""
    (tmp_path / "r.jsonl").write_text("{}\n")
    root = ("--root", tmp_path / "none", "--harness", "jsonl")

    assert run(capsys, "import", tmp_path / "r.jsonl", *root)[0] == 1
    assert run(capsys, "export", "latest", *root, "--out", tmp_path / "out")[0] == 1
    assert not (tmp_path / "none").exists()
    assert not (tmp_path / "out").exists()


def test_names_that_are_no_unicode_are_told_as_escapes(capsys, root: Path, tmp_path: Path):
    """A table and a JSON document come out whole."""
    out = tmp_path / "\udcff"
    exported = run(capsys, "export", "latest", "--harness", "jsonl", "--out", out, "--root", root)
    again = run(capsys, "export", "latest", "--harness", "jsonl", "--out", out, "--root", root, "--json")

    assert [status for status, _, _ in (exported, again)] == [0, 0]
    assert "\\udcff" in exported[1]
    assert json.loads(again[1])["out"].endswith("\\udcff")


def test_no_name_is_no_coreset(capsys, root: Path, tmp_path: Path):
    """As a variable of the shell gives that is not set: every id begins so."""
    status, _, err = run(capsys, "export", "", "--harness", "jsonl", "--out", tmp_path / "out", "--root", root)

    assert status == 1
    assert "no coreset ''" in err


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("0,,", "Without a benchmark an id must be a prompt_id. Ids of tides look like 'r0'. A column `benchmark`"),
        ("0,tides,", "Ids of tides look like 'r0'."),
        ("0,tidse,", "There is no benchmark 'tidse'. Did you mean 'tides'?"),
        ("0,weirs,", "There is no benchmark 'weirs'. There are tides."),
    ],
)
def test_ids_that_are_none_are_told_with_how_they_look(capsys, root: Path, tmp_path: Path, row: str, told: str):
    """And which benchmark may be meant."""
    (tmp_path / "r.csv").write_text(f"id,benchmark,score\n{row}1\n")

    status, _, err = run(capsys, "import", tmp_path / "r.csv", "--harness", "jsonl", "--model", "m", "--root", root)

    assert status == 1
    assert told in err


def test_an_import_without_any_score_fails_and_a_mistaken_one_can_be_mended(capsys, root: Path, tmp_path: Path):
    """In one line each: what was stored stays until --replace says otherwise."""
    command = ("import", tmp_path / "r.csv", "--harness", "jsonl", "--model", "m", "--run", "r", "--root", root)

    def brought(score: str, *options: str) -> tuple[int, str, str]:
        (tmp_path / "r.csv").write_text(f"prompt_id,score\n{ROWS[0]['prompt_id']},{score}\n")
        return run(capsys, *command, *options)

    percent, empty = brought("28.6%"), brought("")
    statuses = [brought("30", "--scale", "0:100")[0]]
    kept, replaced = brought("0.4"), brought("0.4", "--replace")
    scores = read(Registry.at(root), "scores")["score"].to_pylist()

    assert (percent[0], empty[0], statuses, kept[0], replaced[0]) == (1, 1, [0], 0, 0)
    assert "remove the sign, and declare --scale METRIC=0:100" in percent[2]
    assert "LOW:HIGH" not in percent[2]
    assert "0 refused, 1 missing" in empty[2]
    assert "a score differs from the stored one, which is kept (--replace takes the new one, --run NAME" in kept[2]
    assert "0.4 in the log, 0.3 stored" in kept[2]
    assert "a stored score was replaced" in replaced[2]
    assert scores == [0.4]


def test_only_harnesses_with_logs_are_offered(capsys, root: Path, tmp_path: Path):
    """MTEB's have none of single prompts."""
    (tmp_path / "r.csv").write_text("prompt_id,score\np,1\n")

    _, _, err = run(capsys, "import", tmp_path / "r.csv", "--root", root)

    assert "whose logs are these? One of jsonl, parquet, " in err
    assert "mteb" not in err

"""`benchcore plan`: the table, JSON, the figure, and what goes wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from benchcore.cli.main import app, execute
from tests.pipeline.prepared import prepared


@pytest.fixture(scope="module")
def conf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plan")
    section = {"output_tokens": 50, "prices": {"large": {"input": 3, "output": 15}}, "currency": "EUR"}
    config = prepared(folder, plan=section)
    (folder / "conf.yaml").write_text(yaml.safe_dump(config.model_dump(mode="json")))
    return folder / "conf.yaml"


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = execute(app, [str(argument) for argument in arguments])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_the_table_says_what_each_k_buys(capsys, conf: Path):
    """A row a size, the answers below it, then what the figures rest on; each line fits a page."""
    status, out, _ = run(capsys, "plan", conf, "--points", 9, "--tokens", 900, "--benchmarks")

    assert status == 0
    assert "nested_swaps: 80 prompts, 3 benchmarks" in out
    assert "large, EUR" in out
    assert [line.split()[0] for line in out.splitlines() if line.strip()[:2].isdigit()][:5] == list_of(
        10, 20, 30, 50, 75
    )
    assert "poems" in out
    assert "k for a model's score within 9 points at 95 %: k = " in out
    assert "what 900 tokens buy: k = " in out
    assert "Tokens of a model's input are estimated" in out


def list_of(*numbers: int) -> list[str]:
    return [str(number) for number in numbers]


def test_json_holds_the_same(capsys, conf: Path):
    """Sizes with coverage by benchmark, errors, tokens and money; answers with the size that they name."""
    status, out, _ = run(capsys, "plan", conf, "--json", "--gap", 12, "--points", 0.001, "--k-max", 40)
    told = json.loads(out)
    gap, points = told["answers"][1], told["answers"][0]

    assert status == 0
    assert [size["k"] for size in told["sizes"]] == [10, 20, 30, 40]
    assert set(told["sizes"][0]["benchmarks"]) == {"arithmetic", "history", "poems"}
    assert told["sizes"][0]["output_tokens"] == 500
    assert told["sizes"][0]["tokens"] == 500 + told["sizes"][0]["input_tokens"]
    assert told["sizes"][0]["expected"]["margin"]["low"] <= told["sizes"][0]["expected"]["margin"]["mean"]
    assert gap["size"]["k"] == gap["k"]
    assert (points["k"], points["size"]) == (80, None)
    assert (told["k_max"], told["prompts"], told["currency"]) == (40, 80, "EUR")


def test_the_figure_is_the_same_file_each_time(capsys, conf: Path, tmp_path: Path):
    """Text stays text, and no date is in it."""
    pytest.importorskip("matplotlib")
    for name in ("one.svg", "two.svg", "three.png"):
        assert run(capsys, "plan", conf, "--figure", tmp_path / name, "--json")[0] == 0

    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert "error to expect" in (tmp_path / "one.svg").read_text()
    assert (tmp_path / "three.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--figure", "plan.gif"), "--figure: 'plan.gif' is no figure. End it in .svg or .png."),
        (("--set", "plan.kmax=3"), "unknown key 'plan.kmax'. Did you mean 'k_max'?"),
        (("--set", "plan.output_tokens=-3"), "plan.output_tokens"),
        (("--money", "1", "--price", "tiny"), "unknown price 'tiny'"),
        (("--set", "select.audit=20"), "an audit slice needs k of at least 400, and k is 10"),
    ],
)
def test_mistakes_are_one_line(capsys, conf: Path, arguments: tuple[str, ...], told: str):
    """Status 2, and nothing on stdout."""
    status, out, err = run(capsys, "plan", conf, "-q", *arguments)

    assert (status, out, err.count("\n")) == (2, "", 1)
    assert told in err


def test_a_senseless_question_is_refused_before_anything_is_planned(capsys, conf: Path, tmp_path: Path):
    """Planning may take minutes; here there is not even a registry."""
    nowhere = ("--root", tmp_path / "nowhere")
    for arguments, told in (
        (("--points", -1), "--points: -1 is no positive number"),
        (("--tokens", 0), "--tokens: 0 is no positive number"),
    ):
        status, _, err = run(capsys, "plan", conf, "-q", *nowhere, *arguments)
        assert (status, err.count("\n")) == (2, 1)
        assert told in err

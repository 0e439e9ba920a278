"""`benchcore estimate` and `compare`: what they print, and what they refuse."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchcore.cli.compare import export_command, new_prompts
from benchcore.cli.compare import further as told_further
from benchcore.cli.estimate import told
from benchcore.cli.main import app, execute
from benchcore.scoring.comparison import compare
from benchcore.scoring.estimates import estimate
from benchcore.scoring.picked import picked
from tests.scoring.planted import CORESET, Planted, planted


@pytest.fixture
def suite(tmp_path: Path) -> Planted:
    """Two benchmarks, one of them hardly picked from; two models, one of which is hostile to terminals."""
    suite = planted(tmp_path / "registry", {"a": 50, "b": 50}, {"a": 30, "b": 5}, method="random")
    suite.score("org/one", [1.0, 0.0, 1.0, 1.0, 0.0] * 7)
    suite.score("\x1b[31mtwo[/bold]", [0.0, 0.0, 1.0, 0.0, 0.0] * 7)
    return suite


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = execute(app, [*map(str, arguments)])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_estimates_are_points_with_an_interval_for_people(capsys, suite: Planted):
    """And shares for scripts; the same figures."""
    root = suite.registry.root
    status, out, _ = run(capsys, "estimate", "latest", "--root", root, "--model", "org/one")
    shares = json.loads(run(capsys, "estimate", CORESET[:3], "--root", root, "--model", "org/one", "--json")[1])

    whole = next(each for each in shares["targets"] if each["target"] == "suite")
    assert status == 0
    assert whole["estimate"] == pytest.approx(0.6)
    assert f"60.0 [{100 * whole['low']:.1f}, {100 * whole['high']:.1f}]" in out
    assert "1 target is not estimable: fewer than 10 effective picks (1) (--all lists them)" in out
    assert "benchmark:b" not in out
    assert "design: the picks were drawn at random" in out


def test_all_models_are_shown_and_cannot_drive_the_terminal(capsys, suite: Planted):
    """The strongest first."""
    status, out, _ = run(capsys, "estimate", "latest", "--root", suite.registry.root)

    assert status == 0 and "\x1b" not in out
    assert out.index("org/one") < out.index("\\x1b[31mtwo[/bold]")


def test_a_file_has_what_json_has(capsys, suite: Planted, tmp_path: Path):
    root, file = suite.registry.root, tmp_path / "new" / "estimates.json"
    status, out, _ = run(capsys, "estimate", "latest", "--root", root, "--json", "--out", file)

    assert status == 0
    assert json.loads(file.read_text()) == json.loads(out)


def test_a_file_of_the_shared_schema_holds_one_model(capsys, suite: Planted, tmp_path: Path):
    """More are refused, with their names."""
    common = ("estimate", "latest", "--root", suite.registry.root, "--format", "every-eval-ever", "--out")
    status, _, err = run(capsys, *common, tmp_path / "all.json")
    assert status == 2 and "holds one model" in err and not (tmp_path / "all.json").exists()

    assert run(capsys, *common, tmp_path / "one.json", "--model", "org/one")[0] == 0
    results = json.loads((tmp_path / "one.json").read_text())["evaluation_results"]
    assert {result["evaluation_name"]: result["score_details"]["score"] for result in results}["suite"] == 0.6


def test_a_panel_is_rebuilt_from_the_pinned_prompts(capsys, suite: Planted):
    """A model with scores on all of them, and one that leans on it."""
    easy = np.random.default_rng(0).integers(0, 2, 100).astype(float)
    suite.score("known", dict(enumerate(easy.tolist())))
    shown = json.loads(run(capsys, "estimate", "latest", "--root", suite.registry.root, "--panel", "--json")[1])

    assert shown["panel"] == ["known"] and "org/one" in shown["models"]
    assert {each["estimator"] for each in shown["targets"] if each["model"] == "org/one"} == {"aipw"}
    known = next(each for each in shown["targets"] if (each["model"], each["target"]) == ("known", "suite"))
    assert (known["estimate"], known["kind"]) == (pytest.approx(easy.mean()), "exact")


def test_a_comparison_has_a_verdict_in_one_line(capsys, suite: Planted):
    """The better one first, or that it is open and what would settle it."""
    root, other = suite.registry.root, "\x1b[31mtwo[/bold]"
    status, out, _ = run(capsys, "compare", other, "org/one", "--root", root)
    assert status == 0
    assert "org/one is better than \\x1b[31mtwo[/bold] by 40.0 [" in out

    suite.score("third", [1.0, 0.0, 1.0, 0.0, 1.0] * 6 + [0.0] * 5)
    shown = json.loads(run(capsys, "compare", "org/one", "third", "--root", root, "--json")[1])
    assert shown["verdict"].startswith("org/one and third cannot be told apart: the difference is ")
    assert 0 < shown["targets"][0]["further"] <= 65


def test_picks_that_one_model_lacks_are_the_first_further_prompts(capsys, tmp_path: Path):
    """And not counted among the new ones that a larger coreset has."""
    suite = planted(tmp_path / "registry", {"a": 500}, {"a": 60})
    suite.score("one", [1.0, 0.0, 1.0, 0.0, 1.0, 1.0] * 10)
    suite.score("half", dict(zip(suite.picks[:40].tolist(), [1.0, 1.0, 0.0, 0.0] * 10, strict=True)))
    suite.score("most", dict(zip(suite.picks[:59].tolist(), [0.0, 1.0, 1.0, 0.0] * 15, strict=False)))
    root = suite.registry.root

    further = json.loads(run(capsys, "compare", "one", "half", "--root", root, "--json")[1])["targets"][0]["further"]
    out = " ".join(run(capsys, "compare", "one", "half", "--root", root)[1].split())
    assert further > 20
    assert f"20 picks that only one of them has a score on so far, and {further - 20:,} new ones (--top-up CONF)" in out

    found = compare(suite.registry, suite.manifest, "one", "most")
    assert new_prompts(found, suite.manifest) == found.suite.further - 1
    few = replace(found, targets=(replace(found.suite, prompts=40, further=20), *found.targets[1:]), one_sided=20)
    assert new_prompts(few, suite.manifest) == 0
    assert str(told_further(few, suite.manifest)).endswith("picks that only one of them has a score on so far")
    whole = replace(found, targets=(replace(found.suite, further=441), *found.targets[1:]))
    assert new_prompts(whole, suite.manifest) is None


def test_of_new_picks_as_many_are_scored_as_of_those_so_far(tmp_path: Path):
    """So that more have to be added than scores are needed: 74 of 100 were scored, and 42 take 57."""
    suite = planted(tmp_path / "registry", {"a": 500}, {"a": 100})
    for name, scores in {"one": [1.0, 0.0] * 37, "two": [0.0, 1.0, 1.0, 0.0] * 18 + [1.0] * 2}.items():
        suite.score(name, dict(zip(suite.picks[:74].tolist(), scores, strict=True)))
    found = compare(suite.registry, suite.manifest, "one", "two")
    open_ = replace(found, targets=(replace(found.suite, further=42), *found.targets[1:]))

    assert (found.one_sided, found.unscored) == (0, 26)
    assert new_prompts(open_, suite.manifest) == 57
    assert told_further(open_, suite.manifest) == (
        "42 further scored prompts would settle it if the difference stayed what it is: about 57 picks more at the"
        " share that was scored so far (74 of 100; the other 26 come first if they can be scored) (--top-up CONF)"
    )
    more = replace(found, targets=(replace(found.suite, further=300), *found.targets[1:]))
    assert new_prompts(more, suite.manifest) is None
    assert "more than the other 400 would give at the share" in str(told_further(more, suite.manifest))


def test_a_top_up_of_what_is_settled_says_that_nothing_was_picked(capsys, suite: Planted, tmp_path: Path):
    conf = tmp_path / "conf.yaml"
    conf.write_text(f"registry: {{root: {suite.registry.root}}}\n")
    status, out, _ = run(capsys, "compare", "org/one", "\x1b[31mtwo[/bold]", conf, "--top-up")

    assert status == 0
    assert out.endswith("nothing was picked: the difference is settled\n")


def test_all_prompts_are_compared_where_both_have_scores_on_them(capsys, suite: Planted):
    """The command says when, and does it."""
    suite.score("known", dict.fromkeys(range(100), 1.0))
    suite.score("other", dict.fromkeys(range(100), 0.0) | {3: 1.0})
    _, picks, _ = run(capsys, "compare", "known", "other", "--root", suite.registry.root)
    status, out, _ = run(capsys, "compare", "known", "other", "--root", suite.registry.root, "--all")

    assert "--all compares on these" in picks
    assert status == 0 and "known is better than other by 99.0 [99.0, 99.0] points" in out


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((Path("a b/conf.yaml"), None, None), "benchcore export new 'a b/conf.yaml' --only-new c0ffee"),
        (
            (Path("c.yaml"), "/data/$(x)", ["select.k=7", "sources.data=it's"]),
            "benchcore export new c.yaml --root '/data/$(x)' --set select.k=7 --set 'sources.data=it'\"'\"'s'"
            " --only-new c0ffee",
        ),
    ],
)
def test_the_command_that_exports_new_picks_can_be_pasted(suite: Planted, given, expected: str):
    """With the configuration, root and settings that were given."""
    assert export_command("new", suite.manifest, *given) == f"{expected} --harness NAME --out DIR"


def test_picks_that_mislead_are_not_mended_by_intervals_that_there_are_not(tmp_path: Path):
    """The audit's are only recommended where a target has one."""
    suite = planted(tmp_path / "registry", {"a": 500, "b": 500}, {"a": 40, "b": 40}, audit=12)
    roles = picked(suite.registry, suite.manifest).audit
    suite.score("one", np.where(roles, np.arange(80) % 4 == 0, np.arange(80) % 8 > 0).astype(float).tolist())
    found = estimate(suite.registry, suite.manifest)
    without = replace(found, targets=tuple(replace(each, kind="model") for each in found.targets))

    assert "the chosen picks mislead: trust the audit's intervals" in told(found)[0]
    assert "the chosen picks mislead: trust no interval, and draw a larger select.audit" in told(without)[0]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("estimate", "latest", "--level", "95"), 2, "95 is not between 0 and 1"),
        (("estimate", "latest", "--format", "csv"), 2, "no format 'csv'"),
        (("estimate", "latest", "--format", "every-eval-ever"), 2, "--out FILE.json"),
        (("estimate", "nowhere"), 1, "no coreset 'nowhere'"),
        (("estimate", "latest", "--model", "nobody"), 2, "no scores of nobody"),
        (("estimate", "latest", "--model", "org/onee"), 2, "Did you mean org/one?"),
        (("estimate", "latest", "--panel"), 1, "no model has scores on 95 %"),
        (("compare", "org/one", "org/one"), 2, "itself"),
        (("compare", "org/one", "nobody"), 2, "no scores of nobody"),
        (("compare", "org/one", "org/onee"), 2, "Did you mean org/one? There are scores of"),
        (("compare", "org/one", "x", "--all", "--top-up"), 2, "nothing to pick"),
        (("compare", "org/one", "x", "--top-up"), 2, "Name CONF"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(capsys, suite: Planted, arguments: tuple[str, ...], status: int, message):
    ended, out, err = run(capsys, *arguments, "--root", suite.registry.root)

    assert (ended, out) == (status, "")
    assert message in err and err.count("\n") == 1


def test_a_registry_without_scores_says_how_they_get_there(capsys, tmp_path: Path):
    suite = planted(tmp_path / "registry", {"a": 50}, {"a": 30})
    status, _, err = run(capsys, "estimate", "latest", "--root", suite.registry.root)

    assert status == 1
    assert "no model has scores on the picks" in err and "benchcore import" in err


def test_a_root_without_registry_is_told_and_not_made(capsys, tmp_path: Path):
    status, _, err = run(capsys, "estimate", "latest", "--root", tmp_path / "none")

    assert status == 1 and "there is no registry" in err
    assert not (tmp_path / "none").exists()

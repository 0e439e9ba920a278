"""Figures are written, can be read, name what they show, and are the same for the same findings."""

from __future__ import annotations

import sys
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from benchcore.errors import UsageError
from benchcore.lab.compare import compare
from benchcore.lab.figures import FIGURES, write_figures
from benchcore.lab.figures.drawing import drawing
from benchcore.lab.figures.lines import chosen_lines
from benchcore.lab.figures.predicted import predicted_scores
from benchcore.lab.protocol import Protocol
from benchcore.lab.rows import ALL, Findings, ModelScores, Row, Summary
from tests.lab.planted import PLANTED, clustered, field

HOSTILE = "a<b & $x$ \x07_^{"
PAIRS = (("random", "macro"), ("plain_random", "plain"), ("swaps", "macro"))


def made(kind: type, **known: Any) -> Any:
    """A record with every field that is not given set to nothing in particular."""
    blank = {"str": "", "bool": True, "int": 1, "float": 1.0}
    given = {
        one.name: blank.get(str(one.type))
        for one in fields(kind)
        if one.default is MISSING and one.default_factory is MISSING
    }
    return kind(**{**given, **known})


def made_up(
    pairs: Any = PAIRS, suites: Any = ("first", "second"), ks: Any = (50, 100), default: str = "swaps"
) -> Findings:
    """Findings whose errors fall with the budget and rise with the place of the method."""
    rows, summaries, scores = [], [], []
    for suite in suites:
        for place, (method, estimator) in enumerate(pairs):
            ratio = 0.9 + 0.1 * place if place else 1.0
            own = {"suite": suite, "method": method, "estimator": estimator, "is_default": method == default}
            band = {"ratio": ratio, "ratio_low": ratio - 0.05, "ratio_high": ratio + 0.05}
            agreement = (0.5, 0.6, None, 1.0)
            rows += [made(Row, **own, **band, k=k, mae=40 * ratio / k**0.5, pair_agreement=agreement) for k in ks]
            summaries.append(made(Summary, **own, **band))
            truth = np.linspace(20, 80, 7)
            names = np.array([f"m{number}" for number in range(7)])
            scores += [ModelScores(suite, method, estimator, k, names, truth, truth + 1, truth * 0 + 3) for k in ks]
    if len(suites) > 1:
        summaries += [replace(summary, suite=ALL) for summary in summaries[: len(pairs)]]
    return Findings(rows, summaries, [], [], model_scores=scores)


def words(file: Path) -> str:
    """All text of an SVG file, in which it is text and no outlines."""
    return "\n".join(
        "".join(node.itertext()) for node in ElementTree.parse(file).iter("{http://www.w3.org/2000/svg}text")
    )


def test_every_figure_is_written_and_names_what_it_shows(tmp_path: Path):
    files = write_figures(made_up(), tmp_path / "figures")

    assert [file.name for file in files] == [f"{name}.svg" for name in FIGURES]
    for file in files:
        for name in ("swaps", "random (control)"):
            assert name in words(file), (file.name, name)
    for name in ("error_by_budget", "methods_by_suite", "predicted_scores", "rank_flips"):
        said = words(tmp_path / f"figures/{name}.svg").replace(", k = 100", "").split("\n")
        assert {"first", "second"} <= set(said)
    assert {"macro", "plain"} <= set(words(tmp_path / "figures/selection_by_estimator.svg").split())


def test_the_same_findings_give_the_same_bytes(tmp_path: Path):
    """Without a date, a version or random names inside; whatever the user's own settings are."""
    import matplotlib

    first = write_figures(made_up(), tmp_path / "first")
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red"}):
        second = write_figures(made_up(), tmp_path / "second")
        assert matplotlib.rcParams["font.size"] == 30

    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name


def test_a_cell_of_a_heat_map_holds_the_ratio_in_order():
    figure = FIGURES["methods_by_suite"](made_up())

    assert figure is not None
    said = [text.get_text() for text in figure.axes[0].texts]
    assert said == ["1.00"] * 3 + ["1.10"] * 3
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["random (control)", "swaps (default)"]


def test_the_share_of_flips_is_that_of_disagreement():
    """Agreement of one half is drawn at 50 %; a gap that no pair has is left out."""
    figure = FIGURES["rank_flips"](made_up(suites=("one",)))

    assert figure is not None
    heights = np.array([line.get_ydata() for line in figure.axes[0].get_lines() if len(line.get_xdata()) == 4])
    assert np.allclose(heights, [[50, 40, np.nan, 0]] * 3, equal_nan=True)


def test_the_curve_is_the_error_and_the_band_its_interval():
    figure = FIGURES["error_by_budget"](made_up(suites=("one",)))

    assert figure is not None
    curves = {line.get_label(): line.get_ydata() for line in figure.axes[0].get_lines()}
    assert np.allclose(curves["swaps (default)"], 40 * 1.1 / np.sqrt([50, 100]))
    [band] = [one for one in figure.axes[0].collections if len(one.get_paths()) == 1]
    heights = band.get_paths()[0].vertices[:, 1]
    assert np.isclose(heights.max(), 40 * 1.15 / np.sqrt(50)) and np.isclose(heights.min(), 40 * 1.05 / np.sqrt(100))


ONE = made_up(suites=("one",))
ODD = {
    "one method": made_up(pairs=PAIRS[:1], suites=("one",)),
    "one budget and no model's scores": replace(ONE, rows=ONE.rows[::2], model_scores=[]),
    "nothing": Findings([], [], [], []),
    "hostile names": made_up(pairs=(*PAIRS, (HOSTILE, "macro")), suites=(HOSTILE, "名前")),
    "nothing but NaN": replace(
        ONE,
        rows=[replace(row, mae=np.nan, ratio=np.nan, pair_agreement=(None,) * 4) for row in ONE.rows],
        summaries=[replace(one, ratio=np.nan, ratio_low=np.nan, ratio_high=np.nan) for one in ONE.summaries],
    ),
    "no error": replace(
        ONE,
        rows=[replace(row, mae=0.0, ratio=0.0, ratio_low=0.0, ratio_high=0.0) for row in ONE.rows],
        summaries=[replace(one, ratio=0.0, ratio_low=0.0, ratio_high=0.0) for one in ONE.summaries],
    ),
    "scores of no model": replace(
        ONE, model_scores=[replace(one, truth=one.truth * np.nan) for one in ONE.model_scores]
    ),
}


@pytest.mark.parametrize("case", ODD)
@pytest.mark.filterwarnings("error")
def test_odd_findings_are_drawn_as_far_as_they_go(case: str, tmp_path: Path):
    """What is missing leaves a gap or no file, never a broken one nor a warning."""
    files = write_figures(ODD[case], tmp_path)

    for file in files:
        assert words(file)
    if case == "nothing":
        assert files == []
    if case == "hostile names":
        assert all("a<b & $x$  _^{" in words(file) for file in files if file.stem != "predicted_scores")


@pytest.mark.parametrize("name", FIGURES)
def test_labels_do_not_cover_each_other(name: str):
    """Of 27 methods on five suites with 12 estimators: every two texts stand apart."""
    methods = [f"facility_location_swaps_{place}" for place in range(26)]
    pairs = [("random", "macro"), *((method, f"estimator_{column}") for method in methods for column in range(11))]
    pairs += [(method, "macro") for method in methods]
    found = made_up(pairs, suites=[f"zeroeval_{letter}" for letter in "abcde"])

    figure = FIGURES[name](found)

    assert figure is not None
    assert covered(figure) == []


def covered(figure: Any) -> list[tuple[str, str]]:
    """Pairs of level texts that overlap as they are drawn."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    with drawing():
        renderer = FigureCanvasAgg(figure).get_renderer()
        figure.draw(renderer)
        beyond = [label for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) for label in outside(axis)]
        level = [text for text in figure.findobj(Text) if text.get_text() and not text.get_rotation()]
        shown = [text for text in level if text not in beyond]
        boxes = np.array([text.get_window_extent(renderer).extents for text in shown])
    low, high = boxes[:, None, :2], boxes[:, None, 2:]
    overlap = np.minimum(high, boxes[None, :, 2:]) - np.maximum(low, boxes[None, :, :2])
    both = np.argwhere(np.triu((overlap > 1).all(axis=2), 1))
    return [(shown[one].get_text(), shown[other].get_text()) for one, other in both]


def outside(axis: Any) -> list[Any]:
    """Labels of ticks that lie beyond the axis, which are not drawn."""
    low, high = sorted(axis.get_view_interval())
    labels = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
    return [label for place, label in labels if not low <= place <= high]


def test_lines_are_the_control_plain_random_the_default_and_those_named():
    found = made_up(pairs=[*PAIRS, *((name, "macro") for name in "abcdefgh")])

    assert [line.pair for line in chosen_lines(found)][:3] == [*PAIRS[:2], ("swaps", "macro")]
    assert [line.pair[0] for line in chosen_lines(found, ["h", "c"])][2:] == ["swaps", "h", "c"]
    every = chosen_lines(found, most=99)
    assert len({(line.colour, line.marker) for line in every}) == len(every) == 10


def test_scores_of_models_are_those_of_the_comparison(tmp_path: Path):
    """Their truth is the mean over sub-pools, and their errors make up the row's."""
    protocol = Protocol(ks=(20, 40), repeats=3, draws=2, control_draws=5)
    methods = field(**PLANTED)
    found = compare([str(clustered(tmp_path / "a"))], protocol, blocks=(), estimators=["plain"], field=methods)

    assert {(one.method, one.estimator, one.k) for one in found.model_scores} == {
        (method, "macro", k) for method in ("random", "planted") for k in (20, 40)
    }
    assert {one.is_default for one in found.rows if (one.method, one.estimator) == ("planted", "macro")} == {True}
    for scores in found.model_scores:
        [row] = [one for one in found.rows if (one.method, one.estimator, one.k) == (scores.method, "macro", scores.k)]
        assert list(scores.models) == [f"m{number}" for number in range(12)]
        assert (scores.estimate - scores.truth).mean() == pytest.approx(row.bias)
        assert np.sqrt((scores.rmse**2).mean()) == pytest.approx(row.rmse)
        assert np.all((scores.truth > 5) & (scores.truth < 95))


def test_scores_of_models_are_drawn_as_far_as_they_are_known():
    """A model without an estimate is left out; the corner tells the error of single estimates."""
    scores = replace(
        ONE.model_scores[1],
        models=np.array(["a", "b", "c"]),
        truth=np.array([10.0, 20.0, 30.0]),
        estimate=np.array([13.0, np.nan, 26.0]),
        rmse=np.array([3.0, 9.0, 4.0]),
    )
    figure = predicted_scores(replace(ONE, model_scores=[scores]))

    assert figure is not None
    assert any(text.get_text().endswith("RMSE 3.5") for text in figure.axes[0].texts)
    assert len(figure.axes[0].collections[0].get_offsets()) == 2


def test_without_matplotlib_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)

    with pytest.raises(UsageError, match=r"pip install 'benchcore\[plots\]'"):
        write_figures(made_up(), tmp_path)


def test_a_folder_that_cannot_be_is_told(tmp_path: Path):
    (tmp_path / "file").write_text("")

    with pytest.raises(UsageError, match="cannot be written"):
        write_figures(made_up(), tmp_path / "file" / "figures")

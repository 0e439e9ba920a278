"""What a file of picks says of new models, and what is refused of one that is damaged."""

import json
from pathlib import Path

import numpy as np
import orjson
import pytest

from benchcore.errors import UsageError
from benchcore.leaderboard.default import choose
from benchcore.leaderboard.forecast import forecast
from benchcore.leaderboard.picks_file import PicksFile, document_of, read_picks, write_json
from benchcore.leaderboard.rules import rules_for
from benchcore.leaderboard.seen import seen_on
from benchcore.leaderboard.transfer import read_transfer
from tests.leaderboard.planted import planted


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds picks that were chosen on 60 of 400 models."""
    made = tmp_path_factory.mktemp("picks")
    matrix = planted(3, models=400, noise=0.03).of_models(range(60))
    write_json(made / "picks.json", document_of(choose(matrix, 4), matrix, "planted"))
    return made


@pytest.fixture
def picks(folder: Path) -> PicksFile:
    return read_picks(folder / "picks.json")


def new_scores(picks: PicksFile) -> tuple[np.ndarray, np.ndarray]:
    """Of models that were not seen: all scores, and those on the picks."""
    truth = planted(3, models=400, noise=0.03).scores[100:]
    given = np.full(truth.shape, np.nan)
    chosen = list(picks.predictor.picks)
    given[:, chosen] = truth[:, chosen]
    return truth, given


def test_a_missing_pick_lies_in_its_interval_nine_times_in_ten(picks: PicksFile):
    """What the other picks leave open of it is the interval's width, and widens those of other tasks."""
    truth, given = new_scores(picks)
    names = [str(at) for at in range(len(given))]
    gone = picks.predictor.picks[1]
    full = forecast(picks, names, given)
    given[:, gone] = np.nan
    found = forecast(picks, names, given)
    inside = [
        each.tasks[gone].low <= true[gone] <= each.tasks[gone].high for each, true in zip(found, truth, strict=True)
    ]

    assert 0.8 < np.mean(inside) < 0.98
    assert not found[0].tasks[gone].measured
    assert all(
        one.mean_high - one.mean_low > two.mean_high - two.mean_low for one, two in zip(found, full, strict=True)
    )


def test_what_is_measured_is_certain(picks: PicksFile):
    """The interval of the mean shrinks with every further task that is measured, down to nothing."""
    truth, given = new_scores(picks)
    widths = []
    for measured in (4, 8, 16):
        others = [task for task in range(16) if task not in picks.predictor.picks][: measured - 4]
        given[:, others] = truth[:, others]
        found = forecast(picks, ["new"], given[:1])[0]
        widths.append(found.mean_high - found.mean_low)
        assert all(task.low == task.score == task.high for task in found.tasks if task.measured)

    assert widths[0] > widths[1] > widths[2] == 0
    assert np.isclose(100 * truth[0].mean(), found.mean)


def test_models_like_those_seen_are_rarely_outliers():
    """About one in as many as were seen, as chance has it; one that is unlike them is one."""
    random = np.random.default_rng(0)
    share = []
    for _ in range(40):
        scores = 0.5 + 0.1 * random.normal(size=(130, 8))
        seen = seen_on(scores[:30], range(8))
        share.append((seen.distances(scores[30:]) > seen.farthest).mean())

    assert np.mean(share) < 2 / 31
    assert seen.distances(np.full((1, 8), 1.2))[0] > seen.farthest


def damaged(document: dict, how: str) -> dict:
    """A document with one part that does not fit the others."""
    match how:
        case "scales":
            document["scales"] = document["scales"][:-1]
        case "width":
            document["interval"]["within"]["tasks"].append(0.1)
        case "seen":
            document["seen"]["centre"] = document["seen"]["centre"][:2]
        case "twice":
            document["picks"][1] = document["picks"][0]
        case "null":
            document["seen"]["covariance"][0][0] = None
    return document


@pytest.mark.parametrize("how", ["scales", "width", "seen", "twice", "null"])
def test_a_damaged_file_is_refused(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str):
    """In one line, whether its checksum tells or its parts do."""
    document = damaged(orjson.loads((folder / "picks.json").read_bytes()), how)
    (tmp_path / "picks.json").write_text(json.dumps(document))
    with pytest.raises(UsageError, match="was changed after it was written"):
        read_picks(tmp_path / "picks.json")
    from benchcore.leaderboard.picks_file import _checksum

    document["checksum"] = _checksum(document)
    (tmp_path / "picks.json").write_text(json.dumps(document))
    with pytest.raises(UsageError, match="is damaged"):
        read_picks(tmp_path / "picks.json")


@pytest.mark.parametrize("number", ["nan", "inf"])
def test_transfer_without_a_number_is_refused(tmp_path: Path, number: str):
    """It names the cell."""
    (tmp_path / "t.csv").write_text(f"a,b\n0.5,{number}\n0.2,0.4\n")
    with pytest.raises(UsageError, match=f"row 1, column 'b': {number} is no score"):
        read_transfer([tmp_path / "t.csv"], ["a", "b"])


def test_three_tenths_are_three_tenths():
    """A budget of .3 pays for three tasks at .1 each."""
    from dataclasses import replace

    matrix = replace(planted(), costs=np.full(16, 0.1))

    assert len(choose(matrix, None, budget=0.3).picks) == 3
    assert len(rules_for(matrix, matrix.tasks[:3], budget=0.3).include) == 3

"""What ships: it loads, names its licence, is small, and holds figures rather than texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchcore.datasets import load_leaderboard, load_scores, names
from benchcore.datasets.index import entries, folder
from benchcore.errors import UsageError

FILES = Path(str(folder()))
SHAPES = {
    "mmlu_pro": (12032, 29, 14),
    "zeroeval_gsm": (1319, 44, 1),
    "zeroeval_crux": (800, 51, 1),
    "zeroeval_math_l5": (721, 43, 1),
    "ifeval": (541, 448, 1),
}


def test_every_data_set_is_asked_for_by_name():
    assert list(SHAPES) == names("scores")
    assert names("leaderboard") == ["mmlu57", "mteb_v1"]
    assert sorted(names()) == sorted(names("scores") + names("leaderboard"))


@pytest.mark.parametrize("name", SHAPES)
def test_a_score_set_has_scores_of_0_and_1_and_features_for_every_prompt(name: str):
    loaded = load_scores(name)
    n, models, groups = SHAPES[name]

    assert loaded.scores.shape == (n, models) == (len(set(loaded.ids)), len(set(loaded.models)))
    assert len(np.unique(loaded.groups)) == groups
    assert set(np.unique(loaded.scores[~np.isnan(loaded.scores)])) == {0.0, 1.0}
    assert np.isnan(loaded.scores).mean() < 0.05
    assert {"embedding": (n, 384), "surface": (n, 19), "ngrams": (n, 100)} == {
        block: values.shape for block, values in loaded.features.items()
    }
    assert all(np.isfinite(values).all() for values in loaded.features.values())
    assert np.allclose(1, np.linalg.norm(loaded.features["embedding"], axis=1), atol=1e-3)
    assert loaded.lengths.shape == (n,) and loaded.lengths.min() > 0
    assert np.allclose(np.log1p(loaded.lengths), loaded.features["surface"][:, 0], atol=0.01)


@pytest.mark.parametrize(("name", "shape"), [("mmlu57", (152, 57)), ("mteb_v1", (170, 56))])
def test_a_leaderboard_is_complete_and_between_0_and_1(name: str, shape: tuple[int, int]):
    board = load_leaderboard(name)

    assert shape == board.scores.shape == (len(set(board.models)), len(set(board.tasks)))
    assert ((board.scores >= 0) & (board.scores <= 1)).all()
    assert board.scores.mean() > 0.2


def test_each_names_its_licence_and_source_and_the_notice_names_each():
    notice = (FILES / "NOTICE.txt").read_text(encoding="utf-8")

    for entry in entries().values():
        assert entry.licence in ("Apache-2.0", "MIT", "CC0-1.0")
        assert entry.source and entry.note and entry.title
        assert entry.file in notice
    assert "Permission is hereby granted" in notice


def test_all_files_together_stay_below_20_megabytes_and_each_is_named():
    sizes = {file.name: file.stat().st_size for file in FILES.iterdir()}

    assert sum(sizes.values()) <= 20_000_000
    assert {"index.json", "NOTICE.txt", *(entry.file for entry in entries().values())} == set(sizes)


@pytest.mark.parametrize("name", SHAPES)
def test_no_string_is_longer_than_a_name(name: str):
    """A prompt would be a sentence: ids have no spaces, and nothing is as long as a sentence."""
    with np.load(FILES / f"{name}.npz", allow_pickle=False) as arrays:
        strings = {key: arrays[key].tolist() for key in arrays.files if arrays[key].dtype.kind == "U"}
        kinds = {arrays[key].dtype.kind for key in arrays.files}

    assert {"ids", "groups", "models"} == set(strings)
    assert {"U", "i", "f"} == kinds
    assert not any(" " in identity or len(identity) > 40 for identity in strings["ids"])
    assert max(map(len, strings["groups"])) < 20
    assert max(map(len, strings["models"])) < 80


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(UsageError, match="no scores data set is named 'mmlu57'") as refused:
        load_scores("mmlu57")

    assert "ifeval" in str(refused.value)
    with pytest.raises(UsageError, match="mteb_v1"):
        load_leaderboard("mteb")

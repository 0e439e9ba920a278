"""What ships is what the builder makes of the real data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchcore.datasets.index import entries, folder
from benchcore.datasets.scores import packed, write_arrays
from benchcore.lab.suites import read_folder
from benchcore.methods.text_features import TEXT_FEATURES
from infra.build_datasets import arrays_of, leaderboard_of

FILES = Path(str(folder()))
SUITES = ["mmlu_pro", "zeroeval_gsm", "zeroeval_crux", "zeroeval_math_l5", "ifeval"]


@pytest.mark.parametrize("name", SUITES)
def test_shipped_arrays_are_those_of_the_real_data(shared_data: Path, name: str):
    """All but the vectors, since nothing is encoded here; features of the text only of the smaller suites."""
    suite = read_folder(shared_data / "scores" / name)
    blocks = dict.fromkeys(("embedding", "surface", "ngrams"), np.zeros((len(suite.ids), 1)))
    small = len(suite.ids) < 1000
    if small:
        blocks |= {name: feature.compute(suite.texts) for name, feature in TEXT_FEATURES.items()}
    built = arrays_of(suite, blocks)

    with np.load(FILES / f"{name}.npz", allow_pickle=False) as shipped:
        assert set(shipped.files) == set(built)
        for key in ("ids", "groups", "models", "scores", "lengths"):
            assert np.array_equal(built[key], shipped[key]), key
        for key in ("surface", "ngrams") if small else ():
            assert np.allclose(built[key], shipped[key], rtol=2e-3, atol=1e-4), key
        assert len(shipped["embedding"]) == len(suite.ids)


@pytest.mark.parametrize("name", [entry.name for entry in entries().values() if entry.kind == "leaderboard"])
def test_shipped_leaderboards_are_those_of_the_real_data(shared_data: Path, name: str):
    assert leaderboard_of(shared_data, name) == (FILES / f"{name}.csv").read_bytes()


def test_the_same_arrays_give_the_same_bytes(tmp_path: Path):
    generator = np.random.default_rng(0)
    arrays = packed(
        ids=np.array(["a", "b", "c"]),
        groups=np.array(["g", "g", "h"]),
        models=("x", "y"),
        scores=np.array([[0.0, 1.0], [np.nan, 1.0], [1.0, 0.0]]),
        features={name: generator.normal(size=(3, 4)) for name in ("embedding", "surface", "ngrams")},
        lengths=np.array([3, 1, 2]),
    )

    for name in ("one", "two"):
        write_arrays(tmp_path / f"{name}.npz", arrays)

    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    assert arrays["scores"].tolist() == [[0, 1], [-1, 1], [1, 0]]


def test_scores_between_0_and_1_are_not_rounded_away():
    blocks = {name: np.zeros((1, 1)) for name in ("embedding", "surface", "ngrams")}

    with pytest.raises(ValueError, match="other than 0 and 1"):
        packed(
            ids=np.array(["a"]),
            groups=np.array(["g"]),
            models=("x",),
            scores=np.array([[0.5]]),
            features=blocks,
            lengths=np.array([1]),
        )

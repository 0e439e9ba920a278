"""Shipped suites in the lab: the same as their folders, with neither texts nor an encoder."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchcore.cli.main import app, execute
from benchcore.errors import UsageError
from benchcore.lab.compare import compare
from benchcore.lab.contestants import USUAL_METHODS
from benchcore.lab.features import BLOCKS, features_of
from benchcore.lab.protocol import Protocol
from benchcore.lab.reproduce import SUITES, extent
from benchcore.lab.suites import load_suite

ZEROEVAL = ("zeroeval_gsm", "zeroeval_crux", "zeroeval_math_l5")


@pytest.mark.parametrize(
    ("spec", "folders"),
    [
        ("dataset:ifeval", "{}/ifeval"),
        ("dataset:mmlu_pro:odd", "{}/mmlu_pro:odd"),
        ("+".join(f"dataset:{name}" for name in ZEROEVAL), "+".join("{}/" + name for name in ZEROEVAL)),
    ],
)
def test_a_shipped_suite_is_that_of_its_folder(shared_data: Path, spec: str, folders: str):
    shipped, read = load_suite(spec), load_suite(folders.replace("{}", str(shared_data / "scores")))

    assert read.name == shipped.name
    assert read.models == shipped.models
    assert np.array_equal(read.ids, shipped.ids)
    assert np.array_equal(read.groups, shipped.groups)
    assert np.array_equal(read.scores, shipped.scores, equal_nan=True)
    assert np.array_equal(read.lengths, shipped.lengths)
    assert not shipped.texts


def test_blocks_follow_their_prompts_into_halves_and_joins(tmp_path: Path):
    whole, odd, even = (load_suite(f"dataset:mmlu_pro{half}") for half in ("", ":odd", ":even"))
    rows = np.flatnonzero(np.isin(whole.ids, odd.ids))

    blocks = features_of(odd, None, tmp_path, BLOCKS)

    assert all(np.array_equal(whole.blocks[name][rows], blocks[name]) for name in BLOCKS)
    assert len(odd.ids) + len(even.ids) == len(whole.ids)
    assert load_suite(SUITES["zeroeval"]).blocks["embedding"].shape == (1319 + 800 + 721, 384)
    assert not list(tmp_path.iterdir())


def test_without_texts_what_is_not_brought_is_refused(tmp_path: Path):
    (tmp_path / "own").mkdir()
    record = json.dumps({"prompt_id": "a", "prompt": "What?"})
    (tmp_path / "own" / "prompts.jsonl").write_text(record, encoding="utf-8")
    model = load_suite("dataset:ifeval").models[0]
    (tmp_path / "own" / "correct.csv").write_text(f"prompt_id,{model}\na,1\n", encoding="utf-8")
    suite = load_suite(f"{tmp_path / 'own'}+dataset:ifeval")

    with pytest.raises(UsageError, match="no block 'embedding', and no texts"):
        features_of(suite, None, tmp_path / "cache", ["embedding"])
    with pytest.raises(UsageError, match="with their answers"):
        load_suite("dataset:ifeval", answers=False)
    with pytest.raises(UsageError, match="'if_eval'"):
        load_suite("dataset:if_eval")


def test_shipped_suites_are_compared_without_an_encoder(tmp_path: Path):
    def encoder():
        raise AssertionError("nothing is to be encoded")

    found = compare(
        ["dataset:ifeval"],
        Protocol(ks=(20,), repeats=1, control_draws=5, draws=2),
        methods=["facility_location"],
        estimators=["macro"],
        encoder=encoder,
        cache=tmp_path / "cache",
    )

    assert {"random", "facility_location"} == {row.method for row in found.rows}
    assert all(0 < row.mae < 10 for row in found.rows)
    assert not (tmp_path / "cache").exists()


def test_reproduce_is_the_readme_s_table_in_small(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    narrow = ["--quick", "--suites", "ifeval", "-k", "20", "--repeats", "1"]

    written = ["--json", str(tmp_path / "rows.json"), "--out", str(tmp_path / "out")]
    status = execute(app, ["lab", "reproduce", *narrow, *written])

    rows = json.loads((tmp_path / "rows.json").read_bytes())
    assert not status
    assert set(USUAL_METHODS) == {row["method"] for row in rows}
    assert {("ifeval", 20, 1)} == {(row["suite"], row["k"], row["pools"]) for row in rows}
    assert json.loads((tmp_path / "out" / "rows.json").read_bytes()) == rows
    assert "facility_location" in capsys.readouterr().out


def test_reproduce_covers_all_suites_unless_it_is_narrowed():
    assert (tuple(SUITES), 20) == (extent(None, None).suites, extent(None, None).repeats)
    assert (len(extent(None, None, quick=True).suites), extent(None, None, quick=True).repeats) == (2, 5)
    assert extent(None, None, full=True).methods is None
    with pytest.raises(UsageError, match="ifeval"):
        extent(["ifevall"], None)

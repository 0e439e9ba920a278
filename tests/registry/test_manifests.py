"""Finding a coreset and what belongs to it."""

from pathlib import Path

import pytest

from benchcore.errors import BenchcoreError
from benchcore.registry.manifests import find_manifest, list_manifests, read_picks, read_weights, resolve_manifest
from benchcore.registry.root import Registry
from tests.registry.stored import prompt, store_coreset


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    registry = Registry.at(tmp_path)
    store_coreset(
        registry, "abcdef", [prompt("one", 2), prompt("one", 1), prompt("two", 1)], run_id="20260102T000000-000000"
    )
    store_coreset(registry, "abc123", [prompt("one", 1)], run_id="20260101T000000-000000")
    return registry


def test_json_columns_come_decoded(registry: Registry):
    """Nobody else has to know which columns are JSON."""
    manifest = find_manifest(registry, "abcdef")

    assert manifest.certificate == {"upper_bound": 0.625, "ratio": 0.8, "kind": "exact"}
    assert manifest.semantic_configuration["k"] == manifest.k == 3
    assert [row["benchmark"] for row in manifest.coverage] == ["one", "two"]


def test_coresets_come_in_the_order_of_their_runs(registry: Registry):
    """The newest is last."""
    assert [manifest.coreset_id for manifest in list_manifests(registry)] == ["abc123", "abcdef"]
    assert list_manifests(Registry.at(Path(registry.root) / "empty")) == []


def test_picks_come_by_rank_and_weights_by_pick(registry: Registry):
    """Only those of the coreset that is asked for."""
    picks = read_picks(registry, "abcdef")

    assert picks["prompt_id"].to_pylist() == [
        prompt("one", 2)["prompt_id"],
        prompt("one", 1)["prompt_id"],
        prompt("two", 1)["prompt_id"],
    ]
    assert read_weights(registry, "abcdef") == pytest.approx(dict.fromkeys(picks["prompt_id"].to_pylist(), 1 / 3))
    assert read_weights(registry, "abcdef", "category:none") == {}


@pytest.mark.parametrize(
    ("name", "told"),
    [("abc", "2 coresets begin with 'abc'"), ("abcdeg", "Did you mean abcdef?"), ("zz", "benchcore registry list")],
)
def test_a_name_that_fits_none_or_several_is_told(registry: Registry, name: str, told: str):
    """With what would help."""
    with pytest.raises(BenchcoreError) as caught:
        resolve_manifest(registry, name)
    assert told in str(caught.value)


def test_latest_is_that_of_the_newest_run(registry: Registry, tmp_path: Path):
    """Whatever its id; where there is none, it is told as any other name."""
    assert resolve_manifest(registry, "latest").coreset_id == "abcdef"
    with pytest.raises(BenchcoreError, match=r"there is no coreset yet. `benchcore run CONF`"):
        resolve_manifest(Registry.at(tmp_path / "none"), "latest")


def test_the_beginning_of_an_id_is_enough(registry: Registry):
    """Thirty-two digits are for machines."""
    assert resolve_manifest(registry, "abcd").coreset_id == "abcdef"
    assert find_manifest(registry, "abcd") is None

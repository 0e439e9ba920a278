"""The user's loop through the commands: a coreset, its export to lm-eval, logs of simulated models, estimates."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benchcore.registry.root import Registry
from benchcore.registry.tables import read
from tests.end_to_end import books, commands
from tests.end_to_end.conftest import TwiceAtOnce
from tests.end_to_end.simulated_harness import Documents
from tests.scoring.simulated import answers, binomial_band, difficulty_from

K, REPETITIONS, MODELS = 60, 200, 3


@dataclass(frozen=True)
class Loop:
    """A registry with a coreset of which models were simulated.

    Attributes:
        folder: holds `conf.yaml`, the registry and the logs.
        coreset: its id.
        prompts: (n,) ids of the distinct prompts.
        groups: (n,) number of each prompt's benchmark.
        scores: (n, repetitions, models) of the simulated models on all of them.
        exported: what `export` said.
        imported: what `import` said.
        estimates: what `estimate` said, of the suite: model -> row.
    """

    folder: Path
    coreset: str
    prompts: list[str]
    groups: NDArray[np.int64]
    scores: NDArray[np.float64]
    exported: dict[str, Any]
    imported: dict[str, Any]
    estimates: dict[str, dict[str, Any]]

    def truth(self) -> NDArray[np.float64]:
        """(repetitions, models) macro scores on all prompts."""
        return self.macro(np.arange(len(self.prompts)))

    def macro(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(repetitions, models) macro scores on some prompts."""
        groups = self.groups[rows]
        return np.mean([self.scores[rows][groups == group].mean(axis=0) for group in np.unique(self.groups)], axis=0)


def named(repetition: int, model: int) -> str:
    return f"simulated-{repetition:03d}-{model}"


def told(folder: Path, *arguments: str) -> dict[str, Any]:
    """Run a command to its good end; gives its JSON."""
    ended = commands.run(folder, *arguments, "--json")
    assert ended.status == 0, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


@pytest.fixture(scope="module")
def loop(twice_at_once: TwiceAtOnce, tmp_path_factory: pytest.TempPathFactory) -> Loop:
    """Export sixty picks, simulate three models two hundred times, import their logs and estimate them."""
    folder = tmp_path_factory.mktemp("loop") / "registry"
    shutil.copytree(twice_at_once.folder, folder)
    coreset = told(folder, "select", "conf.yaml", "-k", str(K))["coreset_id"]
    registry = Registry.at(folder / "registry")
    prompts = [row for row in read(registry, "prompts").to_pylist() if row["duplicate_of"] is None]
    documents = Documents(prompts)
    dump = documents.dump(folder / "dump")
    root = ("--root", "registry")
    exported = told(
        folder, "export", coreset, *root, "--harness", "lm-eval", "--documents", str(dump), "--out", "subset"
    )
    samples = json.loads((folder / "subset" / "samples.json").read_text())
    groups = np.unique([row["benchmark"] for row in prompts], return_inverse=True)[1].astype(np.int64)
    ids = [row["prompt_id"] for row in prompts]
    scores = simulated_scores(registry, prompts, groups)
    for repetition in range(REPETITIONS):
        for model in range(MODELS):
            own = dict(zip(ids, scores[:, repetition, model].tolist(), strict=True))
            documents.run(folder / "results", named(repetition, model), samples, own)
    imported = told(folder, "import", "results", *root, "--harness", "lm-eval")
    estimates = told(folder, "estimate", coreset, *root)["targets"]
    suite = {row["model"]: row for row in estimates if row["target"] == "suite"}
    return Loop(folder, coreset, ids, groups, scores, exported, imported, suite)


def simulated_scores(
    registry: Registry, prompts: list[dict[str, Any]], groups: NDArray[np.int64]
) -> NDArray[np.float64]:
    """(n, repetitions, models) made of the vectors in the registry, seeded."""
    vectors = vectors_of(registry, prompts)
    repeated = []
    for repetition in range(REPETITIONS):
        generator = np.random.default_rng([3, repetition])
        repeated.append(answers(difficulty_from(vectors, groups, generator), generator))
    return np.stack(repeated, axis=1)


def vectors_of(registry: Registry, prompts: list[dict[str, Any]]) -> NDArray[np.float64]:
    """(n, d) embeddings by the text that was embedded (see conf.yaml's template, the default)."""
    from benchcore.config import load_config
    from benchcore.pipeline.selectable import selectable
    from benchcore.registry.tables import pin

    config = load_config(Path(registry.root).parent / "conf.yaml")
    pool = selectable(config, registry, pin(registry, ("prompts", "sources", "embeddings")))
    rows = read(registry, "embeddings").to_pylist()
    vector = {row["text_hash"]: row["vector"] for row in rows if row["encoder"] == pool.encoder}
    text = dict(zip(pool.prompt_id.tolist(), pool.text_hash.tolist(), strict=True))
    return np.array([vector[text[prompt["prompt_id"]]] for prompt in prompts])


def test_every_pick_is_mapped_by_its_content_and_every_log_line_comes_back(loop: Loop) -> None:
    """Though the harness numbers its documents in another order than the registry."""
    samples = json.loads((loop.folder / "subset" / "samples.json").read_text())
    registry = Registry.at(loop.folder / "registry")
    stored = read(registry, "scores")

    assert sum(map(len, samples.values())) == K
    assert stored.num_rows == K * REPETITIONS * MODELS
    truth = {
        (named(repetition, model), identity): loop.scores[row, repetition, model]
        for row, identity in enumerate(loop.prompts)
        for repetition in (0, REPETITIONS - 1)
        for model in range(MODELS)
    }
    checked = [row for row in stored.to_pylist() if (row["model"], row["prompt_id"]) in truth]
    assert len(checked) == 2 * MODELS * K
    assert all(row["score"] == truth[row["model"], row["prompt_id"]] for row in checked)


def test_the_smaller_coreset_of_the_registry_is_its_beginning(loop: Loop) -> None:
    """What an earlier run picked by the same method, of another process, are the first picks of this one."""
    rows = read(Registry.at(loop.folder / "registry"), "coresets").sort_by("rank").to_pylist()
    picks = {
        id_: [row["prompt_id"] for row in rows if row["coreset_id"] == id_]
        for id_ in {row["coreset_id"] for row in rows}
    }
    (smaller,) = picks.keys() - {loop.coreset}

    assert len(picks[smaller]) == 20
    assert picks[loop.coreset][:20] == picks[smaller]


def test_importing_again_adds_nothing(loop: Loop) -> None:
    before = books.versions(loop.folder / "registry")
    told(loop.folder, "import", "results", "--root", "registry", "--harness", "lm-eval")
    assert books.versions(loop.folder / "registry") == before


def test_the_estimate_is_the_mean_over_benchmarks_of_the_mean_of_their_picks(loop: Loop) -> None:
    registry = Registry.at(loop.folder / "registry")
    picked = read(registry, "coresets").to_pylist()
    ids = {row["prompt_id"] for row in picked if row["coreset_id"] == loop.coreset}
    rows = np.array([row for row, identity in enumerate(loop.prompts) if identity in ids])
    expected = loop.macro(rows)

    found = [
        [loop.estimates[named(repetition, model)]["estimate"] for model in range(MODELS)]
        for repetition in range(REPETITIONS)
    ]
    assert np.allclose(found, expected)


def test_intervals_hold_the_true_scores_at_their_nominal_rate(loop: Loop) -> None:
    """For each of the three models over two hundred repetitions, within the binomial band."""
    truth = loop.truth()
    low, high = binomial_band(0.95, REPETITIONS)
    for model in range(MODELS):
        rows = [loop.estimates[named(repetition, model)] for repetition in range(REPETITIONS)]
        held = [row["low"] <= score <= row["high"] for row, score in zip(rows, truth[:, model], strict=True)]
        assert low <= np.mean(held) <= high, (model, np.mean(held))


def test_estimates_err_at_most_as_much_as_balanced_random_draws(loop: Loop) -> None:
    """Root mean squared error relative to that of draws with as many prompts of each benchmark: at most 1.05."""
    truth, generator = loop.truth(), np.random.default_rng(0)
    found = np.array(
        [
            [loop.estimates[named(repetition, model)]["estimate"] for model in range(MODELS)]
            for repetition in range(REPETITIONS)
        ]
    )
    squares = []
    for _ in range(200):
        each = K // len(np.unique(loop.groups))
        inside = [
            generator.permutation(np.flatnonzero(loop.groups == group))[:each] for group in np.unique(loop.groups)
        ]
        squares.append(((loop.macro(np.concatenate(inside)) - truth) ** 2).mean())
    ratio = np.sqrt(((found - truth) ** 2).mean() / np.mean(squares))
    assert ratio <= 1.05

"""Laws of the embedding step, on real Ray actors: every text once, the same bytes whatever happens on the way."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from benchcore.config import Config, EmbedSection, EncoderSection
from benchcore.embedding import features, job, staging
from benchcore.embedding.encoder import fingerprint
from benchcore.embedding.features import feature_fingerprint
from benchcore.embedding.job import EmbedOutcome, embed
from benchcore.embedding.table import append
from benchcore.embedding.workers import Pool, PoolPlan
from benchcore.errors import BenchcoreError, UsageError
from benchcore.methods.text_features import TEXT_FEATURES
from benchcore.registry.identity import text_hash
from benchcore.registry.root import Registry
from benchcore.registry.tables import current_version, read
from tests.embedding.conftest import add_prompts
from tests.standing import Standing

WORDS = ("river", "stone", "seven", "prime", "because", "number", "letter", "which", "of", "the", "answer", "blue")
TEXTS = [" ".join(WORDS[(start * step) % len(WORDS)] for step in range(1, 2 + start % 60)) for start in range(1, 121)]
DISTINCT = len(set(TEXTS))


@pytest.fixture(autouse=True)
def small_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make several units of a few texts."""
    monkeypatch.setattr(job, "_UNIT_TOKENS", 300)


@pytest.fixture(scope="module")
def reference(standing: Standing, tmp_path_factory: pytest.TempPathFactory) -> tuple[Registry, EmbedOutcome]:
    """A registry that two workers embedded without disturbance."""
    with standing.at_work(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(job, "_UNIT_TOKENS", 300)
        registry = add_prompts(tmp_path_factory.mktemp("reference"), dict.fromkeys(TEXTS))
        return registry, embed(configured(workers=2), registry, "reference")


def configured(workers: int = 1, *, features: tuple[str, ...] = ("surface", "ngrams"), **encoder: object) -> Config:
    section = EncoderSection(**{"precision": "float32"} | encoder)
    return Config(embed=EmbedSection(workers=workers, features=features, encoder=section))


def stored(registry: Registry, encoder: str | None = None) -> pa.Table:
    table = read(registry, "embeddings").sort_by([("encoder", "ascending"), ("text_hash", "ascending")])
    return table if encoder is None else table.filter(pc.equal(table["encoder"], encoder))


@contextmanager
def after_the_first_unit(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> Iterator[None]:
    """Do something as soon as the first unit is told to be finished."""
    acts = [act]

    @contextmanager
    def watched(*_: object) -> Iterator[Callable[[int], None]]:
        yield lambda _: acts.pop()() if acts else None

    with monkeypatch.context() as patch:
        patch.setattr(job, "progress", watched)
        yield
    assert not acts


def test_every_text_gets_one_vector_close_to_the_plain_librarys(reference: tuple[Registry, EmbedOutcome]):
    """At cosine .999 or better, in one commit, with nothing left in staging."""
    import numpy as np
    from sentence_transformers import SentenceTransformer

    from benchcore.embedding.model_files import locate

    registry, outcome = reference
    table = stored(registry, fingerprint(configured().embed, registry))
    plain = SentenceTransformer(str(locate(EncoderSection()).folder), device="cpu")
    texts = {text_hash(text): text for text in TEXTS}
    expected = plain.encode([texts[hashed] for hashed in table["text_hash"].to_pylist()])
    vectors = np.array(table["vector"].to_pylist(), np.float32)

    assert (outcome.changed, outcome.texts, outcome.encoded, outcome.cached) == (True, DISTINCT, DISTINCT, 0)
    assert table.num_rows == DISTINCT
    assert np.sum(vectors * expected, axis=1).min() > 0.999
    assert current_version(registry, "embeddings") == 0
    assert not Path(staging.folder(registry, table["encoder"][0].as_py())).exists()


@pytest.mark.parametrize("name", TEXT_FEATURES)
def test_every_text_has_the_features_that_it_has_alone(reference: tuple[Registry, EmbedOutcome], name: str):
    """In single precision, under a fingerprint of their own that the text template changes, and in the same commit."""
    import numpy as np

    registry, outcome = reference
    encoder = feature_fingerprint(name, configured().embed)
    table = stored(registry, encoder)
    texts = {text_hash(text): text for text in TEXTS}
    expected = [TEXT_FEATURES[name].compute([texts[hashed]])[0] for hashed in table["text_hash"].to_pylist()]

    assert outcome.features == table.num_rows == DISTINCT
    assert np.array_equal(np.array(table["vector"].to_pylist(), np.float32), np.array(expected, np.float32))
    assert not any(table["truncated"].to_pylist())
    assert encoder != feature_fingerprint(name, EmbedSection(text="{{ prompt }}"))


def test_only_the_features_that_are_missing_are_computed(
    reference: tuple[Registry, EmbedOutcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A registry that was embedded without them gets them when they are asked for, without Ray."""
    registry = add_prompts(tmp_path, TEXTS)
    vectors = stored(reference[0], fingerprint(configured().embed, reference[0]))
    append(registry, {}, [vectors])
    monkeypatch.setattr(job, "connect", lambda _: pytest.fail("Ray was started"))
    monkeypatch.setattr(features, "_CHUNK_TEXTS", 50)

    without = embed(configured(features=()), registry, "without")
    half = embed(configured(features=("surface",)), registry, "half")
    both = embed(configured(), registry, "both")

    assert (without.changed, half.features, both.features, both.cached) == (False, DISTINCT, DISTINCT, DISTINCT)
    assert current_version(registry, "embeddings") == 2
    assert stored(registry).equals(stored(reference[0]))


def test_a_second_run_starts_nothing_and_commits_nothing(
    reference: tuple[Registry, EmbedOutcome], monkeypatch: pytest.MonkeyPatch
):
    """All is found by its hash."""
    registry, _ = reference
    monkeypatch.setattr(job, "connect", lambda _: pytest.fail("Ray was started"))
    outcome = embed(configured(), registry, "again")

    assert (outcome.changed, outcome.encoded, outcome.cached, outcome.features) == (False, 0, DISTINCT, 0)
    assert current_version(registry, "embeddings") == 0


def test_one_worker_that_is_killed_leaves_the_same_bytes_as_two_that_live(
    reference: tuple[Registry, EmbedOutcome],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):
    """What was under way is done again by a new one; what was finished is not."""
    registry = add_prompts(tmp_path, reversed(dict.fromkeys(TEXTS)))

    def kill() -> None:
        processes = psutil.Process().children(recursive=True)
        (actor,) = [process for process in processes if "EncodingActor" in " ".join(process.cmdline())]
        os.kill(actor.pid, signal.SIGKILL)

    with after_the_first_unit(monkeypatch, kill):
        outcome = embed(configured(workers=1), registry, "killed")

    assert outcome.encoded == DISTINCT
    assert caplog.text.count("an encoding worker died") == 1
    assert stored(registry).equals(stored(reference[0]))


def test_a_run_that_broke_off_is_taken_up_where_it_was(
    reference: tuple[Registry, EmbedOutcome], standing: Standing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Finished units are used, a damaged one is made anew, and the table ends as if nothing had happened."""
    registry = add_prompts(tmp_path, dict.fromkeys(TEXTS))

    def stop() -> None:
        raise KeyboardInterrupt

    with after_the_first_unit(monkeypatch, stop), pytest.raises(KeyboardInterrupt):
        embed(configured(workers=1), registry, "broken off")
    encoder = fingerprint(configured().embed, registry)
    left = staging.staged_units(registry, encoder)
    assert left
    assert current_version(registry, "embeddings") is None
    with standing.at_work():
        outcome = embed(configured(workers=1), registry, "taken up")

    assert outcome.encoded == DISTINCT - sum(len(hashes) for hashes in left.values())
    assert outcome.changed
    assert stored(registry).equals(stored(reference[0]))


def test_what_a_killed_run_left_is_kept_though_the_prompts_have_changed(
    reference: tuple[Registry, EmbedOutcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A text is encoded once, ever: its vector is filed even if no unit of this run would hold it."""
    source = reference[0]
    registry = add_prompts(tmp_path, TEXTS[:1])
    encoder = fingerprint(configured().embed, registry)
    rows = stored(source, encoder)
    name = staging.unit_id(rows["text_hash"].to_pylist())
    staging.write_unit(registry, encoder, name, rows)
    monkeypatch.setattr(job, "connect", lambda _: pytest.fail("Ray was started"))
    outcome = embed(configured(features=()), registry, "edited")

    assert (outcome.changed, outcome.texts, outcome.encoded, outcome.cached) == (True, 1, 0, 1)
    assert stored(registry).equals(rows)
    assert not Path(staging.folder(registry, encoder)).exists()


def test_the_precision_is_probed_once_and_only_new_texts_are_encoded(
    standing_workers: None, tiny_model: Path, tmp_path: Path
):
    """The record stays, and with it the fingerprint; equal texts share a vector, retired prompts need none."""
    registry = add_prompts(tmp_path, ["a b c", "x y z"])
    config = configured(name=str(tiny_model), precision="auto")
    first = embed(config, registry, "probed")
    (record,) = (tmp_path / "_encoders").iterdir()
    content, before = record.read_bytes(), stored(registry)
    add_prompts(tmp_path, [" a b c", "new", "n e w " * 9])
    add_prompts(tmp_path, ["gone"], retired_at=0)
    second = embed(config, registry, "more")
    after = stored(registry)

    assert (first.texts, first.encoded, first.truncated) == (2, 2, 0)
    assert (second.texts, second.encoded, second.cached, second.truncated) == (4, 2, 2, 1)
    assert record.read_bytes() == content
    names = {feature_fingerprint(name, config.embed) for name in TEXT_FEATURES}
    assert set(after["encoder"].to_pylist()) == {fingerprint(config.embed, registry), *names}
    assert after.filter(pc.is_in(after["text_hash"], before["text_hash"].combine_chunks())).equals(before)
    assert current_version(registry, "embeddings") == 1


def test_vectors_that_are_not_finite_name_their_prompts_and_are_not_stored(
    standing_workers: None, tiny_model: Path, tmp_path: Path
):
    """One letter's weights are broken, so the prompts that hold it are named."""
    from safetensors.torch import load_file, save_file

    broken = tmp_path / "broken"
    shutil.copytree(tiny_model, broken)
    weights = load_file(broken / "model.safetensors")
    weights["embeddings.word_embeddings.weight"][5 + ord("q") - ord("a")] = float("nan")
    save_file(weights, broken / "model.safetensors", metadata={"format": "pt"})
    registry = add_prompts(tmp_path / "root", ["a b c", "a q c"])
    (bad,) = [row["prompt_id"] for row in read(registry, "prompts").to_pylist() if "q" in row["prompt"]]

    with pytest.raises(BenchcoreError, match=f"not finite, of prompts {bad}") as error:
        embed(configured(name=str(broken)), registry, "broken")
    assert "\n" not in str(error.value)
    assert current_version(registry, "embeddings") is None


def test_what_an_actor_cannot_load_is_told_in_one_line(ray_instance: None):
    """A node of the cluster may lack what the driver has; the actor's own words reach the user."""
    section = EmbedSection(encoder=EncoderSection(package="no-such-package-here"))

    with Pool(section, PoolPlan(1, 1, "cpu")) as pool, pytest.raises(UsageError, match="pip install") as error:
        pool.dimension()
    assert "\n" not in str(error.value)


def test_without_prompts_the_step_before_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Neither an engine nor a table is made."""
    monkeypatch.setattr(job, "connect", lambda _: pytest.fail("Ray was started"))
    with pytest.raises(BenchcoreError, match=r"no prompts yet.*`benchcore ingest CONF`"):
        embed(Config(), Registry.at(tmp_path), "nothing")

    assert current_version(Registry.at(tmp_path), "embeddings") is None

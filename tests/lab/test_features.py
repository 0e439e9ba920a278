"""Features of texts: of each text alone, and computed once."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchcore.lab.features import TextEncoder, features_of
from benchcore.lab.suites import load_suite
from benchcore.methods.text_features import ngrams, surface
from tests.lab.planted import write_suite

TEXTS = ["What is 2 + 2?", "def f(x):\n    return x", "", "Größe: 5 €", "A. yes\nB. no\nC. maybe\n" * 50]


def test_a_text_has_the_same_features_in_any_company():
    """Nothing is fitted on the suite: a text alone, or among others in any order, gives the same row."""
    for block in (surface, ngrams):
        together = block(TEXTS)
        assert np.isfinite(together).all()
        assert np.array_equal(together[::-1], block(TEXTS[::-1]))
        assert np.allclose(together[1], block(TEXTS[1:2])[0], atol=1e-6)


def test_ngrams_keep_what_is_alike_near():
    rows = ngrams(["the cat sat on the mat", "the cat sat on a mat", "∫ x² dx = x³/3 + C"])
    near, far = np.linalg.norm(rows[0] - rows[1]), np.linalg.norm(rows[0] - rows[2])

    assert near < far / 1.5


def test_blocks_are_computed_once_for_the_same_texts_and_encoder(tmp_path: Path):
    calls: list[int] = []

    def encode(texts):
        calls.append(len(texts))
        return np.ones((len(texts), 3), np.float32)

    suite = load_suite(str(write_suite(tmp_path / "a", np.ones((5, 2)))))
    for fingerprint in ("one", "one", "two"):
        blocks = features_of(suite, TextEncoder(fingerprint, encode), tmp_path / "cache", ["embedding", "surface"])

    assert calls == [5, 5]
    assert (sorted(blocks), blocks["embedding"].shape) == (["embedding", "surface"], (5, 3))


def test_a_part_of_a_suite_takes_what_is_known_of_the_whole(tmp_path: Path):
    """Halves and joins are not encoded again."""
    folder = write_suite(tmp_path / "a", np.ones((6, 2)), ["x", "y"] * 3)
    seen: list[str] = []

    def encode(texts):
        seen.extend(texts)
        return np.array([[float(text.split()[2])] for text in texts], np.float32)

    for spec in (f"{folder}:odd", str(folder), f"{folder}:even"):
        suite = load_suite(spec)
        block = features_of(suite, TextEncoder("one", encode), tmp_path / "cache", ["embedding"])["embedding"]
        assert [f"What is {row:.0f} +" for row in block[:, 0]] == [
            text.rpartition("+")[0] + "+" for text in suite.texts
        ]

    assert len(seen) == 6


def test_given_vectors_are_taken_and_a_damaged_cache_is_made_anew(tmp_path: Path):
    vectors = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    suite = load_suite(str(write_suite(tmp_path / "a", np.ones((5, 2)), vectors=vectors)))
    features_of(suite, None, tmp_path / "cache", ["surface"])
    for file in (tmp_path / "cache").iterdir():
        file.write_bytes(b"torn")

    blocks = features_of(suite, None, tmp_path / "cache", ["embedding", "surface"])

    assert np.array_equal(vectors, blocks["embedding"])
    assert len(blocks["surface"]) == 5

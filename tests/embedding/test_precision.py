"""Laws of the precision: measured once for a registry, then fixed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchcore.config import EmbedSection, EncoderSection
from benchcore.embedding import precision
from benchcore.embedding.encoder import Encoded
from benchcore.embedding.precision import Probe, decide, decided, probe
from benchcore.errors import BenchcoreError
from benchcore.registry.root import Registry


class Clock:
    """Stands still except when an encoder works."""

    now = 0.0

    def process_time(self) -> float:
        return self.now


class Timed:
    """An encoder whose bfloat16 takes `cost` and is off by `error`, where float32 takes 1."""

    def __init__(self, clock: Clock, cost: float, error: float) -> None:
        self.clock, self.cost, self.error = clock, cost, error

    def encode(self, texts: list[str], kind: str) -> Encoded:
        low = kind == "bfloat16"
        self.clock.now += self.cost if low else 1.0
        vectors = np.array([[1.0, self.error if low else 0.0]] * len(texts), np.float32)
        return Encoded(vectors, np.zeros(len(texts), bool), 0)


@pytest.mark.parametrize(
    ("cost", "error", "expected"),
    [(0.4, 0.01, "bfloat16"), (5.0, 0.01, "float32"), (0.4, 0.1, "float32"), (0.95, 0.0, "float32")],
    ids=["faster and alike", "slower", "faster but unlike", "hardly faster"],
)
def test_bfloat16_is_taken_where_it_is_clearly_faster_and_says_the_same(
    monkeypatch: pytest.MonkeyPatch, cost: float, error: float, expected: str
):
    """A difference within the noise of a busy machine decides nothing."""
    clock = Clock()
    monkeypatch.setattr(precision, "time", clock)

    assert probe(Timed(clock, cost, error), ["a", "b"], "cpu").precision == expected


def test_a_decision_holds_for_its_registry_and_encoder(tmp_path: Path):
    """Another template is another encoder; another registry decides anew."""
    embed, registry = EmbedSection(), Registry.at(tmp_path / "one")
    decide(embed, registry, Probe("bfloat16", 2.0, 0.9999, "cpu"))

    assert decided(embed, registry) == "bfloat16"
    assert decided(EmbedSection(text="{{ prompt }}"), registry) is None
    assert decided(embed, Registry.at(tmp_path / "two")) is None
    assert decided(EmbedSection(encoder=EncoderSection(precision="float32")), registry) == "float32"


def test_a_record_that_says_nothing_is_told_in_one_line(tmp_path: Path):
    """It is never guessed: the vectors that are stored depend on it."""
    embed, registry = EmbedSection(), Registry.at(tmp_path)
    decide(embed, registry, Probe("float32", 0.5, 1.0, "cpu"))
    next((tmp_path / "_encoders").iterdir()).write_text("{}")

    with pytest.raises(BenchcoreError, match="not a record of a precision"):
        decided(embed, registry)

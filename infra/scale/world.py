"""What a made-up registry is drawn from: benchmarks, topics and words, all from one seed and the same for every n."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DIMENSIONS = 384
BENCHMARKS = 60
CATEGORIES = 6
BLOCK = 10_000  # prompts that are drawn together; any beginning of a block is the beginning of a longer one
DUPLICATES = 0.05  # of the prompts; half repeat one of their own benchmark, half one of another

_TOPICS = 4_000
_PARTS = 5  # of a topic
_AT_HOME = 0.8  # of a topic's prompts are in its home benchmark
_WORDS, _WORDS_OF_TOPIC = 2_000, 12
_COMMON, _PART = np.float32(0.5), np.float32(0.6)  # lengths beside a topic's, which is 1
_SPREAD = (0.4, 1.0)  # of the prompts about the middle of their part, by topic

Vectors = NDArray[np.float32]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Block:
    """Prompts in the order in which they were drawn.

    Attributes:
        benchmark: (n,) number of each prompt's benchmark.
        original: (n,) row of the prompt that each repeats, its own where it repeats none.
        words: (n, 12) numbers of the words that it says.
        vectors: (n, DIMENSIONS) of unit length; equal where the words are repeated.
    """

    benchmark: Numbers
    original: Numbers
    words: Numbers
    vectors: Vectors


class World:
    """60 benchmarks of sizes as 1, 1/2, 1/3, ... and 4,000 topics likewise, each mostly of one benchmark.

    Vectors are as encoders make them: all share a direction, topics have parts, and prompts scatter about these, in
    some topics more than in others.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        random = np.random.default_rng(seed)
        self._of_benchmark, self._of_topic = _shares(BENCHMARKS), _shares(_TOPICS)
        self._home = random.choice(BENCHMARKS, _TOPICS, p=self._of_benchmark)
        self._common = _unit(random.standard_normal((1, DIMENSIONS), np.float32))[0]
        self._topics = _unit(random.standard_normal((_TOPICS, DIMENSIONS), np.float32))
        self._parts = _unit(random.standard_normal((_TOPICS * _PARTS, DIMENSIONS), np.float32))
        self._spread = random.uniform(*_SPREAD, _TOPICS).astype(np.float32) / np.float32(np.sqrt(DIMENSIONS))
        self._vocabulary = random.integers(0, _WORDS, (_TOPICS, _WORDS_OF_TOPIC))

    def block(self, number: int, n: int = BLOCK) -> Block:
        """The first n prompts of a block."""
        random = np.random.default_rng((self._seed, number))
        topic = random.choice(_TOPICS, BLOCK, p=self._of_topic)
        at_home = random.random(BLOCK) < _AT_HOME
        benchmark = np.where(at_home, self._home[topic], random.choice(BENCHMARKS, BLOCK, p=self._of_benchmark))
        part = topic * _PARTS + random.integers(0, _PARTS, BLOCK)
        own, of_all = random.integers(0, _WORDS_OF_TOPIC, (BLOCK, 8)), random.integers(0, _WORDS, (BLOCK, 4))
        words = np.concatenate([self._vocabulary[topic[:, None], own], of_all], axis=1)
        original, elsewhere = _repeated(random)
        repeats = original != np.arange(BLOCK)
        shift = np.where(elsewhere, random.integers(1, BENCHMARKS, BLOCK), 0)
        benchmark = np.where(repeats, (benchmark[original] + shift) % BENCHMARKS, benchmark)
        vectors = random.standard_normal((BLOCK, DIMENSIONS), np.float32) * self._spread[topic, None]
        vectors += self._topics[topic] + _PART * self._parts[part] + _COMMON * self._common
        return Block(benchmark[:n], original[:n], words[original][:n], _unit(vectors)[original][:n])


def _repeated(random: np.random.Generator) -> tuple[Numbers, NDArray[np.bool_]]:
    """Which earlier prompt of its block each repeats (none itself a repetition), and whether in another benchmark."""
    repeats = random.random(BLOCK) < DUPLICATES
    repeats[0] = False
    firsts = np.flatnonzero(~repeats)
    before: Numbers = np.cumsum(~repeats) - ~repeats  # how many firsts stand before each
    drawn = firsts[(random.random(BLOCK) * np.maximum(before, 1)).astype(np.int64)]
    return np.where(repeats, drawn, np.arange(BLOCK)), repeats & (random.random(BLOCK) < 0.5)


def _shares(number: int) -> NDArray[np.float64]:
    shares: NDArray[np.float64] = 1.0 / np.arange(1, number + 1)
    shares /= shares.sum()
    return shares


def _unit(rows: Vectors) -> Vectors:
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows

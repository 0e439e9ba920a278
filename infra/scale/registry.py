"""A made-up registry of any size: the tables that ingestion and embedding leave, written a block at a time."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import yaml
from deltalake import write_deltalake

from benchcore.config import Config, load_config
from benchcore.embedding.encoder import Encoded, fingerprint
from benchcore.embedding.features import feature_fingerprint
from benchcore.embedding.staging import rows_of
from benchcore.embedding.table import append
from benchcore.embedding.text import Renderer
from benchcore.methods.text_features import TEXT_FEATURES
from benchcore.registry.identity import content_hash, prompt_id, text_hash
from benchcore.registry.root import Registry
from benchcore.registry.schemas import PROPERTIES, SCHEMAS
from benchcore.registry.tables import append_missing
from infra.scale.world import BENCHMARKS, BLOCK, CATEGORIES, Block, World

BUCKETS = 128
FEATURES = ("surface", "ngrams")

_VERSION = 3  # raised whenever the same arguments give another registry
_RUN = "made-up"
_CHOICES_EVERY = 3  # benchmarks of which one asks for a choice among four
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"


@dataclass(frozen=True)
class Wanted:
    """What a made-up registry is.

    Attributes:
        n: prompts, duplicates among them.
        seed: of all that is random; of two registries of one seed the smaller is the beginning of the larger.
        features: whether it has the blocks of features besides the vectors.
    """

    n: int
    seed: int = 0
    features: bool = True


def make(folder: Path, wanted: Wanted) -> Path:
    """Write a registry, unless the folder holds it already.

    Args:
        folder: of its own; another registry in it is an error.
        wanted: what to write.

    Returns:
        Its configuration file, written last.

    Raises:
        FileExistsError: the folder holds something else, or what a killed run left.
    """
    conf, note = folder / "select.yaml", folder / "made-up.json"
    content = {"version": _VERSION, "n": wanted.n, "seed": wanted.seed, "features": wanted.features}
    if note.is_file() and json.loads(note.read_text()) == content:
        return conf
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} holds another registry, or one that was not finished; remove it")
    folder.mkdir(parents=True, exist_ok=True)
    conf.write_text(yaml.safe_dump(_configuration(folder, wanted), sort_keys=False))
    config = load_config(conf)
    registry = Registry.at(config.registry.root)
    read, kept = _write_prompts(registry, wanted)
    append_missing(registry, "sources", _sources(wanted.n, read, kept))
    append(registry, {}, _embedded(config, registry, wanted))
    note.write_text(json.dumps(content))
    return conf


def blocks(wanted: Wanted) -> Iterator[tuple[int, Block]]:
    """The prompts, a block at a time, each with the number of its first row."""
    world = World(wanted.seed)
    for number, start in enumerate(range(0, wanted.n, BLOCK)):
        yield start, world.block(number, min(BLOCK, wanted.n - start))


def _configuration(folder: Path, wanted: Wanted) -> dict[str, object]:
    encoder = folder / "encoder" / "made-up"  # that it has no model is of no matter: nothing is encoded with it
    encoder.mkdir(parents=True)
    (encoder / "model.safetensors").write_text(f"vectors are drawn, not computed: seed {wanted.seed}\n")
    return {
        "registry": {"root": "registry", "buckets": BUCKETS},
        "embed": {
            "encoder": {"name": str(encoder.resolve()), "precision": "float32"},
            "features": list(FEATURES) if wanted.features else [],
        },
        "select": {"k": 100, "method": "facility_location"},
    }


def _write_prompts(registry: Registry, wanted: Wanted) -> tuple[Counter[str], Counter[str]]:
    """All prompts in one commit, streamed; gives their number by benchmark, and how many of them differ."""
    read, kept = Counter[str](), Counter[str]()

    def batches() -> Iterator[pa.RecordBatch]:
        for start, block in blocks(wanted):
            prompts = prompts_of(block, start)
            read.update(prompts["benchmark"].to_pylist())
            different = prompts.group_by(["benchmark", "content_hash"]).aggregate([])  # copies are of one block
            kept.update(different["benchmark"].to_pylist())
            yield from prompts.to_batches()

    write_deltalake(
        registry.uri("prompts"),
        pa.RecordBatchReader.from_batches(SCHEMAS["prompts"], batches()),
        mode="append",
        configuration=dict(PROPERTIES),
    )
    return read, kept


def _embedded(config: Config, registry: Registry, wanted: Wanted) -> Iterator[pa.Table]:
    """Rows of the table `embeddings`, of one encoder each."""
    renderer, buckets = Renderer(config.embed), config.registry.buckets
    encoder = fingerprint(config.embed, registry)
    features = {name: feature_fingerprint(name, config.embed) for name in config.embed.features}
    for start, block in blocks(wanted):
        first = np.flatnonzero(block.original == np.arange(len(block.original)))
        texts = list(renderer.texts(prompts_of(block, start).take(first)))
        hashes, none_cut = [text_hash(text) for text in texts], np.zeros(len(texts), bool)
        yield rows_of(hashes, encoder, Encoded(block.vectors[first], none_cut, 0), buckets)
        for name, fingerprinted in features.items():
            computed = TEXT_FEATURES[name].compute(texts).astype(np.float32)
            yield rows_of(hashes, fingerprinted, Encoded(computed, none_cut, 0), buckets)


def prompts_of(block: Block, start: int) -> pa.Table:
    """Rows of the table `prompts`; short texts of made-up words, each of its own unless it is a repetition."""
    n = len(block.original)
    names = [_benchmark(number) for number in block.benchmark.tolist()]
    prompts, answers, choices = _texts(block, start)
    content = [content_hash(*record) for record in zip(prompts, answers, choices, strict=True)]
    ids = [prompt_id(name, str(start + row)) for row, name in enumerate(names)]
    columns = {
        "prompt_id": ids,
        "benchmark": names,
        "category": [_category(number) for number in block.benchmark.tolist()],
        "task": names,
        "split": ["test"] * n,
        "tags": [[]] * n,
        "source": [_RUN] * n,
        "path": [f"{name}.jsonl" for name in names],
        "source_row": list(range(start, start + n)),
        "record_id": [str(start + row) for row in range(n)],
        "prompt": prompts,
        "answer": answers,
        "choices": choices,
        "metadata": ["{}"] * n,
        "n_characters": [len(prompt) for prompt in prompts],
        "content_hash": content,
        "revision": [0] * n,
        "duplicate_of": _duplicate_of(ids, names, content),
        "first_run": [_RUN] * n,
    }
    schema = SCHEMAS["prompts"]
    arrays = [pa.array(columns[f.name], f.type) if f.name in columns else pa.nulls(n, f.type) for f in schema]
    return pa.table(arrays, schema=schema)


def _duplicate_of(ids: list[str], names: list[str], content: list[str]) -> list[str | None]:
    """The smallest id among equals of the benchmark, and for that one the smallest among equals of all."""
    inside: dict[tuple[str, str], str] = {}
    across: dict[str, str] = {}
    for identity, name, hashed in zip(ids, names, content, strict=True):
        inside[name, hashed] = min(identity, inside.get((name, hashed), identity))
        across[hashed] = min(identity, across.get(hashed, identity))
    found = []
    for identity, name, hashed in zip(ids, names, content, strict=True):
        first = inside[name, hashed]
        of = first if first != identity else across[hashed]
        found.append(None if of == identity else of)
    return found


def _texts(block: Block, start: int) -> tuple[list[str], list[str], list[list[str]]]:
    words, asks = _words(), block.benchmark[block.original] % _CHOICES_EVERY == 0
    prompts, answers, choices = [], [], []
    rows = zip(block.original.tolist(), block.words.tolist(), asks.tolist(), strict=True)
    for original, said, asked in rows:
        named = [words[word] for word in said]
        prompts.append(f"{start + original}. {' '.join(named[:8]).capitalize()}?")
        answers.append(named[8])
        choices.append(named[8:] if asked else [])
    return prompts, answers, choices


def _words() -> list[str]:
    syllables = [consonant + vowel for consonant in _CONSONANTS for vowel in _VOWELS]
    return [first + second for first in syllables for second in syllables]


def _benchmark(number: int) -> str:
    return f"benchmark-{number:02}"


def _category(number: int) -> str:
    return f"category-{number % CATEGORIES}"


def _sources(n: int, read: Counter[str], kept: Counter[str]) -> pa.Table:
    rows = [
        {
            "source": _RUN,
            "path": f"{_benchmark(number)}.jsonl",
            "content_sha256": f"{n}",
            "mapping_sha256": "none",
            "benchmark": _benchmark(number),
            "bytes": 0,
            "rows_read": read[_benchmark(number)],
            "rows_kept": kept[_benchmark(number)],
            "rows_duplicate": read[_benchmark(number)] - kept[_benchmark(number)],
            "rows_quarantined": 0,
            "run_id": _RUN,
        }
        for number in range(BENCHMARKS)
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMAS["sources"])

"""From stored tables to the pool that a selection is made from: filtered, without copies, each with its text's hash."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchcore.config import Config, EmbedSection
from benchcore.distributed.pool import Block, Pool
from benchcore.distributed.vectors import by_benchmark
from benchcore.embedding.table import require_buckets
from benchcore.errors import BenchcoreError
from benchcore.pipeline import filters
from benchcore.registry.root import Registry
from benchcore.registry.tables import read

if TYPE_CHECKING:
    from benchcore.embedding.text import Renderer

_IDENTITY = ("prompt_id", "content_hash", "source", "path")


def selectable(config: Config, registry: Registry, pinned: Mapping[str, int]) -> Pool:
    """Build the pool of a configuration from the tables at pinned versions.

    Args:
        config: the filter, the text template and the encoder.
        registry: holds the tables `prompts`, `sources` and `embeddings`.
        pinned: table -> version.

    Raises:
        UsageError: the filter names what there is not.
        BenchcoreError: there are no prompts, the filter keeps none, or some have no embedding yet.
    """
    from benchcore.embedding.encoder import description, fingerprint, known_languages
    from benchcore.embedding.features import feature_description, feature_fingerprint
    from benchcore.embedding.precision import decided
    from benchcore.embedding.text import Renderer

    renderer = Renderer(config.embed)
    prompts = _current_prompts(registry, pinned)
    licences = licences_of(registry, pinned, prompts)
    prompts = prompts.filter(pa.array(filters.keep(prompts, licences, config.select.filter)))
    prompts, copies = collapse(prompts)
    ids, features = prompts["prompt_id"].to_pylist(), config.embed.features
    hashes = _text_hashes(registry, pinned, renderer, ids)
    said = None
    if features and config.embed.encoder.vectors is not None:
        said = _strings(_text_hashes(registry, pinned, Renderer(config.embed, said=True), ids))
    encoder = fingerprint(config.embed, registry)
    pool = Pool(
        prompt_id=_strings(prompts["prompt_id"]),
        content_hash=_strings(prompts["content_hash"]),
        text_hash=_strings(hashes),
        benchmark=_strings(prompts["benchmark"]),
        category=one_category_each(prompts),
        copies=copies,
        truncated=_truncated(
            registry, pinned, _embedded(config, registry, pinned, encoder), hashes, prompts["benchmark"]
        ),
        unknown_language=outside(prompts["language"], known_languages(config.embed.encoder)),
        encoder=encoder,
        encoder_description=description(config.embed, _precision(config.embed, decided(config.embed, registry))),
        blocks={
            name: Block(feature_fingerprint(name, config.embed), feature_description(name, config.embed))
            for name in features
        },
        feature_text=said,
    )
    return pool if config.select.budget is None else replace(pool, tokens=_tokens(config, registry, pinned, pool))


def _tokens(config: Config, registry: Registry, pinned: Mapping[str, int], pool: Pool) -> NDArray[np.float64]:
    """What a model has to read for each prompt, as a plan has it, but at least one token."""
    from benchcore.pipeline.planning.costs import tokens_of

    return np.maximum(tokens_of(config.plan, registry, pinned, pool, np.arange(pool.n)).read, 1.0)


def collapse(prompts: pa.Table) -> tuple[pa.Table, NDArray[np.int64]]:
    """Let the copy with the smallest id stand for all prompts of a benchmark with the same content.

    By content rather than by `duplicate_of`: the copy that the table names may be filtered out.

    Returns:
        The prompts that are left, by prompt_id, and how many each stands for, itself included.
    """
    prompts = prompts.sort_by("prompt_id")
    numbered = prompts.select(["benchmark", "content_hash"])
    numbered = numbered.append_column("row", pa.array(np.arange(prompts.num_rows)))
    grouped = numbered.group_by(["benchmark", "content_hash"]).aggregate([("row", "min"), ("row", "count")])
    grouped = grouped.sort_by("row_min")
    return prompts.take(grouped["row_min"]), np.asarray(grouped["row_count"], np.int64)


def one_category_each(prompts: pa.Table) -> NDArray[np.str_]:
    """The category of each prompt's benchmark: its most frequent one, the first by name among equals.

    Shares and weights are given to benchmarks inside categories, so that one benchmark cannot be in two.
    """
    counted = prompts.group_by(["benchmark", "category"]).aggregate([([], "count_all")])
    order = [("count_all", "ascending"), ("category", "descending")]
    last_wins = counted.sort_by(order).to_pylist()
    category = {row["benchmark"]: row["category"] for row in last_wins}
    return np.array([category[name] for name in prompts["benchmark"].to_pylist()], dtype=np.str_)


def outside(languages: pa.ChunkedArray, known: frozenset[str] | None) -> NDArray[np.bool_]:
    """Which languages an encoder does not know: `pt-BR` is known where `pt` is, and so is a language without name.

    Args:
        languages: of each prompt.
        known: two-letter codes; None where nothing is known about the encoder.
    """
    if known is None:
        return np.zeros(len(languages), bool)
    unknown = {
        language
        for language in languages.unique().to_pylist()
        if language is not None and not {language.lower(), re.split("[-_]", language.lower())[0]} & known
    }
    return np.asarray(pc.is_in(languages, value_set=pa.array(sorted(unknown), pa.string())))


def _current_prompts(registry: Registry, pinned: Mapping[str, int]) -> pa.Table:
    columns = (*_IDENTITY, *filters.COLUMNS)
    found = read(registry, "prompts", pinned.get("prompts"), columns, pc.field("retired_at").is_null())
    if not found.num_rows:
        raise BenchcoreError("there are no prompts yet", where=registry.root, mend="Run `benchcore ingest CONF` first.")
    return found


def licences_of(registry: Registry, pinned: Mapping[str, int], prompts: pa.Table) -> pa.ChunkedArray:
    """The licence of the file that each prompt was read from, in the order of the prompts."""
    columns = ("source", "path", "licence")
    current = read(registry, "sources", pinned.get("sources"), columns, pc.field("superseded_by").is_null())
    files = current.group_by(["source", "path"]).aggregate([("licence", "max")])
    numbered = prompts.select(["source", "path"]).append_column("row", pa.array(np.arange(prompts.num_rows)))
    return numbered.join(files, ["source", "path"], join_type="left outer").sort_by("row")["licence_max"]


def _text_hashes(
    registry: Registry, pinned: Mapping[str, int], renderer: Renderer, prompt_ids: Sequence[str]
) -> pa.Array:
    """The hash of each prompt's text, rendered a batch at a time: texts of a whole registry can be gigabytes."""
    from benchcore.embedding.survey import current_prompts

    wanted, found = frozenset(prompt_ids), dict[str, str]()
    for batch in current_prompts(registry, pinned.get("prompts"), renderer):
        kept = batch.filter(pa.array([identity in wanted for identity in batch["prompt_id"].to_pylist()], pa.bool_()))
        found.update(zip(kept["prompt_id"].to_pylist(), renderer.hashes(kept), strict=True))
    return pa.array([found[identity] for identity in prompt_ids], pa.string())


def _embedded(config: Config, registry: Registry, pinned: Mapping[str, int], encoder: str) -> pa.Table:
    """Which texts have a vector of the encoder, and whether it saw only their heads.

    Raises:
        UsageError: the table has another number of buckets than is configured.
    """
    columns = ("text_hash", "truncated", "bucket")
    stored = read(registry, "embeddings", pinned.get("embeddings"), columns, pc.field("encoder") == encoder)
    require_buckets(stored, config.registry.buckets)
    return stored


def _truncated(
    registry: Registry, pinned: Mapping[str, int], stored: pa.Table, hashes: pa.Array, benchmarks: pa.ChunkedArray
) -> NDArray[np.bool_]:
    """Whether the encoder saw only the head of each text.

    Raises:
        BenchcoreError: texts have no embedding; says how many, of which benchmarks.
    """
    places = pc.index_in(hashes, value_set=stored["text_hash"])
    if places.null_count:
        named = by_benchmark(benchmarks.filter(pc.is_null(places)).to_pylist())
        raise BenchcoreError(
            f"{places.null_count:,} of {len(hashes):,} prompts have no embedding yet ({named})"
            f"{_by_others(registry, pinned) if stored.num_rows == 0 else ''}",
            where=registry.root,
            mend="Run `benchcore embed CONF`; it encodes only what is missing.",
        )
    return np.asarray(stored["truncated"].take(places).fill_null(False), bool)


def _by_others(registry: Registry, pinned: Mapping[str, int]) -> str:
    """What to say of a table that has vectors, and none of the encoder that is configured."""
    encoders = len(read(registry, "embeddings", pinned.get("embeddings"), ("encoder",))["encoder"].unique())
    return f"; the vectors that there are have other encoders or texts ({encoders} fingerprints)" if encoders else ""


def _precision(embed: EmbedSection, decided: str | None) -> str | None:
    return None if embed.encoder.vectors is not None else decided


def _strings(column: pa.ChunkedArray | pa.Array) -> NDArray[np.str_]:
    return np.array(column.to_pylist(), dtype=np.str_)

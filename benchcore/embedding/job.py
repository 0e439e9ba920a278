"""The embedding step: every distinct text of the registry's prompts gets its vector and its features, once, ever."""

from __future__ import annotations

import itertools
import logging
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from benchcore.config import Config
from benchcore.embedding import staging
from benchcore.embedding.encoder import base_fingerprint, fingerprint_with
from benchcore.embedding.features import LackingFeatures
from benchcore.embedding.model_files import locate
from benchcore.embedding.precision import decide, decided
from benchcore.embedding.spool import Spool
from benchcore.embedding.survey import Survey, offer_texts, prompts_of, survey
from benchcore.embedding.table import Appended, append, compact, known_texts
from benchcore.embedding.text import Renderer
from benchcore.embedding.units import Unit, form_units
from benchcore.embedding.vectors import check_vectors, rows_of_vectors
from benchcore.embedding.workers import Order, Pool, UnusableVectorsError, plan_pool
from benchcore.errors import BenchcoreError
from benchcore.progress import progress
from benchcore.ray_cluster import connect
from benchcore.registry.root import Registry
from benchcore.registry.tables import current_version

log = logging.getLogger(__name__)

# A second or two of work on a core: little is lost with a worker, and none waits long for the last one.
_UNIT_TOKENS = 16384
_PROBED_TEXTS = 16
_PROBED_CHARACTERS = 2048
_NAMED = 5


@dataclass(frozen=True)
class EmbedOutcome:
    """What the step did.

    Attributes:
        changed: whether the table `embeddings` got a new version.
        texts: distinct texts of the prompts that are not retired.
        encoded: those that this run encoded (or took from the user's file).
        cached: those that had been encoded before.
        truncated: those that the encoder sees the head of only.
        features: those that got blocks of features in this run.
        seconds: that the step took.
        warnings: for the user, a line each.
    """

    changed: bool
    texts: int
    encoded: int
    cached: int
    truncated: int
    features: int
    seconds: float
    warnings: tuple[str, ...] = ()


def embed(config: Config, registry: Registry, run_id: str) -> EmbedOutcome:
    """Give every text its vector and its features; without any that lacks one, neither Ray starts nor is anything
    committed.

    Can be killed at any moment: run again, it uses the units that were finished and ends as if it had run once.
    The caller holds the registry's lock.

    Args:
        config: the sections embed, ray and registry.
        registry: holds the table `prompts`.
        run_id: for the log.

    Raises:
        UsageError: the template, the encoder or the file of vectors is wrong.
        BenchcoreError: there are no prompts, a text cannot be encoded, or the plan does not fit the machine; what was
            encoded is kept.
    """
    log.debug("run %s embeds", run_id)
    if current_version(registry, "prompts") is None:
        raise BenchcoreError("there are no prompts yet", where=registry.root, mend="Run `benchcore ingest CONF` first.")
    if config.embed.encoder.vectors is not None:
        return _take_vectors(config, registry)
    return _encode_texts(config, registry)


def _encode_texts(config: Config, registry: Registry, settled: bool = False) -> EmbedOutcome:
    started = time.monotonic()
    renderer, version = Renderer(config.embed), current_version(registry, "prompts")
    precision = decided(config.embed, registry)
    encoder = fingerprint_with(config.embed, precision) if precision else None
    known = known_texts(registry, encoder, config.registry.buckets) if encoder else {}
    with Spool() as missing, LackingFeatures(config.embed, registry, config.registry.buckets) as features:
        found = survey(registry, version, renderer, known, missing, offer=features.offer)
        units = _units(config, missing)
        staged = staging.staged_units(registry, encoder) if encoder else {}
        if encoder and staged and not staged.keys() <= {unit.unit_id for unit in units}:
            settled |= _settle(registry, encoder, known, staged)
            return _encode_texts(config, registry, settled)
        if not units and not len(features):
            return _outcome(found, 0, 0, settled, started)
        todo = [unit for unit in units if unit.unit_id not in staged]
        if todo:
            log.info("encoding %d texts, %d of the registry's %d have a vector", *_counts(todo, found))
            encoder = _encode(config, registry, version, missing, todo)
        assert encoder is not None  # nosec B101 # for the type checker: _encode has given one
        staged_rows = staging.read_units(registry, encoder, (unit.unit_id for unit in units))
        added = _commit(registry, {encoder: known}, staged_rows, features)
    staging.remove(registry, encoder)
    encoded = sum(len(unit.rows) for unit in todo)
    return _outcome(found, encoded, added.truncated, True, started, features=len(features))


def _commit(
    registry: Registry, known: Mapping[str, Mapping[str, bool]], vectors: Iterable[pa.Table], features: LackingFeatures
) -> Appended:
    """Add vectors and features in one commit, and see to it that the files stay few."""
    added = append(registry, {**known, **features.known}, itertools.chain(vectors, features.rows()))
    for encoder in added.rows:
        compact(registry, encoder)
    return added


def _units(config: Config, missing: Spool) -> list[Unit]:
    tokens = config.embed.batch_tokens
    size = _UNIT_TOKENS if tokens == "auto" else max(_UNIT_TOKENS, tokens)
    return form_units(missing.hashes, missing.sizes, locate(config.embed.encoder).max_length, size)


def _settle(registry: Registry, encoder: str, known: Mapping[str, bool], staged: Iterable[str]) -> bool:
    """Commit what a killed run left, when it is not a part of this one's work: the prompts have changed since."""
    added = append(registry, {encoder: known}, staging.read_units(registry, encoder, staged))
    staging.remove(registry, encoder)
    return bool(added.rows)


def _encode(config: Config, registry: Registry, version: int | None, missing: Spool, todo: Sequence[Unit]) -> str:
    """Encode units on Ray and stage them; gives the encoder's fingerprint. The actors are gone afterwards."""
    embed = config.embed
    files = locate(embed.encoder)
    pinned = embed.model_copy(update={"encoder": embed.encoder.model_copy(update={"revision": files.revision})})
    connect(config.ray)
    plan = plan_pool(embed, files, len(todo))
    with Pool(pinned if files.revision else embed, plan) as pool:
        _require_disk(registry, sum(len(unit.rows) for unit in todo), pool.dimension())
        precision = decided(embed, registry) or decide(embed, registry, pool.probe(_sample(missing)))
        encoder = fingerprint_with(embed, precision)

        def orders() -> Iterator[Order]:
            hashes = missing.hashes
            for unit in todo:
                yield Order(
                    unit.unit_id,
                    [hashes[row] for row in unit.rows],
                    [missing.text(row) for row in unit.rows],
                    registry, encoder, precision, embed.batch_tokens, config.registry.buckets,
                )  # fmt: skip

        try:
            with progress("embed", sum(len(unit.rows) for unit in todo), "texts") as advance:
                for done in pool.run(orders()):
                    advance(done.texts)
        except UnusableVectorsError as error:
            raise _unusable(error, registry, version, Renderer(embed)) from None
    return encoder


def _take_vectors(config: Config, registry: Registry) -> EmbedOutcome:
    started, path = time.monotonic(), str(config.embed.encoder.vectors)
    encoder, buckets = base_fingerprint(config.embed), config.registry.buckets
    known = known_texts(registry, encoder, buckets)
    with Spool() as missing, LackingFeatures(config.embed, registry, buckets) as features:
        version = current_version(registry, "prompts")
        found = survey(registry, version, Renderer(config.embed), known, missing)
        if features.encoders:
            offer_texts(registry, version, Renderer(config.embed, said=True), features.offer)
        wanted = {missing.text(row) for row in range(len(missing))}
        if not wanted and not len(features):
            return _outcome(found, 0, 0, False, started)
        if wanted:
            _require_disk(registry, len(wanted), check_vectors(path, wanted))
        vectors = rows_of_vectors(path, encoder, wanted, buckets) if wanted else ()
        added = _commit(registry, {encoder: known}, vectors, features)
    encoded = added.rows.get(encoder, 0)
    return _outcome(found, encoded, added.truncated, True, started, features=len(features))


def _sample(missing: Spool) -> list[str]:
    rows = sorted(range(len(missing)), key=missing.hashes.__getitem__)[:_PROBED_TEXTS]
    return [missing.text(row)[:_PROBED_CHARACTERS] for row in rows]


def _require_disk(registry: Registry, texts: int, dimension: int) -> None:
    if not registry.is_local:
        return
    need = 2 * texts * (4 * dimension + 128)  # staged, and in the table
    registry.require_writable()
    free = shutil.disk_usage(registry.root).free
    if need > free:
        raise BenchcoreError(
            f"{texts} vectors need about {need / 1e9:.1f} GB of disk, {free / 1e9:.1f} are free",
            where=registry.root,
            mend="Free some, or choose another root.",
        )


def _unusable(
    error: UnusableVectorsError, registry: Registry, version: int | None, renderer: Renderer
) -> BenchcoreError:
    ids = prompts_of(registry, version, renderer, set(error.hashes), _NAMED)
    return BenchcoreError(
        f"the encoder gives {len(error.hashes)} texts a vector that is zero or not finite, of prompts {', '.join(ids)}",
        where="embed.encoder",
        mend="Try embed.encoder.precision=float32; an encoder that still does so cannot be used.",
    )


def _counts(todo: Sequence[Unit], found: Survey) -> tuple[int, int, int]:
    texts = sum(len(unit.rows) for unit in todo)
    return texts, found.texts - texts, found.texts


def _outcome(
    found: Survey, encoded: int, truncated: int, changed: bool, started: float, *, features: int = 0
) -> EmbedOutcome:
    warnings = (f"{found.empty} prompts have an empty text: see embed.text",) if found.empty else ()
    return EmbedOutcome(
        changed=changed,
        texts=found.texts,
        encoded=encoded,
        cached=found.texts - encoded,
        truncated=found.truncated + truncated,
        features=features,
        seconds=time.monotonic() - started,
        warnings=warnings,
    )

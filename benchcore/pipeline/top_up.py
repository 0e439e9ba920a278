"""A larger coreset that keeps the picks of a smaller one, so that no score on them is lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchcore.config import Config
from benchcore.errors import BenchcoreError, UsageError
from benchcore.pipeline.selectable import selectable
from benchcore.registry.manifests import Manifest, read_picks, resolve_manifest
from benchcore.registry.root import Registry
from benchcore.registry.tables import pin

if TYPE_CHECKING:
    from benchcore.distributed.identity import Identity
    from benchcore.distributed.pool import Pool


def top_up(config: Config, coreset_id: str, k: int, *, over_changes: bool = False, command: str = "top-up") -> str:
    """Select the coreset of `k` picks that begins with those of a smaller coreset, and write it.

    A nested method is asked for more picks; any other (and facility location over shards, from one depth of its order
    to the next) gets the old picks as `select.include`, and so the new coreset a configuration of its own.

    Args:
        config: the configuration that the old coreset is of, whatever its k.
        coreset_id: of the old one, or the beginning of it.
        k: picks in all, more than it has.
        over_changes: where the prompts have changed since: keep the picks that are still there, rather than refuse.
        command: as the lock and the table `runs` shall name it.

    Returns:
        The id of the new coreset. Its first picks are the old ones, an audit slice left aside.

    Raises:
        UsageError: k is no larger, or the configuration is another.
        BenchcoreError: there is no such coreset, or prompts have changed since it was selected.
    """
    from benchcore.pipeline.steps import run

    registry = Registry.at(config.registry.root)
    manifest = resolve_manifest(registry, coreset_id)
    if k <= manifest.k:
        raise UsageError(
            f"coreset {manifest.coreset_id} has {manifest.k:,} picks already", where="k", mend="Choose a larger k."
        )
    pool = selectable(config, registry, pin(registry, ("prompts", "sources", "embeddings")))
    old = _as_it_was(config, manifest)
    _require_same(_identity(old, pool), manifest)
    rows = read_picks(registry, manifest.coreset_id).to_pylist()
    larger, kept = _with(old, k=k), [row["prompt_id"] for row in rows if row["role"] == "core"]
    changed = _identity(old, pool).input_digest != manifest.input_digest
    if changed or not _prefixes(old, larger, pool):
        if changed:
            rows = _still_there(rows, pool, manifest, over_changes=over_changes)
        kept = _includable(rows, manifest)
        larger = _with(larger, include=tuple(kept))
    made = run(larger, steps=("select",), command=command).coreset_id
    _require_kept(kept, rows, registry, str(made))
    return str(made)


def _with(config: Config, **values: Any) -> Config:
    return config.model_copy(update={"select": config.select.model_copy(update=values)})


def _as_it_was(config: Config, manifest: Manifest) -> Config:
    """The configuration at the old coreset's k; what an earlier top-up included is part of it."""
    included = tuple(manifest.semantic_configuration.get("include", ()))
    own = config.select.include
    return _with(config, k=manifest.k, include=included if included[: len(own)] == own else own)


def _identity(config: Config, pool: Pool) -> Identity:
    from benchcore.distributed.identity import Identity
    from benchcore.distributed.posed import plan_of

    return Identity.of(config, pool, plan_of(config, pool))


def _require_same(identity: Identity, manifest: Manifest) -> None:
    """Refuse another configuration; how many shards there are depends on the pool, too."""
    now, then = _plain(identity.semantic), manifest.semantic_configuration
    pool_changed = identity.input_digest != manifest.input_digest
    names = sorted({*now, *then} - ({"plan"} if pool_changed else set()))
    other = [name for name in names if now.get(name) != then.get(name)]
    if other:
        told = "; ".join(f"{name} is {now.get(name)}, was {then.get(name)}" for name in other[:3])
        raise UsageError(
            f"coreset {manifest.coreset_id} was selected by another configuration ({told})",
            where="select",
            mend="Name the configuration that it was selected by.",
        )


def _plain(semantic: Mapping[str, Any]) -> dict[str, Any]:
    """As the manifest has it, which went through JSON."""
    import orjson

    plain: dict[str, Any] = orjson.loads(orjson.dumps(semantic))
    return plain


def _prefixes(old: Config, larger: Config, pool: Pool) -> bool:
    """Whether the old picks are a prefix of the larger coreset's without further ado."""
    from benchcore.distributed.constraints import is_nested
    from benchcore.distributed.plan import depth
    from benchcore.distributed.ways import SHARDED, method_of

    if not (method_of(old.select.method).nested and is_nested(old.select)):
        return False
    shards = _identity(old, pool).semantic["plan"]["shards"]
    if old.select.method != SHARDED or shards == 1:
        return True
    most, audit = pool.n - len(old.select.exclude) - old.select.audit, old.select.audit
    return depth(old.select.k - audit, most) == depth(larger.select.k - audit, most)


def _includable(rows: Sequence[Mapping[str, Any]], manifest: Manifest) -> list[str]:
    """Ids of the old picks, to be included.

    Raises:
        BenchcoreError: some are an audit slice, which could not stay one.
    """
    if any(row["role"] == "audit" for row in rows):
        raise BenchcoreError(
            f"coreset {manifest.coreset_id} has an audit slice, and its method or its prompts allow no larger coreset"
            " that keeps both its picks and the slice",
            where="select.audit",
            mend="Select a larger coreset anew.",
        )
    return [str(row["prompt_id"]) for row in rows]


def _still_there(
    rows: Sequence[Mapping[str, Any]], pool: Pool, manifest: Manifest, *, over_changes: bool
) -> list[Mapping[str, Any]]:
    """The old picks that can be picked as they were.

    Raises:
        BenchcoreError: changes are not to be passed over, or no pick is left.
    """
    now = dict(zip(pool.prompt_id.tolist(), pool.content_hash.tolist(), strict=True))
    gone = [row["prompt_id"] for row in rows if row["prompt_id"] not in now]
    edited = [row["prompt_id"] for row in rows if now.get(row["prompt_id"], row["content_hash"]) != row["content_hash"]]
    kept = [row for row in rows if row["prompt_id"] not in {*gone, *edited}]
    if over_changes and kept:
        return kept
    named = f" ({', '.join([*gone, *edited][:5])})" if gone or edited else ""
    raise BenchcoreError(
        f"prompts have changed since coreset {manifest.coreset_id} was selected: of its {len(rows):,} picks"
        f" {len(gone):,} are gone or filtered out, {len(edited):,} have another text{named},"
        f" {len(kept):,} are as they were",
        where="prompts",
        mend=f"Include the {len(kept):,} that are still there (select.include), or select anew."
        if kept
        else "Select anew.",
    )


def _require_kept(kept: Sequence[str], rows: Sequence[Mapping[str, Any]], registry: Registry, made: str) -> None:
    """Check that what was promised holds: old picks first, in their order, and the slice as it was."""
    new = read_picks(registry, made).to_pylist()
    slices = [{row["prompt_id"] for row in some if row["role"] == "audit"} for some in (rows, new)]
    if [row["prompt_id"] for row in new[: len(kept)]] != list(kept) or slices[0] != slices[1]:
        raise BenchcoreError(f"coreset {made} does not begin with the picks of the smaller one", where=registry.root)

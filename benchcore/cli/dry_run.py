"""`benchcore select CONF --dry-run`: what a selection would do and take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchcore.cli.output import print_json, print_line, print_table
from benchcore.errors import BenchcoreError
from benchcore.machine import in_words

if TYPE_CHECKING:
    from benchcore.config import Config
    from benchcore.distributed.preview import Preview


def print_dry_run(config: Config, *, json: bool) -> None:
    """Plan the selection, and print the plan.

    Raises:
        BenchcoreError: it would not start; says what would.
    """
    from benchcore.cli.options import existing_registry
    from benchcore.pipeline.dry_run import dry_run

    found = dry_run(config, existing_registry(config))
    if json:
        print_json(as_json(config, found))
    else:
        _print(config, found)
    if found.refusal is not None:
        raise BenchcoreError(found.refusal)


def as_json(config: Config, found: Preview) -> dict[str, Any]:
    """The plan for scripts."""
    from dataclasses import asdict

    from benchcore.distributed.sizing import described

    return {
        "root": config.registry.root,
        "coreset_id": found.coreset_id,
        "method": config.select.method,
        "prompts": found.prompts,
        "distinct": found.work.n,
        "dimension": found.work.dimension,
        "k": found.work.k,
        "fits": found.refusal is None,
        "refusal": found.refusal,
        "seconds": found.seconds,
        "memory": found.memory,
        "free_memory": found.available,
        "finished": asdict(found.finished),
        "plan": described(found.work, found.rounds),
    }


def _print(config: Config, found: Preview) -> None:
    print_table(None, (f"{config.select.method}, nothing is started or written", ""), _facts(found))
    rows = [(part.name, duration(part.seconds), in_words(part.expected)) for part in found.rounds]
    print_table("expected", ("round", "time#", "memory, all processes#"), rows)
    free = "unknown before the cluster is asked" if found.available is None else in_words(found.available)
    print_line(f"in all {duration(found.seconds)}, at most {in_words(found.memory)}; free: {free}")


def _facts(found: Preview) -> list[tuple[str, object]]:
    work = found.work
    facts: list[tuple[str, object]] = [
        ("coreset", found.coreset_id),
        ("prompts", f"{found.prompts:,}, {work.n:,} distinct, {work.dimension} numbers each"),
        ("picks", work.k),
        ("way", _WAYS[work.way]),
        ("shards", f"{len(work.sizes):,}, of {min(work.sizes):,} to {work.largest:,} prompts"),
    ]
    if work.way == "shards":
        facts.append(("depth", f"{work.depth:,} picks of each shard"))
    if work.way == "candidates":
        facts.append(("candidates", work.candidates))
    for number, level in enumerate(merge_levels_of(found), start=1):
        many = f"{level['merges']:,} merges, each" if level["merges"] > 1 else "one merge"
        first = level["picks_before_lists"]
        listing = f"{first:,} picks before its pairs fit" if first else "its pairs fit from the first pick"
        if work.neighbours is not None:
            listing = f"each prompt looks at the {work.neighbours:,} nearest"
        facts.append((f"level {number}", f"{many} of at most {level['candidates']:,} candidates; {listing}"))
    facts.append(("certificate", work.certificate))
    facts.append(("workers", f"{work.workers} on {work.cpus} CPUs"))
    return [*facts, ("there already", _already(found))]


def merge_levels_of(found: Preview) -> list[dict[str, Any]]:
    """The merges of a plan, a level at a time."""
    from benchcore.distributed.sizing import described

    levels: list[dict[str, Any]] = described(found.work, found.rounds)["merges"]
    return levels


def _already(found: Preview) -> str:
    finished, work = found.finished, found.work
    if finished.coreset:
        return "the coreset: nothing will be done"
    if finished.order:
        return "the order of picks"
    inner = sum(len(level) for level in work.levels[:-1])
    shards = f"{finished.shards} of {len(work.sizes)} shards" if finished.shards else ""
    merges = f"{finished.merges} of {inner} inner merges" if finished.merges else ""
    return ", ".join(part for part in (shards, merges) if part) or "nothing"


def duration(seconds: float) -> str:
    """Seconds in words: '40 s', '12 min', '3.5 h'."""
    if seconds < 1:
        return "< 1 s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


_WAYS = {
    "shards": "each shard, then merges",
    "whole pool": "the whole pool in one process; shards only measure coverage",
    "candidates": "drawn candidates, whose kernel means are measured over all shards",
    "labels": "by labels alone; shards only measure coverage",
}

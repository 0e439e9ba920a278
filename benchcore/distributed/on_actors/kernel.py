"""An actor's part of a kernel's mean: what the rows of a shard tell of the scale, and give to the candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.distributed.on_actors.held import HeldShards
from benchcore.distributed.vectors import Embeddings
from benchcore.methods.geometry.directions import unit_rows
from benchcore.methods.kernel_mean.candidates import Rows, part_of_mean
from benchcore.methods.kernel_mean.scale import Moments, Scale, moments

Features = dict[str, NDArray[np.float32]]


@dataclass(frozen=True, eq=False)
class KernelShard:
    """What the kernel needs of a shard, beside what its actor holds.

    Attributes:
        blocks: where they lie, by name.
        groups: (n,) group numbers.
        mass: (n,) of the rows; over the pool it sums to 1.
        said: (n,) texts of the blocks other than the vectors, as bytes; None where those are the vectors' own.
        said_buckets: partitions of the embeddings table that these are in.
    """

    blocks: Mapping[str, Embeddings]
    groups: NDArray[np.int32]
    mass: NDArray[np.float64]
    said: NDArray[np.bytes_] | None = None
    said_buckets: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Survey:
    """What a shard tells of its blocks.

    Attributes:
        moments: of all its rows, by block.
        positions: of those of the wanted rows that are in the shard, ascending.
        rows: their features.
    """

    moments: dict[str, Moments]
    positions: NDArray[np.int64]
    rows: Features


def survey(held: HeldShards, shard: int, of: KernelShard, wanted: NDArray[np.int64]) -> Survey:
    """The moments of a shard's blocks, and the features of some pool positions, as far as they are in the shard."""
    features, own = _features(held, shard, of), held.shards[shard].positions
    found = np.intersect1d(wanted, own)
    places = np.searchsorted(own, found)
    rows = {name: block[places] for name, block in features.items()}
    return Survey({name: moments(block) for name, block in features.items()}, found, rows)


def mean_part(
    held: HeldShards, shard: int, of: KernelShard, scales: Mapping[str, Scale], candidates: Rows
) -> NDArray[np.float64]:
    """(m,) what the rows of a shard give to the mean of each candidate."""
    features = _features(held, shard, of)
    held.kept["kernel"].pop(shard)  # nobody asks again, unless an actor has died and reads anew
    rows = Rows([scale.applied(features[name]) for name, scale in scales.items()], of.groups)
    return part_of_mean(candidates, rows, of.mass)


def _features(held: HeldShards, shard: int, of: KernelShard) -> Features:
    """The blocks of a shard, vectors brought to length 1; what is read beside the vectors is kept."""
    own, kept = held.shards[shard], held.kept.setdefault("kernel", {})
    if shard not in kept:
        texts, buckets = (own.text_hash, own.buckets) if of.said is None else (of.said, of.said_buckets)
        others = {name: lies for name, lies in of.blocks.items() if name != "embedding"}
        kept[shard] = {name: lies.read(buckets, texts) for name, lies in others.items()}
    return {"embedding": unit_rows(held.vectors(shard)), **kept[shard]}

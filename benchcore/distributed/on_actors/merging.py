"""An actor's part of a merge: what candidates gain on its rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.distributed.on_actors.held import Centre, Compact, HeldShards
from benchcore.distributed.on_actors.query import Query, window
from benchcore.submodular.pairs.candidate_gains import CandidateGains
from benchcore.submodular.pairs.threads import Threads
from benchcore.submodular.quantise import Rows
from benchcore.submodular.similarities.window import Window, unbounded

_MOST_ROWS = 1024  # of a block
_CELLS = 2**21  # similarities of a block: 8 MB


@dataclass(frozen=True, eq=False)
class Merging:
    """What a merge is of; the same in all its calls.

    Attributes:
        name: tells merges apart.
        shards: whose rows are represented.
        rows: how many these are.
        candidates: (m, d) quantised rows.
        memory: bytes of pairs that all actors together may keep.
        query: bounds what coverage counts; None without one.
        neighbours: of each row, how many candidates cover it at all; None for all.
    """

    name: str
    shards: tuple[int, ...]
    rows: int
    candidates: Compact
    memory: int
    query: Query | None = None
    neighbours: int | None = None


def gains(
    held: HeldShards, centre: Centre, merging: Merging, picks: Sequence[int], candidates: NDArray[np.int64]
) -> NDArray[np.float64]:
    """(len(candidates),) what some candidates gain on the actor's rows, after some picks.

    Args:
        held: the actor's shards.
        centre: of the pool.
        merging: the merge.
        picks: candidates in the set, in order; usually those of the last call and a few more.
        candidates: whose gains.
    """
    return _total(len(candidates), [part.gains(candidates) for part in _parts(held, centre, merging, picks)])


def bounds(held: HeldShards, centre: Centre, merging: Merging, picks: Sequence[int]) -> NDArray[np.float64]:
    """(m,) what no candidate's gain on the actor's rows exceeds after some picks; arguments as of `gains`."""
    parts = [part.bounds() for part in _parts(held, centre, merging, picks)]
    return _total(len(merging.candidates), parts)


def increases(
    held: HeldShards, centre: Centre, shards: Sequence[int], rows: Compact, query: Query | None
) -> NDArray[np.float64]:
    """(k,) by how much each of some picks, in order, raises the value on those of the shards that are the actor's.

    Args:
        held: the actor's shards.
        centre: of the pool.
        shards: whose rows are represented.
        rows: (k, d) quantised rows of the picks.
        query: bounds what coverage counts; None without one.
    """
    raised, columns = np.zeros(len(rows)), rows.astype(np.float32).T
    for own, mass, limits in _blocks(held, centre, shards, query, len(rows)):
        low, high = limits.low[:, None], limits.high[:, None]
        reached = np.minimum(np.maximum.accumulate(np.maximum(own @ columns, low), axis=1), high) - low
        raised += np.diff(mass @ reached.astype(np.float64), prepend=0.0)
    return raised


def values(
    held: HeldShards, centre: Centre, merging: Merging, sets: Sequence[NDArray[np.int64]]
) -> NDArray[np.float64]:
    """(len(sets),) the values of some sets of candidates on the actor's rows, from one product with all candidates."""
    found, columns = np.zeros(len(sets)), merging.candidates.astype(np.float32).T
    for own, mass, limits in _blocks(held, centre, merging.shards, merging.query, len(merging.candidates)):
        similarities = own @ columns
        for number, members in enumerate(sets):
            reached = limits.clip(similarities[:, members].max(axis=1, initial=0.0)) - limits.low
            found[number] += mass @ reached.astype(np.float64)
    return found


def reached(
    held: HeldShards, centre: Centre, merging: Merging, picks: Sequence[int], order: NDArray[np.int64]
) -> NDArray[np.float64]:
    """(2, len(order)) of how many of the actor's rows, and of how much mass, each pick is the first to be a neighbour.

    Args:
        held: the actor's shards.
        centre: of the pool.
        merging: the merge, which has neighbours.
        picks: candidates in the set, in order, as the other questions are told; they change no answer.
        order: candidates in order.
    """
    found = np.zeros((2, len(order) + 1))
    kept = _parts(held, centre, merging, picks)
    for number, part in zip(_own(held, merging), kept, strict=True):
        first = part.reached(order)
        found[0] += np.bincount(first, minlength=len(order) + 1)
        found[1] += np.bincount(first, weights=held.shards[number].mass, minlength=len(order) + 1)
    return found[:, :-1]


def end(held: HeldShards) -> None:
    """Let go of what a merge kept."""
    held.kept.pop("merge", None)


@dataclass(eq=False)
class _Kept:
    name: str
    parts: list[CandidateGains]
    picks: list[int]


def _parts(held: HeldShards, centre: Centre, merging: Merging, picks: Sequence[int]) -> list[CandidateGains]:
    """Gains on each of the actor's shards, with these picks."""
    kept = held.kept.get("merge")
    if kept is None or kept.name != merging.name or kept.picks != list(picks[: len(kept.picks)]):
        end(held)  # before what takes its place needs the memory
        kept = held.kept["merge"] = _Kept(merging.name, _begun(held, centre, merging, picks), list(picks))
    further = np.array(picks[len(kept.picks) :], np.int64)
    if further.size:
        for part in kept.parts:
            part.add(further)
    kept.picks = list(picks)
    parts: list[CandidateGains] = kept.parts
    return parts


def _begun(held: HeldShards, centre: Centre, merging: Merging, picks: Sequence[int]) -> list[CandidateGains]:
    memory = merging.memory / merging.rows  # bytes a row; the plan has seen to it that they are there
    candidates, before, threads = merging.candidates.astype(np.float32), np.array(picks, np.int64), Threads()
    parts = []
    for number in _own(held, merging):
        rows, mass = held.rows(number, centre), held.shards[number].mass
        share = int(memory * len(rows))
        limits = window(held, number, centre, merging.query)
        low, high = (None, None) if limits is None else (limits.low, limits.high)
        parts.append(
            CandidateGains(
                candidates,
                rows,
                mass,
                before,
                memory=share,
                neighbours=merging.neighbours,
                floor=low,
                ceiling=high,
                threads=threads,
            )
        )
    return parts


def _own(held: HeldShards, merging: Merging) -> list[int]:
    """Those of a merge's shards that are the actor's."""
    return [number for number in merging.shards if number in held.shards]


def _blocks(
    held: HeldShards, centre: Centre, shards: Sequence[int], query: Query | None, columns: int
) -> Iterator[tuple[Rows, NDArray[np.float64], Window]]:
    step = max(1, min(_MOST_ROWS, _CELLS // max(columns, 1)))
    for number in shards:
        if number in held.shards:
            rows, mass = held.rows(number, centre), held.shards[number].mass
            limits = window(held, number, centre, query) or unbounded(len(rows))
            for start in range(0, len(rows), step):
                some = slice(start, start + step)
                yield rows[some], mass[some], limits.rows(some)


def _total(length: int, parts: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    total: NDArray[np.float64] = np.sum([np.zeros(length), *parts], axis=0)
    return total

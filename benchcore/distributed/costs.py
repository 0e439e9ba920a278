"""What a selection will take, round by round: expected seconds and bytes, from its sizes and measured constants.

Pure arithmetic: nothing is read and nothing is started. Seconds change nothing but what is shown; bytes decide whether
a selection may start.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from benchcore.distributed.placement import gib
from benchcore.distributed.plan import (
    ENTRY_BYTES,
    SAMPLED_ROWS,
    Merge,
    merge_levels,
    merge_step,
    nearest_pairs,
    pairs,
    picks_before_lists,
)
from benchcore.errors import BenchcoreError

Way = Literal["shards", "whole pool", "candidates", "labels"]

GIB = 2**30

# Bytes of a process that holds nothing yet: proportional set sizes, sampled through a selection by two workers from
# 40,000 prompts of 384 numbers, less what the formulas below say that it held.
DRIVER_BYTES = 180 * 2**20  # interpreter, numpy, pyarrow, deltalake, Ray's client
DAEMON_BYTES = 360 * 2**20  # Ray's own processes of a node
WORKER_BYTES = 350 * 2**20  # interpreter, Ray, pyarrow, deltalake, compiled loops, and blocks of similarities
_READ_COPIES = 3  # of a shard's vectors while they are read and quantised; allocators keep what that took
_POOL_COPIES = 2  # of the pool's columns: the driver's, and those in Ray's store that workers share
_ANSWER_BYTES = 24  # of a prompt, in the driver: its coverage, its pick and its gain

# Times that a pair's similarity is computed: `python -m infra.scale.constants`.
_LOCAL_PASSES = 1.0  # half a pass for the codes and half for the lists, since similarities in a shard are symmetric
_LOCAL_TOUCHES = 11.5  # and that many steps of a loop: codes, their bounds, lists
_NEAREST_TOUCHES = 10.0  # steps of a loop, of each pair, that finding the nearest candidates and listing them takes


@dataclass(frozen=True)
class Rates:
    """Speeds of one CPU.

    Measured by `python -m infra.scale.constants` on two idle threads of one core (AMD EPYC): `multiply`, which is
    measured again at each dry run, `loop`, and `kernel` (three blocks of features). `read` is what the round of the
    centre took over registries of 125,000 to 1,000,000 prompts. `draws`, `start` and `question` are round figures.

    Attributes:
        multiply: single-precision multiply-adds a second in a matrix product, with all CPUs at work.
        loop: similarities a second that a compiled loop compares with a coverage.
        kernel: similarities a second that become kernel values and sums.
        read: bytes of vectors a second from the table to quantised rows.
        draws: prompts a second where no vector is looked at.
        start: seconds until Ray runs.
        question: seconds of a question to all workers and back, beside the work itself.
    """

    multiply: float = 24e9
    loop: float = 3.2e9
    kernel: float = 4.4e8
    read: float = 1e8
    draws: float = 1e6
    start: float = 6.0
    question: float = 0.004


@dataclass(frozen=True)
class Work:
    """A selection in numbers.

    Attributes:
        way: over shards; on the whole pool in one process; from candidates whose kernel means the workers measure; or
            by the prompts' labels alone.
        sizes: rows of each shard.
        dimension: length of the vectors.
        features: numbers a prompt of all blocks that the method looks at (the vectors among them).
        k: picks wanted.
        depth: picks that each shard and each merge orders.
        levels: of merges; none unless `way` is over shards.
        certificate: which bound on the optimum.
        merge_bytes: most bytes of pairs that a merge keeps, over all workers.
        pool_bytes: of the pool's columns.
        workers: processes that hold the shards.
        cpus: of all machines together.
        candidates: prompts that a method picks from where it does not look at all pairs of the pool.
        neighbours: of each row, how many candidates a merge looks at; None for all.
    """

    way: Way
    sizes: tuple[int, ...]
    dimension: int
    features: int
    k: int
    depth: int
    levels: tuple[tuple[Merge, ...], ...]
    certificate: Literal["exact", "sampled", "none"]
    merge_bytes: int
    pool_bytes: int
    workers: int
    cpus: int
    candidates: int = 0
    neighbours: int | None = None

    @property
    def n(self) -> int:
        """Rows of the pool."""
        return sum(self.sizes)

    @property
    def largest(self) -> int:
        """Rows of the largest shard."""
        return max(self.sizes)


@dataclass(frozen=True)
class Round:
    """One round of a selection.

    Attributes:
        name: for people.
        step: under which the manifest has the seconds it took.
        seconds: expected, of the clock.
        memory: bytes of all processes together that it cannot do without, the driver and Ray included.
        spare: bytes more that make it faster, and that it will take.
    """

    name: str
    step: str
    seconds: float
    memory: int
    spare: int = 0

    @property
    def expected(self) -> int:
        """Bytes that it will take."""
        return self.memory + self.spare


def rounds(work: Work, rates: Rates, available: int | None = None) -> tuple[Round, ...]:
    """What each round is expected to take, in order.

    Args:
        work: the selection.
        rates: of the machine.
        available: bytes that are free; None takes as many as are of use.
    """
    start, centre, closing = _start(work, rates), _centre(work, rates), _closing(work, rates)
    if work.way == "shards":
        given = None if available is None else granted(work, available)
        return (start, centre, *_sharded(work, rates, given), *closing)
    if work.way == "candidates":
        return (start, *_from_candidates(work, rates), centre, *closing)
    picking = _on_whole_pool(work, rates) if work.way == "whole pool" else _by_labels(work, rates)
    return (picking, start, centre, *closing)


def needed(work: Work) -> int:
    """Bytes that the selection cannot do without, over all processes, in the round that needs most."""
    return max(found.memory for found in rounds(work, Rates()))


def granted(work: Work, available: int) -> int:
    """Bytes beyond the needed ones that all workers together may take: half of what is left is others'."""
    return max(0, available - needed(work)) // 2


def worker_bytes(work: Work) -> int:
    """Bytes that each worker must find on its node: its part of all that is not the driver's or Ray's own."""
    others = DRIVER_BYTES + DAEMON_BYTES + _POOL_COPIES * work.pool_bytes
    return max(0, needed(work) - others) // work.workers


def require_memory(work: Work, available: int) -> None:
    """Refuse a selection that does not fit.

    Raises:
        BenchcoreError: with the round that needs most, its figure, and what would fit.
    """
    most = max(rounds(work, Rates()), key=lambda found: found.memory)
    if most.memory <= available:
        return
    on = "in one process" if work.way == "whole pool" else f"in {len(work.sizes)} shards on {_counted(work.workers)}"
    raise BenchcoreError(
        f"{work.n:,} prompts {on} need {gib(most.memory)} of memory (in the round '{most.name}'),"
        f" {gib(available)} are free",
        where="select",
        mend=_what_would_fit(work, available),
    )


def resized(work: Work, *, workers: int | None = None, shard_size: int | None = None, merge: int | None = None) -> Work:
    """The same selection with other settings, its shards taken to be of equal size.

    Args:
        work: as it is.
        workers: other number.
        shard_size: other rows of a shard.
        merge: other bytes of `merge_bytes`.

    Raises:
        BenchcoreError: no tree of merges fits these bytes.
    """
    sizes, merge_bytes = work.sizes, merge or work.merge_bytes
    if shard_size is not None:
        count = max(1, math.ceil(work.n / shard_size))
        sizes = tuple(work.n // count + (number < work.n % count) for number in range(count))
    levels = merge_levels(list(sizes), work.depth, merge_bytes, work.neighbours) if work.levels else ()
    most = min(workers or work.workers, len(sizes))
    return replace(work, sizes=sizes, levels=levels, merge_bytes=merge_bytes, workers=most)


def _what_would_fit(work: Work, available: int) -> str:
    found = []
    for setting, values in _levers(work).items():
        for value, shown in values:
            try:
                other = resized(work, **{setting: value})
            except BenchcoreError:
                break
            if needed(other) <= available:
                found.append(f"{shown} ({gib(needed(other))})")
                break
    least = needed(resized(work, workers=1))
    if not found and work.way == "whole pool":
        return f"Filter prompts out, take facility_location, which runs on shards, or have {gib(least)} free."
    if found:
        return f"It fits with {', or '.join(found)}; or use a larger cluster."
    return f"Filter prompts out, or use a machine or cluster with {gib(least)} free; one worker needs as much."


def _levers(work: Work) -> dict[str, list[tuple[int, str]]]:
    """Settings that lower the memory, each with values from the mildest."""
    if work.way == "whole pool":
        return {}
    average = max(1, round(work.n / len(work.sizes)))
    shards = [average >> halving for halving in range(1, 6) if average >> halving >= work.depth]
    merges = [work.merge_bytes >> halving for halving in range(1, 5)]
    return {
        "workers": [(count, f"select.workers: {count}") for count in range(work.workers - 1, 0, -1)],
        "shard_size": [(size, f"select.shard_size: {size}") for size in shards],
        "merge": [(size, f"select.merge_gb: {size / GIB:.3g}") for size in merges] if work.levels else [],
    }


def _start(work: Work, rates: Rates) -> Round:
    return Round("start", "start", rates.start, _base(work))


def _centre(work: Work, rates: Rates) -> Round:
    """Vectors are read once, by the workers, and become rows when they are first asked for."""
    seconds = 4 * work.n * work.dimension / rates.read / _cores(work)
    return Round("read and centre", "centre", seconds, _held(work))


def _sharded(work: Work, rates: Rates, given: int | None) -> list[Round]:
    found = [_local(work, rates, given)]
    for number, level in enumerate(work.levels, start=1):
        found.append(_merges(work, rates, number, level))
        if len(level[0].children) > 1:
            found.append(_better_of(work, rates, number, level))
    return found


def _local(work: Work, rates: Rates, given: int | None) -> Round:
    """The greedy on each shard: by codes of all pairs where they fit, else by passes over all pairs."""
    codes = work.workers * work.largest**2 // 2
    fits = given is None or given >= codes
    passes, touches = (_LOCAL_PASSES, _LOCAL_TOUCHES) if fits else (1 + _harmonic(work.depth),) * 2
    seconds = _product(work, rates, sum(size**2 for size in work.sizes), passes, touches)
    return Round("local", "local", seconds, _held(work), codes if fits else 0)


def _merges(work: Work, rates: Rates, number: int, level: tuple[Merge, ...]) -> Round:
    """Gains of all candidates on all rows, again on the rows that a pick raises, until their pairs are listed.

    With neighbours each row's pairs with these are found and listed in one pass.
    """
    seconds, memory = 0.0, 0
    for merge in level:
        all_pairs = pairs(merge, list(work.sizes), work.depth)
        dense, kept = _kept(work, merge)
        passes = 1 + _harmonic(dense)
        idle = max(1.0, work.workers / len(merge.shards))  # workers that hold none of its shards
        touches = passes + _harmonic(work.depth) * kept / all_pairs
        if work.neighbours is not None:
            touches += _NEAREST_TOUCHES
        seconds += idle * _product(work, rates, all_pairs, passes, touches) + work.depth * rates.question
        memory = max(memory, kept * ENTRY_BYTES + _candidates(work, len(merge.children) * work.depth))
    counted = "merge" if len(work.levels) == 1 else f"merges of level {number} ({len(level)})"
    return Round(counted, merge_step(number - 1), seconds, _held(work) + memory)


def _kept(work: Work, merge: Merge) -> tuple[int, int]:
    """How many picks a merge makes before it keeps pairs, and how many pairs it keeps."""
    sizes = list(work.sizes)
    if len(merge.children) == 1:  # its part's picks are taken as they are
        return 0, 0
    if work.neighbours is not None:
        return 0, nearest_pairs(merge, sizes, work.depth, work.neighbours)
    all_pairs = pairs(merge, sizes, work.depth)
    dense = picks_before_lists(all_pairs, work.merge_bytes)
    return dense, min(work.merge_bytes // ENTRY_BYTES, all_pairs // (dense + 1))


def _better_of(work: Work, rates: Rates, number: int, level: tuple[Merge, ...]) -> Round:
    """The value of each part's own picks on all rows of its merge."""
    all_pairs = sum(pairs(merge, list(work.sizes), work.depth) for merge in level)
    name = "better of" if len(work.levels) == 1 else f"better of, level {number}"
    memory = _held(work) + _candidates(work, work.depth)
    return Round(name, merge_step(number - 1), _product(work, rates, all_pairs, 1, 1), memory)


def _on_whole_pool(work: Work, rates: Rates) -> Round:
    """All pairs at once, in one process: their kernel, its sums, and the picks' columns."""
    from benchcore.distributed.whole_pool import bytes_needed

    all_pairs = work.n**2 / 2
    seconds = all_pairs * (work.features / rates.multiply + 1 / rates.kernel) / work.cpus
    memory = DRIVER_BYTES + work.pool_bytes + bytes_needed(work.n, work.features, work.k)
    return Round("whole pool", "order", seconds, memory)


def _from_candidates(work: Work, rates: Rates) -> list[Round]:
    """Each candidate's mean kernel over all prompts, by the workers; then the method on them, in the driver."""
    all_pairs = work.n * work.candidates
    seconds = all_pairs * (work.features / rates.multiply + 1 / rates.kernel) / _cores(work)
    columns = 4 * work.candidates * work.features
    blocks = 4 * work.n * (work.features - work.dimension)  # beside the vectors, until the last mean is measured
    memory = _held(work) + blocks + columns * (1 + 2 * work.workers)
    one_by_one = work.candidates**2 / 2 * (work.features / rates.multiply + 1 / rates.kernel)
    driver = 5 * columns + 12 * work.k * work.candidates
    picking = Round("picks of candidates", "order", one_by_one, _held(work) + blocks + driver)
    return [Round("kernel means", "order", seconds, memory), picking]


def _by_labels(work: Work, rates: Rates) -> Round:
    return Round("draw", "order", work.n / rates.draws, DRIVER_BYTES + 2 * work.pool_bytes)


def _closing(work: Work, rates: Rates) -> list[Round]:
    held = _held(work)
    answers = work.n * _ANSWER_BYTES
    picks = _candidates(work, work.k)
    found = [Round("coverage", "coverage", _product(work, rates, work.n * work.k, 1, 2), held + answers + picks)]
    if work.certificate == "exact":
        seconds = _product(work, rates, work.n * (work.n + work.k), 1, 1)
        found.append(Round("certificate", "certificate", seconds, held + answers + picks))
    elif work.certificate == "sampled":
        rows = min(SAMPLED_ROWS, work.n)
        seconds = _product(work, rates, work.n * (rows + work.k), 1, 1)
        found.append(Round("certificate", "certificate", seconds, held + answers + picks + _candidates(work, rows)))
    return [*found, Round("write", "write", 1.0 + work.n / rates.draws, held + answers)]


def _product(work: Work, rates: Rates, all_pairs: float, passes: float, touches: float) -> float:
    """Seconds of similarities that are computed `passes` times and looped over `touches` times, by all workers."""
    return all_pairs * (passes * work.dimension / rates.multiply + touches / rates.loop) / _cores(work)


def _cores(work: Work) -> float:
    """CPUs that are at work on average: whole ones for each worker, as long as the one with most shards takes."""
    threads = max(1, work.cpus // work.workers)
    idle = len(work.sizes) / (math.ceil(len(work.sizes) / work.workers) * work.workers)
    return min(work.cpus, work.workers * threads) * idle


def _base(work: Work) -> int:
    return DRIVER_BYTES + DAEMON_BYTES + work.workers * WORKER_BYTES + _POOL_COPIES * work.pool_bytes


def _held(work: Work) -> int:
    """All processes with the workers' quantised rows, and what reading a shard at a time took."""
    reading = _READ_COPIES * 4 * work.workers * work.largest * work.dimension
    return _base(work) + 4 * work.n * (work.dimension + 1) + reading


def _candidates(work: Work, count: int) -> int:
    """Rows that every process is told: two bytes a number in Ray's store and in the driver, four in each worker."""
    return count * (work.dimension + 1) * (4 + 4 * work.workers)


def _harmonic(count: int) -> float:
    """1 + 1/2 + ... + 1/count."""
    return math.log(count) + 0.5772 + 1 / (2 * count) if count else 0.0


def _counted(workers: int) -> str:
    return f"{workers} worker{'' if workers == 1 else 's'}"

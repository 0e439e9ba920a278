"""Exact facility location beside one matrix product of the same size."""

from __future__ import annotations

from infra.bench.case import Case, Outcomes, Report, Target, mebibytes, number, ratio, seconds
from infra.bench.product import BLOCK
from infra.bench.sizes import Sizes
from infra.bench.task import Task

KINDS = ("clustered", "random")

_PRODUCTS = 3.0  # what a run may take
_MEMORY_GIB = 3.0  # at 61,000 rows
_MORE_PICKS = 1.3  # what ten times as many picks may take
_BLOCKS = (1024, 2048, 4096, 8192)
_GROWTH = (10_000, 20_000, 40_000, 80_000)


def run_of(sizes: Sizes, n: int, k: int, kind: str = "clustered", *, product: bool = True) -> Task:
    """A run of facility location, after one matrix product in the same process.

    Args:
        sizes: of this run of the bench.
        n: rows at full size.
        k: picks at full size.
        kind: of data.
        product: whether the matrix product is measured.
    """
    warm_rows = sizes.warm_rows("facility_location")
    return Task(sizes.of(n), sizes.of(k), kind, warm_rows=warm_rows, product=product)


def reference(sizes: Sizes) -> Case:
    """Whether the block of the product is well chosen."""
    tasks = tuple(Task(sizes.of(20_000), 0, engine="product", block=block) for block in _BLOCKS)

    def report(outcomes: Outcomes) -> Report:
        rows = tuple((f"{task.block:,}", seconds(outcomes[task].seconds)) for task in tasks)
        note = f"the other cases use {BLOCK:,} rows; the result of a block is written over the last one's"
        return Report(("rows of a block", "seconds"), rows, notes=(note,))

    return Case("reference", f"X X^T in single precision, n = {tasks[0].n:,}, by block", tasks, report)


def facility_location(sizes: Sizes, n: int, picks: tuple[int, ...]) -> Case:
    """Runs of one size on both kinds of data, for one or more numbers of picks."""
    tasks = {(kind, k): run_of(sizes, n, k, kind, product=k == picks[0]) for kind in KINDS for k in picks}

    def report(outcomes: Outcomes) -> Report:
        rows, targets = [], []
        for (kind, k), task in tasks.items():
            found, first = outcomes[task], outcomes[tasks[kind, picks[0]]]
            products, more = ratio(found.seconds, first.product), ratio(found.seconds, first.seconds)
            rows.append((f"{kind}, k = {task.k:,}", seconds(first.product), *_cells(found.seconds, products),
                         mebibytes(found.peak), number(found.value)))  # fmt: skip
            if k != picks[0]:
                targets.append(Target(f"{kind}: k = {task.k:,} against k = {first.picks}", _MORE_PICKS, more, " x"))
                continue
            targets.append(Target(f"{kind}: products that a run takes", _PRODUCTS, products))
            if n == 61_000:
                targets.append(Target(f"{kind}: peak memory", _MEMORY_GIB, ratio(found.peak, 2**30), " GiB"))
        columns = ("data", "product s", "run s", "products", "peak MiB", "value")
        return Report(columns, tuple(rows), tuple(targets))

    shows = f"exact facility location, n = {sizes.of(n):,}, beside one product X X^T"
    return Case(f"facility-location-{n}", shows, tuple(tasks.values()), report)


def growth(sizes: Sizes) -> Case:
    """How time grows with n, at one pick in a hundred rows."""
    tasks = [run_of(sizes, n, n // 100) for n in _GROWTH]

    def report(outcomes: Outcomes) -> Report:
        rows, first = [], outcomes[tasks[0]]
        for task in tasks:
            found = outcomes[task]
            rows.append(
                (
                    f"{task.n:,}",
                    *_cells(found.seconds, ratio(found.seconds, found.product)),
                    number(ratio(found.seconds, first.seconds)),
                    number((task.n / tasks[0].n) ** 2),
                    mebibytes(found.peak),
                )
            )
        columns = ("n", "run s", "products", "times the first", "n^2 times the first", "peak MiB")
        return Report(columns, tuple(rows))

    return Case("growth", "exact facility location, clustered data, k = n / 100", tuple(tasks), report)


def _cells(taken: float | None, products: float | None) -> tuple[str, str]:
    return seconds(taken), number(products, 2)

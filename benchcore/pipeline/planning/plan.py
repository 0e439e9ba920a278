"""The plan of a configuration: one order of picks, and what each of its prefixes would be and cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchcore.config import AUDITED_FROM, Config, PlanSection
from benchcore.datasets import load_error_curves
from benchcore.distributed.constraints import require_nested
from benchcore.distributed.job import orders
from benchcore.distributed.pool import Pool
from benchcore.distributed.posed import problem_of
from benchcore.distributed.prefixes import Coverage, Orders, coverage_of
from benchcore.distributed.whole_pool import WholePool
from benchcore.errors import BenchcoreError, UsageError
from benchcore.estimation.expected_error import ErrorCurves, Expected, expected_error
from benchcore.methods import DEFAULT
from benchcore.pipeline.planning.costs import money, tokens_of, unanswered
from benchcore.pipeline.selectable import selectable
from benchcore.registry.root import Registry
from benchcore.registry.tables import pin

_STEPS = (10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000)


@dataclass(frozen=True)
class Size:
    """What a coreset of k would be.

    Attributes:
        k: picks, an audit slice among them.
        coverage: mean similarity of a prompt to the pick nearest to it, as the manifest will have it; None where the
            method picks anew for every k.
        benchmarks: the same of each benchmark.
        expected: error of a model's score, and the smallest difference of two models that can be told; None where it
            was not measured.
        input_tokens: that one model reads.
        output_tokens: that it writes.
        money: what that costs, by the name of the price.
    """

    k: int
    coverage: float | None
    benchmarks: Mapping[str, float] | None
    expected: Expected | None
    input_tokens: int
    output_tokens: int
    money: Mapping[str, float]

    @property
    def tokens(self) -> int:
        """Read and written."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, eq=False)
class Plan:
    """What every k from `k_min` to `k_max` buys.

    Attributes:
        config: that it is the plan of.
        prompts: of the pool, copies counted; what a model's score is the score of.
        distinct: of them, how many can be told apart.
        names: of the benchmarks, in order.
        k_min: the smallest k; includes and an audit slice need room.
        k_max: the largest.
        coverage: of the prefixes, by core picks; None where the method has no order.
        read: (k_max + 1,) tokens that a model reads at each k.
        written: (k_max + 1,) that it writes.
        curves: measured errors; None where none were measured of such a configuration.
        unmeasured: why not, in a sentence; else empty.
        notes: what a reader should know, a sentence each.
    """

    config: Config
    prompts: int
    distinct: int
    names: tuple[str, ...]
    k_min: int
    k_max: int
    coverage: Coverage | None
    read: NDArray[np.float64]
    written: NDArray[np.float64]
    curves: ErrorCurves | None
    unmeasured: str
    notes: tuple[str, ...]

    @property
    def tokens(self) -> NDArray[np.float64]:
        """(k_max + 1,) read and written at each k."""
        return self.read + self.written

    def expected(self, k: int) -> Expected | None:
        """The error to expect at some k, which may be beyond `k_max`."""
        return None if self.curves is None else expected_error(self.curves, k, self.prompts)

    def suite_coverage(self, k: int) -> float | None:
        """The objective at some k."""
        return None if self.coverage is None else float(self.coverage.suite[k - self.config.select.audit])

    def size(self, k: int) -> Size:
        """All about a coreset of k.

        Raises:
            ValueError: k is not between `k_min` and `k_max`.
        """
        if not self.k_min <= k <= self.k_max:
            raise ValueError(f"k is {k:,}, but must be between {self.k_min:,} and {self.k_max:,}")
        benchmarks = None
        if self.coverage is not None:
            column = self.coverage.benchmarks[:, k - self.config.select.audit]
            benchmarks = dict(zip(self.names, column.tolist(), strict=True))
        read, written = float(self.read[k]), float(self.written[k])
        prices = {name: money(price, read, written) for name, price in self.config.plan.prices.items()}
        return Size(k, self.suite_coverage(k), benchmarks, self.expected(k), round(read), round(written), prices)

    def grid(self) -> tuple[int, ...]:
        """A dozen k or so between the smallest and the largest, the configuration's own among them."""
        wanted = {*_STEPS, self.config.select.k, self.k_max}
        return tuple(sorted(k for k in wanted if self.k_min <= k <= self.k_max))


def plan(config: Config) -> Plan:
    """Plan what the coresets of a configuration would be, of every k up to `plan.k_max` or the whole pool.

    No coreset is written. The order of the picks is kept, so that selecting any of them is quick afterwards.

    Raises:
        UsageError: as `select`, or the section `plan` names what there is not.
        BenchcoreError: there is no registry, or prompts have no vectors yet, or memory does not suffice.
    """
    require_nested(config.select)
    registry = Registry.at(config.registry.root)
    if registry.is_local and not Path(registry.root).is_dir():
        raise BenchcoreError("there is no registry", where=registry.root, mend="Run `benchcore run CONF` first.")
    pinned = pin(registry, ("prompts", "sources", "embeddings"))
    pool = selectable(config, registry, pinned)
    k_min, k_max = _range(config, pool)
    widest = config.model_copy(update={"select": config.select.model_copy(update={"k": k_max})})
    problem, _ = problem_of(widest, pool)
    found = orders(widest, registry, pool, pinned)
    coverage = None
    if found.nested:
        vectors = WholePool(widest, registry, pool, pinned.get("embeddings")).vectors()
        coverage = coverage_of(found, pool, problem, vectors)
    unmeasured = _unmeasured(config)
    curves = None if unmeasured else load_error_curves()
    read, written = _costs(config.plan, registry, pinned, pool, found)
    return Plan(
        config=config,
        prompts=int(pool.copies.sum()),
        distinct=pool.n,
        names=tuple(np.unique(pool.benchmark).tolist()),
        k_min=k_min,
        k_max=k_max,
        coverage=coverage,
        read=read,
        written=written,
        curves=curves,
        unmeasured=unmeasured,
        notes=_notes(config, pool, unmeasured or _measured(curves), nested=found.nested),
    )


def _range(config: Config, pool: Pool) -> tuple[int, int]:
    """The smallest and the largest k that there can be."""
    section = config.select
    k_max = min(config.plan.k_max, pool.n - len(section.exclude))
    k_min = max(1, len(section.include) + section.audit)
    if section.audit:
        k_min = max(k_min, AUDITED_FROM, 2 * section.audit)
    if k_min > k_max:
        raise UsageError(
            f"there is nothing to plan: select.include and select.audit need k of {k_min:,}, and the largest is"
            f" {k_max:,}",
            where="plan.k_max",
            mend=f"Raise it, if the {pool.n:,} distinct prompts allow, or include fewer.",
        )
    return k_min, k_max


def _costs(
    section: PlanSection, registry: Registry, pinned: Mapping[str, int], pool: Pool, found: Orders
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Tokens read and written at each k, from the tokens of each pick."""
    picks = np.unique(np.concatenate([found.audit, *(order for _, order in found.brackets)]))
    tokens = tokens_of(section, registry, pinned, pool, picks)
    return _summed(found, picks, tokens.read), _summed(found, picks, tokens.written)


def _summed(found: Orders, picks: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(k_max + 1,) the sum over the picks of each k; 0 where k is too small for the audit slice."""
    sums, last = np.zeros(found.k_max + 1), 0
    audit = len(found.audit)
    drawn = float(values[np.searchsorted(picks, found.audit)].sum())
    for most, order in found.brackets:
        running = np.concatenate([[0.0], np.cumsum(values[np.searchsorted(picks, order)])])
        sums[audit + last : audit + most + 1] = drawn + running[last : most + 1]
        last = most + 1
    return sums


def _unmeasured(config: Config) -> str:
    """Why no error was measured of such a configuration; empty where one was."""
    section = config.select
    if (section.method, section.mass, section.constraint.rounds) == (DEFAULT, "macro", "benchmark"):
        return ""
    return (
        f"The error to expect is unknown: it was measured of {DEFAULT} with macro mass and rounds by benchmark"
        " (docs/lab.md)."
    )


def _measured(curves: ErrorCurves | None) -> str:
    """How far the curves go."""
    if curves is None:
        return ""
    suites = len(np.unique(curves.suite))
    return (
        f"Errors are in points at 95 %, their mean and range over {suites} suites with known scores, measured at k from"
        f" {curves.k.min():,.0f} to {curves.k.max():,.0f}; beyond (*) they are carried on from the nearest."
    )


def _notes(config: Config, pool: Pool, errors: str, *, nested: bool) -> tuple[str, ...]:
    section, notes = config.plan, [errors]
    if not nested:
        notes.append(
            f"{config.select.method} picks anew for every k: its coverage is not told, and tokens are those of a"
            " balanced random draw of as many prompts."
        )
    if config.select.audit:
        notes.append(
            f"{config.select.audit} of the picks are the audit slice; the errors are those of coresets without one."
        )
    notes.append(
        "Tokens of a model's input are estimated: characters of prompts and choices over"
        f" {section.characters_per_token:g} (plan.characters_per_token), without templates and examples."
    )
    silent = unanswered(section, pool)
    if len(silent) == len(set(pool.benchmark.tolist())):
        notes.append("No tokens of answers are counted: plan.output_tokens.")
    elif silent:
        named = ", ".join(silent[:3]) + (f", {len(silent) - 3} more" if len(silent) > 3 else "")
        notes.append(f"No tokens of answers are counted for {len(silent)} benchmarks ({named}): plan.output_tokens.")
    return tuple(notes)

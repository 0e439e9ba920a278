"""Answers of a plan: which k for an error, and what some tokens or money buy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchcore.config import PlanSection
from benchcore.errors import UsageError
from benchcore.estimation.expected_error import Expected
from benchcore.methods.names import require_known
from benchcore.pipeline.planning.costs import money
from benchcore.pipeline.planning.plan import Plan


@dataclass(frozen=True)
class Questions:
    """What is asked of a plan; None: not asked.

    Attributes:
        points: half the width of a 95 % range of a model's score.
        gap: difference of two models that shall be told from none.
        tokens: that one model may read and write.
        money: that one model may cost.
        price: by which; None for each.
        coverage: of the suite, in (0, 1].
    """

    points: float | None = None
    gap: float | None = None
    tokens: float | None = None
    money: float | None = None
    price: str | None = None
    coverage: float | None = None


@dataclass(frozen=True)
class Answer:
    """The k that was asked for.

    Attributes:
        question: in words.
        k: None where there is none.
        told: the answer in words.
    """

    question: str
    k: int | None
    told: str


def answered(plan: Plan, asked: Questions) -> tuple[Answer, ...]:
    """Answer what is asked, in the order of the questions' names above.

    Raises:
        UsageError: as `require_sense`.
    """
    require_sense(plan.config.plan, asked)
    answers = []
    if asked.points is not None:
        answers.append(_by_error(plan, asked.points, "a model's score within", lambda expected: expected.margin.mean))
    if asked.gap is not None:
        answers.append(_by_error(plan, asked.gap, "a difference of two models of", lambda expected: expected.gap.mean))
    if asked.tokens is not None:
        answers.append(_largest(plan, f"what {asked.tokens:,.0f} tokens buy", plan.tokens <= asked.tokens))
    if asked.money is not None:
        for name in plan.config.plan.prices if asked.price is None else [asked.price]:
            price, currency = plan.config.plan.prices[name], plan.config.plan.currency
            cost = np.array([money(price, *both) for both in zip(plan.read, plan.written, strict=True)])
            answers.append(_largest(plan, f"what {asked.money:g} {currency} buy at {name}", cost <= asked.money))
    if asked.coverage is not None:
        answers.append(_by_coverage(plan, asked.coverage))
    return tuple(answers)


def require_sense(section: PlanSection, asked: Questions) -> None:
    """Refuse questions that no plan can answer; planning may take minutes, so before it.

    Raises:
        UsageError: a figure is no positive number, a price is unknown, or money is asked for and no price is given.
    """
    for name in ("points", "gap", "tokens", "money", "coverage"):
        value = getattr(asked, name)
        if value is not None and not (math.isfinite(value) and value > 0):
            raise UsageError(f"{value:g} is no positive number", where=f"--{name}")
    if asked.coverage is not None and asked.coverage > 1:
        raise UsageError(f"coverage is at most 1, got {asked.coverage:g}", where="--coverage", mend="95 % is 0.95.")
    prices = section.prices
    if (asked.money is not None or asked.price is not None) and not prices:
        raise UsageError(
            "there is no price", where="plan.prices", mend="Give one, e.g. {large: {input: 3, output: 15}}."
        )
    if asked.price is not None:
        require_known(asked.price, list(prices), "price", "--price")


def _by_error(plan: Plan, points: float, what: str, figure: Callable[[Expected], float]) -> Answer:
    question = f"k for {what} {points:g} points at 95 %"
    if plan.curves is None:
        return Answer(question, None, plan.unmeasured)

    def enough(k: int) -> bool:
        expected = plan.expected(k)
        return expected is not None and figure(expected) <= points

    found = next((k for k in range(plan.k_min, plan.k_max + 1) if enough(k)), None)
    if found is not None:
        told = plan.expected(found)
        beyond = "" if told is None or told.measured else "; no suite was measured at such a k"
        return Answer(question, found, f"k = {found:,}{beyond}")
    low, high = plan.k_max, plan.prompts  # beyond what was measured errors only shrink; all prompts leave none
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return Answer(
        question, high, f"k = {high:,}, beyond the {plan.k_max:,} looked at; no suite was measured at such a k"
    )


def _largest(plan: Plan, question: str, affordable: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Answer:
    fits = np.flatnonzero(affordable[plan.k_min :]) + plan.k_min
    if not fits.size:
        return Answer(question, None, f"less than the smallest coreset (k = {plan.k_min:,})")
    k = int(fits[-1])
    least = "at least " if k == plan.k_max else ""
    return Answer(question, k, f"{least}k = {k:,}, {_worth(plan, k)}")


def _by_coverage(plan: Plan, share: float) -> Answer:
    question = f"fewest prompts for a coverage of {share:g}"
    if plan.coverage is None:
        return Answer(question, None, f"unknown: {plan.config.select.method} has no order to follow")
    reached = plan.coverage.suite[plan.k_min - plan.config.select.audit :] >= share
    if not reached.any():
        best = plan.suite_coverage(plan.k_max)
        return Answer(question, None, f"not reached: {best:.4f} at k = {plan.k_max:,}, the largest looked at")
    k = int(np.argmax(reached)) + plan.k_min
    return Answer(question, k, f"k = {k:,}, {_worth(plan, k)}")


def _worth(plan: Plan, k: int) -> str:
    """What a coreset of k is worth, in words."""
    size = plan.size(k)
    parts = [f"{size.tokens:,} tokens"]
    if size.coverage is not None:
        parts.append(f"coverage {size.coverage:.4f}")
    if size.expected is not None:
        parts.append(f"a model's score within {size.expected.margin.mean:.1f} points at 95 %")
        parts.append(f"differences from {size.expected.gap.mean:.1f}")
    return ", ".join(parts)

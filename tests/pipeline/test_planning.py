"""What a budget buys: figures that can be added up by hand, answers that no smaller or larger k would give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchcore.config import Config
from benchcore.datasets import load_error_curves
from benchcore.errors import BenchcoreError, UsageError
from benchcore.estimation.expected_error import expected_error
from benchcore.pipeline.planning import Plan, Questions, answered, plan
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import pin, read
from tests.pipeline.prepared import SIZES, prepared

PRICES = {"large": {"input": 3.0, "output": 15.0}, "small": {"input": 0.5}}
WHOLE = sum(SIZES.values())


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    """A registry of 80 prompts, and a plan of all of them."""
    section = {"output_tokens": {"history": 7, "poems": 100}, "prices": PRICES, "characters_per_token": 3}
    return prepared(tmp_path_factory.mktemp("planning"), plan=section)


@pytest.fixture(scope="module")
def made(config: Config) -> Plan:
    return plan(config)


def changed(config: Config, **select: Any) -> Config:
    return Config.model_validate(config.model_dump() | {"select": config.select.model_dump() | select})


def test_all_prompts_cost_what_they_add_up_to(config: Config, made: Plan):
    """Characters of prompts and choices, rounded up prompt by prompt; answers by benchmark; money of both."""
    rows = read(Registry.at(config.registry.root), "prompts").to_pylist()
    characters = [len(row["prompt"]) + sum(map(len, row["choices"] or ())) for row in rows]

    size = made.size(WHOLE)

    assert size.input_tokens == sum(-(-count // 3) for count in characters)
    assert size.output_tokens == 7 * SIZES["history"] + 100 * SIZES["poems"]
    assert size.money["large"] == pytest.approx((3 * size.input_tokens + 15 * size.output_tokens) / 1e6)
    assert size.money["small"] == pytest.approx(0.5 * size.input_tokens / 1e6)
    assert size.coverage == pytest.approx(1, abs=1e-3)
    assert list(size.benchmarks or ()) == sorted(SIZES)
    assert any("answers are counted for 1 benchmarks (arithmetic)" in note for note in made.notes)


def test_every_k_costs_its_prefix(made: Plan):
    """Tokens grow with each pick; the grid has a dozen k, the configuration's own among them."""
    assert (np.diff(made.tokens) > 0).all()
    assert made.grid() == (10, 20, 30, 50, 75, WHOLE)
    with pytest.raises(ValueError, match="k is 81, but must be between 1 and 80"):
        made.size(WHOLE + 1)


def test_planning_writes_no_table(config: Config, made: Plan):
    """Only a checkpoint, from which it is done again."""
    registry = Registry.at(config.registry.root)
    versions = pin(registry, tuple(SCHEMAS))
    files = sorted(Path(registry.root, "_checkpoints", "select").iterdir())

    again = plan(config)

    assert set(versions) == {"prompts", "embeddings"}
    assert pin(registry, tuple(SCHEMAS)) == versions
    assert sorted(Path(registry.root, "_checkpoints", "select").iterdir()) == files
    assert again.coverage is not None
    assert made.coverage is not None
    assert again.coverage.suite.tolist() == made.coverage.suite.tolist()


def test_answers_are_the_first_and_the_last_that_do(made: Plan):
    """One pick fewer does not reach an error or a coverage; one more does not fit a budget."""
    points, gap, tokens, large, small, coverage = answered(
        made, Questions(points=9.0, gap=12.0, tokens=900, money=0.01, coverage=0.8)
    )

    for answer, figure, most in ((points, "margin", 9.0), (gap, "gap", 12.0)):
        assert answer.k is not None
        found = [getattr(expected_error(load_error_curves(), answer.k - less, WHOLE), figure).mean for less in (0, 1)]
        assert found[0] <= most < found[1]
    assert tokens.k is not None
    assert made.tokens[tokens.k] <= 900 < made.tokens[tokens.k + 1]
    assert large.k is not None
    assert made.size(large.k).money["large"] <= 0.01 < made.size(large.k + 1).money["large"]
    assert small.k == WHOLE
    assert small.told.startswith("at least k = 80")
    assert coverage.k is not None
    assert (made.suite_coverage(coverage.k - 1) or 0) < 0.8 <= (made.suite_coverage(coverage.k) or 0)


def test_what_cannot_be_had_is_said(config: Config, made: Plan):
    """Too small a budget; a coverage and an error beyond the largest k looked at."""
    few = plan(config.model_copy(update={"plan": config.plan.model_copy(update={"k_max": 30})}))

    (tokens,) = answered(made, Questions(tokens=1))
    (coverage,) = answered(few, Questions(coverage=0.999))
    (points,) = answered(few, Questions(points=5))

    assert (tokens.k, tokens.told) == (None, "less than the smallest coreset (k = 1)")
    assert coverage.k is None
    assert coverage.told.startswith("not reached: 0.")
    assert points.k == answered(made, Questions(points=5))[0].k
    assert "beyond the 30 looked at" in points.told


@pytest.mark.parametrize(
    ("select", "note", "has_coverage"),
    [
        ({"method": "random"}, "it was measured of nested_swaps", True),
        ({"mass": "micro"}, "it was measured of nested_swaps", True),
        ({"method": "balanced_swaps"}, "balanced_swaps picks anew for every k", False),
    ],
)
def test_what_was_not_measured_is_not_told(config: Config, select: dict[str, str], note: str, has_coverage: bool):
    """No error of another method or mass, no coverage where there is no order; the reason instead."""
    made = plan(changed(config, **select))

    points, coverage = answered(made, Questions(points=5, coverage=0.1))

    assert any(note in told for told in made.notes)
    assert made.size(20).expected is None
    assert (points.k, points.told) == (None, made.unmeasured)
    assert (made.size(20).coverage is not None) == has_coverage == (coverage.k is not None)
    assert made.size(20).tokens > 0


def test_includes_set_the_smallest_k(config: Config):
    """No coreset is smaller."""
    ids = read(Registry.at(config.registry.root), "prompts")["prompt_id"].to_pylist()

    made = plan(changed(config, method="random", include=ids[:12], exclude=ids[12:15]))

    assert (made.k_min, made.k_max) == (12, WHOLE - 3)
    with pytest.raises(UsageError, match="need k of 400, and the largest is 80"):
        plan(changed(config, k=400, audit=20))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"points": -1}, "--points: -1 is no positive number"),
        ({"tokens": float("nan")}, "--tokens: nan is no positive number"),
        ({"coverage": 95}, "--coverage: coverage is at most 1, got 95. 95 % is 0.95."),
        ({"money": 1, "price": "larg"}, "Did you mean 'large'?"),
    ],
)
def test_senseless_questions_are_refused(made: Plan, asked: dict[str, Any], told: str):
    """In a line."""
    with pytest.raises(UsageError) as error:
        answered(made, Questions(**asked))

    assert told in str(error.value)


def test_a_plan_without_what_it_needs_is_told(config: Config, tmp_path: Path):
    """No registry, no price, a benchmark that there is not."""
    nowhere = config.model_copy(update={"registry": config.registry.model_copy(update={"root": str(tmp_path / "no")})})
    strange = config.model_copy(update={"plan": config.plan.model_copy(update={"output_tokens": {"poem": 3}})})
    free = plan(config.model_copy(update={"plan": config.plan.model_copy(update={"prices": {}})}))

    with pytest.raises(BenchcoreError, match="there is no registry"):
        plan(nowhere)
    with pytest.raises(UsageError, match=r"no benchmark 'poem' to pick from\. Did you mean 'poems'"):
        plan(strange)
    with pytest.raises(UsageError, match=r"plan\.prices: there is no price\. Give one, e\.g\. \{large:"):
        answered(free, Questions(money=1))

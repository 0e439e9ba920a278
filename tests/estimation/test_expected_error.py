"""Expected errors: the measured ones at measured budgets, the law of balanced draws between and beyond."""

from __future__ import annotations

import numpy as np
import pytest

from benchcore.estimation.expected_error import ErrorCurves, expected_error


def curves_of(constants: dict[str, float], ks: tuple[int, ...] = (70, 100, 200), prompts: int = 1000) -> ErrorCurves:
    suite = np.repeat(list(constants), len(ks))
    k = np.tile(np.array(ks, np.float64), len(constants))
    error = np.repeat(list(constants.values()), len(ks)) * np.sqrt(1 / k - 1 / prompts)
    return ErrorCurves(suite, np.full(len(k), float(prompts)), k, error, 1.25 * error, 0.5 * error)


@pytest.mark.parametrize("k", [20, 70, 85, 200, 900])
def test_errors_that_follow_the_law_are_met_at_any_budget_and_size(k: int) -> None:
    expected = expected_error(curves_of({"one": 40.0, "two": 50.0}), k, 5000)
    scale = np.sqrt(1 / k - 1 / 5000)
    assert expected.error.low == pytest.approx(40 * scale)
    assert expected.error.high == pytest.approx(50 * scale)
    assert expected.error.mean == pytest.approx(45 * scale)
    assert expected.margin.mean == pytest.approx(1.96 * 1.25 * 45 * scale, rel=1e-3)
    assert expected.gap.mean == pytest.approx(1.96 * 0.5 * 45 * scale, rel=1e-3)
    assert expected.measured == (70 <= k <= 200)


def test_measured_budgets_give_the_measured_errors_whatever_their_order() -> None:
    suite, k = np.array(["a", "a", "a"]), np.array([200.0, 70.0, 100.0])
    mae = np.array([2.9, 5.1, 4.2])
    curves = ErrorCurves(suite, np.full(3, 800.0), k, mae, mae, mae)
    assert [expected_error(curves, int(budget), 800).error.mean for budget in k] == pytest.approx(list(mae))


def test_the_whole_pool_has_no_error_and_more_than_that_cannot_be_picked() -> None:
    assert expected_error(curves_of({"one": 40.0}), 300, 300).error.mean == 0.0
    with pytest.raises(ValueError, match="between 1 and the number of prompts, 300"):
        expected_error(curves_of({"one": 40.0}), 301, 300)

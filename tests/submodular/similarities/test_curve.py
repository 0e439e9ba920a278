"""Laws of curves: whole numbers in, whole numbers out, near the function that they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchcore.submodular.similarities.curve import Curve, decay_curve, power_curve
from benchcore.submodular.similarities.similarity import TOP

POWERS = (1.0, 1.5, 2.0, 3.0, 7.5, 64.0)
RATES = (1e-12, 1e-8, 1e-7, 1e-5, 1e-3, 0.7, 1e9)


def whole_numbers(seed: int = 0, n: int = 20_000) -> np.ndarray:
    random = np.random.default_rng(seed)
    ends = [-TOP, -TOP + 1, -1, 0, 1, 2, 4095, 4096, 4097, TOP - 1, TOP]
    return np.concatenate([ends, random.integers(-TOP, TOP + 1, n), random.integers(0, 9000, n)]).astype(np.float32)


def bent(curve: Curve, values: np.ndarray, *, compiled: bool = False) -> np.ndarray:
    values = values.copy()
    curve.bend(values, compiled=compiled)
    return values


CURVES = [
    *(power_curve(power) for power in POWERS),
    *(power_curve(power, shifted=True) for power in POWERS),
    *(decay_curve(rate) for rate in RATES),
]


@pytest.mark.parametrize("curve", CURVES)
def test_values_are_whole_numbers_in_range_and_monotone(curve: Curve):
    """From 0 to TOP; a larger number never bends to the other side of a smaller one."""
    values = bent(curve, np.sort(whole_numbers()))
    steps = np.diff(values)

    assert np.array_equal(values, np.rint(values))
    assert 0 <= values.min() <= values.max() <= TOP
    assert (steps >= 0).all() or (steps <= 0).all()


@pytest.mark.parametrize("curve", CURVES)
def test_compiled_code_gives_the_same_bits(curve: Curve):
    """In any shape."""
    values = whole_numbers()[:4096].reshape(64, 64)

    assert np.array_equal(bent(curve, values), bent(curve, values, compiled=True))


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("shifted", [False, True])
def test_a_power_is_met_within_the_stated_error(power: float, shifted: bool):
    """Of x, and of (TOP + x) / 2."""
    values = whole_numbers().astype(np.float64)
    shares = (TOP + values) / (2 * TOP) if shifted else np.maximum(values, 0) / TOP
    stated = power * (power - 1) / 2**27 if power >= 2 else (2.0**-14 if power > 1 else 0)

    error = bent(power_curve(power, shifted=shifted), whole_numbers()) - TOP * shares**power

    assert np.abs(error).max() <= stated * TOP + 1.01


@pytest.mark.parametrize("rate", RATES)
def test_a_decay_is_met_within_the_stated_error(rate: float):
    """From TOP at 0 to nothing; whatever the rate."""
    values = np.maximum(whole_numbers(), 0)

    error = bent(decay_curve(rate), values) - TOP * np.exp(-rate * values.astype(np.float64))

    assert np.abs(error).max() <= 1e-5 * TOP + 1.01
    assert bent(decay_curve(rate), np.zeros(1, np.float32))[0] == TOP


@pytest.mark.parametrize("power", [0.5, 0.0, -1.0, np.nan, np.inf])
def test_a_power_that_sharpens_nothing_is_refused(power: float):
    """With the figure."""
    with pytest.raises(ValueError, match="at least 1"):
        power_curve(power)


@given(st.lists(st.integers(0, TOP), min_size=2, max_size=6), st.integers(0, 25), st.integers(-TOP, TOP))
def test_a_curve_goes_through_its_knots_and_stays_level_outside(knots: list[int], shift: int, low: int):
    """As far as the knots lie in range."""
    curve = Curve(np.array(knots, np.int64), shift, low)
    places = low + (np.arange(len(knots)) << shift)
    inside = np.abs(places) <= TOP

    assert np.array_equal(np.array(knots)[inside], bent(curve, places[inside].astype(np.float32)))
    assert bent(curve, np.array([-TOP], np.float32))[0] == (knots[0] if low > -TOP else bent_at(knots, places, -TOP))


def bent_at(knots: list[int], places: np.ndarray, value: int) -> int:
    return knots[int(np.searchsorted(places, value, side="right")) - 1]

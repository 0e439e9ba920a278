"""The error curves that ship: whole, and such as errors are."""

from __future__ import annotations

import numpy as np

from benchcore.datasets import load_error_curves
from benchcore.estimation.expected_error import expected_error


def test_errors_fall_with_the_budget_on_every_suite():
    curves = load_error_curves()

    assert len(set(curves.suite.tolist())) >= 3
    for suite in np.unique(curves.suite):
        own = np.flatnonzero(curves.suite == suite)
        assert (np.diff(curves.k[own]) > 0).all()
        for errors in (curves.mae, curves.rmse, curves.gap_rmse):
            assert (np.diff(errors[own]) < 0).all()
    assert (curves.mae < curves.rmse).all()


def test_what_to_expect_lies_between_what_the_suites_had():
    expected = expected_error(load_error_curves(), 100, 60_000)

    assert expected.measured
    assert 0 < expected.error.low < expected.error.mean < expected.error.high < expected.margin.high < 20

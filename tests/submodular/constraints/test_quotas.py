"""Quotas that cannot be met are refused, with the groups and the reason."""

from __future__ import annotations

import numpy as np
import pytest

from benchcore.submodular.constraints.quotas import Quotas

GROUPS = np.array([0, 0, 0, 1, 1, 2])
ALL = np.ones(6, bool)


def quotas(further: int, low: list[int], high: list[int], counts: list[int] | None = None) -> Quotas:
    given = None if counts is None else np.array(counts)
    return Quotas(GROUPS, ALL, further, np.array(low), np.array(high), counts=given, names=["ab", "cd", "ef"])


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ((3, [0, 2, 0], [9, 1, 9]), "minimum above maximum: cd"),
        ((3, [0, 0, -1], [9, 9, 9]), "below 0: ef"),
        ((5, [0, 3, 2], [9, 9, 9]), "2 groups .* above the number of candidates: cd .*; ef"),
        ((3, [2, 1, 1], [9, 9, 9]), r"minima ask for 4 picks .* only 3 .*ab: 2, cd: 1, ef: 1"),
        ((5, [0, 0, 0], [1, 2, 1]), "leave 4 picks .* but 5"),
        ((7, [0, 0, 0], [9, 9, 9]), "leave 6 picks .* but 7"),
        ((3, [0, 0, 0], [1, 9, 9], [2, 0, 0]), "more includes than the maximum: ab"),
        ((2, [3, 0, 0], [9, 9, 9], [0, 1, 0]), "ask for 3 .* only 2"),
    ],
)
def test_what_cannot_be_met_is_refused(case: tuple, message: str):
    """Each with the groups by name and the figures."""
    with pytest.raises(ValueError, match=message):
        quotas(*case)


def test_one_quota_for_each_group():
    """Fewer quotas than groups leave some without."""
    with pytest.raises(ValueError, match="for each group"):
        quotas(2, [0, 0], [2, 2])


def test_includes_help_with_minima_and_use_up_maxima():
    """Two includes meet a minimum of two; a third would break the maximum."""
    available = np.array([False, False, False, True, True, True])
    constraint = Quotas(GROUPS, available, 2, np.array([2, 1, 0]), np.array([2, 1, 9]), counts=np.array([2, 0, 0]))

    constraint.take(0)
    constraint.take(1)

    assert np.flatnonzero(constraint.allowed()).tolist() == [3, 4, 5]
    with pytest.raises(ValueError, match="group 0: more includes"):
        constraint.take(2)


def test_a_minimum_presses_as_late_as_it_can():
    """With two picks left and two needed, only the groups in need are open."""
    constraint = quotas(3, [0, 1, 1], [9, 9, 9])

    assert constraint.allowed().all()
    constraint.take(0)

    assert np.flatnonzero(constraint.allowed()).tolist() == [3, 4, 5]

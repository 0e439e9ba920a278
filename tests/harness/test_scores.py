"""Raw scores become numbers in [0, 1], or are refused in words."""

import math

import pytest

from benchcore.errors import UsageError
from benchcore.harness.documents import Scale
from benchcore.harness.scores import Refused, metric_name, parse_scales, scale_of, score_of


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (True, 1.0),
        (False, 0.0),
        (1, 1.0),
        (0.25, 0.25),
        ("0.5", 0.5),
        (" 1 ", 1.0),
        ("C", 1.0),
        ("I", 0.0),
        ("P", 0.5),
        ("N", 0.0),
        ("true", 1.0),
        ("TRUE", 1.0),
        ("FALSE", 0.0),
        (1 + 1e-12, 1.0),
        (None, None),
        (math.nan, None),
        ("nan", None),
        ("", None),
    ],
)
def test_what_logs_call_a_score(raw, expected):
    """True, letters, numbers as text; nothing and NaN are no score."""
    assert score_of(raw, None) == expected


@pytest.mark.parametrize("raw", [1.5, -0.1, "37.2", math.inf, "correct-ish", 10**400, [1]])
def test_what_is_outside_is_refused(raw):
    """Without a scale, nothing is guessed."""
    with pytest.raises(Refused):
        score_of(raw, None)


def test_a_scale_maps_and_may_be_upside_down():
    """1 to 10, and an error rate."""
    assert score_of(5.5, Scale(1, 10)) == 0.5
    assert score_of(0.25, Scale(0, 1, lower_is_better=True)) == 0.75
    with pytest.raises(Refused, match="outside its scale"):
        score_of(0.5, Scale(1, 10))


def test_a_scale_without_ends_is_none():
    """A perplexity has no worst value."""
    with pytest.raises(Refused, match="without ends"):
        score_of(12.0, Scale(0, math.inf, lower_is_better=True))


def test_scales_as_written():
    """LOW above HIGH: lower is better; without a metric, for all; a name may hold an equals sign."""
    scales = parse_scales(["1:10", "wer=1:0", "a=b=0:5"])

    assert scales == {"": Scale(1, 10), "wer": Scale(0, 1, lower_is_better=True), "a=b": Scale(0, 5)}


@pytest.mark.parametrize("written", ["", "x", "x=1", "x=1:1", "x=a:b", "x=0:inf", "x=nan:1"])
def test_what_is_no_scale_is_told(written):
    """With an example."""
    with pytest.raises(UsageError, match="no scale"):
        parse_scales([written])


def test_the_users_scale_wins_the_full_name_first():
    """Then the metric's own name, then every metric's, then the log's."""
    log = {"em": Scale(0, 100)}
    declared = {"em,strict": Scale(0, 2), "em": Scale(0, 3), "": Scale(0, 4)}

    assert scale_of("em", "strict", declared, log) == Scale(0, 2)
    assert scale_of("em", "none", declared, log) == Scale(0, 3)
    assert scale_of("f1", None, declared, log) == Scale(0, 4)
    assert scale_of("em", None, {}, log) == Scale(0, 100)


def test_names_of_metrics_carry_the_filter():
    """As lm-eval's results files have it; `none` is none."""
    assert [metric_name("em", f) for f in (None, "", "none", "strict")] == ["em", "em", "em", "em,strict"]
    assert metric_name("em,strict", "strict") == "em,strict"

"""From what logs call a score to a number in [0, 1]."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from benchcore.errors import UsageError
from benchcore.harness.documents import RawScore, Scale

EVERY_METRIC = ""
_ROUNDING = 1e-9  # how far outside of [0, 1] a mean of scores may come to lie
_WORDS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, **dict.fromkeys(("true", "True", "TRUE"), 1.0)}
_WORDS |= dict.fromkeys(("false", "False", "FALSE"), 0.0)


class Refused(ValueError):
    """A score that cannot be stored; the message says why."""


class NoNumber(Refused):
    """A score that no scale can make a number of."""


class OffScale(Refused):
    """A number outside of [0, 1] that no scale explains: the metric's other scores are on the same unknown scale."""


def score_of(raw: RawScore, scale: Scale | None) -> float | None:
    """A raw score in [0, 1]; None where there is none (nothing, NaN).

    Args:
        raw: true and false count 1 and 0; of texts, numbers and inspect's C, I, P, N are understood.
        scale: from where to where it goes; None takes it as it is.

    Raises:
        Refused: it is no number, or outside of its scale.
        OffScale: it is outside of [0, 1], and there is no scale.
    """
    value = _number(raw)
    if value is None:
        return None
    if scale is not None and not math.isfinite(scale.high - scale.low):
        raise Refused(f"{value:g} is on a scale without ends" + (", lower is better" if scale.lower_is_better else ""))
    low, high = (0.0, 1.0) if scale is None else (scale.low, scale.high)
    share = (value - low) / (high - low)
    if not -_ROUNDING <= share <= 1 + _ROUNDING:
        if scale is None:
            raise OffScale(f"{value:g} is outside [0, 1] and no scale is declared")
        raise Refused(f"{value:g} is outside its scale {low:g}:{high:g}")
    share = min(max(0.0, share), 1.0)
    return 1.0 - share if scale is not None and scale.lower_is_better else share


def metric_name(metric: str, extraction: str | None) -> str:
    """The name in the table: the harness's own, and the answer extraction after a comma where there are several."""
    if extraction in (None, "", "none") or metric.endswith(f",{extraction}"):
        return metric
    return f"{metric},{extraction}"


def scale_of(
    metric: str, extraction: str | None, declared: Mapping[str, Scale], log: Mapping[str, Scale]
) -> Scale | None:
    """The scale of a metric: the user's for its full name, its own name, or every metric; else the log's."""
    for name in (metric_name(metric, extraction), metric, EVERY_METRIC):
        if name in declared:
            return declared[name]
    return log.get(metric)


def parse_scales(written: Iterable[str]) -> dict[str, Scale]:
    """Read `METRIC=LOW:HIGH` or, for every metric, `LOW:HIGH`; LOW above HIGH means that lower is better.

    Raises:
        UsageError: it is not of that form.
    """
    scales: dict[str, Scale] = {}
    for text in written:
        metric, equals, bounds = text.rpartition("=")
        first, colon, second = bounds.partition(":")
        try:
            low, high = float(first), float(second)
        except ValueError:
            low = high = math.nan
        if (equals and not metric) or not colon or not math.isfinite(low - high) or low == high:
            mend = "For example mt_bench=1:10, or wer=1:0 where lower is better."
            raise UsageError(f"'{text}' is no scale", where="--scale", mend=mend)
        scales[metric] = Scale(min(low, high), max(low, high), lower_is_better=low > high)
    return scales


def _number(raw: RawScore) -> float | None:
    if raw is None:
        return None
    if isinstance(raw, str):
        text = raw.strip()
        if text in _WORDS:
            return _WORDS[text]
        if not text:
            return None
        try:
            raw = float(text)
        except ValueError:
            shown = text if len(text) <= 20 else f"{text[:19]}…"
            per_cent = "; remove the sign, and declare --scale METRIC=0:100" if text.endswith("%") else ""
            raise NoNumber(f"{shown!r} is no number{per_cent}") from None
    if not isinstance(raw, int | float):  # readers take what logs hold
        raise NoNumber(f"a value of type {type(raw).__name__} is no number")
    try:
        value = float(raw)
    except OverflowError:
        value = math.inf
    return None if math.isnan(value) else value

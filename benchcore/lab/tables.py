"""Findings as files and as tables for people."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import orjson

from benchcore.errors import UsageError
from benchcore.lab.contestants import HEADLINE
from benchcore.lab.rows import ALL, Findings, Row, Summary
from benchcore.whole_file import write_file

Table = tuple[str, list[str], list[list[object]]]

# What `benchcore.datasets` ships of the default, for whoever chooses a budget.
_CURVE = ("suite", "prompts", "k", "mae", "rmse", "gap_rmse")
# The table of summaries shows the best of many pairs of a method and an estimator.
_MOST = 40
_ABREAST = 6


def require_writable(*, json: Path | None, out: Path | None) -> None:
    """Refuse, before hours of measuring, what nothing can be written to; makes the folders.

    Raises:
        UsageError: a file or folder cannot be written.
    """
    for folder in (out, json.parent if json else None):
        if folder is not None:
            _probe(folder)
    if json is not None and json.is_dir():
        raise UsageError("is a folder, not a file", where=str(json), mend="Name a file for --json.")


def _probe(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UsageError(f"cannot be written ({error.strerror})", where=str(folder)) from None


def write_files(found: Findings, *, json: Path | None, out: Path | None) -> None:
    """Write rows as JSON where asked, and all that was found into a folder.

    Raises:
        UsageError: a file cannot be written.
    """
    rows, summaries = [asdict(row) for row in found.rows], [asdict(summary) for summary in found.summaries]
    if json is not None:
        write_file(json, _json(rows))
    if out is not None:
        write_file(out / "rows.json", _json(rows))
        write_file(out / "summaries.json", _json(summaries))
        write_file(out / "explained.json", _json([asdict(share) for share in found.explained]))
        write_file(out / "rows.csv", _csv([field.name for field in fields(Row)], rows))
        write_file(out / "error_curves.csv", _csv(list(_CURVE), [row for row in rows if row["is_default"]]))
        write_file(out / "summaries.csv", _csv([field.name for field in fields(Summary)], summaries))


def budget_tables(found: Findings) -> list[Table]:
    """For each suite, ratios of the methods by budget with the headline estimator."""
    tables: list[Table] = []
    for suite in dict.fromkeys(row.suite for row in found.rows):
        own = [row for row in found.rows if row.suite == suite and row.estimator == HEADLINE]
        ks = sorted({row.k for row in own})
        means = [summary for summary in found.summaries if summary.suite == suite and summary.estimator == HEADLINE]
        lines: list[list[object]] = []
        for mean in sorted(means, key=lambda summary: summary.ratio):
            of_method = {row.k: row for row in own if row.method == mean.method}
            first, last = of_method[ks[0]], of_method[ks[-1]]
            points = [first.mae] if first is last else [first.mae, last.mae]
            figures = [*points, first.n_models, _short(first.seconds)]
            by_budget = [_short(of_method[k].ratio) for k in ks]
            lines.append([_named(mean), *by_budget, _ratio(mean), _short(last.luck_p), *figures])
        spans = [f"points k={ks[0]}#", f"k={ks[-1]}#"][: len(ks)]
        titles = ["mean [95 %]", f"luck p k={ks[-1]}#", *spans, "models#", "s#"]
        title = f"{suite}: error with {HEADLINE} weights, relative to the control"
        tables.append((title, ["method", *(f"k={k}#" for k in ks), *titles], lines))
    return tables


def selection_by_estimator(found: Findings) -> list[Table]:
    """Mean ratios of every method with every estimator, a few estimators a table."""
    chosen = _widest(found)
    ratio = {(summary.method, summary.estimator): summary.ratio for summary in chosen}
    estimators = list(dict.fromkeys(summary.estimator for summary in chosen))
    estimators.sort(key=lambda name: (name != HEADLINE, "@" in name, name))
    tables: list[Table] = []
    for first in range(0, len(estimators), _ABREAST):
        some = estimators[first : first + _ABREAST]
        lines: list[list[object]] = [
            [method, *(_short(ratio.get((method, estimator))) for estimator in some)]
            for method in dict.fromkeys(summary.method for summary in chosen)
        ]
        title = "Mean ratio by estimator"
        tables.append((title, ["method", *(f"{estimator}#" for estimator in some)], lines))
    return tables


def summary_table(found: Findings) -> Table:
    """The best pairs of a method and an estimator over all budgets and suites."""
    chosen = sorted(_widest(found), key=lambda summary: summary.ratio)[:_MOST]
    lines: list[list[object]] = [
        [
            _named(summary), summary.estimator, "-" if summary.score_free else "scores", _ratio(summary),
            _short(summary.worst_suite), _short(summary.to_plain), summary.mae, summary.seconds,
        ]
        for summary in chosen
    ]  # fmt: skip
    columns = ["method", "estimator", "looks at", "ratio", "worst suite#", "to plain#", "points#", "s#"]
    return "Mean over budgets and suites", columns, lines


def target_tables(found: Findings) -> list[Table]:
    """For each suite, mean ratios by target, and how often intervals of random designs hold the truth."""
    tables: list[Table] = []
    for suite in dict.fromkeys(row.suite for row in found.rows):
        own = [row for row in found.rows if row.suite == suite and row.estimator == HEADLINE]
        lines: list[list[object]] = []
        for method in dict.fromkeys(row.method for row in own):
            rows = [row for row in own if row.method == method]
            targets = [
                _mean([row.ratio for row in rows]), _mean([row.ratio_micro for row in rows]),
                _mean([row.ratio_benchmark for row in rows]), _mean([row.picks / row.k for row in rows]),
            ]  # fmt: skip
            widths = [row.interval_width for row in ((rows[0], rows[-1]) if len(rows) > 1 else rows)]
            intervals = [_mean([row.coverage for row in rows]), *widths]
            lines.append([method, *map(_short, [*targets, *intervals])])
        ks = sorted({row.k for row in own})
        columns = ["macro#", "prompts alike#", "each benchmark#", "picks / k#", "coverage#"]
        wide = [f"points wide k={ks[0]}#", f"k={ks[-1]}#"][: len(ks)] if ks else []
        title = f"{suite}: ratio by target, and 95 % intervals of random designs"
        tables.append((title, ["method", *columns, *wide], lines))
    return tables


def explained_table(found: Findings) -> Table:
    """What features and panels explain linearly, and the ratio that linear use of them allows for at best."""
    lines: list[list[object]] = [
        [share.suite, share.by, _short(share.share), _short(share.bound)] for share in found.explained
    ]
    return (
        "Item scores inside benchmarks: share explained linearly (R2)",
        ["suite", "by", "R2#", "bound of the ratio#"],
        lines,
    )


def _widest(found: Findings) -> list[Summary]:
    """Summaries over all suites, or of the only one."""
    pooled = [summary for summary in found.summaries if summary.suite == ALL]
    return pooled or list(found.summaries)


def _named(row: Row | Summary) -> str:
    return f"{row.method} (default)" if row.is_default else row.method


def _ratio(row: Row | Summary) -> str:
    return f"{row.ratio:.3f} [{row.ratio_low:.2f}, {row.ratio_high:.2f}]"


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _json(rows: Sequence[dict[str, Any]]) -> bytes:
    return orjson.dumps(rows, option=orjson.OPT_INDENT_2) + b"\n"  # NaN becomes null


def _csv(columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> bytes:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue().encode()

"""A comparison as files: rows and standings as JSON and CSV, and the figure."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from benchcore.leaderboard.compare import Row, Standing, standings
from benchcore.leaderboard.figures import can_draw, encoded, error_by_tasks
from benchcore.leaderboard.picks_file import write_json
from benchcore.whole_file import write_file


def write_comparison(rows: Sequence[Row], out: Path) -> list[Path]:
    """Write `rows` and `standings`, each as .json and .csv, and `error_by_tasks.svg` where matplotlib is installed.

    Args:
        rows: of a comparison.
        out: folder, made where there is none.

    Returns:
        The files.

    Raises:
        UsageError: one cannot be written.
    """
    best = standings(rows)
    written = []
    for name, kind, records in (("rows", Row, rows), ("standings", Standing, best)):
        documents = [asdict(record) for record in records]
        write_json(out / f"{name}.json", documents)
        write_file(out / f"{name}.csv", _csv([field.name for field in fields(kind)], documents))
        written += [out / f"{name}.json", out / f"{name}.csv"]
    figure = error_by_tasks(rows) if can_draw() else None
    if figure is not None:
        write_file(out / "error_by_tasks.svg", encoded(figure))
        written.append(out / "error_by_tasks.svg")
    return written


def _csv(columns: Sequence[str], records: Sequence[dict[str, Any]]) -> bytes:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return stream.getvalue().encode()

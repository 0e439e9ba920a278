"""The error curves that ship: what `benchcore lab reproduce` measured of the default, for whoever chooses k."""

from __future__ import annotations

import csv
from importlib.resources import files

import numpy as np

from benchcore.estimation.expected_error import ErrorCurves

FILE = "error_curves.csv"


def load_error_curves() -> ErrorCurves:
    """Errors of the default method with the default estimator, by suite and budget."""
    written = (files(__package__) / FILE).read_text(encoding="utf-8")
    rows = list(csv.DictReader(written.splitlines()))
    figures = {
        name: np.array([float(row[name]) for row in rows]) for name in ("prompts", "k", "mae", "rmse", "gap_rmse")
    }
    return ErrorCurves(suite=np.array([row["suite"] for row in rows], np.str_), **figures)

"""Figures that ship with the package: scores of models on prompts, and leaderboards. No texts of prompts."""

from __future__ import annotations

from benchcore.datasets.error_curves import load_error_curves
from benchcore.datasets.index import names
from benchcore.datasets.leaderboards import Leaderboard, load_leaderboard
from benchcore.datasets.scores import ScoreSet, load_scores

__all__ = ["Leaderboard", "ScoreSet", "load_error_curves", "load_leaderboard", "load_scores", "names"]

"""Benchmark-level mode: which few whole tasks of a leaderboard predict the rest."""

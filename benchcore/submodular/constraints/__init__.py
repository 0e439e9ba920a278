"""Constraints: which candidates may be picked next, and what the best feasible sum of gains is."""

"""A random draw that knows no groups: what most people do, and the weakest control."""

from __future__ import annotations

from dataclasses import replace

from benchcore.methods.problem import Problem, Selection
from benchcore.methods.stratified_random import stratified_random


def plain_random(problem: Problem) -> Selection:
    """Draw without replacement, every available item with the same probability, balanced or not.

    The first j picks are those of a problem with k = j.
    """
    return stratified_random(replace(problem, balanced=False))

"""Random parts of a suite: sub-pools of its prompts, and models that are scored apart from those that are looked at."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchcore.errors import UsageError

SPLITS = ("random", "family", "strongest")
_HELD_SHARE = {"random": 0.5, "family": 0.3, "strongest": 0.3}


@dataclass(frozen=True, eq=False)
class ModelSplit:
    """Which models are scored and which may be looked at; none is both.

    Attributes:
        held: positions of the models that are scored, ascending.
        source: positions of those whose scores methods and estimators may see, in an order drawn at random: a panel of
            p models are the first p.
    """

    held: NDArray[np.int64]
    source: NDArray[np.int64]


def sub_pool(groups: NDArray[np.int64], least: float, most: float, generator: np.random.Generator) -> NDArray[np.int64]:
    """Draw a share of the prompts of each group, the same share of all, and at least one.

    Args:
        groups: (n,) group numbers.
        least: smallest share.
        most: largest share.
        generator: draws the share and the prompts.

    Returns:
        Positions, ascending.
    """
    share = generator.uniform(least, most)
    order = generator.permutation(len(groups))
    kept = []
    for group in range(int(groups.max()) + 1):
        members = order[groups[order] == group]
        kept.append(members[: max(1, round(share * len(members)))])
    return np.sort(np.concatenate(kept))


def smallest_pool(groups: NDArray[np.int64], least: float) -> int:
    """Size of the smallest sub-pool that `sub_pool` can draw."""
    return int(sum(max(1, round(least * size)) for size in np.bincount(groups)))


def split_models(
    kind: str, models: Sequence[str], strength: NDArray[np.float64], generator: np.random.Generator
) -> ModelSplit:
    """Split models into those that are scored and those that may be looked at.

    Args:
        kind: `random` (halves), `family` (families drawn until 30 % are held out; see `family`), or
            `strongest` (the strongest 30 % are held out).
        models: names.
        strength: (models,) macro scores.
        generator: draws.

    Raises:
        UsageError: the kind is unknown, or there are too few models or families.
    """
    if kind not in SPLITS:
        raise UsageError(f"unknown split '{kind}'", where="--split", mend=f"There are {', '.join(SPLITS)}.")
    wanted = max(1, round(_HELD_SHARE[kind] * len(models)))
    if kind == "strongest":
        held = np.argsort(-strength, kind="stable")[:wanted]
    elif kind == "family":
        held = _families(models, wanted, generator)
    else:
        held = generator.permutation(len(models))[:wanted]
    source = np.setdiff1d(np.arange(len(models)), held)
    if source.size == 0 or len(held) == 0:
        what = "to look at" if source.size == 0 else "to score"
        mend = "Choose --split random." if len(models) > 1 else "Score more models on the same prompts: two at least."
        raise UsageError(f"the split '{kind}' leaves no model of {len(models)} {what}", where="--split", mend=mend)
    return ModelSplit(np.sort(held), generator.permutation(source))


def family(model: str) -> str:
    """The letters that a model's name begins with, in lower case, without the developer before it.

    `Qwen/Qwen1.5-7B` and `Qwen2.5-7B` are `qwen`, `meta-llama/Meta-Llama-3-8B` and `llama-65b` are `llama`. It is
    coarse, so that relatives are seldom on both sides of a split. It does not catch merges and fine-tunes under names
    of their own (`dolphin-2.9-llama3` is `dolphin`, `Mixtral` not `mistral`).
    """
    name = re.split(r"/|__", model.lower())[-1].removeprefix("meta-")
    letters = re.match(r"[^\W\d_]+", name)
    return letters[0] if letters else name


def _families(models: Sequence[str], wanted: int, generator: np.random.Generator) -> NDArray[np.int64]:
    members: dict[str, list[int]] = {}
    for position, model in enumerate(models):
        members.setdefault(family(model), []).append(position)
    names = sorted(members)
    held: list[int] = []
    for number in generator.permutation(len(names))[: len(names) - 1]:
        if len(held) < wanted:
            held += members[names[number]]
    return np.array(held, np.int64)

"""What the JSON beside a file of instances says about it: metrics, scales, rows and checksum."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from benchcore.errors import BenchcoreError
from benchcore.harness.documents import Scale
from benchcore.harness.logs import plain_name, read_document
from benchcore.harness.notes import Notes
from benchcore.harness.times import time_of
from benchcore.leaderboard.reading.every_eval_ever import is_every_eval_ever, scale_of

SAMPLES = "_samples"
_ALGORITHMS = ("sha256", "md5")


@dataclass(frozen=True)
class Metric:
    """A metric of an evaluation.

    Attributes:
        name: its id, else its name, else `score`.
        scale: where both ends are known; endless where only the direction is: such scores need a declared scale.
        unknown: whether a score of -1 says that the level is not known.
    """

    name: str = "score"
    scale: Scale | None = None
    unknown: bool = False


@dataclass(frozen=True)
class Companion:
    """The JSON beside a file of instances.

    Attributes:
        metrics: evaluation_result_id or evaluation_name -> its metric; names that several results share are left out.
        version: of the library that ran the evaluation.
        time: when the evaluation was made, else when it was retrieved.
        details: `detailed_evaluation_results`, as it is.
    """

    metrics: Mapping[str, Metric] = field(default_factory=dict)
    version: str | None = None
    time: datetime | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


def read_companion(samples: Path, notes: Notes) -> Companion:
    """Read the JSON beside a file of instances; without one, metrics have no names and scales."""
    stem = plain_name(samples).removesuffix(".jsonl").removesuffix(SAMPLES)
    file = samples.with_name(f"{stem}.json")
    try:
        document = read_document(file) if file.is_file() else None
    except BenchcoreError as error:
        notes.add("unreadable", str(error))
        document = None
    if document is None or not is_every_eval_ever(document):
        notes.add("instances without the JSON that names their metrics and scales", str(samples))
        return Companion()
    library, details = document.get("eval_library"), document.get("detailed_evaluation_results")
    return Companion(
        metrics=_metrics(document["evaluation_results"]),
        version=str(library["version"]) if isinstance(library, dict) and library.get("version") else None,
        time=_time(document),
        details=details if isinstance(details, dict) else {},
    )


def check_sum(samples: Path, companion: Companion, notes: Notes) -> None:
    """Note a checksum that is not the file's."""
    told, algorithm = companion.details.get("checksum"), companion.details.get("hash_algorithm", "sha256")
    if not told:
        return
    if algorithm not in _ALGORITHMS:
        notes.add("checksum of a kind that is not known", f"{samples}: {algorithm}")
        return
    with samples.open("rb") as stream:
        found = hashlib.file_digest(stream, lambda: hashlib.new(str(algorithm), usedforsecurity=False)).hexdigest()
    if found != str(told).lower():
        notes.add("checksum differs: the file is not the one that its JSON describes", str(samples))


def _time(document: Mapping[str, Any]) -> datetime | None:
    told = [document.get("evaluation_timestamp"), document.get("retrieved_timestamp")]
    results = [result for result in document["evaluation_results"] if isinstance(result, dict)]
    told[1:1] = [result.get("evaluation_timestamp") for result in results]
    return next((time for one in told if (time := time_of(one)) is not None), None)


def _metrics(results: list[Any]) -> dict[str, Metric]:
    found: dict[str, Metric] = {}
    shared: set[str] = set()
    for result in results:
        if not isinstance(result, dict):
            continue
        metric = _metric(result.get("metric_config"))
        for key in {str(result[key]) for key in ("evaluation_result_id", "evaluation_name") if result.get(key)}:
            shared.update({key} if found.setdefault(key, metric) != metric else ())
    return {key: metric for key, metric in found.items() if key not in shared}


def _metric(config: Any) -> Metric:
    if not isinstance(config, dict):
        return Metric()
    lower, scale = config.get("lower_is_better") is True, scale_of(config)
    declared = None if scale is None else Scale(scale.low, scale.high, lower)
    return Metric(
        name=str(config.get("metric_id") or config.get("metric_name") or "score"),
        scale=declared or (Scale(0.0, math.inf, lower_is_better=True) if lower else None),
        unknown=config.get("has_unknown_level") is True,
    )

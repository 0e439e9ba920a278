"""Our estimates in the schema, as an aggregate of one model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchcore.harness.content import content_digest
from benchcore.scoring.target_estimate import TargetEstimate

SCHEMA_VERSION = "0.3.0"
_UNKNOWN = {"deployment_type": "unknown", "model_availability": "unknown"}


def aggregate(
    model: str,
    estimates: Sequence[TargetEstimate],
    *,
    coreset_id: str,
    metric: str,
    retrieved: float,
    library_version: str,
    confidence: float = 0.95,
) -> dict[str, Any]:
    """Estimates of one model as an aggregate: a result a target, with its interval; what is not estimable is named.

    Args:
        model: as in the table `scores`.
        estimates: of this model.
        coreset_id: of the coreset whose prompts were scored.
        metric: that was estimated; its scores are in [0, 1], more being better.
        retrieved: when it was written, in seconds since 1970.
        library_version: of benchcore.
        confidence: of the intervals.

    Raises:
        ValueError: an estimate is of another model.
    """
    if others := sorted({one.model for one in estimates} - {model}):
        raise ValueError(f"estimates of {others[:5]} stand among those of {model!r}")
    known = [one for one in estimates if one.estimate is not None]
    left_out = [f"{one.target}: {one.reason or 'not estimable'}" for one in estimates if one.estimate is None]
    about = {"coreset": coreset_id, "metric": metric, "what": "estimates from a coreset, not scores on all prompts"}
    if left_out:
        about["not_estimable"] = "; ".join(left_out)
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"benchcore-{coreset_id}/{model.replace('/', '_')}/{retrieved:.0f}",
        "retrieved_timestamp": f"{retrieved:.0f}",
        "source_metadata": {
            "source_name": "benchcore",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
            "additional_details": about,
        },
        "eval_library": {"name": "benchcore", "version": library_version},
        "model_info": {"name": model, "id": model, "additional_details": dict(_UNKNOWN)},
        "evaluation_results": [_result(one, coreset_id, metric, confidence) for one in known],
    }


def _result(one: TargetEstimate, coreset_id: str, metric: str, confidence: float) -> dict[str, Any]:
    return {
        "evaluation_result_id": content_digest(coreset_id, one.target, metric),
        "evaluation_name": one.target,
        "source_data": {"dataset_name": one.target, "source_type": "other"},
        "metric_config": {
            "metric_id": metric,
            "metric_name": metric,
            "metric_unit": "proportion",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
        },
        "score_details": {
            "score": one.estimate,
            "details": {
                "estimator": one.estimator,
                "n_eff": f"{one.n_eff:.6g}",
                "borrowed": f"{one.borrowed:.6g}",
                "missing": str(one.missing),
            },
            "uncertainty": _uncertainty(one, confidence),
        },
    }


def _uncertainty(one: TargetEstimate, confidence: float) -> dict[str, Any]:
    said: dict[str, Any] = {"num_samples": one.prompts}
    if one.low is not None and one.high is not None:
        said["confidence_interval"] = {
            "lower": one.low,
            "upper": one.high,
            "confidence_level": confidence,
            "method": one.kind,
        }
    return said

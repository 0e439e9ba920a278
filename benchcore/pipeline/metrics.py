"""What a run tells those who operate it, as samples for Prometheus: counts, ratios, times; never what a prompt says."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from benchcore.errors import BenchcoreError
from benchcore.pipeline.metric_targets import Sample, tell
from benchcore.registry.manifests import find_manifest
from benchcore.registry.root import Registry

if TYPE_CHECKING:
    from benchcore.config import MetricsSection
    from benchcore.pipeline.steps import Job, StepOutcome
    from benchcore.registry.checks.finding import Finding

_ROWS = {"rows_read": "read", "rows_kept": "kept", "rows_duplicate": "duplicate", "rows_quarantined": "quarantined"}
_VECTORS = {"encoded": "computed", "cached": "reused"}


@contextmanager
def measured(job: Job, steps: Sequence[str]) -> Iterator[None]:
    """Tell how the steps of a run ended, also where one fails: the first of those that are not done.

    A run that is killed tells nothing: the time of its last success grows old.
    """
    section = job.config.metrics
    if section.file is None and section.gateway is None:
        yield
        return
    try:
        yield
    except BaseException:
        _tell(section, job, failed=steps[min(len(job.done), len(steps) - 1)])
        raise
    _tell(section, job, failed=None)


def _tell(section: MetricsSection, job: Job, failed: str | None) -> None:
    now, root = time.time(), job.registry.root
    for outcome in job.done:
        tell(section, root, outcome.step, [*_ended(now, outcome.seconds), *_samples(job, outcome)])
    if failed is not None:
        tell(section, root, failed, _failed(now), failed=True)


def tell_findings(section: MetricsSection, root: str, findings: Sequence[Finding], seconds: float) -> None:
    """Tell how a check of the tables ended."""
    severities = [finding.severity for finding in findings]
    found = [Sample("findings", float(severities.count(one)), {"kind": one}) for one in ("broken", "notice")]
    tell(section, root, "check", [*_ended(time.time(), seconds), *found])


@contextmanager
def measured_upkeep(section: MetricsSection, root: str, step: str) -> Iterator[None]:
    """Tell how maintenance ended, also where it fails."""
    started = time.monotonic()
    try:
        yield
    except BaseException:
        tell(section, root, step, _failed(time.time()), failed=True)
        raise
    tell(section, root, step, _ended(time.time(), time.monotonic() - started))


def _ended(now: float, seconds: float) -> list[Sample]:
    """That a step ended well, when, and how long it took."""
    times = {"last_run_timestamp_seconds": now, "last_success_timestamp_seconds": now, "step_duration_seconds": seconds}
    return [Sample("step_success", 1.0), *(Sample(name, value) for name, value in times.items())]


def _failed(now: float) -> list[Sample]:
    return [Sample("step_success", 0.0), Sample("last_run_timestamp_seconds", now)]


def _samples(job: Job, outcome: StepOutcome) -> list[Sample]:
    if outcome.step == "ingest":
        return _of_ingestion(outcome.counts)
    if outcome.step == "embed":
        return [Sample("vectors", float(outcome.counts[name]), {"origin": origin}) for name, origin in _VECTORS.items()]
    if outcome.step == "select":
        return _of_selection(job.registry, job.coreset_id)
    return []


def _of_ingestion(counts: Mapping[str, int]) -> list[Sample]:
    rows = [Sample("rows", float(counts[name]), {"state": state}) for name, state in _ROWS.items()]
    share = counts["rows_quarantined"] / counts["rows_read"] if counts["rows_read"] else 0.0
    return [*rows, Sample("quarantine_ratio", share)]


def _of_selection(registry: Registry, coreset_id: str | None) -> list[Sample]:
    try:
        manifest = find_manifest(registry, coreset_id) if coreset_id is not None else None
    except BenchcoreError:  # its reason has failed the run already, or fails the next one
        manifest = None
    if manifest is None:
        return []
    samples = [Sample("picks", float(manifest.k)), Sample("coverage_ratio", manifest.mean_coverage)]
    if "ratio" in manifest.certificate:
        samples.append(Sample("certificate_ratio", float(manifest.certificate["ratio"])))
    return samples

"""Where samples go: a file for the node exporter's textfile collector, a Pushgateway, or both."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

from benchcore.config import MetricsSection

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

log = logging.getLogger(__name__)

# Name -> what it is, and the labels that it has besides registry and step.
GAUGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "step_success": ("Whether the last run of a step ended well", ()),
    "step_duration_seconds": ("How long the last run of a step took that ended well", ()),
    "last_run_timestamp_seconds": ("When a step ended last, well or not", ()),
    "last_success_timestamp_seconds": ("When a step ended well last", ()),
    "rows": ("Rows of all current files, by what became of them", ("state",)),
    "quarantine_ratio": ("Share of the rows of all current files that are in quarantine", ()),
    "vectors": ("Texts of the last embedding: their vectors were computed then, or reused", ("origin",)),
    "picks": ("Picks of the coreset", ()),
    "coverage_ratio": ("Mean similarity of a prompt to the pick nearest to it", ()),
    "certificate_ratio": ("What the picks are worth at least, as a share of the optimum", ()),
    "findings": ("What `benchcore registry check` found", ("kind",)),
}
_PREFIX = "benchcore_"
_WAIT_S = 10.0


@dataclass(frozen=True)
class Sample:
    """A number that a step tells; `labels` are those besides registry and step."""

    name: str
    value: float
    labels: Mapping[str, str] = field(default_factory=dict)


def tell(section: MetricsSection, root: str, step: str, samples: Sequence[Sample], *, failed: bool = False) -> None:
    """Tell what a step has to tell. What cannot be told is a warning: the run ended as it did.

    Args:
        section: where to.
        root: of the registry, a label.
        step: another one.
        samples: of a step that ended well they take the place of all that it told before.
        failed: they are added to what it told before.
    """
    own = {"registry": root, "step": step}
    labelled = [Sample(sample.name, sample.value, {**own, **sample.labels}) for sample in samples]
    for target, told in ((section.file, _write), (section.gateway, _push)):
        if target is None:
            continue
        try:
            told(target, own, labelled, failed)
        except Exception as error:  # a full disk, a gateway that is gone, a lock that is held, a file of something else
            log.warning(
                "metrics cannot be told to %s (%s)", target, " ".join(str(error).split()) or type(error).__name__
            )


def _write(file: str, own: Mapping[str, str], samples: Sequence[Sample], failed: bool) -> None:
    """Write the file anew, with what other steps and registries have told."""
    from prometheus_client import write_to_textfile

    path = Path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(f".{path.stem}.lock"), timeout=_WAIT_S):
        before = [sample for sample in _stored(path) if failed or not own.items() <= sample.labels.items()]
        write_to_textfile(str(path), _collected([*before, *samples]))


def _stored(path: Path) -> Iterator[Sample]:
    """The samples of a file; one that is not there, or is of something else, has none."""
    from prometheus_client.parser import text_string_to_metric_families

    if not path.exists():
        return
    for family in text_string_to_metric_families(path.read_text()):
        for sample in family.samples:
            yield Sample(sample.name.removeprefix(_PREFIX), sample.value, sample.labels)


def _push(gateway: str, own: Mapping[str, str], samples: Sequence[Sample], failed: bool) -> None:
    """Push the group of one step of one registry; where it failed, what it told before stays."""
    from prometheus_client import push_to_gateway, pushadd_to_gateway

    push = pushadd_to_gateway if failed else push_to_gateway
    push(gateway, job="benchcore", registry=_collected(samples), grouping_key=dict(own), timeout=_WAIT_S)


def _collected(samples: Sequence[Sample]) -> CollectorRegistry:
    """The samples as the client has them; of two with the same labels the later one counts."""
    from prometheus_client import CollectorRegistry, Gauge

    collected = CollectorRegistry()
    for name, (what, labels) in GAUGES.items():
        mine = [sample for sample in samples if sample.name == name]
        if mine:
            gauge = Gauge(_PREFIX + name, what, ("registry", "step", *labels), registry=collected)
            for sample in mine:
                gauge.labels(**sample.labels).set(sample.value)
    return collected

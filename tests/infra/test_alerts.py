"""The alerts speak of metrics that runs tell, and of paragraphs that there are."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from benchcore.pipeline.metric_targets import GAUGES

ROOT = Path(__file__).parents[2]
MONITORING = ROOT / "infra" / "monitoring"


def rules() -> list[dict[str, object]]:
    (group,) = yaml.safe_load((MONITORING / "alerts.yaml").read_text())["groups"]
    return list(group["rules"])


def test_every_metric_of_an_alert_is_told():
    """A metric that was renamed would make its alert silent."""
    named = {name for rule in rules() for name in re.findall(r"benchcore_(\w+)", str(rule["expr"]))}

    assert named
    assert named <= GAUGES.keys()


def test_every_alert_has_its_paragraph_in_the_runbook():
    """Named as the anchor of its heading."""
    headings = re.findall(r"^#+ (.+)$", (ROOT / "docs" / "operations.md").read_text(), re.MULTILINE)
    anchors = {heading.lower().replace(" ", "-") for heading in headings}

    for rule in rules():
        file, _, anchor = str(rule["annotations"]["runbook"]).partition("#")
        assert (file, anchor in anchors) == ("docs/operations.md", True), rule["alert"]


def test_every_metric_is_documented():
    """Under its whole name."""
    told = (ROOT / "docs" / "operations.md").read_text()

    assert [name for name in GAUGES if f"benchcore_{name}" not in told] == []


def test_the_rules_fire_when_they_should():
    """By Prometheus's own tests of rules, where its tool is at hand."""
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed (it comes with Prometheus)")
    ran = subprocess.run(
        [promtool, "test", "rules", MONITORING / "alerts_test.yaml"], capture_output=True, text=True, check=False
    )

    assert ran.returncode == 0, ran.stdout + ran.stderr

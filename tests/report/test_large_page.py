"""The page of a large registry: made in a minute, small enough to send, quick to open."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import pytest

from benchcore.registry.root import Registry
from benchcore.report.page import write
from tests.report.browser import Visit, launched
from tests.report.planted import CORESET, plant_clusters

PROMPTS, DIMENSIONS, PICKS = 119_000, 384, 1000
LOG = logging.getLogger(__name__)


@pytest.mark.slow
def test_a_page_of_119_000_prompts(tmp_path: Path):
    """At most 60 seconds on an idle machine with two cores, 30 MB, and 3 seconds to the first paint."""
    registry, path = Registry.at(tmp_path / "registry"), tmp_path / "report.html"
    ground = plant_clusters(registry, PROMPTS, DIMENSIONS, clusters=1500, k=PICKS, benchmarks=140)

    seconds = []
    for _ in range(2):
        path.unlink(missing_ok=True)
        started = time.monotonic()
        write(registry, CORESET, path, ground)
        seconds.append(time.monotonic() - started)
    size = path.stat().st_size / 1e6
    with launched() as browser:
        started = time.monotonic()
        visit = Visit.to(browser, path).ready()
        drawn = time.monotonic() - started
        paint = visit.page.evaluate("performance.getEntriesByType('paint')[0].startTime") / 1000
        points = visit.map_says("points")
        visit.page.focus("#map")
        visit.page.keyboard.press("ArrowRight")
        visit.page.wait_for_selector("#map[data-rank='0']")
        visit.page.screenshot(path=tmp_path / "report.png")
    LOG.warning(
        "%d prompts: %.1f s, %.1f s with the layout kept; %.1f MB; first paint %.2f s, map %.1f s; %s",
        PROMPTS, *seconds, size, paint, drawn, tmp_path / "report.png",
    )  # fmt: skip

    assert points == str(PROMPTS)
    assert visit.errors == []
    assert visit.requests == [path.as_uri()]
    assert seconds[0] < 60
    assert size < 30
    assert paint < 3

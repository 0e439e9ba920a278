"""A real browser, headless, for pages from disk."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def launched() -> Iterator[Any]:
    """Chromium as it is found on the machine, or Playwright's own; without either, the test is skipped."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with playwright.sync_playwright() as engine:
        found = next((path for name in _NAMES if (path := shutil.which(name))), engine.chromium.executable_path)
        if not Path(found).is_file():
            pytest.skip("no Chromium on this machine: `apt-get install chromium` or `playwright install chromium`")
        browser = engine.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Visit:
    """A page that was opened, and what it did besides showing itself."""

    page: Any
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @classmethod
    def to(cls, browser: Any, path: Path, *, script: str | None = None, **context: Any) -> Visit:
        """Open a page in a fresh context; `script` runs before the page's own."""
        visit = cls(browser.new_context(**{"viewport": {"width": 1200, "height": 900}} | context).new_page())
        visit.page.set_default_timeout(30_000)
        visit.page.on("request", lambda request: visit.requests.append(request.url))
        visit.page.on("console", lambda told: visit.errors.append(told.text) if told.type == "error" else None)
        visit.page.on("pageerror", lambda error: visit.errors.append(str(error)))
        visit.page.on("dialog", lambda dialog: (visit.errors.append("a dialog"), dialog.dismiss()))
        if script:
            visit.page.add_init_script(script)
        visit.page.goto(path.as_uri())
        return visit

    def ready(self) -> Visit:
        """Wait for the map."""
        self.page.wait_for_selector("#map[data-ready=yes]")
        return self

    def map_says(self, name: str) -> str:
        """A figure that the map keeps beside itself."""
        return str(self.page.get_attribute("#map", f"data-{name}"))

    def place_of(self, trace: int) -> tuple[float, float]:
        """Where on the screen the first point of a trace lies; traces count from the last with negative numbers."""
        found = self.page.evaluate(
            """(trace) => {
                const map = document.getElementById("map"), { xaxis, yaxis, _size } = map._fullLayout;
                const drawn = map.data.at(trace), box = map.getBoundingClientRect();
                return [box.x + _size.l + xaxis.l2p(drawn.x[0]), box.y + _size.t + yaxis.l2p(drawn.y[0])];
            }""",
            trace,
        )
        return found[0], found[1]

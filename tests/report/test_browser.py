"""The page in a real browser: it opens by itself, answers to mouse and keyboard, and lets no prompt do anything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchcore.registry.manifests import find_manifest
from benchcore.registry.root import Registry
from benchcore.report.page import gather, render
from benchcore.report.plotting_library import plotting_library
from tests.registry.stored import prompt
from tests.report.browser import Visit, launched
from tests.report.planted import CORESET, clustered, plant
from tests.report.test_page import NOBODY

RUN = "window.ran = true"
HOSTILE = (
    f"<script>{RUN}</script>",
    f'"><img src=x onerror="{RUN}">',
    f"</script><script>{RUN}</script></textarea></title>",
    f"<svg onload={RUN}><b>bold</b><a href='javascript:{RUN}'>link</a>",
    "\u202egnorw \x00\x1b[31m \u2028 ${ran} `${ran}` %{x} <extra></extra>",
    "long " * 40_000,
)
PICKS, TERRITORY, CHOSEN = -3, -4, -1  # traces


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as found:
        yield found


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    """240 harmless prompts of four benchmarks, and a benchmark for each hostile text."""
    return Registry.at(tmp_path_factory.mktemp("browser") / "registry")


@pytest.fixture(scope="module")
def page(registry: Registry) -> Path:
    """With a map."""
    vectors, member = clustered(240 + len(HOSTILE), 12, 8)
    rows = [
        prompt(f"tame {cluster % 4}", number, prompt=f"what is kept under {number}", category=f"about {cluster % 2}")
        for number, cluster in enumerate(member[:240].tolist())
    ]
    rows += [prompt(text[:80], 0, prompt=text, answer=text, choices=[text], category=text[:80]) for text in HOSTILE]
    picks = [*range(240, 240 + len(HOSTILE)), *range(0, 240, 20)]
    ground = plant(registry, rows, vectors, picks)
    library = plotting_library()
    if library is None:
        pytest.skip("plotly is not installed")
    file = Path(registry.root) / "with map.html"
    mapped, bare = (gather(registry, find_manifest(registry, CORESET), ground, NOBODY, mapped=m) for m in (True, False))
    file.write_text(render(mapped, library), "utf-8")
    file.with_name("bare.html").write_text(render(bare, None), "utf-8")
    return file


@pytest.fixture(scope="module")
def opened(browser: Any, page: Path) -> Visit:
    return Visit.to(browser, page).ready()


@pytest.fixture
def visit(opened: Visit, page: Path) -> Iterator[Visit]:
    """The page as it was when it was drawn; whatever is done, it asks no network and complains of nothing."""
    opened.page.click("#clear")
    opened.page.select_option("#sort", "rank")
    opened.page.focus("#map")
    opened.page.keyboard.press("Escape")
    opened.page.keyboard.press("0")
    opened.page.wait_for_selector(f"#map[data-rank='-1'][data-points='{240 + len(HOSTILE)}']")
    yield opened
    assert opened.requests == [page.as_uri()]
    assert opened.errors == []


def shown(visit: Visit) -> list[int]:
    return visit.page.eval_on_selector_all(
        "#list > li:not([hidden])", "all => all.map(one => Number(one.dataset.pick))"
    )


def test_the_page_opens_and_draws_every_prompt(visit: Visit):
    """Without errors and without a network (the fixture looks); WebGL does the drawing."""
    assert visit.map_says("points") == str(240 + len(HOSTILE))
    assert visit.page.locator("#map canvas").count() > 0
    assert not visit.page.is_visible("#no-webgl")
    assert visit.page.locator("#map .no-webgl").count() == 0


def test_search_and_filters_narrow_list_and_map(visit: Visit):
    """All words must be there; `Clear` brings everything back."""
    visit.page.fill("#search", "UNDER 220")
    visit.page.locator("#matches", has_text="1 of 18 ").wait_for()
    visit.page.wait_for_selector("#map[data-points='1']")
    assert shown(visit) == [17]

    visit.page.click("#clear")
    visit.page.select_option("#benchmark", label="tame 1")
    tame = shown(visit)
    assert 0 < len(tame) < 12
    visit.page.wait_for_function("Number(document.getElementById('map').dataset.points) < 200")

    visit.page.select_option("#category", label="about 0")
    assert shown(visit) == []
    visit.page.click("#clear")
    assert len(shown(visit)) == 18
    visit.page.select_option("#role", "core")
    assert len(shown(visit)) == 18


def test_the_list_is_put_in_order(visit: Visit):
    """By what a pick represents, and back by rank."""
    visit.page.select_option("#sort", "represents")
    assert shown(visit) == list(range(17, -1, -1))
    visit.page.select_option("#sort", "rank")
    assert shown(visit) == list(range(18))


def test_the_map_answers_to_the_mouse(visit: Visit):
    """A hovered point shows its text, a clicked one its territory."""
    visit.page.locator("#map").scroll_into_view_if_needed()
    visit.page.mouse.move(*visit.place_of(PICKS))
    visit.page.wait_for_function("document.getElementById('hover').textContent.includes('covered 1.00')")

    visit.page.mouse.click(*visit.place_of(PICKS))
    visit.page.wait_for_selector("#map:not([data-rank='-1'])")
    rank = visit.map_says("rank")
    assert f"pick {rank}" in visit.page.inner_text("#told").lower()
    assert visit.page.locator(".pick.chosen").get_attribute("data-pick") == rank
    assert visit.page.evaluate("(trace) => document.getElementById('map').data.at(trace).x.length", TERRITORY) > 0


def test_the_map_answers_to_the_keyboard(visit: Visit):
    """Picks by arrows, prompts of a territory, zoom, to the list, and let go."""
    visit.page.focus("#map")
    for key, rank in (("ArrowRight", "0"), ("ArrowRight", "1"), ("ArrowLeft", "0"), ("ArrowLeft", "17")):
        visit.page.keyboard.press(key)
        visit.page.wait_for_selector(f"#map[data-rank='{rank}']")
    visit.page.keyboard.press("ArrowDown")
    visit.page.keyboard.press("ArrowDown")
    visit.page.wait_for_function("document.getElementById('told').textContent.includes('of the territory of pick 17')")

    width = "(() => { const [a, b] = document.getElementById('map')._fullLayout.xaxis.range; return b - a })()"
    before = visit.page.evaluate(width)
    visit.page.keyboard.press("+")
    visit.page.wait_for_function(f"{width} < {before} * 0.8")

    visit.page.keyboard.press("Enter")
    assert visit.page.evaluate("document.activeElement.closest('li').dataset.pick") == "17"
    visit.page.focus("#map")
    visit.page.keyboard.press("Escape")
    visit.page.wait_for_selector("#map[data-rank='-1']")


def test_hostile_prompts_do_not_run(visit: Visit):
    """Not in the list, not opened up, not in the filters, not on the map."""
    for number in range(len(HOSTILE)):
        visit.page.locator(f"#pick-{number} summary").click()
        visit.page.locator(f"#pick-{number} >> text=On the map").click()
        visit.page.wait_for_selector(f"#map[data-rank='{number}']")
    visit.page.select_option("#colour", "category")
    visit.page.wait_for_function("document.getElementById('legend').textContent.includes('<script>')")

    assert visit.page.evaluate("window.ran") is None
    assert visit.page.locator("img, iframe, #list b a, #told b a, #list svg, #list script, #told script").count() == 0
    assert HOSTILE[2] in visit.page.text_content("#pick-2 details")
    assert "\\u202egnorw \\u0000\\u001b[31m" in visit.page.text_content("#pick-4 details")
    assert visit.page.title() == f"Coreset {CORESET}"


def test_colours_follow_the_system_and_the_switch(browser: Any, page: Path):
    """Dark where the system is dark; the button goes from the system's to light to dark; paper stays white."""
    background = "getComputedStyle(document.body).backgroundColor"
    visit = Visit.to(browser, page, color_scheme="dark").ready()
    dark = visit.page.evaluate(background)

    visit.page.click("#theme")
    assert visit.page.evaluate(background) == "rgb(255, 255, 255)"
    visit.page.click("#theme")
    assert visit.page.evaluate(background) == dark != "rgb(255, 255, 255)"
    visit.page.wait_for_function("document.getElementById('map')._fullLayout.paper_bgcolor !== '#ffffff'")
    visit.page.emulate_media(media="print")
    assert visit.page.evaluate(background) == "rgb(255, 255, 255)"
    visit.page.emulate_media(media="screen", forced_colors="active")
    bar, track = (f"getComputedStyle(document.querySelector('.{name}')).backgroundColor" for name in ("bar", "track"))
    assert visit.page.evaluate(bar) != visit.page.evaluate(track)
    assert visit.errors == []


def test_without_webgl_the_map_is_drawn_all_the_same(browser: Any, page: Path):
    """And says that it is a part of the prompts."""
    blind = "HTMLCanvasElement.prototype.getContext = () => null"
    visit = Visit.to(browser, page, script=blind).ready()

    assert visit.page.is_visible("#no-webgl")
    assert visit.page.locator("#map .scatterlayer .point").count() >= 240
    assert visit.errors == []


def test_without_the_library_the_list_works(browser: Any, page: Path):
    """Search and whole texts need no map."""
    visit = Visit.to(browser, page.with_name("bare.html"))
    visit.page.wait_for_selector("#tools", state="visible")
    visit.page.fill("#search", "under 220")
    visit.page.locator("#matches", has_text="1 of 18 ").wait_for()

    assert visit.page.is_visible("#no-map")
    assert visit.errors == []


def test_without_scripts_the_page_can_be_read(browser: Any, page: Path):
    """Picks, tables and curve are there, and the page says what is missing."""
    visit = Visit.to(browser, page, java_script_enabled=False)

    assert visit.page.locator("#list > li").count() == 18
    assert visit.page.is_visible("svg.curve")
    assert "need scripts" in visit.page.inner_text("noscript")


def test_a_narrow_screen_shows_all_without_scrolling_sideways(browser: Any, page: Path):
    """As on a telephone."""
    visit = Visit.to(browser, page, viewport={"width": 360, "height": 740}).ready()

    wide = """() => Array.from(document.querySelectorAll("body *"))
        .filter((one) => one.getBoundingClientRect().right > 360 && !one.closest(".wide, #map"))
        .map((one) => one.tagName + "#" + one.id + "." + one.className)"""
    assert visit.page.evaluate(wide) == []
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_every_control_has_a_name_and_pictures_are_described(visit: Visit):
    """For those who listen to the page."""
    nameless = visit.page.evaluate(
        """() => Array.from(document.querySelectorAll("button, input, select, summary"))
            .filter((one) => !(one.labels && one.labels.length) && !one.textContent.trim() && !one.ariaLabel)
            .map((one) => one.outerHTML)"""
    )
    assert nameless == []
    assert visit.page.get_attribute("svg.curve", "aria-label").startswith("Coverage by the number of picks")
    ids = visit.page.evaluate("Array.from(document.querySelectorAll('[id]'), (one) => one.id)")
    assert len(ids) == len(set(ids))
    assert np.all([visit.page.locator(f"#{name}").count() == 1 for name in ("told", "matches", "map")])

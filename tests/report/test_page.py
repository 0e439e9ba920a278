"""The page: one file, the same bytes for the same coreset, and no text in it can do anything."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchcore.errors import BenchcoreError
from benchcore.registry.manifests import find_manifest
from benchcore.registry.root import Registry
from benchcore.report.page import bounded, picked_prompts, render, visible, write
from tests.registry.stored import prompt, store, store_coreset

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title></style><script src=//evil.example/x.js></script>",
    "{{ 7 * 7 }} {% include '/etc/passwd' %}",
    "javascript:alert(1)",
    "&lt;b&gt; &amp; <!-- --> ]]>",
    "\x00\x1b[31m\u202egnorw\u2028next",
)


class Outline(HTMLParser):
    """Elements, attributes and text as a browser would see them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    """One coreset whose every text is hostile."""
    registry = Registry.at(tmp_path / "registry")
    picks = [
        prompt(text, number, prompt=text, answer=text, choices=[text, "plain"], category=text)
        for number, text in enumerate(HOSTILE)
    ]
    store(registry, "prompts", [*picks, prompt("another", 1)])
    store_coreset(registry, "abc", picks, semantic_configuration={"method": HOSTILE[0], "filter": list(HOSTILE)})
    return registry


def page_of(registry: Registry) -> str:
    manifest = find_manifest(registry, "abc")
    return render(manifest, picked_prompts(registry, manifest), {})


def test_hostile_text_stays_text(registry: Registry):
    """It adds no element and no attribute to those of the template, and all of it can be read."""
    outline = Outline(page_of(registry))

    assert outline.open == []
    assert not {"script", "img", "link", "iframe", "object", "base", "form", "a"} & set(outline.elements)
    assert {name for name, _ in outline.attributes} <= {
        "lang", "charset", "http-equiv", "content", "name", "class", "id", "style",
    }  # fmt: skip
    for text in HOSTILE[:-1]:
        assert outline.text.count(text) >= 4
    assert "\\u0000\\u001b[31m\\u202egnorw\\u2028next" in outline.text


def test_the_page_may_load_and_run_nothing(registry: Registry):
    """A policy forbids it, should anything slip through; and there is no address in the page's own parts."""
    page = page_of(registry)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]

    assert "default-src 'none'" in policy
    assert "script" not in policy
    assert "http" not in render(find_manifest(registry, "abc"), [], {}).replace("http-equiv", "")


def test_the_same_coreset_gives_the_same_bytes_and_leaves_the_file_alone(registry: Registry, tmp_path: Path):
    """Even when more prompts have come since: the page is of the versions that were pinned."""
    path = tmp_path / "reports" / "abc.html"
    write(registry, "abc", path)
    before, stamp = path.read_bytes(), path.stat().st_mtime_ns
    store(registry, "prompts", [prompt("late", 1)])

    assert write(registry, "abc", path) == path
    assert path.stat().st_mtime_ns == stamp

    path.write_text("spoilt")
    write(registry, "abc", path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_the_page_says_what_was_picked_and_how_good_it_is(registry: Registry):
    """Rank, benchmark, gain, represented prompts, certificate, coverage, provenance."""
    text = Outline(page_of(registry)).text

    assert f"{len(HOSTILE)} of {40 * len(HOSTILE)} prompts" in text
    assert "80.0 %" in text
    assert "gain 0.25" in text
    assert "represents 11" in text
    assert "0.750" in text
    assert "an encoder" in text


def test_warnings_are_told(tmp_path: Path):
    """What was cut, what the encoder cannot read, and who has no pick."""
    registry = Registry.at(tmp_path)
    picks = [prompt("one", 1)]
    row = {"category": "c", "prompts": 1500, "picks": 0, "coverage": 0.1, "truncated": 0, "unknown_language": 0}
    coverage = [
        row | {"benchmark": "one", "picks": 1, "truncated": 1200},
        row | {"benchmark": "two", "unknown_language": 7, "truncated": 1},
    ]
    store(registry, "prompts", picks)
    store_coreset(registry, "abc", picks, coverage=coverage, certificate={})
    text = Outline(page_of(registry)).text

    assert "1,201 prompts are longer than the encoder reads; their ends were not seen (one 1,200, two 1)." in text
    assert "7 prompts are in a language that the encoder does not know (two 7)." in text
    assert "1 benchmarks have no pick (two)" in text
    assert "it was not asked for" in text


def test_a_method_without_gains_and_certificate_is_shown_without(registry: Registry):
    """As most that maximize nothing pick by pick."""
    manifest = find_manifest(registry, "abc")
    picks = [pick | {"gain": 0.0} for pick in picked_prompts(registry, manifest)]
    without = replace(manifest, certificate={}, semantic_configuration={"method": "nested_swaps"})
    text = Outline(render(without, picks, {})).text

    assert "this method has none" in text
    assert "gain" not in text


def test_a_long_prompt_does_not_fill_the_page(tmp_path: Path):
    """Its beginning, and how much more there is."""
    registry = Registry.at(tmp_path)
    picks = [prompt("one", 1, prompt="x" * 1_000_000, choices=["y" * 1000] * 100, answer="z" * 10_000)]
    store(registry, "prompts", picks)
    store_coreset(registry, "abc", picks)
    page = page_of(registry)

    assert len(page) < 20_000
    assert "(998,800 more characters)" in page


def test_a_coreset_that_there_is_not_is_told(registry: Registry, tmp_path: Path):
    """And no file is made."""
    with pytest.raises(BenchcoreError, match="no coreset 'xyz'"):
        write(registry, "xyz", tmp_path / "x.html")
    assert not (tmp_path / "x.html").exists()


def test_a_place_that_cannot_be_written_is_told(registry: Registry, tmp_path: Path):
    """With the setting that chooses another."""
    (tmp_path / "file").touch()

    with pytest.raises(BenchcoreError, match=r"x\.html: the page cannot be written .*report\.path"):
        write(registry, "abc", tmp_path / "file" / "x.html")


@given(text=st.text(max_size=50), most=st.integers(1, 60))
def test_shortening_keeps_the_beginning(text: str, most: int):
    """Short texts are kept as they are."""
    assert bounded(text, most)[:most] == text[:most]
    assert (bounded(text, most) == text) == (len(text) <= most)


@pytest.mark.parametrize("text", ["naïve 日本語 \u3000wide", "می‌خواهم", "👩‍👩‍👧", "line\nline\ttab", "שלום"])
def test_writing_systems_are_left_alone(text: str):
    """Joiners and wide spaces are part of how people write."""
    assert visible(text) == text

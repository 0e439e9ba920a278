"""The page: one file, the same bytes for the same coreset, and no text in it can do anything."""

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchcore.errors import BenchcoreError
from benchcore.registry.manifests import find_manifest
from benchcore.registry.root import Registry
from benchcore.report.curve_picture import curve_picture
from benchcore.report.ground import Ground
from benchcore.report.hostile_text import bounded, visible
from benchcore.report.page import gather, render, write
from benchcore.report.page_data import data_block, point_order, points_block, texts_block
from benchcore.report.view import Material
from benchcore.scoring.alarm import Alarm
from benchcore.scoring.bias import BiasTest
from benchcore.scoring.estimates import Estimates
from benchcore.scoring.target_estimate import TargetEstimate
from tests.registry.stored import prompt, store
from tests.report.planted import CORESET, plant

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title></style><script src=//evil.example/x.js></script>",
    "{{ 7 * 7 }} {% include '/etc/passwd' %}",
    "javascript:alert(1)",
    "&lt;b&gt; &amp; <!-- --> ]]>",
    "\x00\x1b[31m\u202egnorw\u2028next",
)
NOBODY = Estimates(CORESET, 0.95, (), ())


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
        if tag not in ("meta", "br", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    """The root of one coreset whose every text is hostile."""
    return Registry.at(tmp_path / "registry")


@pytest.fixture
def ground(registry: Registry) -> Ground:
    """All prompts of it; the hostile ones are picked."""
    rows = [
        prompt(text, number, prompt=text, answer=text, choices=[text, "plain"], category=text, record_id=text)
        for number, text in enumerate(HOSTILE)
    ] + [prompt("another", number) for number in range(20)]
    vectors = np.random.default_rng(0).normal(size=(len(rows), 8)).astype(np.float32)
    settings = {"method": HOSTILE[0], "filter": list(HOSTILE), "mass": "macro"}
    return plant(registry, rows, vectors, range(len(HOSTILE)), semantic_configuration=settings)


def material_of(registry: Registry, ground: Ground, estimates: Estimates = NOBODY, *, mapped: bool = True) -> Material:
    return gather(registry, find_manifest(registry, CORESET), ground, estimates, mapped=mapped)


def page_of(registry: Registry, ground: Ground) -> str:
    return render(material_of(registry, ground), ("/* a library */", "0"))


def test_hostile_text_stays_text(registry: Registry, ground: Ground):
    """It adds no element and no attribute to those of the template, and all of it can be read."""
    outline = Outline(page_of(registry, ground))

    assert outline.open == []
    assert not {"img", "link", "iframe", "object", "base", "form"} & set(outline.elements)
    assert outline.elements.count("script") == 5
    assert not [name for name, _ in outline.attributes if name.startswith("on") or name == "src"]
    assert all(value.startswith("#") for name, value in outline.attributes if name == "href")
    for text in HOSTILE[:-1]:
        assert outline.text.count(text) >= 4
    assert "\\u0000\\u001b[31m\\u202egnorw\\u2028next" in outline.text


def test_the_page_may_run_its_own_scripts_only_and_load_nothing(registry: Registry, ground: Ground):
    """A policy allows them by their hashes, should anything slip through; without a map, nothing else."""
    for library in (("/* a library */", "0"), None):
        page = render(material_of(registry, ground, mapped=library is not None), library)
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
        own = re.search(r"<script>(.*)</script>\n</body>", page, re.DOTALL)[1]
        allowed = [own, *(library or ())[:1]]
        hashes = [f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in allowed]
        drawing = ["'unsafe-eval'"] if library else []

        assert policy.split("; ")[:2] == ["default-src 'none'", " ".join(["script-src", *hashes, *drawing])]
        assert "innerHTML" not in own
        assert "http" not in own


def test_the_blocks_hold_what_the_scripts_show(registry: Registry, ground: Ground):
    """Names, whole texts, and for each point its numbers, its text and its id."""
    material = material_of(registry, ground)
    data, order, n = orjson.loads(data_block(material)), point_order(ground), ground.n

    points, texts = points_block(material), texts_block(material)

    assert [pick["prompt"] for pick in data["picks"]] == [visible(text) for text in HOSTILE]
    assert [order[pick["point"]] for pick in data["picks"]] == material.findings.picks.tolist()
    lengths = np.frombuffer(points, "<u2", n, offset=12 * n)
    assert lengths.sum() == len(texts)
    first = texts[: lengths[0]].decode()
    assert first == visible(material.beginnings[order[0]])
    assert points[15 * n :][:16].hex() == ground.prompt_id[order[0]]
    assert np.array_equal(np.frombuffer(points, "<i2", n, offset=4 * n), material.positions[order, 0])


def test_the_same_coreset_gives_the_same_bytes_and_leaves_the_file_alone(
    registry: Registry, ground: Ground, tmp_path: Path
):
    """Even when more prompts have come since: the page is of the versions that were pinned."""
    path = tmp_path / "reports" / "abc.html"
    assert write(registry, CORESET, path, ground)
    before, stamp = path.read_bytes(), path.stat().st_mtime_ns
    store(registry, "prompts", [prompt("late", 1)])

    assert not write(registry, CORESET, path, ground)
    assert path.stat().st_mtime_ns == stamp

    for spoilt, damaged in ((b"spoilt", b"broken"), (before[: len(before) // 2], None)):
        path.write_bytes(spoilt)
        for layout in (tmp_path / "registry" / "_layouts").iterdir():
            content = bytearray(layout.read_bytes())
            content[-1] ^= 1  # as a disk may lose it
            layout.write_bytes(damaged or content)
        write(registry, CORESET, path, ground)
        assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_the_page_says_what_was_picked_and_how_good_it_is(registry: Registry, ground: Ground):
    """Rank, benchmark, gain, represented prompts, certificate, coverage, weights, provenance."""
    text = Outline(page_of(registry, ground)).text

    assert f"{len(HOSTILE)} of {len(HOSTILE) + 20} prompts" in text
    assert "80.0 %" in text
    assert "gain 0.25" in text
    assert "represents 11" in text
    assert "upper bound 0.625" in text
    assert "7.0 n_eff" in text
    assert "No scores on these picks are stored yet" in text
    assert "an encoder" in text


def test_models_are_shown_with_their_intervals_and_where_these_come_from(registry: Registry, ground: Ground):
    """The best first; what cannot be estimated has a reason and no number; alarms and a bias are not kept back."""
    common = {"prompts": 7, "missing": 1, "n_eff": 12.0, "borrowed": 0.25, "estimator": "hajek"}
    estimates = (
        TargetEstimate("<b>weak</b>", "suite", estimate=0.25, low=0.125, high=0.5, kind="model", **common),
        TargetEstimate("strong", "suite", estimate=0.75, low=0.625, high=0.875, kind="audit", **common),
        TargetEstimate(
            "unknown", "suite", estimate=None, low=None, high=None, kind="model", reason="no score", **common
        ),
        TargetEstimate(
            "strong", "category:c", estimate=None, low=None, high=None, kind="model", reason="too few", needed_k=900,
            **common,
        ),
    )  # fmt: skip
    known = Estimates(
        CORESET, 0.9, ("<b>weak</b>", "strong"), estimates, notes=("mind <i>this</i>",),
        alarms=(Alarm("<i>strange</i>", agreement=0.125, usual=0.75, least=0.5, others=9),),
        bias=BiasTest(difference=0.1, low=0.05, high=0.15, p_value=0.001, models=9, core=80, audit=20, level=0.95),
    )  # fmt: skip
    text = Outline(render(material_of(registry, ground, known, mapped=False), None)).text

    assert text.index("strong") < text.index("<b>weak</b>")
    assert "75.062.5 – 87.5audit" in text
    assert "90 % intervals" in text
    assert "too few; a coreset of 900 would do" in text
    assert text.count("no score") == 2  # in the list of models, and among the targets of this one
    assert "mind <i>this</i>" in text
    assert "<i>strange</i>0.12" in text
    assert "20 of the audit, over 9 models: +10.0 points (95 % interval +5.0 to +15.0, p = 0.001)" in text
    assert "The chosen picks mislead" in text


def test_a_crowd_of_models_does_not_fill_the_page(registry: Registry, ground: Ground):
    """All of them with their suite; as many with every target as can be opened quickly."""
    common = {"prompts": 7, "missing": 0, "n_eff": 12.0, "borrowed": 0.0, "kind": "model", "estimator": "hajek"}
    targets = ["suite", *(f"benchmark:{number}" for number in range(999))]
    crowd = tuple(
        TargetEstimate(f"model {number}", target, estimate=0.5, low=0.25, high=0.75, **common)
        for number in range(12)
        for target in targets
    )
    known = Estimates(CORESET, 0.95, tuple(f"model {number}" for number in range(12)), crowd)
    text = Outline(render(material_of(registry, ground, known, mapped=False), None)).text

    assert text.count("benchmark:998") == 10
    assert text.count("model 9") == 1
    assert "Categories and benchmarks of the other 2 models" in text


def test_without_the_plotting_library_the_page_says_what_would_bring_the_map(registry: Registry, ground: Ground):
    """And shows all else."""
    page = render(material_of(registry, ground, mapped=False), None)

    assert "the plotting library is not installed" in page
    assert 'id="map"' not in page
    assert "What fewer picks would cover" in page


def test_a_bound_that_says_nothing_stays_inside_the_picture():
    """More than everything cannot be covered."""
    picture = curve_picture(np.array([0.5, 0.9]), 1.3)

    assert picture.bound == picture.up[-1][0]


def test_benchmarks_that_ask_the_same_are_told(registry: Registry):
    """Six of ten prompts of one are nearly those of another; the third has nothing to do with them."""
    random = np.random.default_rng(0)
    vectors = random.normal(size=(30, 32)).astype(np.float32)
    vectors[10:16] = vectors[:6] + 0.01 * random.normal(size=(6, 32))
    rows = [prompt(name, number) for name in ("first", "second", "third") for number in range(10)]
    material = material_of(registry, plant(registry, rows, vectors, [0, 10, 20]), mapped=False)

    (pair,) = material.findings.alike
    assert (pair.one, pair.other, pair.of_one, pair.of_other) == ("first", "second", 0.6, 0.6)
    assert pair.similarity > 0.99
    assert material.findings.repeated == {"first": (0.0, 0.6), "second": (0.0, 0.6), "third": (0.0, 0.0)}
    assert "60.0 %" in Outline(render(material, None)).text


def test_benchmarks_in_one_place_are_told_though_many_share_a_rare_duplicate(registry: Registry):
    """Pairs that are not worth a line take no other's place."""
    random = np.random.default_rng(0)
    vectors = random.normal(size=(10 * 110, 32)).astype(np.float32)
    vectors[:220] += 2  # the first two benchmarks
    vectors[220::110] = vectors[220]  # one prompt in 110 of the eight others
    rows = [prompt(f"b{number // 110}", number) for number in range(len(vectors))]
    found = material_of(registry, plant(registry, rows, vectors, [0, 500]), mapped=False).findings

    assert [(pair.one, pair.other) for pair in found.alike] == [("b0", "b1")]
    assert found.more_alike == 0


def test_warnings_are_told(registry: Registry):
    """What was cut, what the encoder cannot read, and who has no pick."""
    row = {
        "category": "c",
        "prompts": 1500,
        "picks": 0,
        "mass": 0.5,
        "coverage": 0.1,
        "truncated": 0,
        "unknown_language": 0,
    }
    coverage = [
        row | {"benchmark": "one", "picks": 1, "truncated": 1200},
        row | {"benchmark": "two", "unknown_language": 7, "truncated": 1},
    ]
    rows = [prompt("one", 1), prompt("two", 1)]
    ground = plant(registry, rows, np.eye(2, dtype=np.float32), [0], coverage=coverage, certificate={})
    text = Outline(render(material_of(registry, ground, mapped=False), None)).text

    assert "1,201 prompts are longer than the encoder reads; their ends were not seen (one 1,200, two 1)." in text
    assert "7 prompts are in a language that the encoder does not know (two 7)." in text
    assert "1 benchmarks have no pick (two)" in text
    assert "it was not asked for" in text


def test_a_method_without_gains_and_certificate_is_shown_without(registry: Registry, ground: Ground):
    """As most that maximize nothing pick by pick."""
    material = material_of(registry, ground, mapped=False)
    picks = [pick | {"gain": 0.0} for pick in material.picks]
    manifest = replace(material.manifest, certificate={}, semantic_configuration={"method": "nested_swaps"})
    text = Outline(render(replace(material, manifest=manifest, picks=picks), None)).text

    assert "this method has none" in text
    assert "upper bound" not in text
    assert "gain 0" not in text


def test_a_long_prompt_does_not_fill_the_page(registry: Registry):
    """Its beginning, and how much more there is; the whole text is cut too, far later."""
    rows = [prompt("one", 1, prompt="x" * 1_000_000, choices=["y" * 10_000] * 100, answer="z" * 100_000)]
    ground = plant(registry, rows, np.ones((1, 2), np.float32), [0])
    material = material_of(registry, ground)

    assert "(999,600 more characters)" in render(material, ("", "0"))
    (pick,) = orjson.loads(data_block(material))["picks"]
    assert len(pick["prompt"]) < 21_000
    assert len(texts_block(material)) == 160


def test_a_long_name_does_not_fill_the_page(registry: Registry):
    """Not where it is repeated, in tables, list and filters."""
    long = "n" * 100_000
    names = {"category": long, "path": long, "record_id": long, "prompt": "short"}
    ground = plant(registry, [prompt(long, 1, **names)], np.ones((1, 2), np.float32), [0])
    material = material_of(registry, ground)

    assert len(render(material, ("", "0"))) < 100_000
    assert len(data_block(material)) < 2_000


def test_a_coreset_that_there_is_not_is_told(registry: Registry, ground: Ground, tmp_path: Path):
    """And no file is made."""
    with pytest.raises(BenchcoreError, match="no coreset 'xyz'"):
        write(registry, "xyz", tmp_path / "x.html", ground)
    assert not (tmp_path / "x.html").exists()


def test_vectors_that_are_gone_are_told(registry: Registry, ground: Ground, tmp_path: Path):
    """With the command that brings them back."""
    with pytest.raises(BenchcoreError, match=r"1 of 27 texts have no vector any more.*benchcore embed"):
        write(registry, CORESET, tmp_path / "x.html", replace(ground, text_hash=np.r_[["gone"], ground.text_hash[1:]]))


def test_a_place_that_cannot_be_written_is_told(registry: Registry, ground: Ground, tmp_path: Path):
    """With the setting that chooses another."""
    (tmp_path / "file").touch()

    with pytest.raises(BenchcoreError, match=r"x\.html: the page cannot be written .*report\.path"):
        write(registry, CORESET, tmp_path / "file" / "x.html", ground)


@given(text=st.text(max_size=50), most=st.integers(1, 60))
def test_shortening_keeps_the_beginning(text: str, most: int):
    """Short texts are kept as they are."""
    assert bounded(text, most)[:most] == text[:most]
    assert (bounded(text, most) == text) == (len(text) <= most)


@pytest.mark.parametrize("text", ["naïve 日本語 \u3000wide", "می‌خواهم", "👩‍👩‍👧", "line\nline\ttab", "שלום"])
def test_writing_systems_are_left_alone(text: str):
    """Joiners and wide spaces are part of how people write."""
    assert visible(text) == text


def test_halves_of_characters_are_spelled_out():
    """No file can hold them, and a log may bring them."""
    assert visible("a\ud800b\udfff") == "a\\ud800b\\udfff"

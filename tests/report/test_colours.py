"""Colours of the page: text that can be read, points that the colour-blind tell apart."""

import itertools
import re
from importlib import resources

import numpy as np
import pytest

# Machado, Oliveira and Fernandes 2009, severity 1: linear RGB as it is seen without one kind of cone.
SIGHT = {
    "all cones": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def part(name: str) -> str:
    return resources.files("benchcore.report").joinpath("parts", name).read_text("utf-8")


def linear(colour: str) -> np.ndarray:
    """sRGB without its gamma."""
    value = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def lab(colour: str, sight: np.ndarray) -> np.ndarray:
    """CIE 1976 coordinates, in which distances are differences seen: 2 can just be noticed."""
    white = TO_XYZ.sum(axis=1)
    relative = TO_XYZ @ np.clip(np.asarray(sight) @ linear(colour), 0, 1) / white
    x, y, z = np.where(relative > 0.008856, np.cbrt(relative), 7.787 * relative + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(one: str, other: str) -> float:
    """As WCAG 2 has it."""
    dark, bright = sorted(float(TO_XYZ[1] @ linear(colour)) for colour in (one, other))
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("palette", ["vivid", "many"])
def test_no_two_colours_of_the_map_look_the_same(palette: str, sight: str):
    """With any kind of colour-blindness."""
    colours = re.findall("#[0-9a-f]{6}", re.search(rf"const {palette} = \[(.*?)\]", part("map.js"))[1])

    seen = [lab(colour, SIGHT[sight]) for colour in colours]

    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 10


@pytest.mark.parametrize("theme", [0, 1, 2])
def test_text_can_be_read_in_light_and_in_dark(theme: int):
    """Contrast of 4.5 on every ground that text stands on, of 3 for marks and the focus."""
    themes = [dict(re.findall("--([a-z-]+): (#[0-9a-f]{6})", block)) for block in part("style.css").split("{")]
    colours = [found for found in themes if found][theme]

    for ground in ("page", "panel", "warn-panel"):
        assert all(contrast(colours[name], colours[ground]) >= 4.5 for name in ("ink", "soft", "link"))
        assert all(contrast(colours[name], colours[ground]) >= 3 for name in ("bar", "focus", "warn"))

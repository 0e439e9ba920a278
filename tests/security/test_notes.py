"""The notes on threats name tests, and these exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_claim_of_the_notes_has_its_test():
    """All tests that the notes name, and all tests of this folder are named."""
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / "security.md").read_text()))
    tests = {
        file: re.findall(r"^def (test_\w+)", file.read_text(), re.M) for file in (ROOT / "tests").rglob("test_*.py")
    }
    own = {name for file, names in tests.items() if file.parent == Path(__file__).parent for name in names}
    others = {
        "test_every_claim_of_the_notes_has_its_test",
        "test_bounds_do_not_stand_in_the_way_of_what_templates_are_for",
        "test_what_only_looks_like_a_key_is_shown_as_it_is",
    }

    assert named - {name for names in tests.values() for name in names} == set()
    assert own - named == others

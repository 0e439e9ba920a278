"""The demo corpora through the demo's own sources: every record is a prompt, and every id template is good."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pytest

from benchcore.config import load_config, load_sources
from benchcore.ingest.canonical import Canonical, Rejection
from benchcore.ingest.files import find_files
from benchcore.ingest.mapping import compile_mapping
from benchcore.ingest.readers.records import ReadUnit
from benchcore.ingest.rows import rows_of

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def outcomes() -> list[Canonical | Rejection]:
    """What the demo's sources make of every record of the demo corpora."""
    if not (CHECKOUT / "demo-data" / ".complete").is_file():
        pytest.skip("no demo corpora; `make demo-data` writes them")
    config = load_config(CHECKOUT / "conf" / "demo.yaml")
    specs = {spec.name: spec for spec in load_sources(config)}
    mappings = {name: compile_mapping(spec) for name, spec in specs.items()}
    found = find_files(config, list(specs.values()))
    units = [(file.source, ReadUnit.of(specs[file.source], file.uri, file.path, 10**8)) for file in found]
    return [row.outcome for source, unit in units for row in rows_of(unit, mappings[source])]


@pytest.fixture(scope="module")
def prompts(outcomes: list[Canonical | Rejection]) -> list[Canonical]:
    return [outcome for outcome in outcomes if isinstance(outcome, Canonical)]


def test_no_record_is_rejected(outcomes: list[Canonical | Rejection]):
    """Whatever lies in the wheels and comes from the generators is a prompt."""
    assert [outcome.reason for outcome in outcomes if isinstance(outcome, Rejection)] == []


def test_every_record_is_mapped(prompts: list[Canonical]):
    """Counts as the packages that the corpora come from give them."""
    counts = Counter(prompt.benchmark for prompt in prompts)
    functions = {name: count for name, count in counts.items() if name.startswith("bfcl_")}
    procedural = {name: count for name, count in counts.items() if name.startswith("rg_")}

    assert counts["human_eval"] == 164
    assert sum(functions.values()) == 4_696
    assert functions["bfcl_simple_python"] == 400
    assert {50} == set(procedural.values())
    assert counts.keys() == {"human_eval"} | functions.keys() | procedural.keys()


def test_the_demo_is_as_wide_as_it_claims(prompts: list[Canonical]):
    """80 benchmarks, fewer than its 100 picks, so that each has one; in many categories."""
    assert len({prompt.benchmark for prompt in prompts}) == 80
    assert len({prompt.category for prompt in prompts}) == 13
    assert {"uncategorized"}.isdisjoint(prompt.category for prompt in prompts)


def test_a_declared_id_names_one_content(prompts: list[Canonical]):
    """No id template of the demo gives one id to prompts that differ."""
    contents = defaultdict(set)
    for prompt in prompts:
        if prompt.identity is not None:
            contents[prompt.benchmark, prompt.identity].add(prompt.content_hash)

    assert {key: hashes for key, hashes in contents.items() if len(hashes) > 1} == {}
    assert len(contents) > 0.95 * len(prompts)


def test_messages_of_all_turns_are_in_the_prompt(prompts: list[Canonical]):
    """A dialogue's prompt is what its messages say, in their order, without the lists and roles around them."""
    dialogue = next(prompt for prompt in prompts if prompt.identity == "multi_turn_miss_func_0")
    lines = dialogue.prompt.splitlines()

    assert len(lines) == 4
    assert lines[0].startswith("Move 'final_report.pdf'")
    assert not any(mark in dialogue.prompt for mark in ("[{", "role"))


def test_prompts_that_offer_other_functions_are_no_duplicates(prompts: list[Canonical]):
    """The functions to choose from tell most of the equal questions of one benchmark apart."""
    asked = [prompt for prompt in prompts if prompt.benchmark == "bfcl_live_multiple"]

    assert all(prompt.choices for prompt in asked)
    assert len({prompt.prompt for prompt in asked}) < len({prompt.content_hash for prompt in asked})

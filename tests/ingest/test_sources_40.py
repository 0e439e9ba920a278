"""The 40 real benchmarks, each through its own declaration: nothing lost, nothing mixed up."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

from benchcore.config import SourceSpec, load_config, load_sources
from benchcore.ingest.canonical import Canonical, Rejection
from benchcore.ingest.mapping import compile_mapping
from benchcore.ingest.readers import ReadUnit
from benchcore.ingest.rows import rows_of

CONFIGURATION = Path(__file__).resolve().parents[2] / "conf" / "registry.yaml"
SPECS = {spec.name: spec for spec in load_sources(load_config(CONFIGURATION))}


def files_of(spec: SourceSpec, data: Path) -> list[Path]:
    patterns = [spec.path] if isinstance(spec.path, str) else spec.path
    return sorted(file for pattern in patterns for file in data.glob(pattern))


@cache
def outcomes(name: str, data: Path) -> list[Canonical | Rejection]:
    spec = SPECS[name]
    mapping = compile_mapping(spec)
    units = [ReadUnit.of(spec, str(file), file.relative_to(data).as_posix(), 2**28) for file in files_of(spec, data)]
    return [row.outcome for unit in units for row in rows_of(unit, mapping)]


@cache
def index(data: Path) -> dict[str, dict[str, str]]:
    with (data / "index.csv").open(encoding="utf-8", newline="") as file:
        return {row["name"]: row for row in csv.DictReader(file)}


def test_every_benchmark_has_its_declaration_and_no_file_is_left_out(shared_data: Path):
    """The declarations read all files of the 40 folders, each once."""
    data = shared_data / "prompts"
    read = Counter(file for spec in SPECS.values() for file in files_of(spec, data))

    assert set(index(data)) == set(SPECS)
    assert dict.fromkeys(data.glob("*/*"), 1) == read


@pytest.mark.parametrize("name", sorted(SPECS))
def test_counts_and_sources_agree_with_the_index(name: str, shared_data: Path):
    """As many prompts as the index says, none rejected; category, licence and revision are the index's."""
    data = shared_data / "prompts"
    row, spec, found = index(data)[name], SPECS[name], outcomes(name, data)

    assert [outcome for outcome in found if isinstance(outcome, Rejection)] == []
    assert int(row["n"]) == len(found)
    assert {(name, row["category"])} == {(prompt.benchmark, prompt.category) for prompt in found}
    assert (row["licence"], row["commit"]) == (spec.licence, spec.revision)


@pytest.mark.parametrize("name", sorted(SPECS))
def test_an_id_names_one_content(name: str, shared_data: Path):
    """No declared id stands for two different contents."""
    contents = defaultdict(set)
    for prompt in outcomes(name, shared_data / "prompts"):
        contents[prompt.identity].add(prompt.content_hash)

    assert {id: hashes for id, hashes in contents.items() if id is not None and len(hashes) > 1} == {}


@pytest.mark.parametrize("name", [name for name, spec in SPECS.items() if spec.map.choices is not None])
def test_the_answer_is_one_of_the_choices(name: str, shared_data: Path):
    """Where a prompt offers choices, the answer is among them; AGIEval has several right ones, and once none."""
    wrong = 0
    for prompt in outcomes(name, shared_data / "prompts"):
        if isinstance(prompt, Canonical) and prompt.choices:
            answers = {prompt.answer, *(prompt.answer or "").split("\n")}
            wrong += not answers & set(prompt.choices)

    assert (1 if name == "agieval" else 0) == wrong


def test_benchmarks_that_reappear_inside_others_are_found_by_their_content(shared_data: Path):
    """Rows that stand in two benchmarks have the same content hash in both."""
    holders = defaultdict(set)
    for name in SPECS:
        for prompt in outcomes(name, shared_data / "prompts"):
            holders[prompt.content_hash].add(name)
    shared = Counter(tuple(sorted(names)) for names in holders.values() if len(names) > 1)

    assert shared == {
        ("agieval", "math"): 1000,
        ("agieval", "aqua"): 254,
        ("gsm8k", "mgsm"): 250,
        ("humaneval", "multipl_e_humaneval"): 164,
    }

"""Ten nights in a row over a registry that changes each night; two of them overlap and three are killed.

`make test-faults FAULT=nights`; SEED changes what is edited and when a run is killed.
"""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchcore.registry.root import Registry
from benchcore.registry.tables import read
from tests.end_to_end import books, commands
from tests.end_to_end.corpora import write_registry

pytestmark = pytest.mark.faults

SEED = int(os.environ.get("SEED", "0"))
NIGHTS, OVERLAPPING, KILLED, RENAMED = 10, {4, 8}, {3, 6, 9}, {5: ("stories", "tales"), 7: ("puzzles", "riddles")}
MOMENTS = ("_staging/ingest/*", "_staging/embeddings/*/*.parquet", "_checkpoints/select/*")


def _change(folder: Path, night: int, draw: random.Random) -> None:
    """What the owners of the benchmarks have done since yesterday: prompts added, edited and removed, one renamed."""
    questions = folder / "data" / "arithmetic.jsonl"
    lines = questions.read_text(encoding="utf-8").splitlines()
    lines += [json.dumps({"q": f"What is {night} plus {number}?", "a": number}) for number in range(draw.randint(1, 9))]
    questions.write_text("\n".join(lines) + "\n", encoding="utf-8")

    letters = folder / "data" / "letters_en.tsv"
    lines = letters.read_text(encoding="utf-8").splitlines()
    lines[draw.randrange(len(lines))] = f"Dear editor, this is the letter of night {night}.\tyes"
    lines.pop(draw.randrange(len(lines)))
    letters.write_text("\n".join(lines) + "\n", encoding="utf-8")

    if night in RENAMED:
        source, name = RENAMED[night]
        file = folder / "sources" / f"{source}.yaml"
        file.write_text(yaml.safe_dump({**yaml.safe_load(file.read_text()), "benchmark": name}))


def _disturb(folder: Path, conf: Path, draw: random.Random) -> None:
    """A run that is killed at some moment, if it lives until then."""
    before = set(_all(folder))
    command = commands.Command(folder, "run", str(conf))
    moment = draw.choice(MOMENTS)
    command.wait_until(lambda: bool(set((folder / "registry").glob(moment)) - before))
    if not command.ended_within(draw.random() * 0.3):
        command.kill()


def _all(folder: Path) -> list[Path]:
    return [file for moment in MOMENTS for file in (folder / "registry").glob(moment)]


def _live(folder: Path) -> list[dict[str, Any]]:
    """Prompts that are there today, without what only history knows."""
    rows = read(Registry.at(folder / "registry"), "prompts").to_pylist()
    said = ("prompt_id", "benchmark", "task", "prompt", "answer", "choices", "content_hash")
    found = [{name: row[name] for name in said} for row in rows if row["retired_at"] is None]
    return sorted(found, key=lambda row: str(row["prompt_id"]))


def _picks(folder: Path, ended: commands.Ended) -> list[str]:
    coreset_id = json.loads(ended.out)["coreset_id"]
    rows = read(Registry.at(folder / "registry"), "coresets").to_pylist()
    chosen = sorted((row for row in rows if row["coreset_id"] == coreset_id), key=lambda row: int(row["rank"]))
    return [str(row["prompt_id"]) for row in chosen]


def test_ten_nights(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    """The books balance each morning, and the last one finds what a new registry of the same files would."""
    record_property("fault", "nights")
    conf, draw = write_registry(tmp_path), random.Random(f"nights {SEED}")
    for night in range(1, NIGHTS + 1):
        if night > 1:
            _change(tmp_path, night, draw)
        if night in KILLED:
            _disturb(tmp_path, conf, draw)
        runs = [commands.Command(tmp_path, "run", str(conf), "--json") for _ in range(1 + (night in OVERLAPPING))]
        ended = [run.result() for run in runs]

        assert [run.status for run in ended] == [0] * len(runs), [run.err for run in ended]
        books.check_accounting(tmp_path / "registry")
        checked = commands.run(tmp_path, "registry", "check", str(conf))
        assert checked.status == 0, f"night {night}: {checked.out}"

    anew = tmp_path / "anew"
    for part in ("data", "sources"):
        shutil.copytree(tmp_path / part, anew / part)
    shutil.copy(conf, anew)
    again = commands.run(anew, "run", str(anew / conf.name), "--json")
    assert again.status == 0, again.err
    assert _live(tmp_path) == _live(anew)
    assert _picks(tmp_path, ended[-1]) == _picks(anew, again)

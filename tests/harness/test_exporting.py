"""What an export says and leaves: what is mapped, what is left out, and a folder that is whole."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchcore.errors import BenchcoreError, UsageError
from benchcore.harness.documents import Document
from benchcore.harness.entry import Harness
from benchcore.harness.exporting import ExportOptions, ExportOutcome, export_coreset
from benchcore.harness.folder import MARKER
from benchcore.harness.notes import Notes
from benchcore.harness.picks import Exported, Pick
from benchcore.registry.identity import digest
from benchcore.registry.manifests import resolve_manifest
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import pin, read
from tests.registry.stored import edit, prompt, store, store_coreset

ROWS = [
    prompt("tides", number, prompt=f"Which of the harbours of Ombra is number {number} on the pilot's list?")
    for number in range(4)
]


def write_ids(coreset_id: str, picks: Sequence[Pick], folder: Path) -> Exported:
    """An invented harness that runs documents by their ids, and cannot run the fourth pick."""
    able = [pick for pick in picks if pick.rank != 3]
    names = [document.document_id for pick in able for document in pick.documents]
    (folder / "sub").mkdir()
    (folder / "sub" / "ids.txt").write_text("\n".join(names))
    left = tuple((pick, "too hard") for pick in picks if pick.rank == 3)
    return Exported((Path("sub/ids.txt"),), "invented --ids sub/ids.txt", ("It is invented.",), left)


def read_dump(path: Path, notes: Notes) -> Iterator[Document]:
    for line in path.read_text().splitlines():
        name, text = json.loads(line)
        yield Document("invented", "harbours", name, digest(name, text), {"q": text}, version="2")


INVENTED = Harness(title="an invented harness", documents=read_dump, export=write_ids, needs_documents=True)


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    registry = Registry.at(tmp_path / "registry")
    store(registry, "prompts", ROWS)
    store_coreset(registry, "abc", ROWS)
    return registry


def dump(tmp_path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    file = tmp_path / "dump.jsonl"
    file.write_text("".join(json.dumps([f"d{row['source_row']}", row["prompt"]]) + "\n" for row in rows))
    return file


def export(registry: Registry, out: Path, *documents: Path, harness: Harness = INVENTED) -> ExportOutcome:
    manifest = resolve_manifest(registry, "latest")
    return export_coreset(registry, manifest, "invented", harness, out, options=ExportOptions(documents=documents))


def test_documents_are_bound_once_and_then_known(registry: Registry, tmp_path: Path):
    """The second export needs no dump, and changes no table."""
    first = export(registry, tmp_path / "one", dump(tmp_path, ROWS))
    before = pin(registry, tuple(SCHEMAS))
    second = export(registry, tmp_path / "two")

    assert (first.bindings, second.bindings) == (4, 0)
    assert (tmp_path / "two" / "sub" / "ids.txt").read_text() == "d0\nd1\nd2"
    assert pin(registry, tuple(SCHEMAS)) == before


def test_what_is_left_out_is_counted_and_listed(registry: Registry, tmp_path: Path):
    """Picks without a document, and those that the harness cannot run; the README says both."""
    outcome = export(registry, tmp_path / "out", dump(tmp_path, [ROWS[0], ROWS[3]]))

    listed = [json.loads(line) for line in (tmp_path / "out" / "left_out.jsonl").read_text().splitlines()]
    readme = (tmp_path / "out" / "README.md").read_text()
    assert (outcome.picks, outcome.exported) == (4, 1)
    assert outcome.left_out == {"no document of invented is bound to it": 2, "too hard": 1}
    assert {(row["prompt_id"], row["benchmark"]) for row in listed} == {(row["prompt_id"], "tides") for row in ROWS[1:]}
    assert "2: no document of invented is bound to it" in readme
    assert f"benchcore import LOGS --harness invented --root {tmp_path / 'registry'}\n" in readme
    assert f"benchcore estimate abc --root {tmp_path / 'registry'}\n" in readme
    assert "invented --ids sub/ids.txt" in readme


def test_nothing_to_run_is_an_error_and_makes_no_folder(registry: Registry, tmp_path: Path):
    """It says what to pass."""
    with pytest.raises(BenchcoreError, match=r"none of the 4 picks is bound.*--documents"):
        export(registry, tmp_path / "out")

    assert not (tmp_path / "out").exists()
    assert [file.name for file in tmp_path.iterdir()] == ["registry"]


def test_an_edited_prompt_is_exported_as_the_coreset_pins_it(registry: Registry, tmp_path: Path):
    """The version of the table that the coreset was picked from has it; a retired one is exported too."""
    edited = prompt("tides", 0, prompt="Which of the lighthouses is oldest?", revision=2)
    retired = ROWS[1] | {"retired_at": datetime(2026, 1, 1, tzinfo=UTC)}
    edit(registry, "prompts", [edited, retired])
    seen: list[Pick] = []

    def keep(coreset_id: str, picks: Sequence[Pick], folder: Path) -> Exported:
        seen.extend(picks)
        return Exported((), "true")

    outcome = export(registry, tmp_path / "out", harness=Harness("keeps", export=keep))

    assert (outcome.exported, outcome.edited, outcome.retired) == (4, 1, 1)
    assert [pick.prompt for pick in seen] == [row["prompt"] for row in ROWS]
    assert "1 prompts were edited" in (tmp_path / "out" / "README.md").read_text()


def test_a_pinned_version_that_is_lost_is_left_out(registry: Registry, tmp_path: Path):
    """Vacuumed away, or never recorded: the pick is listed, and the others are exported."""
    store_coreset(registry, "xyz", ROWS, table_versions={"prompts": 77}, run_id="20260102T000000-000000")
    edited = prompt("tides", 0, prompt="Which of the lighthouses is oldest?", revision=2)
    edit(registry, "prompts", [edited])

    outcome = export(registry, tmp_path / "out", dump(tmp_path, ROWS))

    assert (outcome.exported, outcome.edited) == (2, 0)
    assert [reason for reason in outcome.left_out if "cannot be read any more" in reason]


def test_a_copy_of_a_pick_brings_its_documents(registry: Registry, tmp_path: Path):
    """A document is bound to the smallest id; the coreset may hold another of equal content."""
    copies = [prompt("piers", number, prompt="Which of the piers of Ombra is the longest one?") for number in range(3)]
    store(registry, "prompts", copies)
    other = max(copies, key=lambda row: row["prompt_id"])
    store_coreset(registry, "def", [other], run_id="20260102T000000-000000")

    export(registry, tmp_path / "out", dump(tmp_path, [copies[0]]))

    assert (tmp_path / "out" / "sub" / "ids.txt").read_text() == "d0"


def test_an_earlier_export_is_replaced_and_logs_in_it_stay(registry: Registry, tmp_path: Path):
    """Files that the harness wrote beside them are not ours to remove."""
    out = tmp_path / "out"
    export(registry, out, dump(tmp_path, ROWS[:1]))
    (out / "results").mkdir()
    (out / "results" / "log.json").write_text("precious")

    export(registry, out, dump(tmp_path, ROWS))

    assert (out / "results" / "log.json").read_text() == "precious"
    assert (out / "sub" / "ids.txt").read_text() == "d0\nd1\nd2"
    assert json.loads((out / MARKER).read_text())["complete"] is True


def test_an_export_of_another_coreset_is_not_replaced(registry: Registry, tmp_path: Path):
    """Nor is a file, nor a link."""
    export(registry, tmp_path / "out", dump(tmp_path, ROWS))
    store_coreset(registry, "def", ROWS[:2], run_id="20260102T000000-000000")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")

    for name, told in (("out", "holds the export of coreset abc"), ("file", "no folder"), ("link", "no folder")):
        with pytest.raises(UsageError, match=told):
            export(registry, tmp_path / name)


def test_a_marker_cannot_make_an_export_remove_other_files(registry: Registry, tmp_path: Path):
    """Somebody wrote paths into it that lead out of the folder."""
    out, mine = tmp_path / "out", tmp_path / "mine.txt"
    export(registry, out, dump(tmp_path, ROWS))
    mine.write_text("mine")
    marker = json.loads((out / MARKER).read_text())
    marker["files"] += ["../mine.txt", str(mine)]
    (out / MARKER).write_text(json.dumps(marker))

    export(registry, out)

    assert mine.read_text() == "mine"


def test_bindings_of_a_dump_carry_the_harness_version(registry: Registry, tmp_path: Path):
    """As the dump names it."""
    export(registry, tmp_path / "out", dump(tmp_path, ROWS[:1]))

    [row] = read(registry, "bindings").to_pylist()
    assert (row["document_id"], row["harness_version"]) == ("d0", "2")


def test_only_what_an_older_coreset_lacks_is_exported(registry: Registry, tmp_path: Path):
    """After a top-up; the README says so, and a coreset with nothing new is refused."""
    store_coreset(registry, "old", ROWS[:2])
    older, newer = (resolve_manifest(registry, name) for name in ("old", "abc"))
    options = ExportOptions(documents=[dump(tmp_path, ROWS)], older=older)
    outcome = export_coreset(registry, newer, "invented", INVENTED, tmp_path / "out", options=options)

    assert (outcome.picks, outcome.exported) == (2, 1)
    assert len((tmp_path / "out" / "sub" / "ids.txt").read_text().split()) == 1
    assert "1 of the 2 prompts that coreset old lacks" in (tmp_path / "out" / "README.md").read_text()
    with pytest.raises(BenchcoreError, match="has no pick that abc lacks"):
        beyond = ExportOptions(older=newer)
        export_coreset(registry, older, "invented", INVENTED, tmp_path / "none", options=beyond)


def test_documents_that_are_no_prompts_are_an_error(registry: Registry, tmp_path: Path):
    """Else a task of the prompts' plain texts would run in the place of the harness's own."""
    (tmp_path / "dump.jsonl").write_text(json.dumps(["d0", "What is the lighthouse of Zul made of, by and large?"]))

    with pytest.raises(BenchcoreError, match=r"none of the 1 documents of invented .*'d0'"):
        export(registry, tmp_path / "out", tmp_path / "dump.jsonl")

    assert not (tmp_path / "out").exists()

"""A hostile harness log, and hostile names in any: read within bounds, never spoken to a shell or made a path."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from benchcore.cli.embeddings_file import read_embeddings
from benchcore.errors import BenchcoreError, UsageError
from benchcore.harness import HARNESSES
from benchcore.harness.exporting import ExportOptions, export_coreset
from benchcore.harness.helm.subset import export as helm_export
from benchcore.harness.importing import import_logs
from benchcore.harness.inspect_ai.exporting import export as inspect_export
from benchcore.harness.log_reading import ImportOptions
from benchcore.harness.logs import require_readable
from benchcore.harness.notes import Notes
from benchcore.harness.picks import Bound
from benchcore.ingest.readers import inspect_logs
from benchcore.ingest.readers.inspect_logs import open_log
from benchcore.registry.manifests import resolve_manifest
from benchcore.registry.root import Registry
from benchcore.registry.schemas import SCHEMAS
from benchcore.registry.tables import read, replace_where
from tests.harness.inspect_ai.crafted import encoded, header, members_of, sample, write_eval, write_json
from tests.harness.inspect_ai.picked import pick_of
from tests.registry.stored import prompt, store, store_coreset

ESCAPES = ("../../escape", "/tmp/escape", "..\\..\\escape", "a\x00b", "con\n")
NAMES = ("x' or '1'='1", "\\'; drop table leaderboards; --", '"q"', "%", "a\nb", "NULL", "' || 'plain", "plain")


def test_names_inside_an_archive_are_labels_and_no_paths(tmp_path: Path):
    """Nothing is unpacked: samples are read from the archive, whatever its members are called."""
    log = write_eval(
        tmp_path / "a.eval", [*members_of([sample("a")]), *((f"samples/{name}", b"x") for name in ESCAPES)]
    )
    before = sorted(tmp_path.parent.rglob("*"))

    with log.open("rb") as stream:
        labels = [one.label for one in open_log(stream, "a.eval").samples or ()]

    assert labels == ["a epoch 1"]
    assert sorted(tmp_path.parent.rglob("*")) == before


def test_many_small_members_do_not_add_up_to_a_bomb(tmp_path: Path):
    """The long texts of one sample may have as many bytes together as one member alone."""
    folder = "samples/a_epoch_1"
    texts = [(f"{folder}/attachments/{number}.json", encoded(["x" * 30_000])) for number in range(5)]
    members = [(f"{folder}/sample.json", encoded(sample("a"))), *texts, ("header.json", encoded(header()))]
    log = write_eval(tmp_path / "a.eval", members)

    with log.open("rb") as stream:
        (found,) = open_log(stream, "a.eval", limit=100_000).samples or ()

    assert found.error == "its attachments are larger than 100000 bytes"


def test_one_long_text_is_not_put_into_a_million_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A message that names an attachment is short, and so could a log of a few megabytes ask for a terabyte."""
    monkeypatch.setattr(inspect_logs, "DOCUMENT_BYTES", 100_000)
    messages = [{"role": "user", "content": "attachment://1"}] * 50
    log = write_json(tmp_path / "a.json", [sample("a", input=messages, attachments={"1": "x" * 10_000}), sample("b")])

    with log.open("rb") as stream:
        first, second = open_log(stream, "a.json").samples or ()

    assert "more than 100,000 characters where they stand" in str(first.error)
    assert second.error is None


def test_names_from_logs_become_no_options_of_a_command(tmp_path: Path):
    """helm-run would read a scenario that begins with a dash as an option, one of which loads code by its name."""
    names = ("--plugins=evil:x", "fine:a=1; touch escape `id` $(id)", "line\nbreak", "\x1b]0;title\x07")
    picks = [
        replace(pick_of(rank), documents=(Bound(name, "id1", f"hash{rank}", None),)) for rank, name in enumerate(names)
    ]

    made = helm_export("abc", picks, tmp_path)

    entry = f"{names[1]},model=MODEL"
    for line in made.command.splitlines():
        words = shlex.split(line)
        assert words[0] != "helm-run" or words[4] == entry
        assert "--plugins=evil:x,model=MODEL" not in words
    assert made.command.isascii()
    assert [pick.rank for pick, _ in made.left_out] == [0, 2, 3]


def test_a_task_that_looks_like_an_option_is_given_on_no_command_line(tmp_path: Path):
    """It is left to the runner, which takes names from a file."""
    pick = replace(pick_of(0), documents=(Bound("--log-dir=/etc", "a", "hash", None),))

    made = inspect_export("abc", [pick], tmp_path)

    assert made.command == "python run_subset.py --model YOUR_MODEL"
    assert not [remark for remark in made.remarks if "--log-dir=/etc" in remark]


@pytest.mark.parametrize("identity", ["../../../x", "a; touch x", "a b", ""])
def test_the_id_of_a_coreset_is_no_path_and_no_command(tmp_path: Path, identity: str):
    """It goes into names of files and into the README's commands; a registry may come from somebody else."""
    registry, rows = Registry.at(tmp_path / "registry"), [prompt("tides", 0, answer="x")]
    store(registry, "prompts", rows)
    store_coreset(registry, identity, rows)
    manifest = resolve_manifest(registry, "latest")

    with pytest.raises(BenchcoreError, match="is no id of a coreset"):
        export_coreset(registry, manifest, "jsonl", HARNESSES["jsonl"], tmp_path / "out", options=ExportOptions())

    assert not (tmp_path / "out").exists()


def test_names_are_data_in_the_predicates_of_tables(tmp_path: Path):
    """The name of a leaderboard comes from a file; it replaces its own rows and no others."""
    registry = Registry.at(tmp_path / "registry")
    for model in ("first", "second"):
        for name in NAMES:
            row = {"leaderboard": name, "model": model, "task": "t", "score": 1.0, "source": "s"}
            rows = pa.Table.from_pylist([row], SCHEMAS["leaderboards"])
            replace_where(registry, "leaderboards", "leaderboard", name, rows)

    stored = read(registry, "leaderboards").to_pylist()

    assert sorted(row["leaderboard"] for row in stored) == sorted(NAMES)
    assert {row["model"] for row in stored} == {"second"}


def test_arrays_of_python_objects_are_not_unpickled(tmp_path: Path):
    """A pickle runs whatever its author wanted."""

    class Harm:
        def __reduce__(self) -> tuple[object, ...]:
            return Path.touch, (tmp_path / "escape",)

    np.save(tmp_path / "a.npy", np.array([[Harm()]], object), allow_pickle=True)
    np.savez(tmp_path / "a.npz", data=np.array([Harm()], object), format=np.array("csr"), shape=[1, 1])

    for name in ("a.npy", "a.npz"):
        with pytest.raises(UsageError):
            read_embeddings(tmp_path / name)

    assert not (tmp_path / "escape").exists()


def test_an_address_in_the_place_of_logs_is_refused_and_not_shown():
    """It may hold a password, and no path that is made of it is masked."""
    with pytest.raises(UsageError, match="addresses of stores are not read here") as raised:
        require_readable(Path("s3://user:hunter2@bucket/logs"))

    assert "hunter2" not in str(raised.value)


def test_a_link_in_a_folder_of_logs_tells_nothing_of_what_it_leads_to(tmp_path: Path):
    """What is no log is noted by its place alone."""
    registry = Registry.at(tmp_path / "registry")
    store(registry, "prompts", [prompt("tides", 0, answer="x")])
    (tmp_path / "secret").write_text("root:the machine's own secret\n")
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "samples_tides_2026-01-01T00-00-00.jsonl").symlink_to("../secret")
    notes = Notes()

    with pytest.raises(BenchcoreError) as raised:
        import_logs(registry, "lm-eval", HARNESSES["lm-eval"], [folder], ImportOptions(model="m"))
    list(HARNESSES["lm-eval"].results(folder, notes))

    assert "secret\n" not in str(raised.value) + str(notes.examples)
    assert "the machine's own" not in str(raised.value) + str(notes.examples)

"""The order of steps, the lock around them, and the record of a run. The steps themselves are tested in their rooms."""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchcore.config import Config
from benchcore.distributed.job import coreset_id_of
from benchcore.embedding.encoder import fingerprint
from benchcore.embedding.text import Renderer
from benchcore.errors import BenchcoreError, UsageError
from benchcore.pipeline import steps
from benchcore.pipeline.selectable import selectable
from benchcore.pipeline.steps import Job, report_path, run
from benchcore.registry.root import Registry
from benchcore.registry.tables import current_version, pin, read
from tests.registry.stored import embedding, prompt, store, store_coreset


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config.model_validate({"registry": {"root": str(tmp_path / "registry")}})


@pytest.fixture
def step(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Put a function in a step's place."""

    def replace(name: str, function: Callable[[Job], object]) -> None:
        monkeypatch.setitem(steps._STEP_FUNCTIONS, name, function)

    return replace


def writes(benchmark: str, number: int) -> Callable[[Job], object]:
    """A step that adds one prompt, unless it is there."""

    def do(job: Job) -> tuple[bool, dict[str, int], tuple[str, ...]]:
        before = current_version(job.registry, "prompts")
        store(job.registry, "prompts", [prompt(benchmark, number)])
        return current_version(job.registry, "prompts") != before, {"rows": 1}, ("mind the gap",)

    return do


def fails(job: Job) -> object:
    raise BenchcoreError("no luck")


def runs(config: Config) -> list[dict]:
    return read(Registry.at(config.registry.root), "runs").to_pylist()


def test_a_scheduler_names_a_run(config: Config, step):
    """Its name ends the id in `runs`, so that its log and the registry's can be laid side by side."""
    step("embed", writes("one", 1))

    done = run(config, steps=("embed",), run_name="nightly-20260102")

    (row,) = runs(config)
    assert row["run_id"] == done.run_id
    assert done.run_id.endswith("-nightly-20260102")


def test_a_name_that_no_id_can_hold_stops_a_run_before_it_starts(config: Config):
    """Nothing is locked or made for it."""
    with pytest.raises(UsageError, match="--run-id"):
        run(config, steps=("embed",), run_name="Nightly run")

    assert not Path(config.registry.root).exists()


def test_a_run_that_changed_something_is_recorded_once(config: Config, step):
    """With its counts; the second run changes nothing and leaves no row and no version."""
    step("embed", writes("one", 1))

    first = run(config, steps=("embed",), command="embed x.yaml")
    second = run(config, steps=("embed",), command="embed x.yaml")

    (row,) = runs(config)
    assert (first.changed, second.changed) == (True, False)
    assert (row["run_id"], row["command"], row["outcome"]) == (first.run_id, "embed x.yaml", "done")
    assert json.loads(row["counts"]) == {"embed": {"rows": 1}}
    assert first.steps[0].warnings == ("mind the gap",)
    assert current_version(Registry.at(config.registry.root), "runs") == 0


def test_a_run_that_failed_after_writing_is_recorded_as_failed(config: Config, step):
    """Its run id stands in other tables and must lead somewhere; one that wrote nothing is not recorded."""
    step("embed", fails)
    with pytest.raises(BenchcoreError, match="no luck"):
        run(config, steps=("embed",))
    assert runs(config) == []

    step("ingest", writes("one", 1))
    with pytest.raises(BenchcoreError, match="no luck"):
        run(config, steps=("ingest", "embed"))
    (row,) = runs(config)
    assert row["outcome"] == "failed"
    assert json.loads(row["counts"]) == {"ingest": {"rows": 1}}


def test_steps_run_in_order_under_the_lock(config: Config, step):
    """Each sees what the earlier ones found, and nobody else can write meanwhile."""
    seen = []

    def look(job: Job) -> tuple[bool, dict[str, int], tuple[str, ...]]:
        seen.append(len(job.done))
        note = json.loads((Path(job.registry.root) / "_lock.json").read_text())
        assert note["command"] == "run x.yaml"
        return False, {}, ()

    for name in steps.STEPS:
        step(name, look)
    outcome = run(config, command="run x.yaml")

    assert seen == [0, 1, 2, 3]
    assert [done.step for done in outcome.steps] == ["ingest", "embed", "select", "report"]
    assert not (Path(config.registry.root) / "_lock.json").exists()


def test_the_lock_is_free_after_a_failure(config: Config, step):
    """The next command need not wait."""
    step("embed", fails)
    for _ in range(2):
        with pytest.raises(BenchcoreError, match="no luck"):
            run(
                config.model_copy(update={"registry": config.registry.model_copy(update={"lock_timeout_s": 0})}),
                steps=("embed",),
            )


def test_ingesting_nothing_is_a_mistake(config: Config):
    """A configuration without sources names the key."""
    with pytest.raises(BenchcoreError, match=r"sources.include: no source is declared"):
        run(config, steps=("ingest",))


def test_the_page_goes_below_the_root_unless_another_place_is_configured(config: Config, tmp_path: Path, monkeypatch):
    """And to the current folder when the root is no folder."""
    monkeypatch.chdir(tmp_path)
    elsewhere = Config.model_validate({"report": {"path": str(tmp_path / "page.html")}})

    assert (
        report_path(config, Registry.at(config.registry.root), "abc") == tmp_path / "registry" / "reports" / "abc.html"
    )
    assert report_path(elsewhere, Registry.at("s3://b/r"), "abc") == tmp_path / "page.html"
    assert report_path(config, Registry.at("s3://b/r"), "abc") == tmp_path / "reports" / "abc.html"


@pytest.fixture
def embedded(config: Config, tmp_path: Path) -> Config:
    """A registry of three prompts with the user's own vectors."""
    vectors = tmp_path / "vectors.parquet"
    pq.write_table(pa.table({"prompt_id": ["a"], "vector": [[1.0, 0.0]]}), vectors)
    config = Config.model_validate(config.model_dump() | {"embed": {"encoder": {"vectors": str(vectors)}}})
    registry = Registry.at(config.registry.root)
    store(registry, "prompts", [prompt("one", number) for number in range(3)])
    rows = read(registry, "prompts")
    encoder = fingerprint(config.embed, registry)
    store(registry, "embeddings", [embedding(text, encoder) for text in Renderer(config.embed).hashes(rows)])
    return config


def test_the_report_alone_finds_the_coreset_of_the_configuration(embedded: Config):
    """It is named by configuration and input, so that no other step has to run; nothing is recorded."""
    registry = Registry.at(embedded.registry.root)
    pool = selectable(embedded, registry, pin(registry, ("prompts", "embeddings")))
    coreset_id = coreset_id_of(embedded, pool)
    store_coreset(registry, coreset_id, [prompt("one", 1)])

    first, second = (run(embedded, steps=("report",)) for _ in range(2))

    assert first.coreset_id == coreset_id
    assert first.report == Path(registry.root) / "reports" / f"{coreset_id}.html"
    assert coreset_id in first.report.read_text()
    assert [outcome.steps[0].changed for outcome in (first, second)] == [True, False]
    assert runs(embedded) == []


def test_a_report_without_its_coreset_is_told(embedded: Config):
    """With the step that comes first; another configuration's coreset is not taken for it."""
    registry = Registry.at(embedded.registry.root)
    store_coreset(registry, "another", [prompt("one", 1)])

    with pytest.raises(BenchcoreError, match=r"not selected yet.*`benchcore select CONF -k 100`"):
        run(embedded, steps=("report",))

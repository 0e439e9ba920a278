"""The bench of selection at scale: its made-up registry is what it is called, and its tables count rightly."""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from benchcore.config import load_config
from benchcore.embedding.text import Renderer
from benchcore.pipeline.selectable import selectable
from benchcore.pipeline.steps import run
from benchcore.registry.identity import text_hash
from benchcore.registry.manifests import find_manifest
from benchcore.registry.root import Registry
from benchcore.registry.tables import pin, read
from infra.measure import measure
from infra.scale import world
from infra.scale.__main__ import main
from infra.scale.alone import Asked, answer
from infra.scale.cases import all_cases, by_round, compared_rows, growth_rows
from infra.scale.registry import Wanted, blocks, make, prompts_of
from infra.scale.runs import Run, Runs

N = 2000


@pytest.fixture(scope="module")
def conf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("scale") / "made", Wanted(N))


def test_the_same_seed_gives_the_same_prompts_and_a_smaller_registry_is_the_beginning():
    """Ids, contents and vectors to the last bit; another seed gives other ones."""
    ((_, whole),), ((_, again),), ((_, part),) = (list(blocks(Wanted(n))) for n in (N, N, 700))
    other = next(blocks(Wanted(N, seed=1)))[1]
    columns = ["prompt_id", "content_hash", "benchmark", "choices"]
    table = prompts_of(whole, 0)

    assert whole.vectors.tobytes() == again.vectors.tobytes()
    assert whole.vectors[:700].tobytes() == part.vectors.tobytes()
    assert table.equals(prompts_of(again, 0))
    assert table[:700].select(columns).equals(prompts_of(part, 0).select(columns))
    assert not np.isclose(whole.vectors, other.vectors).all(axis=1).any()


def test_blocks_differ_and_their_ids_never_meet(monkeypatch: pytest.MonkeyPatch):
    """Rows are counted through all blocks."""
    monkeypatch.setattr(world, "BLOCK", 500)
    monkeypatch.setattr("infra.scale.registry.BLOCK", 500)
    tables = [prompts_of(block, start) for start, block in blocks(Wanted(1200))]
    ids = [identity for table in tables for identity in table["prompt_id"].to_pylist()]

    assert [table.num_rows for table in tables] == [500, 500, 200]
    assert len(set(ids)) == 1200


def test_one_in_twenty_repeats_another_and_sizes_are_very_unequal():
    """Half in its own benchmark, where it becomes mass, half in another."""
    block = next(blocks(Wanted(world.BLOCK)))[1]
    rows = np.arange(world.BLOCK)
    repeats, inside = block.original != rows, block.benchmark[block.original] == block.benchmark
    sizes = np.bincount(block.benchmark, minlength=world.BENCHMARKS)

    assert abs(repeats.mean() - 0.05) < 0.01
    assert abs((repeats & inside).mean() - 0.025) < 0.01
    assert not repeats[block.original].any()
    assert (block.vectors == block.vectors[block.original]).all()
    assert len(np.unique(block.vectors, axis=0)) == (~repeats).sum()
    assert sizes.min() > 0
    assert sizes.max() > 15 * np.median(sizes)


def test_the_tables_are_those_of_ingestion_and_embedding(conf: Path):
    """Every text has its row in every block, in its bucket, and repeated contents are collapsed or shared."""
    config = load_config(conf)
    registry = Registry.at(config.registry.root)
    pool = selectable(config, registry, pin(registry, ("prompts", "sources", "embeddings")))
    prompts, stored = read(registry, "prompts"), read(registry, "embeddings")
    texts = {text_hash(text) for text in Renderer(config.embed).texts(prompts)}
    marked = prompts.num_rows - prompts["duplicate_of"].null_count

    assert pool.copies.sum() == N
    assert pool.n < N
    assert len(set(pool.text_hash.tolist())) < pool.n
    assert marked == N - len(texts)
    assert Counter(stored["encoder"].to_pylist()) == {
        encoder: len(texts) for encoder in (pool.encoder, *(block.encoder for block in pool.blocks.values()))
    }
    assert set(zip(stored["encoder"].to_pylist(), stored["dimension"].to_pylist(), strict=True)) == {
        (pool.encoder, 384), (pool.blocks["surface"].encoder, 19), (pool.blocks["ngrams"].encoder, 100)
    }  # fmt: skip
    assert make(conf.parent, Wanted(N)) == conf
    with pytest.raises(FileExistsError, match="another registry"):
        make(conf.parent, Wanted(N - 1))


@pytest.mark.usefixtures("standing_workers")
def test_the_command_selects_from_it_and_the_bench_agrees_on_the_value(conf: Path):
    """One shard is the greedy of the whole pool; the bench's own judge values its picks as the manifest does."""
    coreset = run(load_config(conf, ["select.workers=1"]), steps=("select",)).coreset_id
    registry = Registry.at(load_config(conf).registry.root)
    manifest = find_manifest(registry, coreset)
    ids = read(registry, "coresets").sort_by("rank")["prompt_id"].to_pylist()

    exact = answer(Asked(str(conf), exact=True, cuts=(4,)))
    judged = answer(Asked(str(conf), cuts=(4,), coresets={"picks": ids}))

    assert exact["exact"]["value"] == manifest.value == judged["values"]["picks"]
    assert exact["cuts"][4]["shards"] == 4
    assert exact["cuts"][4]["merge_gb"] < 1
    assert judged["cuts"][4]["none"] < judged["cuts"][4]["candidates"] <= 1.01 * manifest.value


def test_tables_set_runs_beside_each_other():
    """Quotients by hand."""
    small = Run(10.0, 2**30, timings={"order": 6.0}, plan={"shards": {"number": 1}})
    large = Run(50.0, 2**31, timings={"order": 40.0}, plan={"shards": {"number": 2}, "rounds": [
        {"step": "order", "seconds": 30.0}, {"step": "order", "seconds": 5.0}, {"step": "start", "seconds": 6.0},
    ]})  # fmt: skip
    columns, rows = growth_rows([(100, small, 2.0), (200, large, 2.0)])
    last = dict(zip(columns, rows[1], strict=True))

    assert (last["products"], last["GiB"], last["time x"], last["n x"]) == ("25.0", "2.00", "5.00", "2.00")
    assert last["n^2/m x"] == "2.00"
    assert by_round(large, 2.0) == (
        ("order", "40.0", "35.0", "20.00"),
        ("before and after", "10.0", "6.00", "5.00"),
        ("all", "50.0", "41.0", "25.00"),
    )


def test_a_comparison_keeps_what_belongs_together_and_misses_what_failed():
    """Rows by shards, whatever was measured first; no value meets no target."""
    exact, judged = (
        {"exact": {"value": 0.5, "seconds": 3.0}},
        {"values": {"8 global": 0.499}, "cuts": {"8": {"none": 0.4}}},
    )
    made = {("8", "global"): Run(2.0), ("8", "tree"): Run(error="no reason"), ("32", "global"): Run(2.0)}
    _, rows, targets = compared_rows(exact, judged, made)

    assert [row[0] for row in rows] == ["none", "8", "8", "8", "32"]
    assert rows[1][2:4] == ("0.499000", "0.9980")
    assert [target.met for target in targets] == [True, False, False]
    assert compared_rows({}, {}, {})[0]


def test_a_measured_command_is_seen_with_all_that_it_starts(monkeypatch: pytest.MonkeyPatch):
    """A process whose parent has ended belongs to it, too, by its mark; one that is only not buried yet does not."""
    monkeypatch.setattr("infra.measure._PERIOD_S", 0.05)
    orphan = "x = bytearray(10**8); sum(range(20_000_000))"
    program = (
        "import subprocess, sys; "
        f"shell = subprocess.Popen(['sh', '-c', sys.executable + ' -c \"{orphan}\" &'], stdout=subprocess.PIPE); "
        "shell.stdout.read(); sys.exit(3)"  # to the orphan's end
    )
    found = measure([sys.executable, "-c", program])

    assert found.status == 3
    assert 2 <= found.processes <= 3
    assert found.peak > 10**8


def test_only_registries_of_the_bench_are_emptied(tmp_path: Path):
    """A configuration that names another root is refused before anything is removed."""
    conf = tmp_path / "select.yaml"
    conf.write_text(f"registry: {{root: {tmp_path / 'mine'}}}\n")
    (tmp_path / "mine" / "coresets").mkdir(parents=True)

    with pytest.raises(ValueError, match="no registry of the bench"):
        Runs(tmp_path / "bench", 1, 1).select(conf)
    assert (tmp_path / "mine" / "coresets").is_dir()


def test_unknown_cases_are_refused(capsys: pytest.CaptureFixture[str]):
    """With the names that there are; the one of real prompts needs a registry."""
    assert main(["real"]) == 2
    assert "million" in capsys.readouterr().err
    assert "real" in all_cases(Path("somewhere"))

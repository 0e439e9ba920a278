"""The configuration: what wins over what, where paths lie, and how mistakes are told."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from benchcore import methods
from benchcore.config import Config, load_config, load_sources
from benchcore.errors import UsageError


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    """A small configuration in a folder of its own."""
    folder = tmp_path / "conf"
    (folder / "sources").mkdir(parents=True)
    (folder / "sources" / "b.yaml").write_text(_source(benchmark="b"))
    (folder / "sources" / "a.yaml").write_text(_source(benchmark="a"))
    path = folder / "main.yaml"
    path.write_text("registry: {root: ./store}\nsources: {include: [sources/*.yaml], data: ../data}\nselect: {k: 7}\n")
    return path


def _source(**values: object) -> str:
    return yaml.safe_dump({"path": "x.jsonl", "format": "json-lines", "map": {"prompt": "{{ q }}"}, **values})


def test_set_wins_over_root_and_both_over_the_file(conf: Path):
    """Precedence: --set, then --root, then the file, then the defaults."""
    assert load_config(conf).select.k == 7
    assert load_config(conf).select.seed == 0
    assert load_config(conf).select.method == methods.DEFAULT
    assert load_config(conf, ["select.k=9"]).select.k == 9
    assert load_config(conf, root="/elsewhere").registry.root == "/elsewhere"
    assert load_config(conf, ["registry.root=/set"], root="/elsewhere").registry.root == "/set"


def test_values_of_set_are_yaml(conf: Path):
    """Lists, numbers and nothing at all can be set, and a template needs no quotes within quotes."""
    settings = ["select.filter.languages=[en, de]", "select.constraint.rounds=null", "embed.workers=2"]
    config = load_config(conf, [*settings, "embed.text={{ prompt }}: {{ answer }}"])

    assert config.embed.text == "{{ prompt }}: {{ answer }}"
    assert config.select.filter.languages == ("en", "de")
    assert config.select.constraint.rounds is None
    assert config.embed.workers == 2


@pytest.mark.parametrize(("said", "wanted"), [("exact", True), ("none", False), ("true", True), ("false", False)])
def test_a_certificate_is_wanted_or_not(conf: Path, said: str, wanted: bool):
    """In the words of older configurations, too; there is no third."""
    assert load_config(conf, [f"select.certificate={said}"]).select.certificate is wanted
    with pytest.raises(UsageError, match=r"select\.certificate"):
        load_config(conf, ["select.certificate=sampled"])


def test_paths_of_the_file_are_relative_to_it_and_those_of_the_command_line_to_the_current_folder(
    conf: Path, monkeypatch: pytest.MonkeyPatch
):
    """So the same file works from anywhere."""
    elsewhere = conf.parents[1] / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)

    assert load_config(conf).registry.root == str(conf.parent / "store")
    assert load_config(conf).sources.data == str(conf.parents[1] / "data")
    assert load_config(conf).report.path is None
    assert load_config(conf, ["report.path=page.html"]).report.path == str(elsewhere / "page.html")
    assert load_config(conf, root="mine").registry.root == str(elsewhere / "mine")
    assert load_config(conf, ["sources.data=mine"]).sources.data == str(elsewhere / "mine")
    assert load_config(conf, root="s3://bucket/r").registry.root == "s3://bucket/r"


def test_variables_of_the_environment_stand_in_paths(conf: Path, monkeypatch: pytest.MonkeyPatch):
    """A missing one is named, rather than read as nothing."""
    monkeypatch.setenv("BENCH_DATA", "/corpora")
    assert load_config(conf, ["sources.data=${BENCH_DATA}/x"]).sources.data == "/corpora/x"

    monkeypatch.delenv("BENCH_DATA")
    with pytest.raises(UsageError, match="BENCH_DATA is not set"):
        load_config(conf, ["sources.data=${BENCH_DATA}/x"])


def test_sources_come_by_name_and_may_lie_in_several_patterns(conf: Path):
    """The order of files on disk decides nothing."""
    assert [spec.name for spec in load_sources(load_config(conf))] == ["a", "b"]


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("select.kk=3", "unknown key 'select.kk'. Did you mean 'k'?"),
        ("selekt.k=3", "unknown key 'selekt'. Did you mean 'select'?"),
        ("select.filter.language=[en]", "unknown key 'select.filter.language'. Did you mean 'languages'?"),
        ("select.k=0", "select.k: Input should be greater than or equal to 1 (given: 0)"),
        ("select.k=many", "select.k: Input should be a valid integer"),
        ("select.mass={a: -1}", "benchmark weights must be finite and not negative"),
        ("select.k", "--set: 'select.k' is not section.key=value"),
        ("=3", "--set: '=3' is not section.key=value"),
        ("select.k=[1", "'[1' is not a YAML value"),
        ("select.k=2026-13-45", "'2026-13-45' is not a YAML value"),
    ],
)
def test_a_mistake_is_told_with_the_nearest_right_key(conf: Path, setting: str, told: str):
    """One line, with status 2: nothing was started."""
    with pytest.raises(UsageError) as caught:
        load_config(conf, [setting])

    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_status == 2


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"select: {k: 7", "main.yaml:1: is not valid YAML"),
        (b"- a\n- b\n", "holds no sections"),
        (b"", "holds no sections"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"registry: 5\n", "registry: Input should be a valid dictionary"),
        (b"select: {k: 2026-13-45}\n", "is not valid YAML"),
        (b"[" * 5000, "is not valid YAML"),
        (b'registry: {root: "a\\0b"}\n', "cannot hold a null character"),
    ],
)
def test_a_file_that_is_no_configuration_is_told_with_its_place(conf: Path, content: bytes, told: str):
    """The file, and the line where there is one."""
    conf.write_bytes(content)

    with pytest.raises(UsageError) as caught:
        load_config(conf)
    assert told in str(caught.value)


def test_an_empty_section_takes_the_root_of_the_command_line(conf: Path):
    """`registry:` with nothing after it is no obstacle to --root."""
    conf.write_text("registry:\n")

    assert load_config(conf, root="/elsewhere").registry.root == "/elsewhere"


def test_a_missing_file_is_told(tmp_path: Path):
    """With its path."""
    with pytest.raises(UsageError, match=r"none.yaml: cannot be read \(No such file or directory\)"):
        load_config(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (_source(), "the key 'benchmark' is missing"),
        (_source(benchmark="a", fromat="csv"), "unknown key 'fromat'. Did you mean 'format'?"),
        (_source(benchmark="a", format="xml"), "format: Input should be"),
        (_source(benchmark="a", format="csv", header=False), "a file without header needs 'columns'"),
        (_source(benchmark="a", columns=["a"]), "'columns' goes with csv and tsv, not with json-lines"),
        (_source(benchmark="a", map={"promt": "x"}), "unknown key 'map.promt'. Did you mean 'prompt'?"),
        (_source(benchmark="a", name="b"), "two sources are named 'b'"),
    ],
)
def test_a_source_that_is_wrong_is_told_with_its_file(conf: Path, content: str, told: str):
    """Among forty source files the message names the one."""
    (conf.parent / "sources" / "a.yaml").write_text(content)

    with pytest.raises(UsageError) as caught:
        load_sources(load_config(conf))
    assert told in str(caught.value)
    assert "sources" in str(caught.value.where)


def test_a_pattern_that_matches_nothing_is_told(conf: Path):
    """A typing error in a pattern is no empty registry."""
    with pytest.raises(UsageError, match=r"sourcez/\*.yaml: no source file matches"):
        load_sources(load_config(conf, ["sources.include=[sourcez/*.yaml]"]))


@given(k=st.integers(1, 10**6), seed=st.integers(0, 2**31), rounds=st.sampled_from(["benchmark", "category", None]))
def test_what_is_dumped_reads_back_the_same(k: int, seed: int, rounds: str | None):
    """A configuration survives a trip through JSON, as the hash of a run takes it."""
    config = Config.model_validate({"select": {"k": k, "seed": seed, "constraint": {"rounds": rounds}}})

    assert Config.model_validate(config.model_dump(mode="json")) == config

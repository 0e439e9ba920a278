"""A hostile configuration or source declaration: no code, no secrets carried out, bounded templates."""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from typing import Any

import pytest

from benchcore import template_sandbox
from benchcore.cli.main import execute
from benchcore.config import EmbedSection, SourceSpec, load_config, load_sources
from benchcore.embedding.text import Renderer
from benchcore.errors import BenchcoreError, UsageError
from benchcore.ingest.canonical import Rejection
from benchcore.ingest.files import find_files
from benchcore.ingest.mapping import compile_mapping
from benchcore.ingest.session import _shown
from benchcore.masking import masked, names_a_secret
from benchcore.pipeline.logs import LogStyle, configure_logging
from benchcore.registry.root import Registry

KEY = "wJalr/XUtnFEMI+bPxRfiCY"


def written(folder: Path, text: str) -> Path:
    file = folder / "c.yaml"
    file.write_text(text)
    return file


def source_of(folder: Path, path: str) -> Path:
    """A configuration of one source whose files are at a path."""
    declared = {"benchmark": "b", "path": path, "format": "json-lines", "map": {"prompt": "{{ q }}"}}
    (folder / "s.yaml").write_text(json.dumps(declared))
    return written(folder, "registry: {root: ./r}\nsources: {include: [s.yaml]}\n")


def reason(template: str, record: dict[str, Any] | None = None) -> str:
    """Why a template gives no prompt."""
    spec = SourceSpec.model_validate(
        {"name": "s", "benchmark": "b", "path": "*", "format": "json-lines", "map": {"prompt": template}}
    )
    (found,) = compile_mapping(spec).map(record or {"q": "Q" * 1000}, Path("a.jsonl"))
    assert isinstance(found, Rejection)
    return found.reason


@pytest.mark.parametrize(
    "text",
    [
        "registry: {root: !!python/object/apply:os.system ['touch escape']}",
        "registry: !!python/object/new:type {args: [x, [], {}]}",
        "sources: {include: !!python/name:os.system }",
    ],
)
def test_yaml_makes_no_objects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str):
    """In files and on the command line alike."""
    monkeypatch.chdir(tmp_path)

    with pytest.raises(UsageError, match="not valid YAML"):
        load_config(written(tmp_path, text))
    with pytest.raises(UsageError, match="not a YAML value"):
        load_config(None, ["registry.root=" + text.partition(": ")[2]])

    assert not (tmp_path / "escape").exists()


@pytest.mark.parametrize("kind", ["lists", "merges"])
def test_yaml_that_multiplies_itself_ends_at_once(tmp_path: Path, kind: str):
    """Thirty lines that stand for 9^30 values."""
    form = "[{}]" if kind == "lists" else "{{<<: [{}]}}"
    lines = ['x0: &x0 ["a"]' if kind == "lists" else "x0: &x0 {a: b}"]
    lines += [f"x{n}: &x{n} {form.format(', '.join([f'*x{n - 1}'] * 9))}" for n in range(1, 30)]
    started = time.process_time()

    with pytest.raises(UsageError):
        load_config(written(tmp_path, "\n".join(["spark:", "  conf:", *(f"    {line}" for line in lines)])))

    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "address",
    [
        "reference://*::file:///tmp/evil.json",
        "simplecache::reference://::file:///tmp/evil.json",
        "reference://evil.json",
        "zip://*.jsonl::http://example.org/a.zip",
        "jlab://x/*.jsonl",
        "git://x/*.jsonl",
    ],
)
def test_an_address_names_a_store_and_no_layer_around_it(tmp_path: Path, address: str):
    """Some of fsspec's layers take instructions, templates among them, from a file that the address names."""
    config = load_config(source_of(tmp_path, address))

    with pytest.raises(UsageError, match="no address of a store of files"):
        find_files(config, load_sources(config))
    if "://" in address.partition("::")[0]:
        with pytest.raises(UsageError, match="no address of a store of files"):
            Registry.at(address)


@pytest.mark.parametrize("where", ["${AWS_SECRET_ACCESS_KEY}", "https://evil.example/${MY_API_KEY}/*.jsonl"])
def test_no_address_carries_a_secret_of_the_environment_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
):
    """Nor does any message: a declaration from somebody else could ask its author's server for it."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
    monkeypatch.setenv("MY_API_KEY", KEY)
    config = load_config(source_of(tmp_path, where))

    with pytest.raises(UsageError, match="is a secret by its name") as raised:
        find_files(config, load_sources(config))
    with pytest.raises(UsageError, match="is a secret by its name"):
        load_config(None, root=where)

    assert KEY not in str(raised.value)


@pytest.mark.parametrize(
    "address",
    [
        f"s3://AKIAIOSFODNN7:{KEY}@bucket/registry",
        f"https://{KEY.replace('/', '')}@host/registry",
        f"https://host/registry?sig={KEY}&se=2030",
        f"https://host/r?X-Amz-Signature={KEY}",
    ],
)
def test_keys_in_an_address_are_refused_and_never_shown(address: str):
    """A root stands in tables, reports, logs and READMEs."""
    declared = {"name": "a", "benchmark": "a", "path": "a.csv", "format": "csv", "map": {"prompt": "{{ q }}"}}
    config = load_config(None, [f"sources.data={address}"])
    for use in (
        lambda: Registry.at(address),
        lambda: find_files(config, [SourceSpec.model_validate(declared)]),
        lambda: find_files(load_config(None), [SourceSpec.model_validate(declared | {"path": f"{address}/a.csv"})]),
    ):
        with pytest.raises(UsageError, match="holds a secret") as raised:
            use()
        assert KEY not in str(raised.value)
        assert KEY.replace("/", "") not in str(raised.value)
        assert "***" in str(raised.value)


def test_a_password_in_the_stores_address_is_refused(monkeypatch: pytest.MonkeyPatch):
    """Libraries would take it for a host's name, and some would show it."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://user:{KEY}@127.0.0.1:9")
    with pytest.raises(UsageError, match="AWS_ENDPOINT_URL: the address of the object store holds") as raised:
        Registry.at("s3://bucket/r").require_writable()

    assert KEY not in str(raised.value)


def test_what_only_looks_like_a_key_is_shown_as_it_is():
    """Containers, ports and queries without secrets."""
    assert not any(
        map(names_a_secret, ("select.budget.tokens", "plan.characters_per_token", "TOKENIZERS_PATH", "KEYS"))
    )
    for address in ("abfss://box@account.dfs.core.windows.net/r", "http://127.0.0.1:9000/b", "https://h/a?page=2&k=3"):
        assert masked(address) == address
        assert Registry.at(address).root == address


def test_keys_are_masked_in_logs_whatever_they_are_quoted_in(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """As lines and as JSON, in messages and in tracebacks."""
    for form in ("text", "json"):
        monkeypatch.setenv("BENCHCORE_LOG", form)
        configure_logging(LogStyle(debug=True))
        try:
            raise OSError(f"GET s3://AKIA:{KEY}@bucket failed")
        except OSError:
            logging.getLogger("benchcore.x").exception("reading sftp://me:%s@host/a", KEY)
    monkeypatch.delenv("BENCHCORE_LOG")
    configure_logging(LogStyle())
    shown = capsys.readouterr().err

    assert KEY not in shown
    assert shown.count("***@") >= 4


def test_a_secret_on_the_command_line_is_not_repeated(capsys: pytest.CaptureFixture[str]):
    """A wrong setting is named, its value is not."""
    from benchcore.cli.main import app

    status = execute(app, ["registry", "list", "--set", f"spark.conf.fs.s3a.secret.key={{{KEY}"])

    assert status == 2
    assert KEY not in capsys.readouterr().err


def test_secrets_of_spark_are_on_no_command_line():
    """All users of a machine can list the command lines of all processes."""
    given = {"spark.hadoop.fs.s3a.secret.key": KEY, "spark.ssl.keyPassword": KEY, "spark.app.name": "benchcore"}

    assert _shown(given) == {"spark.app.name": "benchcore"}


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ '' | attr('__class__') }}",
        "{{ ['']|map(attribute='__class__')|list }}",
        "{{ '{0.__class__}'.format(path) }}",
        "{{ '{p.__class__}'.format_map({'p': path}) }}",
        "{{ path.__class__ }}",
        "{{ record.__class__ }}",
        "{{ namespace.__init__.__globals__ }}",
        "{{ self.__init__ }}{{ self._TemplateReference__context.__class__ }}",
        "{{ range.__globals__ }}",
        "{{ path.read_text() }}",
        "{{ lipsum.__globals__ }}",
        "{{ cycler.__init__ }}",
        "{% include '/etc/passwd' %}",
        "{% import '/etc/passwd' as x %}",
        "{% set x = record.update({'q': 1}) %}{{ x }}",
    ],
)
def test_templates_reach_the_record_and_nothing_else(template: str):
    """Neither Python's insides nor files, nor can they change what other templates see."""
    assert reason(template)


@pytest.mark.parametrize(
    "template",
    [
        "{{ 'x' * 10**10 }}",
        "{{ [q] * 10**10 }}",
        "{{ 10**(10**9) }}",
        "{{ 'x' | center(10**9) }}",
        "{{ 'x'.rjust(10**9) }}",
        "{{ '\t'.expandtabs(10**9) }}",
        "{{ ('x\n' * 100000) | indent(100000) }}",
        "{{ [q] | batch(10**9, 'x') | list }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '%*d' % (10**9, 1) }}",
        "{{ '%1000000000d' | format(1) }}",
        "{{ '{:1000000000}'.format(1) }}",
        "{{ '{:{w}}'.format(1, w=10**9) }}",
        "{{ ('x' * 1000000) | replace('x', 'x' * 1000000) }}",
        "{{ ('x' * 1000000) | regex_replace('x', 'x' * 1000000) }}",
        "{% for i in range(10**9) %}x{% endfor %}",
        "{% for i in range(100000) %}{{ q }}{{ q }}{% endfor %}",
        "{% set n = namespace(x='x') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}{{ n.x }}",
        "{% set n = namespace(x='x') %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}{{ n.x }}",
        "{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}{{ n.x }}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    ],
)
def test_a_short_template_makes_nothing_huge(template: str, monkeypatch: pytest.MonkeyPatch):
    """It is stopped before memory is full; the limits are lowered here, so that reaching them costs nothing."""
    monkeypatch.setattr(template_sandbox, "MOST", 1_000_000)
    monkeypatch.setattr(template_sandbox, "MOST_ELEMENTS", 100_000)
    started = time.process_time()

    assert reason(template)

    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "template",
    [
        "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
        "{{ q | regex_search('(Q+)+x') }}",
    ],
)
def test_a_template_without_end_is_stopped(template: str, monkeypatch: pytest.MonkeyPatch):
    """Those of sources, and that of the text that is embedded."""
    monkeypatch.setattr(template_sandbox, "SECONDS", 0.2)

    with pytest.raises(BenchcoreError, match=r"more than 0\.2 s of processor time"):
        reason(template)
    if "regex" not in template:
        with pytest.raises(BenchcoreError, match=r"embed\.text, prompt p1: .* more than 0\.2 s"):
            Renderer(EmbedSection(text=template)).render({"prompt_id": "p1"})


@pytest.mark.parametrize(
    "template", ["{{ prompt.__class__ }}", "{{ prompt * 10**10 }}", "{{ '' | attr('__class__') }}"]
)
def test_the_text_that_is_embedded_is_made_in_the_same_sandbox(template: str):
    """It sees the columns of a prompt."""
    with pytest.raises(BenchcoreError, match="the template fails on prompt p1"):
        Renderer(EmbedSection(text=template)).render({"prompt_id": "p1", "prompt": "x"})


def test_bounds_do_not_stand_in_the_way_of_what_templates_are_for():
    """Numbers with many digits, padding, formats and joined texts."""
    record = {"n": 123_456_789, "a": "x", "t": "line\nline"}
    template = (
        "{{ '{:,}'.format(n) }} {{ '%05.1f' % 3.14 }} {{ '%s' | format(n) }} {{ a ~ n ~ [1] }}"
        " {{ (n | string).zfill(12) }} {{ a | center(3) }}|{{ t | indent(2) }}"
        " {{ '{{}}'.format() }} {{ '100% of 12345678: {}'.format(a) }}"
        " {{ '%%1234567%s' % a }} {{ a.replace('x', 'yy') }} {{ [1] + [2] }}"
    )
    spec = SourceSpec.model_validate(
        {"name": "s", "benchmark": "b", "path": "*", "format": "json-lines", "map": {"prompt": template}}
    )

    (found,) = compile_mapping(spec).map(record, Path("a.jsonl"))

    padded = "123,456,789 003.1 123456789 x123456789[1] 000123456789  x |line\n  line"
    assert found.prompt == f"{padded} {{}} 100% of 12345678: x %1234567x yy 1\n2"

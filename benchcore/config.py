"""The configuration of every command: frozen models, one a section, validated once when the file is read."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from benchcore.errors import UsageError

AUDITED_FROM = 400  # smallest k with an audit slice


class Section(BaseModel):
    """Base of all sections: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class RegistrySection(Section):
    """Where the tables lie."""

    root: str = "./registry"
    lock_timeout_s: float = Field(3600.0, ge=0)
    buckets: int = Field(64, ge=1, le=4096)


class SourcesSection(Section):
    """Which source files to read, and where their data lies (paths are relative to the configuration file)."""

    include: tuple[str, ...] = ()
    data: str = "."


class IngestSection(Section):
    """Limits of ingestion."""

    max_characters: int = Field(1_000_000, ge=1, description="a longer prompt is quarantined")
    max_document_bytes: int = Field(
        256 * 1024**2, ge=1, description="largest file that must be parsed whole (a JSON list or object, a text)"
    )
    split_bytes: int = Field(16 * 1024**2, ge=1024, description="JSON-lines files are read in parts of this size")


class SparkSection(Section):
    """The Spark session; without a master, the one that spark-submit gives, else this machine's cores."""

    master: str | None = None
    driver_memory: str = "2g"
    jars: str | None = Field(None, description="folder of Delta's jars; default .cache/jars or $BENCHCORE_JARS")
    conf: dict[str, str] = {}


class RaySection(Section):
    """The Ray cluster; without an address, one of this machine's cores."""

    address: str | None = None
    num_cpus: int | None = Field(None, ge=1)
    object_store_mb: int = Field(512, ge=80)


class EncoderSection(Section):
    """Which encoder turns a text into a vector.

    Either a sentence-transformers model (`name`, with `package` when a pip package carries its files), or the
    user's own vectors (`vectors`: a Parquet file with the columns prompt_id and vector).
    """

    name: str = "all-MiniLM-L6-v2"
    package: str | None = None
    revision: str | None = None
    vectors: str | None = None
    max_length: int | None = Field(None, ge=1, description="in tokens; default: the model's own limit")
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    device: Literal["auto", "cpu", "cuda"] = "auto"
    languages: tuple[str, ...] | None = Field(None, description="languages that it knows; default: of the known models")


class EmbedSection(Section):
    """What is embedded, by what and by how many."""

    encoder: EncoderSection = EncoderSection()
    text: str = "{{ prompt }}\n{{ choices }}\n{{ answer }}"
    features: tuple[Literal["surface", "ngrams"], ...] = Field(
        ("surface", "ngrams"), description="blocks of features besides the vector, from the same text"
    )
    workers: int | Literal["auto"] = "auto"
    batch_tokens: Annotated[int, Field(ge=64)] | Literal["auto"] = Field(
        "auto", description="tokens in a batch, padding included; auto: 1024 on a CPU, 16384 on a GPU"
    )


class ConstraintSection(Section):
    """Balanced rounds over a column's groups (default: benchmarks), or plain cardinality with `rounds: null`."""

    rounds: Literal["benchmark", "category"] | None = "benchmark"


class FilterSection(Section):
    """Which prompts can be picked and are represented; empty means all."""

    languages: tuple[str, ...] = ()
    licences: tuple[str, ...] = ()
    benchmarks: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    exclude_languages: tuple[str, ...] = ()
    exclude_benchmarks: tuple[str, ...] = ()
    exclude_categories: tuple[str, ...] = ()
    exclude_tags: tuple[str, ...] = ()
    min_characters: int = Field(0, ge=0)
    max_characters: int | None = Field(None, ge=1)


class SelectSection(Section):
    """What is picked and how. `shard_size` and `certificate` change no pick's meaning but the plan of the work."""

    k: int = Field(100, ge=1)
    method: str = Field("nested_swaps", description="the default is that of benchcore.methods")
    mass: Literal["macro", "micro", "category"] | dict[str, float] = "macro"
    constraint: ConstraintSection = ConstraintSection()
    filter: FilterSection = FilterSection()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    seed: int = Field(0, ge=0)
    shard_size: int = Field(20_000, ge=1)
    certificate: Literal["exact", "none"] = "exact"
    workers: int | Literal["auto"] = "auto"
    audit: int = Field(0, ge=0, description="of the k, prompts that are drawn at random before any is picked")

    @field_validator("mass")
    @classmethod
    def _weights_are_positive(cls, mass: Any) -> Any:
        if isinstance(mass, dict) and not all(weight >= 0 and weight < float("inf") for weight in mass.values()):
            raise ValueError("benchmark weights must be finite and not negative")
        return mass

    @model_validator(mode="after")
    def _an_audit_can_prove_something(self) -> SelectSection:
        if self.audit and self.k < AUDITED_FROM:
            raise ValueError(
                f"an audit slice needs k of at least {AUDITED_FROM}, and k is {self.k}: below, the slice is too small"
                " to prove anything (20 prompts over 40 strata say nothing), and costs the picks it takes the place of"
            )
        if self.audit > self.k // 2:
            raise ValueError(f"an audit slice is at most half of the picks: audit is {self.audit}, k is {self.k}")
        return self


class Price(Section):
    """What a model's tokens cost: money for a million of them."""

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(0.0, ge=0, allow_inf_nan=False)


class PlanSection(Section):
    """What `benchcore plan` counts with: how far, and what a model's answers to the picks cost."""

    k_max: int = Field(2000, ge=1, description="the largest k that is looked at")
    characters_per_token: float = Field(4.0, gt=0, allow_inf_nan=False)
    output_tokens: float | dict[str, float] = Field(0.0, description="of an answer, or by benchmark")
    prices: dict[str, Price] = Field({}, description="by the name of the model")
    currency: str = "USD"

    @field_validator("output_tokens")
    @classmethod
    def _tokens_are_counts(cls, tokens: Any) -> Any:
        if not all(0 <= count < float("inf") for count in (tokens.values() if isinstance(tokens, dict) else [tokens])):
            raise ValueError("tokens must be finite and not negative")
        return tokens


class ReportSection(Section):
    """Where the page goes; default: `reports/` below the registry root."""

    path: str | None = None


class Config(Section):
    """One configuration file."""

    registry: RegistrySection = RegistrySection()
    sources: SourcesSection = SourcesSection()
    ingest: IngestSection = IngestSection()
    spark: SparkSection = SparkSection()
    ray: RaySection = RaySection()
    embed: EmbedSection = EmbedSection()
    select: SelectSection = SelectSection()
    plan: PlanSection = PlanSection()
    report: ReportSection = ReportSection()


Format = Literal[
    "json-lines", "json-list", "json-object", "json", "csv", "tsv", "parquet", "text", "inspect", "lm-eval"
]
Template = str

LOG_FORMATS = ("lm-eval", "inspect")  # logs of harnesses: several files of a source may hold the same document
_LOG_MAPS: dict[str, dict[str, str]] = {  # what a source of such a format need not say
    "lm-eval": {
        "id": "{{ task }}/{{ doc_hash }}",
        "task": "{{ task }}",
        "prompt": "{{ request }}",
        "choices": "{{ options }}",
        "answer": "{{ expected }}",
    },
    "inspect": {
        "id": "{{ task }}/{{ hash }}",
        "task": "{{ task }}",
        "prompt": "{{ question }}",
        "choices": "{{ choices }}",
        "answer": "{{ expected }}",
    },
}


class MappingSection(Section):
    """From a record to a canonical prompt. Each value is a template; see docs/sources.md."""

    prompt: Template
    answer: Template | None = None
    choices: Template | tuple[Template, ...] | None = None
    id: Template | None = None
    category: Template | None = None
    task: Template | None = None
    split: Template | None = None
    language: Template | None = None
    item_group: Template | None = None
    tags: Template | tuple[Template, ...] | None = None
    metadata: dict[str, Template] = {}


class SourceSpec(Section):
    """One source: files of one format and how their records become prompts (one YAML file each)."""

    name: str = Field(description="default: the stem of the file that declares it")
    benchmark: Template = Field(description="may use `path`")
    category: Template = "uncategorized"
    licence: str | None = None
    revision: str | None = None
    path: str | tuple[str, ...] = Field(description="pattern(s), relative to the data folder, or URIs")
    exclude: tuple[str, ...] = ()
    format: Format
    encoding: str = "utf-8"
    header: bool = True
    columns: tuple[str, ...] | None = Field(None, description="names of the columns of a CSV or TSV without header")
    quotes: bool = Field(True, description="whether quotes enclose fields of a CSV or TSV; false takes them as text")
    explode: Template | None = Field(None, description="expression that gives the list of examples in a record")
    tags: tuple[str, ...] = ()
    map: MappingSection

    @model_validator(mode="before")
    @classmethod
    def _logs_bring_a_mapping(cls, tree: Any) -> Any:
        if not isinstance(tree, dict) or tree.get("format") not in _LOG_MAPS:
            return tree
        given = tree.get("map") or {}
        return tree | {"map": {**_LOG_MAPS[tree["format"]], **given} if isinstance(given, dict) else given}

    @model_validator(mode="after")
    def _columns_fit_the_format(self) -> SourceSpec:
        if self.columns is not None and self.format not in ("csv", "tsv"):
            raise ValueError(f"'columns' goes with csv and tsv, not with {self.format}")
        if self.format in ("csv", "tsv") and not self.header and self.columns is None:
            raise ValueError("a file without header needs 'columns'")
        return self


def load_config(path: str | Path | None, overrides: Iterable[str] = (), root: str | None = None) -> Config:
    """Read and validate a configuration.

    Args:
        path: YAML file; None gives the defaults.
        overrides: `section.key=value` with a YAML value; they win over everything.
        root: registry root, wins over the file's.

    Raises:
        UsageError: the file cannot be read, or a key or value is wrong; names the nearest right key.
    """
    tree = _read_yaml(Path(path)) if path is not None else {}
    where = str(path) if path is not None else "configuration"
    if root is not None:
        tree["registry"] = {**(tree.get("registry") or {}), "root": root}
    for override in overrides:
        _set(tree, override)
    config = _validate(Config, tree, where)
    return _resolve(config, Path(path).resolve().parent if path is not None else Path.cwd(), root, overrides)


def load_sources(config: Config) -> list[SourceSpec]:
    """Read the source files that a configuration includes, sorted by name.

    Raises:
        UsageError: a pattern matches nothing, a file is wrong, or two sources share a name.
    """
    specs: dict[str, SourceSpec] = {}
    for pattern in config.sources.include:
        absolute = Path(pattern)
        files = sorted(absolute.parent.glob(absolute.name)) if absolute.parent.is_dir() else []
        if not files:
            raise UsageError("no source file matches", where=pattern, mend="Mend sources.include.")
        for file in files:
            spec = _validate(SourceSpec, {"name": file.stem, **_read_yaml(file)}, str(file))
            if spec.name in specs:
                raise UsageError(f"two sources are named '{spec.name}'", where=str(file), mend="Give one another name.")
            specs[spec.name] = spec
    return [specs[name] for name in sorted(specs)]


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        tree = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise UsageError(f"cannot be read ({reason})", where=str(path), mend="Check the path.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f"{path}:{mark.line + 1}" if mark else str(path)
        raise UsageError(f"is not valid YAML ({getattr(error, 'problem', error)})", where=line) from None
    except (ValueError, RecursionError) as error:  # a date or a number that cannot be, or nesting without end
        raise UsageError(f"is not valid YAML ({error})", where=str(path)) from None
    if not isinstance(tree, dict):
        raise UsageError("holds no sections", where=str(path), mend="It must be a YAML mapping; see conf/demo.yaml.")
    return tree


def _set(tree: dict[str, Any], override: str) -> None:
    key, equals, value = override.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"'{override}' is not section.key=value", where="--set")
    *sections, leaf = key.strip().split(".")
    for section in sections:
        inner = tree.get(section)
        tree[section] = inner = dict(inner) if isinstance(inner, Mapping) else {}
        tree = inner
    if value.lstrip().startswith("{{"):  # a template; YAML would take its braces for mappings
        tree[leaf] = value
        return
    try:
        tree[leaf] = yaml.safe_load(value)
    except (yaml.YAMLError, ValueError, RecursionError):
        raise UsageError(f"'{value}' is not a YAML value", where=f"--set {key}") from None


def _validate(model: type[Any], tree: Mapping[str, Any], where: str) -> Any:
    try:
        return model.model_validate(tree)
    except ValidationError as error:
        faults = error.errors()
        # A misspelt key also leaves the right one missing: name the misspelling first.
        first = next((fault for fault in faults if fault["type"] == "extra_forbidden"), faults[0])
        location = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            raise UsageError(f"unknown key '{location}'", where=where, mend=_nearest(model, first["loc"])) from None
        if first["type"] == "missing":
            raise UsageError(f"the key '{location}' is missing", where=where) from None
        message = first["msg"].removeprefix("Value error, ")
        given = first.get("input")
        shown = f" (given: {given!r})" if isinstance(given, str | int | float | bool) else ""
        raise UsageError(f"{location or 'the file'}: {message}{shown}", where=where) from None


def _nearest(model: type[Any], location: tuple[Any, ...]) -> str:
    for part in location[:-1]:
        field = model.model_fields.get(str(part))
        inner = field.annotation if field else None
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            return ""
        model = inner
    near = difflib.get_close_matches(str(location[-1]), model.model_fields, n=1, cutoff=0.5)
    return f"Did you mean '{near[0]}'?" if near else f"Known keys: {', '.join(model.model_fields)}."


def _resolve(config: Config, base: Path, root: str | None, overrides: Iterable[str]) -> Config:
    """Make paths absolute: those of the file against its folder, those of the command line against the current one."""
    given = {override.partition("=")[0].strip() for override in overrides}

    def absolute(location: str, key: str) -> str:
        expanded = _expand(location, key)
        if "://" in expanded or Path(expanded).is_absolute():
            return expanded
        from_command_line = key in given or (key == "registry.root" and root is not None)
        return str(((Path.cwd() if from_command_line else base) / expanded).resolve())

    include = tuple(absolute(pattern, "sources.include") for pattern in config.sources.include)
    encoder = config.embed.encoder
    vectors = absolute(encoder.vectors, "embed.encoder.vectors") if encoder.vectors else None
    page = absolute(config.report.path, "report.path") if config.report.path else None
    return config.model_copy(
        update={
            "registry": config.registry.model_copy(update={"root": absolute(config.registry.root, "registry.root")}),
            "sources": config.sources.model_copy(
                update={"include": include, "data": absolute(config.sources.data, "sources.data")}
            ),
            "embed": config.embed.model_copy(update={"encoder": encoder.model_copy(update={"vectors": vectors})}),
            "report": config.report.model_copy(update={"path": page}),
        }
    )


def _expand(location: str, key: str) -> str:
    if "\0" in location:
        raise UsageError("a path cannot hold a null character", where=key)
    missing = [name for name in re.findall(r"\$\{(\w+)\}", location) if name not in os.environ]
    if missing:
        raise UsageError(f"the environment variable {missing[0]} is not set", where=f"{key}: {location}")
    return re.sub(r"\$\{(\w+)\}", lambda match: os.environ[match.group(1)], location)

"""The sections of a configuration: frozen models that are validated once, when the file is read."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

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
    room_timeout_s: int = Field(900, ge=1, description="how long ingestion may have no executor on a cluster")
    conf: dict[str, str] = {}


class RaySection(Section):
    """The Ray cluster; without an address, one of this machine's cores."""

    address: str | None = None
    num_cpus: int | None = Field(None, ge=1)
    object_store_mb: int = Field(512, ge=80)
    room_timeout_s: int = Field(300, ge=1, description="how long selection waits for nodes with room for its workers")
    stall_timeout_s: int = Field(600, ge=1, description="how long its workers may give no sign of life")


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
    workers: Annotated[int, Field(ge=1)] | Literal["auto"] = "auto"
    batch_tokens: Annotated[int, Field(ge=64)] | Literal["auto"] = Field(
        "auto", description="tokens in a batch, padding included; auto: 1024 on a CPU, 16384 on a GPU"
    )


def _as_bounds(quota: Any) -> Any:
    if isinstance(quota, int) and not isinstance(quota, bool):
        return quota, quota
    if isinstance(quota, list | tuple) and len(quota) == 2:
        return tuple(quota)
    raise ValueError("a quota is a number, or [least, most]")


Count = Annotated[int, Field(ge=0, strict=True)]
Quota = Annotated[tuple[Count | None, Count | None], BeforeValidator(_as_bounds)]


def _as_wanted(certificate: Any) -> Any:
    return {"exact": True, "none": False}.get(certificate, certificate) if isinstance(certificate, str) else certificate


Certified = Annotated[bool, BeforeValidator(_as_wanted)]  # "exact" and "none" were its values


class ConstraintSection(Section):
    """Balanced rounds over a column's groups (default: benchmarks), plain cardinality with `rounds: null`, or quotas.

    A quota is [least, most], null for no limit, or one number for exactly as many.
    """

    rounds: Literal["benchmark", "category"] | None = "benchmark"
    quotas: dict[str, Quota] = Field({}, description="picks by name, in the place of rounds")
    over: Literal["benchmark", "category"] = Field("benchmark", description="whose names the quotas are by")

    @model_validator(mode="after")
    def _quotas_take_the_place_of_rounds(self) -> ConstraintSection:
        if self.quotas and self.rounds == "category":
            raise ValueError("quotas take the place of rounds: leave out `rounds`; `over: category` counts categories")
        if self.over == "category" and not self.quotas:
            raise ValueError("`over` says whose quotas these are, and there are none; rounds have `rounds: category`")
        return self


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


class QuerySection(Section):
    """Selectable prompts by their ids, benchmarks or categories, all of them together."""

    prompts: tuple[str, ...] = ()
    benchmarks: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    weight: float = Field(1.0, ge=0, allow_inf_nan=False, description="by which the likeness to them is multiplied")

    @model_validator(mode="after")
    def _names_something(self) -> QuerySection:
        if not (self.prompts or self.benchmarks or self.categories):
            raise ValueError("names no prompts: give prompts, benchmarks or categories")
        return self


class BudgetSection(Section):
    """The most that all picks may take a model to read, in tokens as `benchcore plan` counts them; `k` is a maximum."""

    tokens: float = Field(gt=0, le=1e12, allow_inf_nan=False)


class SelectSection(Section):
    """What is picked and how. `shard_size` and `certificate` change no pick's meaning but the plan of the work."""

    k: int = Field(100, ge=1)
    method: str = Field("nested_swaps", description="the default is that of benchcore.methods")
    mass: Literal["macro", "micro", "category"] | dict[str, float] = "macro"
    constraint: ConstraintSection = ConstraintSection()
    filter: FilterSection = FilterSection()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    seed: int = Field(0, ge=0, lt=2**63)
    shard_size: int = Field(20_000, ge=1)
    merge_gb: float = Field(
        1.0, gt=0, le=1e6, allow_inf_nan=False, description="of pairs that a merge keeps, over all workers"
    )
    exact_rows: int = Field(150_000, ge=1, description="the most prompts of which all pairs are looked at")
    candidates: int = Field(32_768, ge=4, description="of a larger pool, how many the swaps pick from")
    neighbours: int | None = Field(
        None, ge=1, lt=2**63, description="of each prompt, how many candidates a merge looks at"
    )
    certificate: Certified = Field(True, description="a bound on the optimum: exact up to exact_rows, else sampled")
    workers: Annotated[int, Field(ge=1)] | Literal["auto"] = "auto"
    toward: QuerySection | None = Field(None, description="prompts that the picks should be near to")
    away: QuerySection | None = Field(None, description="prompts that the picks should add to")
    budget: BudgetSection | None = Field(None, description="of tokens that the picks may take, beside k")
    audit: int = Field(0, ge=0, description="of the k, prompts that are drawn at random before any is picked")

    @field_validator("mass")
    @classmethod
    def _weights_are_positive(cls, mass: Any) -> Any:
        if isinstance(mass, dict) and not all(weight >= 0 and weight < float("inf") for weight in mass.values()):
            raise ValueError("benchmark weights must be finite and not negative")
        return mass

    @model_validator(mode="after")
    def _one_query_at_most(self) -> SelectSection:
        if self.toward is not None and self.away is not None:
            raise ValueError("toward and away are two objectives: leave one of them out")
        return self

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


class MetricsSection(Section):
    """Where runs tell their metrics, for Prometheus; nowhere by default (docs/operations.md)."""

    file: str | None = Field(None, description="a .prom file in the folder of the node exporter's textfile collector")
    gateway: str | None = Field(None, description="address of a Pushgateway, such as http://gateway:9091")

    @field_validator("file")
    @classmethod
    def _is_collected(cls, file: str | None) -> str | None:
        if file is not None and ("://" in file or not file.endswith(".prom")):
            raise ValueError("the textfile collector reads local files that end in .prom")
        return file


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
    metrics: MetricsSection = MetricsSection()

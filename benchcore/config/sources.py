"""How a source is declared: files of one format, and how their records become prompts."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from benchcore.config.sections import Section

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
    metadata: dict[str, Template] = Field({}, description="field of the metadata -> template")


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

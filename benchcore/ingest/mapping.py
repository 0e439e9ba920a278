"""From a record to canonical prompts, by the templates of a source."""

from __future__ import annotations

from collections.abc import Mapping as Fields
from pathlib import PurePosixPath
from typing import Any

from benchcore.config import SourceSpec
from benchcore.errors import UsageError
from benchcore.ingest.canonical import Canonical, Rejection, canonical
from benchcore.ingest.readers.records import raw_text
from benchcore.ingest.templates import (
    Template,
    TemplateFailure,
    compile_expression,
    elements_of,
    json_text,
    kind_of,
    text_of,
)
from benchcore.registry.identity import digest
from benchcore.template_sandbox import within_time

DEFAULT_MAX_CHARACTERS = 1_000_000
ROWS_VERSION = 1  # raise it when readers or mapping turn the same file into other rows: all files are then read again

_TEXTS = ("category", "task", "split", "language", "item_group", "prompt", "answer")  # in the order of rendering
_SEEN_BY_ID = ("task", "split", "language")
_LEVELS = 100  # of metadata
_NOT_ROWS = {"name", "path", "exclude", "licence", "revision"}


class Mapping:
    """A compiled source: made once a task by `compile_mapping`, not picklable (pickle the spec)."""

    def __init__(self, spec: SourceSpec, max_characters: int) -> None:
        self._spec, self._max_characters = spec, max_characters
        self._texts = {
            key: Template(source, spec.name, f"map.{key}")
            for key in _TEXTS
            if (source := getattr(spec.map, key)) is not None
        }
        self._choices = _list_templates(spec, "choices")
        self._tags = _list_templates(spec, "tags")
        self._metadata = {
            key: Template(source, spec.name, f"map.metadata.{key}") for key, source in sorted(spec.map.metadata.items())
        }
        self._id = Template(spec.map.id, spec.name, "map.id") if spec.map.id is not None else None
        self._explode = compile_expression(spec.explode, spec.name, "explode") if spec.explode is not None else None
        self._file: tuple[PurePosixPath, str, str] | None = None

    @property
    def explodes(self) -> bool:
        """Whether one record may give several prompts."""
        return self._explode is not None

    def map(
        self, value: Any, path: PurePosixPath, key: str | None = None, document: Fields[str, Any] | None = None
    ) -> list[Canonical | Rejection]:
        """Map one record; without `explode` the list has one element, with it one for each example.

        Args:
            value: the parsed record, usually a dictionary.
            path: of its file, relative to the data folder.
            key: of the record in a JSON object.
            document: the names that a harness has for the record; goes into the metadata.

        Raises:
            UsageError: the source's `benchmark` or `category` template fails on this path.
            TooSlow: the templates do not come to an end.
        """
        variables = _variables(value, path, key)
        if self._explode is None:
            return [within_time(self._one, value, variables, path, document)]
        try:
            examples = within_time(self._explode.value, variables, _list_of_examples)
        except TemplateFailure as failure:
            return [_rejected(str(failure), value)]
        return [
            within_time(self._one, example, _variables(example, path, key) | {"parent": value}, path, document)
            for example in examples
        ]

    def _one(
        self, value: Any, variables: dict[str, Any], path: PurePosixPath, document: Fields[str, Any] | None
    ) -> Canonical | Rejection:
        try:
            found = self._canonical(variables, path, document)
        except TemplateFailure as failure:
            found = str(failure)
        return _rejected(found, value) if isinstance(found, str) else found

    def _canonical(
        self, variables: dict[str, Any], path: PurePosixPath, document: Fields[str, Any] | None
    ) -> Canonical | str:
        benchmark, category = self._of_file(path)
        texts: dict[str, str | None] = {key: template.text(variables) for key, template in self._texts.items()}
        identity = None
        if self._id is not None:
            identity = self._id.text({key: texts.get(key) for key in _SEEN_BY_ID} | variables).strip()
            if not identity:
                return "map.id: the id is empty"
        return canonical(
            benchmark=benchmark,
            category=texts.pop("category", None) or category,
            prompt=texts.pop("prompt") or "",
            tags=(*self._spec.tags, *_list(self._tags, variables)),
            choices=_list(self._choices, variables),
            metadata=self._metadata_json(variables, document),
            identity=identity,
            max_characters=self._max_characters,
            **texts,
        )

    def _metadata_json(self, variables: dict[str, Any], document: Fields[str, Any] | None) -> str:
        written = {key: template.value(variables, _sorted_json) for key, template in self._metadata.items()}
        if document is not None:
            written = dict(sorted((written | {"document": _sorted_json(dict(document))}).items()))
        return "{" + ", ".join(f"{json_text(key)}: {value}" for key, value in written.items() if value != "null") + "}"

    def _of_file(self, path: PurePosixPath) -> tuple[str, str]:
        if self._file is None or self._file[0] != path:
            self._file = (path, benchmark_of(self._spec, path), _of_path(self._spec, "category", path))
        return self._file[1], self._file[2]


def compile_mapping(spec: SourceSpec, max_characters: int = DEFAULT_MAX_CHARACTERS) -> Mapping:
    """Compile the templates of a source.

    Raises:
        UsageError: a template's syntax is wrong; names the source and the key.
    """
    return Mapping(spec, max_characters)


def benchmark_of(spec: SourceSpec, path: PurePosixPath | str) -> str:
    """The benchmark that a file belongs to (`benchmark` may be a template over `path`).

    Raises:
        UsageError: the template is wrong, uses more than `path`, or gives nothing.
    """
    return _of_path(spec, "benchmark", PurePosixPath(path))


def mapping_digest(spec: SourceSpec, max_characters: int = DEFAULT_MAX_CHARACTERS) -> str:
    """Hash of all of a source that changes its rows; not its file patterns, licence and revision."""
    declared = spec.model_dump(mode="json", exclude=_NOT_ROWS, exclude_defaults=True)
    return digest("mapping", ROWS_VERSION, max_characters, declared)


def _rejected(reason: str, value: Any) -> Rejection:
    return Rejection(raw_text(reason), raw_text(value))  # a reason may name a field that no table can hold


def _of_path(spec: SourceSpec, key: str, path: PurePosixPath) -> str:
    where = f"source '{spec.name}'"
    try:
        text = within_time(Template(getattr(spec, key), spec.name, key).text, {"path": path}).strip()
    except TemplateFailure as failure:
        raise UsageError(str(failure), where=where, mend="It may use `path` only.") from None
    if not text:
        raise UsageError(f"{key} is empty for {path}", where=where)
    return text


def _variables(value: Any, path: PurePosixPath, key: str | None) -> dict[str, Any]:
    fields = {str(name): field for name, field in value.items()} if isinstance(value, Fields) else {}
    own = {"record": value, "path": path} | ({} if key is None else {"key": key})
    return fields | own


def _list_templates(spec: SourceSpec, key: str) -> Template | tuple[Template, ...] | None:
    sources = getattr(spec.map, key)
    if sources is None or isinstance(sources, str):
        return None if sources is None else Template(sources, spec.name, f"map.{key}")
    return tuple(Template(source, spec.name, f"map.{key}[{n}]") for n, source in enumerate(sources))


def _list(templates: Template | tuple[Template, ...] | None, variables: dict[str, Any]) -> list[str]:
    """Render a list of texts, given as one template whose value is a list, or as one template an element.

    An element template that gives None is left out; an element of a list that is None stays, as empty text.
    """
    if templates is None:
        return []
    if isinstance(templates, Template):
        return templates.value(variables, elements_of)
    texts = [
        template.value(variables, lambda value: None if value is None else text_of(value)) for template in templates
    ]
    return [text for text in texts if text is not None]


def _sorted_json(value: Any) -> str:
    _require_shallow(value, _LEVELS)
    return json_text(value, sort_keys=True)


def _require_shallow(value: Any, levels: int) -> None:
    """Refuse what later readers and writers of JSON would not get to the bottom of."""
    if isinstance(value, Fields | list | tuple):
        if not levels:
            raise ValueError(f"is nested more than {_LEVELS} levels deep")
        for inner in value.values() if isinstance(value, Fields) else value:
            _require_shallow(inner, levels - 1)


def _text_or_none(value: Any) -> str | None:
    return None if value is None else text_of(value)


def _list_of_examples(value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"must give a list, not {kind_of(value)}")
    return list(value)

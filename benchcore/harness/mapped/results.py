"""Results in logs that a declared mapping explains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from benchcore.errors import UsageError
from benchcore.harness.content import content_digest
from benchcore.harness.documents import Document, RawScore, Result, Scale
from benchcore.harness.entry import Harness
from benchcore.harness.generic.rows import files_in, format_of, records_in
from benchcore.harness.logs import files_below
from benchcore.harness.mapped.mapping import LogMap
from benchcore.harness.notes import Notes
from benchcore.harness.scores import EVERY_METRIC, parse_scales
from benchcore.ingest.readers import ReadUnit
from benchcore.ingest.templates import Template, TemplateFailure, compile_expression, elements_of, text_of
from benchcore.template_sandbox import within_time

_TEXTS = ("benchmark", "id", "prompt", "answer", "model", "run", "task", "epoch", "filter")
_MAX_DOCUMENT_BYTES = 256 * 1024**2


def harness_of(declared: LogMap, name: str) -> Harness:
    """The harness whose logs a mapping explains.

    Args:
        declared: the mapping.
        name: of its file, for messages.

    Raises:
        UsageError: a template or a scale is wrong.
    """
    reader = _Reader(declared, name)
    return Harness(title=name, results=reader.results, by_record_id=True)


class _Reader:
    def __init__(self, declared: LogMap, name: str) -> None:
        self._declared = declared
        self._texts = {
            key: Template(source, name, key) for key in _TEXTS if (source := getattr(declared, key)) is not None
        }
        scores = {"score": declared.score} if isinstance(declared.score, str) else declared.score
        self._scores = {metric: Template(source, name, f"score.{metric}") for metric, source in scores.items()}
        self._choices = _choices(declared, name)
        self._explode = compile_expression(declared.explode, name, "explode") if declared.explode else None
        self._scales = _scales(declared, self._scores)

    def results(self, path: Path, notes: Notes) -> Iterator[Result]:
        """The results of a file, or of the files below a folder.

        Raises:
            UsageError: it is not known what format a file has.
            BenchcoreError: a file cannot be read to its end.
        """
        for file in self._files(path):
            for record in records_in(self._unit(file)):
                where = f"{file} row {record.row}"
                if record.error is not None:
                    notes.add("unreadable", f"{where}: {record.error}")
                    continue
                try:
                    examples = within_time(self._examples, record.value, record.key, file)
                except TemplateFailure as failure:
                    notes.add("unreadable", f"{where}: {failure}")
                    continue
                for variables in examples:
                    try:
                        result = within_time(self._result, variables, file)
                    except TemplateFailure as failure:
                        notes.add("unreadable", f"{where}: {failure}")
                    else:
                        yield result

    def _files(self, path: Path) -> list[Path]:
        if self._declared.format is None or not path.is_dir():
            return files_in(path)
        found = [file for file in files_below(path) if not file.name.startswith(".")]
        if not found:
            raise UsageError("holds no files", where=str(path))
        return found

    def _unit(self, file: Path) -> ReadUnit:
        declared = self._declared
        form = declared.format or format_of(file)
        if form is None:
            raise UsageError("its name does not say what it is", where=str(file), mend="Give `format` in the mapping.")
        return ReadUnit(
            uri=str(file),
            path=str(file),
            format=form,
            encoding=declared.encoding,
            header=declared.header,
            columns=declared.columns,
            quotes=declared.quotes,
            delimiter=declared.delimiter,
            max_document_bytes=_MAX_DOCUMENT_BYTES,
        )

    def _examples(self, value: Any, key: str | None, file: Path) -> Iterable[dict[str, Any]]:
        variables = _variables(value, file) | ({} if key is None else {"key": key})
        if self._explode is None:
            return (variables,)
        listed = self._explode.value(variables, _listed)
        return (variables | _variables(example, file) | {"parent": value} for example in listed)

    def _result(self, variables: Mapping[str, Any], file: Path) -> Result:
        texts = {key: template.text(variables) for key, template in self._texts.items()}
        benchmark, identity = texts.get("benchmark", ""), texts.get("id", "")
        choices = self._listed_choices(variables)
        shown: dict[str, Any] = {name: texts[name] for name in ("prompt", "answer") if name in texts}
        document = Document(
            harness="mapped",
            task=texts.get("task") or benchmark,
            document_id=identity,
            document_hash=content_digest("mapped", benchmark, identity, shown, choices),
            record=shown | ({"choices": choices} if choices else {}) | ({"benchmark": benchmark} if benchmark else {}),
            answer=texts.get("answer"),
            choices=tuple(choices),
        )
        return Result(
            document=document,
            model=texts.get("model", "").strip(),
            run=texts.get("run", "").strip(),
            metrics={metric: template.value(variables, _raw) for metric, template in self._scores.items()},
            path=str(file),
            epoch=_epoch(texts.get("epoch")),
            filter=texts.get("filter") or None,
            scales=self._scales,
        )

    def _listed_choices(self, variables: Mapping[str, Any]) -> list[str]:
        if isinstance(self._choices, Template):
            return self._choices.value(variables, elements_of)
        return [template.text(variables) for template in self._choices]


def _choices(declared: LogMap, name: str) -> Template | tuple[Template, ...]:
    if isinstance(declared.choices, str):
        return Template(declared.choices, name, "choices")
    return tuple(Template(source, name, f"choices[{n}]") for n, source in enumerate(declared.choices or ()))


def _scales(declared: LogMap, metrics: Mapping[str, Template]) -> dict[str, Scale]:
    if declared.scale is None:
        return {}
    written = [declared.scale] if isinstance(declared.scale, str) else [f"{m}={s}" for m, s in declared.scale.items()]
    scales = parse_scales(written)
    return {metric: scale for metric in metrics if (scale := scales.get(metric, scales.get(EVERY_METRIC))) is not None}


def _variables(value: Any, file: Path) -> dict[str, Any]:
    fields = {str(name): field for name, field in value.items()} if isinstance(value, Mapping) else {}
    return fields | {"record": value, "path": PurePosixPath(file.as_posix())}


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise ValueError("must give a list")
    return list(value)


def _raw(value: Any) -> RawScore:
    return value if value is None or isinstance(value, bool | int | float | str) else text_of(value)


def _epoch(written: str | None) -> int:
    if not written:
        return 1
    if len(written) > 10 or not written.isascii() or not written.isdigit() or not 1 <= int(written) < 2**31:
        raise TemplateFailure(f"epoch: {written[:20]!r} is not 1, 2, ...")
    return int(written)

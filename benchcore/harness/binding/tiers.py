"""The ways in which a document shows which prompt it is, the surest first. None of them looks at positions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from benchcore.harness.binding.declared import Declared
from benchcore.harness.binding.evidence import Shown, best
from benchcore.harness.binding.prompts import ENDING, Prompts
from benchcore.harness.binding.texts import normalised, text_key
from benchcore.ingest.templates import TemplateFailure
from benchcore.template_sandbox import within_time

_SHORT = 12  # characters; a shorter text is taken for a prompt only where choices or the answer agree too


def named(prompts: Prompts, shown: Shown) -> list[int]:
    """The prompt whose id stands in the record, as in the files that an export wrote, or is the document's own."""
    ids = [value for value in shown.fields("prompt_id") if isinstance(value, str)]
    named_ids = dict.fromkeys((*ids, shown.document.document_id))
    every = dict.fromkeys(number for name in named_ids for number in prompts.by_id.get(name, ()))
    found = _of_version(prompts, shown, every)
    if len(found) < 2:
        return found
    texts = {text_key(text) for text in shown.texts}
    said = [number for number in found if prompts.known[number].key in texts]
    return best(said, prompts.known, shown) if said else found


def read_from_logs(prompts: Prompts, shown: Shown) -> list[int]:
    """The prompt that was read from this very document of a log of the harness."""
    document = shown.document
    found = prompts.by_document.get((document.harness, document.task, document.document_hash), ())
    current = [number for number in found if prompts.known[number].current]
    return list(dict.fromkeys(current or found))


def by_record_id(prompts: Prompts, shown: Shown, benchmark: str | None) -> list[int]:
    """The prompt of a benchmark (that of the record, else the task) whose own id the document has."""
    document = shown.document
    name = benchmark or str(document.record.get("benchmark") or document.task)
    found = _of_version(prompts, shown, prompts.by_record.get((name, document.document_id), ()))
    return best(list(dict.fromkeys(found)), prompts.known, shown)


def _of_version(prompts: Prompts, shown: Shown, numbers: Iterable[int]) -> list[int]:
    """Of prompts that are named, those of the version that the record names: all where it names none."""
    hashes = {value for value in shown.fields("content_hash") if isinstance(value, str)}
    return [number for number in numbers if not hashes or prompts.known[number].content_hash in hashes]


def declared_text(prompts: Prompts, shown: Shown, declared: Declared) -> list[int]:
    """The prompt whose text is what the user's template makes of the record."""
    if declared.prompt is None:
        return []
    document = shown.document
    own = {"request": document.request, "task": document.task, "id": document.document_id, "record": document.record}
    try:
        text = within_time(declared.prompt.text, own | {str(name): value for name, value in document.record.items()})
    except TemplateFailure:
        return []
    return _with_texts(prompts, shown, (normalised(text),))


def whole_texts(prompts: Prompts, shown: Shown) -> list[int]:
    """The prompt whose text is one of the record's texts that were sent, or is all that was sent."""
    options, answers = set(shown.choices), shown.answers
    sent = [
        text
        for text in shown.texts
        if text_key(text) in prompts.by_text and text not in options and text not in answers and shown.was_sent(text)
    ]
    return _with_texts(prompts, shown, dict.fromkeys((*sent, *((shown.request,) if shown.request else ()))))


def own_source(prompts: Prompts, shown: Shown, declared: Declared) -> list[int]:
    """The prompt that the registry's own source makes of the record."""
    hashes = [made for source in declared.sources for made in source.content_hashes(shown.document.record)]
    found = [number for made in dict.fromkeys(hashes) for number in prompts.by_content.get(made, ())]
    return best(list(dict.fromkeys(found)), prompts.known, shown)


def own_lines(prompts: Prompts, shown: Shown) -> list[int]:
    """The prompt all of whose lines are lines of the record, in whatever order and under whatever names."""
    return best(list(_with_lines(prompts, shown, shown.own_lines)), prompts.known, shown)


def request_lines(prompts: Prompts, shown: Shown) -> list[int]:
    """The prompt all of whose lines are lines of the request: of several the last, and none that is an example."""
    found = {
        number: places
        for number, places in _with_lines(prompts, shown, shown.request_lines).items()
        if not shown.goes_on_with_its_own(max(shown.request.rfind(line) + len(line) for line in places))
    }
    starts = {number: min(places.values()) for number, places in found.items()}
    return best([number for number in starts if starts[number] == max(starts.values())], prompts.known, shown)


def _with_lines(prompts: Prompts, shown: Shown, lines: Mapping[str, int]) -> dict[int, dict[str, int]]:
    """The prompts all of whose lines are there -> these lines and their places; choices and answers alone are none."""
    by_key = {text_key(line): line for line in lines}
    options, found = {*shown.choices, *shown.answers}, dict[int, dict[str, int]]()
    for key in by_key:
        for number in prompts.with_line(key, by_key):
            wanted = prompts.known[number].lines
            there = [by_key[line] for line in wanted if line in by_key]
            if len(there) == len(wanted) and not options.issuperset(there):
                found[number] = {line: lines[line] for line in there}
    return found


def inside_request(prompts: Prompts, shown: Shown) -> list[int]:
    """The prompt whose text the request holds nearest to its end, the longest of those that end there."""
    request, options = shown.request, set(shown.choices)
    for end in range(len(request), ENDING - 1, -1):
        ending = prompts.endings.get(request[end - ENDING : end])
        if ending is None or (end < len(request) and request[end].isalnum() and request[end - 1].isalnum()):
            continue
        lengths = {prompts.known[number].characters for number in ending}
        for length in sorted(lengths, reverse=True):
            start = end - length
            if start < 0 or (start and request[start - 1].isalnum() and request[start].isalnum()):
                continue
            text = request[start:end]
            same = [number for number in ending if prompts.known[number].key == text_key(text)]
            if same and text not in options:
                return [] if shown.goes_on_with_its_own(end) else best(same, prompts.known, shown)
    return []


def _with_texts(prompts: Prompts, shown: Shown, texts: Iterable[str]) -> list[int]:
    found: list[int] = []
    for text in texts:
        numbers = best(prompts.with_text(text_key(text), shown.everything | shown.answers), prompts.known, shown)
        found += numbers if len(text) >= _SHORT else _confirmed(prompts, shown, numbers)
    return best(list(dict.fromkeys(found)), prompts.known, shown) if found else []


def _confirmed(prompts: Prompts, shown: Shown, numbers: Sequence[int]) -> list[int]:
    """Of prompts with a short text, those whose choices or answer the document shows."""
    return [
        number
        for number in numbers
        if (known := prompts.known[number]).answer in shown.answers
        or (known.choices and all(choice in shown.everything for choice in known.choices))
    ]

"""Texts as binding compares them: what typesetting may change does not count."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from itertools import groupby
from typing import Any

MAX_LEAVES = 10_000
_LABELS = (
    "question|problem|query|q|task|exercise|input|instruction|prompt|context|passage|article|abstract|premise|sentence|"
    "statement|pregunta|problema|frage|aufgabe|domanda|pergunta|задача|вопрос|swali|問題|问题|題目|题目|질문|문제|"
    "โจทย์|ప్రశ్న|প্রশ্ন|সমস্যা"
)
_CUES = "answer|solution|a|output|response|respuesta|solución|antwort|lösung|réponse|ответ|решение|jibu|答え|答案|답"
_LABEL = re.compile(rf"^(?:{_LABELS})\s*\d{{0,4}}\s*[:：]\s*", re.IGNORECASE)
_CUE = re.compile(rf"(?:^|(?<=\W))\s*(?:{_CUES})\s*[:：]$", re.IGNORECASE)
_MAX_DEPTH = 30
_HEAP = 1000


def normalised(text: str) -> str:
    """The text in Unicode's composed form, each run of white space as one blank, none at its ends.

    A heap of combining marks stays as it is: to put it in order would take time by the square of its length.
    """
    composed = text if text.isascii() or _has_heap(text) else unicodedata.normalize("NFC", text)
    return " ".join(composed.split())


def _has_heap(text: str) -> bool:
    """Whether a long text has more combining marks in a row than any script has."""
    if len(text) <= _HEAP:
        return False
    runs = groupby(text, key=lambda character: unicodedata.combining(character) > 0)
    return any(marks and sum(1 for _ in run) > _HEAP for marks, run in runs)


def text_key(text: str) -> bytes:
    """A name of 16 bytes for a text that is normalised already."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def bare_lines(text: str) -> list[str]:
    """The lines of a text, normalised, without what names their part ("Question:" before, "Answer:" after), each once.

    Harnesses and sources put the same fields together under other names and in another order.
    """
    return list(dict.fromkeys(line for part in text.split("\n") if (line := _bare(normalised(part)))))


def _bare(line: str) -> str:
    return _CUE.sub("", _LABEL.sub("", line)) if ":" in line or "：" in line else line


def leaves(record: Any) -> Iterator[tuple[str, Any]]:
    """All that is no object and no list in a record, each with the name of the field it stands in, in order.

    At most `MAX_LEAVES` of them, and none that is nested deeper than records are: a record may be hostile.
    """
    left = MAX_LEAVES
    for leaf in _walk("", record, _MAX_DEPTH):
        if left == 0:
            return
        left -= 1
        yield leaf


def _walk(name: str, value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        if depth:
            for key, inner in value.items():
                yield from _walk(str(key), inner, depth - 1)
    elif isinstance(value, list | tuple):
        if depth:
            for inner in value:
                yield from _walk(name, inner, depth - 1)
    else:
        yield name, value

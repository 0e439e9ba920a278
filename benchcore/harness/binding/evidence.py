"""What a document shows, and how well a prompt fits it: choices and answers tell equal texts apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from benchcore.harness.binding.prompts import Known
from benchcore.harness.binding.texts import bare_lines, leaves, normalised
from benchcore.harness.documents import Document

_OPTIONS = ("choice", "option", "ending", "candidate")  # how fields begin that hold what may be chosen
_LETTER = re.compile(r"^\(?[A-Za-z][.):]\s*(?=\S)")
_LONG = 20  # characters that make a text a sentence rather than a name


class Shown:
    """A document as binding sees it; what costs time is found when it is first asked for."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._leaves = list(leaves(document.record))

    @cached_property
    def texts(self) -> list[str]:
        """Its texts, normalised, each once, in order."""
        return list(dict.fromkeys(normalised(text) for _, text in self._leaves if isinstance(text, str) and text))

    @cached_property
    def request(self) -> str:
        """The text that the model was sent, normalised; empty where it is not known."""
        return normalised(self.document.request or "")

    @cached_property
    def own_lines(self) -> dict[str, int]:
        """The bare lines of the record's texts that were sent; where they stand means nothing."""
        texts = [text for _, text in self._leaves if isinstance(text, str) and self.was_sent(normalised(text))]
        return dict.fromkeys((line for text in texts for line in bare_lines(text)), 0)

    @cached_property
    def request_lines(self) -> dict[str, int]:
        """The bare lines of the request -> which one it is, counted from the first."""
        return {line: place for place, line in enumerate(bare_lines(self.document.request or ""))}

    @cached_property
    def choices(self) -> tuple[str, ...]:
        """The options, normalised; empty where it shows none."""
        if self.document.choices:
            return tuple(normalised(choice) for choice in self.document.choices)
        named = [text for name, text in self._leaves if isinstance(text, str) and name.lower().startswith(_OPTIONS)]
        return tuple(normalised(text) for text in named)

    @cached_property
    def bare_choices(self) -> frozenset[str]:
        """The options, bare of letters and full stops."""
        return frozenset(map(_bare, self.choices))

    @cached_property
    def answers(self) -> frozenset[str]:
        """The forms in which the right answer may be written: as it stands, and the option that it names."""
        answer = self.document.answer
        if answer is None:
            return frozenset()
        written = normalised(answer)
        return frozenset((written, *_named_option(written, self.choices)))

    @cached_property
    def everything(self) -> frozenset[str]:
        """All texts and numbers of the record, and its choices, as normalised text."""
        others = (normalised(str(value)) for _, value in self._leaves if isinstance(value, int | float))
        return frozenset((*self.texts, *self.choices, *others))

    def fields(self, name: str) -> Iterator[Any]:
        """The values of all fields of a name, at any depth."""
        return (value for field, value in self._leaves if field == name)

    def was_sent(self, text: str) -> bool:
        """Whether a text of the record is in the request, as far as the document shows that.

        A record may hold texts that the model never saw, such as the problem that its own was made from.
        """
        return not self.request or text in self.request or not self._shows_what_was_sent

    @cached_property
    def _shows_what_was_sent(self) -> bool:
        return any(len(text) >= _LONG and text in self.request for text in self.texts)

    def goes_on_with_its_own(self, end: int) -> bool:
        """Whether a sentence of the record's own comes in the request after a place: what stands before is an example.

        Choices do not count; they follow the question that they belong to.
        """
        options = set(self.choices)
        rest = self.request[end:]
        return any(len(text) >= _LONG and text not in options and text in rest for text in self.texts)


def fit(known: Known, shown: Shown) -> tuple[float, int, bool] | None:
    """How well a prompt's choices and answer agree with a document's, the more the better; None: they contradict.

    The same question with other choices is another prompt: those that the document lists must be the prompt's, in
    whatever order; where only its record shows some, all of the prompt's must be in it.

    Returns:
        The share of the prompt's choices that the document has (1 where the prompt has none); 2 where the right
        answer is the same, 1 where the document has it somewhere, else 0; and whether the choices stand in one order.
    """
    share = 1.0
    if known.choices and shown.document.choices:
        if shown.bare_choices != frozenset(map(_bare, known.choices)):
            return None
    elif known.choices:
        there = sum(choice in shown.everything or _bare(choice) in shown.bare_choices for choice in known.choices)
        if shown.choices and there < len(known.choices):
            return None
        share = there / len(known.choices)
    in_order = bool(known.choices) and known.choices == shown.choices
    if known.answer is None:
        return share, 0, in_order
    forms = {known.answer, *_named_option(known.answer, known.choices)}
    return share, 2 if forms & shown.answers else 1 if forms & shown.everything else 0, in_order


def best(numbers: Sequence[int], known: Sequence[Known], shown: Shown) -> list[int]:
    """Of the prompts that a document may be, those that fit it best; versions that are current before others."""
    fits = {number: found for number in numbers if (found := fit(known[number], shown)) is not None}
    if not fits:
        return []
    highest = max(fits.values())
    left = [number for number, found in fits.items() if found == highest]
    current = [number for number in left if known[number].current]
    return current or left


def _bare(choice: str) -> str:
    """A choice without what typesetting adds: its letter before it, the full stop after it."""
    return _LETTER.sub("", choice).rstrip(" .").casefold()


def _named_option(answer: str, choices: Sequence[str]) -> tuple[str, ...]:
    """The option that a letter from A or a number from 0 names."""
    place = -1
    if len(answer) == 1 and answer.isascii() and answer.isalpha():
        place = ord(answer.upper()) - ord("A")
    elif answer.isascii() and answer.isdigit() and len(answer) <= 2:
        place = int(answer)
    return (choices[place],) if 0 <= place < len(choices) else ()

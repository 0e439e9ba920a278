"""Documents are bound by what they say, each way only where it is unique, and never by where they stand."""

from __future__ import annotations

import random
from pathlib import PurePosixPath
from typing import Any

import orjson
import pytest

from benchcore.config import MappingSection, SourceSpec
from benchcore.harness.binding import Binder, Declared, Prompts, Source
from benchcore.harness.documents import Document
from benchcore.ingest.mapping import compile_mapping
from benchcore.ingest.templates import Template
from benchcore.registry.identity import digest
from tests.registry.stored import prompt

RIVER = "Which of the two rivers does the town of Ombra lie on?"
MOONS = "How many moons does the planet Zul have, counting the dark one?"


def prompts_of(*rows: dict[str, Any], old: tuple[dict[str, Any], ...] = ()) -> Prompts:
    prompts = Prompts()
    for row in rows:
        prompts.add(row, current=True)
    for row in old:
        prompts.add(row, current=False)
    return prompts


def document(record: dict[str, Any], request: str | None = None, **values: Any) -> Document:
    fields = {"harness": "h", "task": "task", "document_id": "7", "document_hash": digest(record, request)} | values
    return Document(record=record, request=request, **fields)


def bound(prompts: Prompts, *documents: Document, declared: Declared | None = None, **stored: Any) -> list[str | None]:
    """The prompt ids that documents are bound to."""
    binder = Binder(prompts, "h", declared or Declared(), **stored)
    places = [binder.add(each) for each in documents]
    binder.settle()
    bindings = [binder.bindings[place] for place in places]
    return [None if binding.number is None else binder.known(binding).prompt_id for binding in bindings]


def test_a_text_of_the_record_is_the_prompt_whatever_its_typesetting():
    """White space and the form of accents do not count."""
    row = prompt("towns", 1, prompt="Où est la  ville\nd'Ombra ?")

    found = bound(prompts_of(row), document({"q": "Ou\u0300 est la ville d'Ombra ?  "}))

    assert found == [row["prompt_id"]]


def test_position_names_nothing():
    """A document whose id is the number of another prompt's row is bound by its text."""
    rows = [prompt("towns", 0, prompt=RIVER), prompt("towns", 1, prompt=MOONS)]

    found = bound(prompts_of(*rows), document({"q": MOONS}, document_id="0"))

    assert found == [rows[1]["prompt_id"]]


def test_choices_and_answers_tell_equal_texts_apart():
    """By options in the record; by a letter that names the right one."""
    text = "Which of the following statements is correct?"
    rows = [
        prompt("towns", 1, prompt=text, choices=["red fish", "blue fish"], answer="red fish"),
        prompt("towns", 2, prompt=text, choices=["old ship", "new ship"], answer="new ship"),
        prompt("towns", 3, prompt=text, choices=["old ship", "new ship"], answer="old ship"),
    ]
    record = {"question": text, "choices": ["old ship", "new ship"]}

    found = bound(
        prompts_of(*rows),
        document({"question": text, "options": ["red fish", "blue fish"]}),
        document(record, answer="B"),
        document(record | {"label": 0}, answer="0"),
        document({"question": text, "choices": ["a third", "a fourth"]}),
        document({"question": text}),
    )

    assert found == [*(row["prompt_id"] for row in rows), None, None]


def test_many_prompts_with_one_text_are_found_by_their_choices():
    """Sentences to choose from, under one instruction."""
    rows = [
        prompt("pairs", n, prompt="Choose the better of these.", choices=[f"good {n}", f"bad {n}"]) for n in range(200)
    ]

    found = bound(
        prompts_of(*rows), document({"instruction": "Choose the better of these.", "choices": ["good 7", "bad 7"]})
    )

    assert found == [rows[7]["prompt_id"]]


def test_very_many_prompts_with_one_text_are_told_apart_by_their_answers():
    """However many there are, the one that fits is found, or none."""
    text = "What is shown in the picture?"
    rows = [prompt("pictures", n, prompt=text, answer=f"thing {n}") for n in range(200)]

    found = bound(prompts_of(*rows), document({"q": text}, answer="thing 188"), document({"q": text, "n": 1}))

    assert found == [rows[188]["prompt_id"], None]


@pytest.mark.parametrize(
    "options",
    [
        ["red", "green", "blue", "brown"],
        ["red", "green", "blue", "white", "black"],
        ["red", "green", "blue"],
        ["1.5", "green", "blue", "white"],
    ],
)
def test_the_same_question_with_other_choices_is_another_prompt(options: list[str]):
    """One of four was changed, one was added, one is gone."""
    row = prompt("towns", 1, prompt=RIVER, choices=["red", "green", "blue", "white"], answer="red")
    asked = document({"q": RIVER, "options": options, "was": "white"}, RIVER, choices=tuple(options))

    assert bound(prompts_of(row), asked) == [None]


def test_choices_are_the_same_whatever_letters_and_full_stops_stand_around_them():
    """Harnesses write them in their own ways and order; where a benchmark has both orders, the order counts."""
    choices = ["Lell", "The Tarn", "1.5"]
    row = prompt("towns", 1, prompt=RIVER, choices=choices)
    turned = prompt("towns", 2, prompt=RIVER, choices=choices[::-1])
    written = ("(A) Lell.", "B. the Tarn", "C) 1.5")

    assert bound(prompts_of(row), document({"q": RIVER}, choices=written)) == [row["prompt_id"]]
    assert bound(prompts_of(row), document({"q": RIVER}, choices=tuple(choices[::-1]))) == [row["prompt_id"]]
    assert bound(prompts_of(row, turned), document({"q": RIVER}, choices=tuple(choices[::-1]))) == [turned["prompt_id"]]


def test_a_passage_that_several_questions_are_about_is_none_of_them():
    """Another benchmark asks to sum it up; copies of one question are told by their answer."""
    passage = "The harbour of Ombra was built by the guild of pilots in the year of the storm."
    row = prompt("summaries", 1, prompt=passage)
    questions = [
        document(
            {"passage": passage, "q": f"Who built {n}?"}, f"{passage}\nWho built {n}?", answer=f"x{n}", document_id=n
        )
        for n in "012"
    ]
    copies = [document({"q": passage, "n": n}, passage, answer="x", document_id=n) for n in "012"]
    shuffled = [
        document({"q": passage, "n": n}, passage, answer=letter, choices=options, document_id=letter)
        for n, (letter, options) in enumerate({"A": ("yes", "no"), "B": ("no", "yes")}.items())
    ]

    assert bound(prompts_of(row), *questions) == [None] * 3
    assert bound(prompts_of(row), *copies) == [row["prompt_id"]] * 3
    assert bound(prompts_of(row), *shuffled) == [row["prompt_id"]] * 2


def test_a_text_that_was_not_sent_is_not_the_prompt():
    """A perturbed problem is not the one it was made from, though its record holds both."""
    rows = [prompt("towns", 1, prompt=RIVER)]
    record = {"original_problem": RIVER, "problem": "Which of the three rivers does the town of Ombra lie on?"}

    found = bound(prompts_of(*rows), document(record, f"Problem: {record['problem']}\nSolution:"))

    assert found == [None]


def test_a_request_is_searched_for_the_prompt_nearest_to_its_end():
    """Worked examples come before the question."""
    rows = [prompt("towns", 1, prompt=RIVER), prompt("towns", 2, prompt=MOONS)]

    found = bound(prompts_of(*rows), document({}, f"Q: {RIVER}\nA: Lell\n\nQ: {MOONS}\nA. two\nB. nine\nAnswer:"))

    assert found == [rows[1]["prompt_id"]]


def test_a_worked_example_is_not_taken_for_the_question():
    """Neither where the record's own question follows it, nor where all documents of a task hold it."""
    prompts = prompts_of(prompt("towns", 1, prompt=RIVER))
    requests = [f"Q: {RIVER}\nA: Lell\n\nQ: Who founded the city of {name}?\nA:" for name in ("Ur", "Ib")]

    with_record = bound(prompts, document({"q": "Who founded the city of Ur?"}, requests[0]))
    without = bound(prompts, *(document({}, request) for request in requests))

    assert with_record == [None]
    assert without == [None, None]


def test_the_same_lines_in_another_order_under_other_names_are_the_prompt():
    """Sources and harnesses put a passage and a question together in their own ways."""
    passage = "Ombra lies where the Lell meets the sea."
    row = prompt("towns", 1, prompt=f"Question: {RIVER}\n{passage}")
    prompts = prompts_of(row)

    assert bound(prompts, document({"question": RIVER, "passage": passage})) == [row["prompt_id"]]
    assert bound(prompts, document({}, f"Context: {passage}\nQ: {RIVER}\nAnswer:")) == [row["prompt_id"]]
    assert bound(prompts, document({"question": RIVER})) == [None]
    assert bound(prompts, document({}, f"Context: Zul is a planet.\nQ: {RIVER}\nAnswer:")) == [None]


def test_a_line_that_very_many_prompts_share_hides_none_of_them():
    """An instruction above short questions: the one that fits is found, and equals in two benchmarks stay equal."""
    line = "Solve the following problem and give the answer alone, please."
    rows = [prompt("sums", n, prompt=f"{line}\n{n}+{n}") for n in range(100)]
    twin = prompt("twins", 1, prompt=rows[3]["prompt"])
    turned = document({"sum": "99+99", "task": line}, f"99+99\n{line}")

    assert bound(prompts_of(*rows, twin), turned) == [rows[99]["prompt_id"]]
    assert bound(prompts_of(*rows, twin), document({"q": twin["prompt"]}, twin["prompt"])) == [None]


def test_a_part_of_a_text_is_not_believed_against_the_whole_task():
    """A benchmark that quotes another's prompt inside its own."""
    own = [prompt("proofs", n, prompt=f"Prove that the number {n} is larger than any before it.") for n in range(30)]
    other = prompt("towns", 1, prompt=RIVER)
    documents = [document({"statement": row["prompt"]}) for row in own]
    quoting = document({"informal": f"Problem: {RIVER}", "formal": "theorem river"})

    assert bound(prompts_of(*own, other), quoting) == [other["prompt_id"]]
    assert bound(prompts_of(*own, other), *documents, quoting)[-1] is None


def test_a_short_prompt_needs_its_answer_or_choices():
    """ "Yes" in a field is no question."""
    row = prompt("towns", 1, prompt="2 + 2", answer="4")

    found = bound(prompts_of(row), document({"q": "2 + 2"}), document({"q": "2 + 2", "a": "x"}, answer="4"))

    assert found == [None, row["prompt_id"]]


def test_copies_inside_a_benchmark_are_the_one_with_the_smallest_id():
    """As selection has it."""
    rows = [prompt("towns", n, prompt=RIVER) for n in range(3)]

    found = bound(prompts_of(*rows), document({"q": RIVER}))

    assert found == [min(row["prompt_id"] for row in rows)]


def test_a_task_settles_what_two_benchmarks_have():
    """The benchmark that most of its documents are of; else one of the task's name; else what the user says."""
    both = [prompt("alpha", 1, prompt=RIVER), prompt("beta", 1, prompt=RIVER)]
    prompts = prompts_of(*both, prompt("beta", 2, prompt=MOONS))
    asked = document({"q": RIVER})

    assert bound(prompts, asked) == [None]
    assert bound(prompts, asked, document({"q": MOONS}))[0] == both[1]["prompt_id"]
    assert bound(prompts, document({"q": RIVER}, task="Alpha")) == [both[0]["prompt_id"]]
    assert bound(prompts, asked, declared=Declared(benchmarks={"task": "alpha"})) == [both[0]["prompt_id"]]


def test_what_was_bound_earlier_stays_bound():
    """A binding needs no text; one of a prompt that has another content now is void."""
    row = prompt("towns", 1, prompt=RIVER)
    seen = document({"only": "a number", "n": 3})
    key = (seen.task, seen.document_hash)

    assert bound(prompts_of(row), seen, stored={key: (row["prompt_id"], row["content_hash"])}) == [row["prompt_id"]]
    assert bound(prompts_of(row), seen, stored={key: (row["prompt_id"], "other")}) == [None]


def test_a_benchmark_of_a_new_name_takes_over_what_was_bound():
    """A prompt that alone has left its benchmark keeps its documents."""
    asked = document({"q": RIVER})
    old, new, other = prompt("old", 1, prompt=RIVER), prompt("new", 1, prompt=RIVER), prompt("old", 2, prompt=MOONS)
    stored = {(asked.task, asked.document_hash): (old["prompt_id"], old["content_hash"])}

    assert bound(prompts_of(new, old=(old,)), asked, stored=stored) == [new["prompt_id"]]
    assert bound(prompts_of(other, new, old=(old,)), asked, stored=stored) == [old["prompt_id"]]
    assert bound(prompts_of(other, old=(old,)), asked, stored=stored) == [old["prompt_id"]]


def test_what_is_bound_as_it_is_stored_is_not_new():
    """Whichever way it was found."""
    row = prompt("towns", 1, prompt=RIVER)
    asked = document({"q": RIVER})
    stored = {(asked.task, asked.document_hash): (row["prompt_id"], row["content_hash"])}
    declared = Declared(prompt=Template("{{ q }}", "--prompt", "--prompt"))
    binder = Binder(prompts_of(row), "h", declared, stored)

    binder.add(asked)

    assert [binding.how for binding in binder.bindings] == ["declared prompt"]
    assert not any(map(binder.is_new, binder.bindings))


def test_a_prompt_that_was_read_from_a_log_knows_its_document():
    """Ingestion writes the document into the metadata."""
    named = {"document": {"harness": "h", "task": "task", "id": "3", "hash": "abc", "version": None}}
    row = prompt("towns", 1, metadata=orjson.dumps(named).decode())

    found = bound(prompts_of(row), document({}, document_hash="abc"), document({}, document_hash="abd"))

    assert found == [row["prompt_id"], None]


def test_a_record_that_names_a_prompt_is_that_prompt():
    """As the files of an export do; where it was edited, in the version that is named."""
    new, old = prompt("towns", 1, prompt=RIVER), prompt("towns", 1, prompt=MOONS)
    prompts = prompts_of(new, old=(old,))
    named = {"metadata": {"prompt_id": new["prompt_id"]}}
    pinned = {"prompt_id": old["prompt_id"], "content_hash": old["content_hash"]}
    binder = Binder(prompts, "h")

    places = [binder.add(document(record)) for record in (named, pinned, {"prompt_id": "nobody"})]
    binder.settle()

    contents = [b.number and prompts.known[b.number].content_hash for b in (binder.bindings[p] for p in places)]
    assert contents == [None, old["content_hash"], None]
    assert "was edited" in binder.bindings[places[0]].reason
    assert not any(map(binder.is_new, binder.bindings))


def test_a_version_that_is_named_and_not_known_is_no_other_version():
    """What was measured on one content says nothing of another, by prompt id or by record id."""
    row = prompt("towns", 1, prompt=RIVER, record_id="7")
    named = {"prompt_id": row["prompt_id"], "content_hash": "0" * len(row["content_hash"])}
    by_id = Declared(by_record_id=True)

    assert bound(prompts_of(row), document(named)) == [None]
    assert bound(prompts_of(row), document({"content_hash": named["content_hash"]}, task="towns"), declared=by_id) == [
        None
    ]
    assert bound(prompts_of(row), document(named | {"prompt": RIVER})) == [row["prompt_id"]]


def test_the_registrys_own_source_says_what_a_record_is():
    """Where no single field is the prompt."""
    spec = SourceSpec(
        name="towns",
        benchmark="towns",
        path="*.jsonl",
        format="json-lines",
        map=MappingSection(prompt="{{ premise }} So what?", choices=("{{ a }}", "{{ b }}")),
    )
    source = Source("towns", compile_mapping(spec), PurePosixPath("*.jsonl"))
    row = prompt("towns", 1, prompt="It rained. So what?", choices=["wet", "dry"])

    found = bound(
        prompts_of(row),
        document({"premise": "It rained.", "a": "wet", "b": "dry"}),
        document({"premise": "It rained.", "a": "wet", "b": "cold"}),
        declared=Declared(sources=[source]),
    )

    assert found == [row["prompt_id"], None]


def test_a_declared_prompt_is_the_only_text_that_counts():
    """The user knows the records best."""
    rows = [prompt("towns", 1, prompt=RIVER), prompt("towns", 2, prompt=MOONS)]
    declared = Declared(prompt=Template("{{ a }} {{ b }}", "--prompt", "--prompt"))

    first, second = RIVER.split(" of ", 1)
    both = document({"a": f"{first} of", "b": second, "hint": MOONS})
    found = bound(prompts_of(*rows), both, document({"a": MOONS}), declared=declared)
    wrongly = {(both.task, both.document_hash): (rows[1]["prompt_id"], rows[1]["content_hash"])}

    assert found == [rows[0]["prompt_id"], None]
    assert bound(prompts_of(*rows), both, declared=declared, stored=wrongly) == [rows[0]["prompt_id"]]


def test_record_ids_count_only_where_they_are_declared():
    """A harness's own numbers may look like them."""
    row = prompt("towns", 1, record_id="7")

    assert bound(prompts_of(row), document({}, task="towns")) == [None]
    assert bound(prompts_of(row), document({}, task="towns"), declared=Declared(by_record_id=True)) == [
        row["prompt_id"]
    ]


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_documents_does_not_matter(seed: int):
    """Bound is what is bound, in any order."""
    rows = [prompt(name, n, prompt=f"{RIVER} {n // 2}") for name in ("alpha", "beta") for n in range(8)]
    prompts = prompts_of(*rows, *(prompt("beta", n, prompt=f"{MOONS} {n}") for n in range(9, 12)))
    documents = [document({"q": row["prompt"]}) for row in rows] + [document({"q": f"{MOONS} {n}"}) for n in (9, 20)]
    shuffled = random.Random(seed).sample(documents, len(documents))

    found = dict(zip((d.document_hash for d in documents), bound(prompts, *documents), strict=True))

    assert dict(zip((d.document_hash for d in shuffled), bound(prompts, *shuffled), strict=True)) == found
    assert sum(name is not None for name in found.values()) == len(set(found)) - 1


def test_a_record_without_end_is_read_to_a_bound():
    """Nested beyond reason, or with millions of fields."""
    deep: Any = RIVER
    for _ in range(500):
        deep = {"inner": [deep]}

    wide = {f"field {n}": n for n in range(100_000)} | {"q": RIVER}
    prompts = prompts_of(prompt("towns", 1, prompt=RIVER))

    binder = Binder(prompts, "h")
    for number, record in enumerate(({"deep": deep}, wide)):
        binder.add(Document("h", "task", "7", str(number), record))

    assert [binding.number for binding in binder.bindings] == [None, None]

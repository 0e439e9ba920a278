"""From records to canonical prompts: what templates say, and what is said when they cannot."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchcore.config import SourceSpec
from benchcore.errors import UsageError
from benchcore.ingest.canonical import Canonical, Rejection
from benchcore.ingest.mapping import benchmark_of, compile_mapping, mapping_digest
from benchcore.ingest.readers import ReadUnit
from benchcore.ingest.rows import rows_of

PATH = PurePosixPath("quiz/test.de.jsonl")


def source(map: dict[str, Any], **keys: Any) -> SourceSpec:
    base = {"name": "quiz", "benchmark": "quiz", "category": "trivia", "path": "quiz/*", "format": "json-lines"}
    return SourceSpec.model_validate({**base, **keys, "map": map})


def outcome(value: Any, map: dict[str, Any], key: str | None = None, **keys: Any) -> Canonical | Rejection:
    (found,) = compile_mapping(source(map, **keys)).map(value, PATH, key)
    return found


def prompt(value: Any, map: dict[str, Any], key: str | None = None, **keys: Any) -> Canonical:
    found = outcome(value, map, key, **keys)
    assert isinstance(found, Canonical), found
    return found


def reason(value: Any, map: dict[str, Any], **keys: Any) -> str:
    found = outcome(value, map, **keys)
    assert isinstance(found, Rejection), found
    return found.reason


# What templates say


def test_a_benchmark_in_ten_lines():
    """Fields, the file's name and lists make a prompt; an id may use the language that the map gives."""
    record = {"premise": "It rained.", "choice1": "Wet.", "choice2": "Dry.", "label": 0, "idx": 7}
    found = prompt(
        record,
        {
            "id": "{{ language }}/{{ idx }}",
            "language": "{{ path.name.split('.')[1] }}",
            "prompt": "{{ premise }} What then?",
            "choices": ["{{ choice1 }}", "{{ choice2 }}"],
            "answer": "{{ [choice1, choice2][label] }}",
        },
    )

    assert found.prompt == "It rained. What then?"
    assert (found.identity, found.language, found.category) == ("de/7", "de", "trivia")
    assert (found.choices, found.answer, found.n_characters) == (["Wet.", "Dry."], "Wet.", 21)


def test_one_expression_keeps_its_value_and_everything_else_is_text():
    """A list stays a list of choices; inside text it has one element a line, and objects are JSON."""
    record = {"q": "Q", "options": ["a", None, 3], "tools": [{"b": 1, "a": True}], "none": None}

    assert prompt(record, {"prompt": "{{ q }}", "choices": "{{ options }}"}).choices == ["a", "", "3"]
    assert prompt(record, {"prompt": "{{ q }}:\n{{ options }}{{ none }}"}).prompt == "Q:\na\n\n3"
    assert prompt(record, {"prompt": "Use {{ tools }}"}).prompt == 'Use {"b": 1, "a": true}'


def test_what_is_no_text_becomes_json():
    """Numbers, truth values and grids are written as JSON; a list of lists has a line for each."""
    record = {"number": 2.0, "yes": True, "grid": [[1, 2], [3, 4]], "nan": float("nan")}

    assert prompt(record, {"prompt": "x", "answer": "{{ number }}"}).answer == "2.0"
    assert prompt(record, {"prompt": "x", "answer": "{{ yes }}"}).answer == "true"
    assert prompt(record, {"prompt": "x", "answer": "{{ grid }}"}).answer == "[1, 2]\n[3, 4]"
    assert prompt(record, {"prompt": "x", "metadata": {"score": "{{ [nan] }}"}}).metadata == '{"score": [null]}'


def test_filters_that_give_lists_need_no_list_filter():
    """`map`, `select` and their like are lists when they leave a template."""
    record = {"options": ["(A) one", "(B) two", ""]}
    stripped = "{{ options | select | map('regex_replace', '^[(][A-Z][)] ') }}"

    assert prompt(record, {"prompt": "x", "choices": stripped}).choices == ["one", "two"]


def test_regular_expressions_search_and_replace():
    """The first group counts, of the first or the last match; no match is none."""
    record = {"s": "a=1, b=2"}

    assert prompt(record, {"prompt": "x", "answer": "{{ s | regex_search('=(.)') }}"}).answer == "1"
    assert prompt(record, {"prompt": "x", "answer": "{{ s | regex_search('=(.)', last=true) }}"}).answer == "2"
    assert prompt(record, {"prompt": "x", "answer": "{{ s | regex_search('z') }}"}).answer is None
    assert prompt(record, {"prompt": "{{ s | regex_replace('[0-9]', '?') }}"}).prompt == "a=?, b=?"


def test_comments_and_raw_text_are_no_part_of_constants():
    """A template without expressions is what Jinja makes of it."""
    assert prompt({}, {"prompt": "{# asked as is #}Why?"}).prompt == "Why?"
    assert prompt({}, {"prompt": "{% raw %}{{ x }}{% endraw %}"}).prompt == "{{ x }}"


def test_fields_win_over_methods_and_awkward_names_are_reached_through_the_record():
    """A field named like a method of dictionaries, or with a space in it, is still a field."""
    record = {"data": {"items": "I", "values": "V"}, "Best Answer": "B", "path": "/p"}
    found = prompt(record, {"prompt": "{{ data.items }}{{ data.values }}{{ record['Best Answer'] }}{{ record.path }}"})

    assert found.prompt == "IVB/p"


def test_the_key_of_an_object_and_a_field_of_that_name():
    """`key` is the record's key in a JSON object, and the field `key` elsewhere."""
    assert prompt({"q": "Q"}, {"prompt": "{{ q }}", "id": "{{ key }}"}, key="pmid1").identity == "pmid1"
    assert prompt({"q": "Q", "key": 5}, {"prompt": "{{ q }}", "id": "{{ key }}"}).identity == "5"


def test_a_record_that_is_no_object_is_reached_as_record():
    """A list of plain texts needs no fields."""
    assert prompt("What?", {"prompt": "{{ record }}"}).prompt == "What?"


def test_optional_fields():
    """A field that some records lack is tested with `is defined`; elements that give none are left out."""
    map = {
        "prompt": "{{ q }}",
        "answer": "{{ a if a is defined else none }}",
        "choices": ["{{ q }}", "{{ c if c is defined else none }}"],
        "category": "{{ kind if kind is defined else none }}",
    }

    assert prompt({"q": "Q", "a": "A", "c": "C", "kind": "K"}, map).choices == ["Q", "C"]
    assert prompt({"q": "Q", "a": "A", "c": "C", "kind": "K"}, map).category == "K"
    assert prompt({"q": "Q"}, map).choices == ["Q"]
    assert (prompt({"q": "Q"}, map).answer, prompt({"q": "Q"}, map).category) == (None, "trivia")


def test_tags_of_the_source_and_of_the_record():
    """Both are kept, each once, in order."""
    map = {"prompt": "x", "tags": "{{ kinds }}"}

    assert prompt({"kinds": ["b", "a", "b", ""]}, map, tags=["canary", "a"]).tags == ["canary", "a", "b"]


def test_metadata_is_json_with_sorted_keys():
    """Values keep their types, what is none is left out."""
    map = {"prompt": "x", "metadata": {"z": "{{ level }}", "a": "{{ deep }}", "n": "{{ none }}"}}
    found = prompt({"level": 3, "deep": {"y": 1, "b": "ü"}}, map).metadata

    assert found == '{"a": {"b": "ü", "y": 1}, "z": 3}'


def test_texts_are_kept_as_they_stand():
    """CRLF, U+2028, quotes and trailing spaces are the benchmark's."""
    text = ' a\r\nb\u2028"c"\\ \u0085 '

    assert prompt({"q": text}, {"prompt": "{{ q }}"}).prompt == text


def test_empty_answers_and_choices_are_absent():
    """An answer of no characters is no answer, and has the same content hash."""
    map = {"prompt": "x", "answer": "{{ a }}", "choices": "{{ c }}"}
    empty, absent = prompt({"a": "", "c": []}, map), prompt({"a": None, "c": None}, map)

    assert empty == absent
    assert (empty.answer, empty.choices) == (None, None)


@given(st.dictionaries(st.sampled_from("qac"), st.text(st.characters(codec="utf-8", exclude_characters="\x00"))))
@settings(deadline=None)
def test_a_record_gives_the_same_prompt_every_time(record: dict[str, str]):
    """The hash follows from prompt, answer and choices alone."""
    map = {"prompt": "Q {{ record.get('q') }}", "answer": "{{ record.get('a') }}"}

    assert prompt(record, map) == prompt({**record, "unused": 1}, map)


# What is said when they cannot


def test_a_missing_field_offers_the_nearest_one():
    """The reason names the key of the map, the field and the nearest field that is there."""
    assert reason({"premise": "P"}, {"prompt": "{{ premis }}"}) == (
        "map.prompt: field 'premis' is not in the record; did you mean 'premise'?"
    )
    assert "did you mean 'label'" in reason({"q": 1, "o": {"label": 2}}, {"prompt": "x", "answer": "{{ o.labl }}"})
    assert "field 'zzz' is not in the record" in reason({"q": 1}, {"prompt": "x", "choices": ["{{ zzz }}"]})
    assert "field 'zzz' is not in the record" in reason({"q": 1}, {"prompt": "{{ record['zzz'] }}"})
    assert "the record is a list" in reason([{"q": 1}], {"prompt": "{{ q }}"})


def test_a_template_that_fails_on_a_record_says_where_and_why():
    """Whatever goes wrong inside a template is the record's reason, not a crash."""
    assert reason({"n": 0}, {"prompt": "{{ 1 / n }}"}) == "map.prompt: division by zero"
    assert reason({"o": [1]}, {"prompt": "x", "answer": "{{ o[5] }}"}).startswith("map.answer: ")
    assert reason({"o": "abc"}, {"prompt": "x", "choices": "{{ o }}"}) == "map.choices: must give a list, not a text"
    assert reason({"o": b"abc"}, {"prompt": "{{ o }}"}) == "map.prompt: a value of type bytes has no text"


@pytest.mark.parametrize("text", ["", " \n\u2028\t", None])
def test_an_empty_prompt_is_rejected(text: str | None):
    """Nothing but white space asks nothing."""
    assert reason({"q": text}, {"prompt": "{{ q }}"}) == "the prompt is empty"


def test_a_prompt_above_the_limit_is_rejected_with_its_length():
    """The reason names length and limit; the raw record is kept up to a bound."""
    (found,) = compile_mapping(source({"prompt": "{{ q }}"}), max_characters=1000).map({"q": "x" * 5_000_000}, PATH)

    assert isinstance(found, Rejection)
    assert found.reason == "the prompt has 5000000 characters, more than 1000 (ingest.max_characters)"
    assert len(found.raw) < 20_000


@pytest.mark.parametrize("where", ["prompt", "answer", "id", "task"])
@pytest.mark.parametrize(("bad", "said"), [("a\ud800b", "unpaired surrogate (U+D800)"), ("a\x00b", "NUL")])
def test_texts_that_no_table_can_hold_are_rejected(where: str, bad: str, said: str):
    """Neither Arrow nor Spark meets an unpaired surrogate or a NUL, not even in the raw text."""
    found = outcome({"q": bad}, {"prompt": "x", where: "{{ q }}"})

    assert isinstance(found, Rejection)
    assert said in found.reason
    assert "\x00" not in found.raw
    assert found.raw.encode("utf-8")


def test_a_reason_that_names_an_unstorable_field_can_be_stored():
    """Names of fields come from the data too."""
    assert "\\x00" in reason({"a\x00": 1}, {"prompt": "{{ zzzzz }}"})


def test_an_empty_id_is_rejected():
    """A declared id that gives nothing would make all such records the same."""
    assert reason({"q": "Q", "id": " "}, {"prompt": "{{ q }}", "id": "{{ id }}"}) == "map.id: the id is empty"


# What is wrong with the source


@pytest.mark.parametrize(
    ("map", "keys", "said"),
    [
        ({"prompt": "{{ q "}, {}, r"source 'quiz', map\.prompt: the template .* is wrong"),
        ({"prompt": "x", "choices": ["{{ a }}", "{% for %}"]}, {}, r"map\.choices\[1\]"),
        ({"prompt": "x", "metadata": {"level": "{{ }}"}}, {}, r"map\.metadata\.level"),
        ({"prompt": "{{ q | regexreplace('a') }}"}, {}, "regexreplace"),
        ({"prompt": "x"}, {"explode": "{{ a }} and {{ b }}"}, r"explode: .* is not one expression"),
        ({"prompt": "{% for x in [1] %}" * 25 + "{% endfor %}" * 25}, {}, r"map\.prompt: .* is wrong"),
        ({"prompt": "{{ " + "(" * 2000 + "1" + ")" * 2000 + " }}"}, {}, r"map\.prompt: .* is wrong"),
    ],
)
def test_wrong_syntax_is_found_before_anything_is_read(map: dict[str, Any], keys: dict[str, Any], said: str):
    """The error names the source and the key."""
    with pytest.raises(UsageError, match=said):
        compile_mapping(source(map, **keys))


@pytest.mark.parametrize("huge", ["{{ 'a' * 10**9 }}", "{{ [0] * 10**9 }}", "{{ 10**(10**9) }}", "{{ q * n }}"])
def test_a_short_template_cannot_ask_for_gigabytes(huge: str):
    """Neither when it is compiled nor when it is rendered."""
    assert "would give a value of" in reason({"q": "Q", "n": 10**9}, {"prompt": huge})


def test_the_sandbox_holds():
    """A template reaches neither Python's internals nor the record's own memory."""
    record = {"q": "Q", "xs": [1]}

    assert "unsafe" in reason(record, {"prompt": "{{ ''.__class__.__mro__ }}"})
    assert "unsafe" in reason(record, {"prompt": "{{ xs.append(2) }}"})
    assert "not in the record" in reason(record, {"prompt": "{{ lipsum }}"})
    assert record == {"q": "Q", "xs": [1]}


def test_the_benchmark_may_follow_from_the_path():
    """One source can hold a folder of benchmarks; anything but the path is refused."""
    folders = source({"prompt": "x"}, benchmark="lf_{{ path.parent.name }}", category="{{ path.parts[0] }}")

    assert benchmark_of(folders, "data/boolq/x.jsonl") == "lf_boolq"
    (found,) = compile_mapping(folders).map({}, PurePosixPath("data/boolq/x.jsonl"))
    assert isinstance(found, Canonical)
    assert (found.benchmark, found.category) == ("lf_boolq", "data")
    with pytest.raises(UsageError, match=r"source 'quiz': benchmark: field 'topic'.*`path` only"):
        benchmark_of(source({"prompt": "x"}, benchmark="{{ topic }}"), "a")


def test_the_digest_changes_with_what_changes_rows_and_only_then():
    """Licence, revision and file patterns are the sources table's; everything else is the rows'."""
    base = source({"prompt": "{{ q }}"})
    same = source({"prompt": "{{ q }}"}, name="other", path="elsewhere/*", exclude=["x"], licence="MIT", revision="1")
    others = [
        source({"prompt": "{{ q }} "}),
        source({"prompt": "{{ q }}", "metadata": {"a": "b"}}),
        source({"prompt": "{{ q }}"}, category="c"),
        source({"prompt": "{{ q }}"}, benchmark="b"),
        source({"prompt": "{{ q }}"}, encoding="latin-1"),
        source({"prompt": "{{ q }}"}, tags=["t"]),
        source({"prompt": "{{ q }}"}, explode="{{ e }}"),
    ]
    digests = {mapping_digest(spec) for spec in others}

    assert mapping_digest(base) == mapping_digest(same)
    assert len(digests) == len(others)
    assert mapping_digest(base) not in digests
    assert mapping_digest(base) != mapping_digest(base, max_characters=5)


# Exploding


def test_each_example_is_a_prompt_with_the_outer_record_as_parent():
    """Fields of the example stand at the top, the record around it under `parent`."""
    spec = source({"prompt": "{{ parent.intro }} {{ q }}"}, format="json", explode="{{ examples }}")
    found = compile_mapping(spec).map({"intro": "Answer:", "examples": [{"q": "1"}, {"q": ""}, {"p": "3"}]}, PATH)

    assert [one.prompt if isinstance(one, Canonical) else one.reason for one in found] == [
        "Answer: 1",
        "Answer: ",
        "map.prompt: field 'q' is not in the record; it has p",
    ]


@pytest.mark.parametrize(
    ("record", "said"), [({"examples": {"a": 1}}, "must give a list"), ({"example": []}, "not in")]
)
def test_what_cannot_be_exploded_is_one_rejected_record(record: dict[str, Any], said: str):
    """The record is kept whole, with the reason."""
    spec = source({"prompt": "{{ q }}"}, format="json", explode="examples")
    (found,) = compile_mapping(spec).map(record, PATH)

    assert isinstance(found, Rejection)
    assert said in found.reason
    assert json.loads(found.raw) == record


def test_rows_are_numbered_by_record_or_with_explode_by_example(tmp_path: Path):
    """Every row of a file has a number of its own, and nothing that is read is lost."""
    file = tmp_path / "a.jsonl"
    file.write_text('{"qs": ["a", "b"], "q": "x"}\n\nbroken\n{"qs": [], "q": "y"}\n{"qs": ["c", ""], "q": ""}\n')
    flat = source({"prompt": "{{ q }}"})
    nested = source({"prompt": "{{ record }}"}, explode="{{ qs }}")

    def rows(spec: SourceSpec) -> list[tuple[int, str]]:
        unit = ReadUnit.of(spec, str(file), "a.jsonl", 10**6)
        found = [(row.source_row, row.outcome) for row in rows_of(unit, compile_mapping(spec))]
        return [(number, one.prompt if isinstance(one, Canonical) else one.reason[:9]) for number, one in found]

    assert rows(flat) == [(0, "x"), (2, "not JSON:"), (3, "y"), (4, "the promp")]
    assert rows(nested) == [(0, "a"), (1, "b"), (2, "not JSON:"), (3, "c"), (4, "the promp")]

"""Laws of the text that an encoder sees."""

from __future__ import annotations

import pyarrow as pa
import pytest

from benchcore.config import EmbedSection, EncoderSection
from benchcore.embedding.text import Renderer
from benchcore.errors import BenchcoreError, UsageError
from benchcore.registry.identity import text_hash

ROW = {
    "prompt_id": "p1",
    "prompt": "Which?",
    "answer": None,
    "choices": ["left", "right"],
    "metadata": '{"passage": "It went left."}',
}


def render(template: str, **changes: object) -> str:
    return Renderer(EmbedSection(text=template)).render(ROW | changes)


def test_the_default_template_puts_the_question_first_and_leaves_out_what_is_missing():
    """A list becomes lines, a missing answer becomes nothing, and the ends are stripped."""
    assert render(EmbedSection().text) == "Which?\nleft\nright"


def test_blanks_inside_a_text_are_kept():
    """Only the ends are stripped: indentation is what some prompts are about."""
    assert render("{{ prompt }}", prompt="\n  if x:\n\n\n    y \n") == "if x:\n\n\n    y"


def test_characters_that_look_like_markup_stay_as_they_are():
    """Nothing is escaped, and braces in a prompt are no template."""
    assert render("{{ prompt }}", prompt="<b>&{{ 1 + 1 }}</b>") == "<b>&{{ 1 + 1 }}</b>"


def test_metadata_is_a_mapping_whose_missing_fields_print_nothing():
    """A field that only one benchmark has can be named for all."""
    assert render("{{ prompt }} {{ metadata.passage }}{{ metadata.other }}") == "Which? It went left."
    assert render("{{ prompt }} {{ metadata.passage }}", metadata=None) == "Which?"


def test_choices_can_be_looped_over_even_where_there_are_none():
    """A missing list is an empty one."""
    template = "{% for choice in choices %}({{ choice }}){% endfor %}"

    assert render(template) == "(left)(right)"
    assert render(template, choices=None) == ""


def test_only_the_columns_that_a_template_uses_are_read():
    """The long columns of the table stay on disk when nobody asks for them."""
    assert Renderer(EmbedSection(text="{{ task }}: {{ answer }}")).columns == ("answer", "task", "prompt_id")


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ promt }}", "Did you mean 'prompt'"),
        ("{{ zzz }}", "There are prompt, answer"),
        ("{{ prompt", "is not a template"),
        ("{{ prompt | shout }}", "No filter named 'shout'"),
    ],
)
def test_a_wrong_template_is_refused_before_any_prompt_is_read(template: str, message: str):
    """The nearest right column is offered."""
    with pytest.raises(UsageError, match=message):
        Renderer(EmbedSection(text=template))


@pytest.mark.parametrize("template", ["{{ choices[7].x }}", "{{ prompt.__class__.__mro__ }}", "{{ 1 / 0 }}"])
def test_a_template_that_fails_on_a_prompt_names_it(template: str):
    """So does one that reaches for what the sandbox keeps shut."""
    with pytest.raises(BenchcoreError, match="fails on prompt p1"):
        render(template)


def test_a_template_cannot_change_what_it_is_given():
    """Rendering one prompt leaves nothing behind for the next."""
    with pytest.raises(BenchcoreError, match="fails on prompt p1"):
        render("{{ choices.append('x') }}")


def test_hashes_name_what_is_rendered():
    """The hash of a row is the hash of its text."""
    renderer = Renderer(EmbedSection(text="{{ prompt }}"))
    rows = pa.table({"prompt_id": ["a", "b"], "prompt": ["x ", "y"]})

    assert renderer.hashes(rows) == [text_hash("x"), text_hash("y")]


def test_the_text_of_a_users_own_vector_is_the_prompts_id():
    """Own vectors belong to prompts: two prompts with one text may have two."""
    embed = EmbedSection(encoder=EncoderSection(vectors="vectors.parquet"))

    assert Renderer(embed).render(ROW) == "p1"

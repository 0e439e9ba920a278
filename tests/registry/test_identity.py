"""Ids and hashes: content decides them, nothing else does, and different content never meets."""

import hashlib
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchcore.registry.identity import (
    DIGEST_CHARACTERS,
    bucket,
    content_hash,
    digest,
    input_digest,
    prompt_id,
    text_hash,
)

# Texts as files hold them: valid Unicode, the odd line ends and combining marks included.
TEXTS = st.text(max_size=40)
PARTS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS, lambda inner: st.lists(inner, max_size=4)
)


@given(first=st.lists(PARTS, max_size=4), second=st.lists(PARTS, max_size=4))
def test_digests_are_equal_exactly_when_the_parts_are(first: list, second: list):
    """No two ways to cut the same characters into parts collide, and equal parts agree."""
    assert digest(*first) == digest(*first)
    assert (digest(*first) == digest(*second)) == (_shape(first) == _shape(second))


def _shape(parts: object) -> object:
    """True and 1 are equal in Python and are not the same content."""
    return [_shape(part) for part in parts] if isinstance(parts, list) else (type(parts), parts)


@given(mapping=st.dictionaries(TEXTS, st.integers(0, 9), max_size=6), seed=st.integers(0, 99))
def test_the_order_of_a_mapping_does_not_matter(mapping: dict, seed: int):
    """A configuration hashes the same in whatever order its keys were written."""
    items = list(mapping.items())
    random.Random(seed).shuffle(items)

    assert digest(mapping) == digest(dict(items))


@given(prompt=TEXTS, answer=st.none() | TEXTS, choices=st.none() | st.lists(TEXTS, max_size=4))
def test_every_part_of_the_record_counts(prompt: str, answer: str | None, choices: list[str] | None):
    """A change of the prompt, the answer or a choice is another content."""
    same = content_hash(prompt, answer, choices)

    assert same == content_hash(prompt, answer, choices)
    assert same != content_hash(prompt + "x", answer, choices)
    assert same != content_hash(prompt, (answer or "") + "x", choices)
    assert same != content_hash(prompt, answer, [*(choices or []), "x"])


@given(benchmark=TEXTS, identity=TEXTS, occurrence=st.integers(0, 5))
def test_an_id_tells_benchmark_identity_and_occurrence_apart(benchmark: str, identity: str, occurrence: int):
    """`ab` + `c` is not `a` + `bc`, and the second of two equals has an id of its own."""
    name = prompt_id(benchmark, identity, occurrence)

    assert name == prompt_id(benchmark, identity, occurrence)
    assert name != prompt_id(benchmark + "x", identity, occurrence)
    assert name != prompt_id(benchmark, "x" + identity, occurrence)
    assert name != prompt_id(benchmark, identity, occurrence + 1)
    assert len(name) == DIGEST_CHARACTERS


def test_hashes_of_different_kinds_never_meet():
    """The same text as a prompt's content and as an encoder's input has two hashes."""
    assert text_hash("a") != content_hash("a", None, None)


def test_ids_are_what_they_were():
    """Stored registries depend on these: a change here is a change of every table, and needs a migration."""
    assert digest("a", 1, None, ["b"]) == hashlib.sha256(b'["a",1,null,["b"]]').hexdigest()[:32]
    assert prompt_id("xcopa", "et/1") == hashlib.sha256(b'["prompt","xcopa","et/1",0]').hexdigest()[:32]
    assert text_hash("é\u2028") == hashlib.sha256('["text","é\u2028"]'.encode()).hexdigest()[:32]


@given(
    pairs=st.lists(
        st.tuples(
            st.text("0123456789abcdef", min_size=4, max_size=8), st.text("0123456789abcdef", min_size=4, max_size=8)
        ),
        max_size=8,
    ),
    seed=st.integers(0, 99),
)
def test_the_input_digest_is_of_a_set(pairs: list[tuple[str, str]], seed: int):
    """The order in which prompts are read changes nothing; one prompt more, or another text, does."""
    shuffled = random.Random(seed).sample(pairs, len(pairs))

    assert input_digest(pairs) == input_digest(shuffled)
    assert input_digest(pairs) != input_digest([*pairs, ("ffff", "0000")])
    assert input_digest([*pairs, ("ffff", "0000")]) != input_digest([*pairs, ("ffff", "0001")])


@pytest.mark.parametrize("buckets", [1, 7, 64])
def test_buckets_are_even_and_depend_on_the_hash_alone(buckets: int):
    """Any set of buckets is a fair random part of the texts."""
    hashes = [text_hash(f"text {number}") for number in range(6400)]
    counts = np.bincount([bucket(hashed, buckets) for hashed in hashes], minlength=buckets)

    assert counts.sum() == 6400
    assert len(counts) == buckets
    assert counts.min() > 0.5 * 6400 / buckets
    assert counts.max() < 1.6 * 6400 / buckets

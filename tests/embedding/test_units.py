"""Laws of units and batches: the same work is cut the same way whoever does it and in whatever order it comes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchcore.embedding.units import batches, form_units, unit_id
from benchcore.registry.identity import text_hash

SIZES = st.lists(st.integers(0, 5000), max_size=80)


@given(sizes=SIZES, seed=st.integers(0, 99), tokens=st.integers(64, 2000))
def test_units_hold_every_text_once_and_do_not_depend_on_the_order(sizes: list[int], seed: int, tokens: int):
    """Shuffling the texts gives units of the same names."""
    hashes = [text_hash(str(row)) for row in range(len(sizes))]
    order = np.random.default_rng(seed).permutation(len(sizes))
    units = form_units(hashes, sizes, 256, tokens)
    shuffled = form_units([hashes[row] for row in order], [sizes[row] for row in order], 256, tokens)

    assert sorted(row for unit in units for row in unit.rows) == list(range(len(sizes)))
    assert [unit.unit_id for unit in units] == [unit.unit_id for unit in shuffled]
    assert all(unit.unit_id == unit_id([hashes[row] for row in unit.rows]) for unit in units)


@given(sizes=SIZES, tokens=st.integers(300, 2000))
def test_a_units_estimated_work_is_bounded(sizes: list[int], tokens: int):
    """No unit is longer than was asked for, since none of its texts is."""
    hashes = [text_hash(str(row)) for row in range(len(sizes))]
    units = form_units(hashes, sizes, 256, tokens)

    assert all(sum(min(256, 2 + sizes[row] // 4) for row in unit.rows) <= tokens for unit in units)


@given(lengths=st.lists(st.integers(0, 300), max_size=80), tokens=st.integers(64, 600))
def test_batches_hold_every_row_once_within_their_tokens(lengths: list[int], tokens: int):
    """Padding included; only a row that is too long by itself exceeds them, alone."""
    cut = list(batches(np.array(lengths, np.int64), tokens))

    assert sorted(row for rows in cut for row in rows) == list(range(len(lengths)))
    assert all(len(rows) == 1 or max(lengths[row] for row in rows) * len(rows) <= tokens for rows in cut)

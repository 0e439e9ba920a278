"""Laws of log-determinants, from a kernel and from rows."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from benchcore.submodular.constraints.constraint import Cardinality
from benchcore.submodular.objectives.log_determinant import LogDeterminant, LowRankLogDeterminant
from benchcore.submodular.optimizers.lazy import lazy_greedy
from benchcore.submodular.optimizers.naive import naive_greedy
from benchcore.submodular.optimizers.result import Greedy
from benchcore.submodular.quantise import NORM, UNIT, quantise
from benchcore.submodular.similarities.dot import DotSimilarity
from benchcore.submodular.similarities.precomputed import DenseSimilarity

FORMS = pytest.mark.parametrize("form", ["kernel", "rows"])


def rows_with_twins(seed: int, n: int, d: int = 6) -> np.ndarray:
    """Quantised rows around a few centres, a sixth of them exact duplicates."""
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(4, d))[random.integers(0, 4, n)] + 0.7 * random.normal(size=(n, d))
    vectors[random.integers(0, n, n // 6)] = vectors[random.integers(0, n, n // 6)]
    return quantise(vectors, np.zeros(d))


def objective(form: str, rows: np.ndarray, scale: float = 1.0) -> LogDeterminant:
    if form == "kernel":
        return LogDeterminant(DotSimilarity(rows, clipped=False), scale)
    return LowRankLogDeterminant(rows, scale)


def everything(n: int, k: int | None = None) -> Cardinality:
    return Cardinality(np.ones(n, bool), n if k is None else k)


def log_det(rows: np.ndarray, picks: np.ndarray, scale: float = 1.0) -> float:
    kernel = rows[picks].astype(np.float64) @ rows[picks].T.astype(np.float64) / UNIT
    return float(np.linalg.slogdet(np.eye(len(picks)) + scale * kernel)[1])


def agree(one: Greedy, other: Greedy) -> None:
    assert one.order.tolist() == other.order.tolist()
    assert one.gains.tolist() == other.gains.tolist()


@FORMS
@pytest.mark.parametrize("scale", [0.1, 1.0, 300.0])
def test_the_value_is_the_log_determinant_of_any_set(form: str, scale: float):
    """Also of more rows than dimensions, where K itself has none; gains are differences of values."""
    rows = rows_with_twins(0, 60)
    order = np.random.default_rng(1).permutation(60)
    found = objective(form, rows, scale)
    values = [0.0]
    for k, row in enumerate(order, 1):
        gain = found.gains(np.array([row]))[0]
        found.add(int(row))
        values.append(found.value)

        assert np.isclose(log_det(rows, order[:k], scale), found.value, rtol=1e-9, atol=1e-9)
        assert np.isclose(values[-1] - values[-2], gain, atol=1e-12)
    assert np.isclose(found.value, found.total(), rtol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_a_kernel_and_its_rows_give_the_same_picks(seed: int):
    """Far beyond k = d, with twins, down to gains near zero."""
    rows = rows_with_twins(seed, 150, d=9)

    from_kernel = lazy_greedy(objective("kernel", rows), everything(150))
    from_rows = lazy_greedy(objective("rows", rows), everything(150))

    assert from_kernel.order.tolist() == from_rows.order.tolist()
    assert np.allclose(from_kernel.gains, from_rows.gains, rtol=0, atol=1e-9)


@FORMS
@pytest.mark.parametrize("n", [1, 2, 40, 150])
def test_lazy_picks_are_the_naive_ones(form: str, n: int):
    """To the last bit of every gain, although lazy asks for few of them."""
    rows = rows_with_twins(n, n)

    expected = naive_greedy(objective(form, rows), everything(n))
    found = lazy_greedy(objective(form, rows), everything(n))

    agree(expected, found)
    assert n == len(set(found.order.tolist()))
    assert np.all(found.gains >= 0)


@FORMS
def test_no_bit_depends_on_who_was_asked_when(form: str):
    """A row that catches up over many picks, alone or among others, equals one that was asked after each pick."""
    n, random = 150, np.random.default_rng(5)
    rows = rows_with_twins(5, n)
    often, seldom = objective(form, rows), objective(form, rows)
    rest = random.permutation(n)
    for pick in range(100):
        left = rest[pick:]
        expected = dict(zip(left.tolist(), often.gains(left).tolist(), strict=True))
        some = random.permutation(left)[: int(random.integers(1, 6)) ** 2]

        assert [expected[row] for row in some.tolist()] == seldom.gains(some).tolist()
        often.add(int(left[0]))
        seldom.add(int(left[0]))
    left = rest[100:]

    assert often.gains(left).tolist() == seldom.gains(left).tolist()
    assert often.value == seldom.value


@FORMS
def test_the_order_of_rows_and_the_number_of_threads_change_nothing(form: str):
    """The same picks by name and the same bits; ties between twins go to the smaller index, whichever twin it is."""
    n = 300
    rows = quantise(np.random.default_rng(3).normal(size=(n, 40)), np.zeros(40))
    shuffled = np.random.default_rng(4).permutation(n)

    expected = lazy_greedy(objective(form, rows), everything(n, 90))
    with threadpool_limits(1):
        found = lazy_greedy(objective(form, rows[shuffled]), everything(n, 90))

    assert expected.order.tolist() == shuffled[found.order].tolist()
    assert expected.gains.tolist() == found.gains.tolist()


@FORMS
def test_gains_never_rise(form: str):
    """Diminishing returns to the last bit but the declared slack."""
    rows = rows_with_twins(8, 80)
    found = objective(form, rows, 50.0)
    order = np.random.default_rng(8).permutation(80)
    before = found.gains(order)
    for k, pick in enumerate(order):
        found.add(int(pick))
        after = found.gains(order[k + 1 :])

        assert np.all(after <= before[1:] + found.slack)
        before = after
    assert found.slack < 1e-13


@FORMS
def test_orthogonal_rows_are_picked_in_their_order(form: str):
    """All gains are log(1 + a) to the end."""
    rows = (NORM * np.eye(12)).astype(np.float32)

    found = lazy_greedy(objective(form, rows, 3.0), everything(12))

    assert list(range(12)) == found.order.tolist()
    assert np.allclose(np.log(4.0), found.gains, rtol=1e-14)


@FORMS
def test_a_twin_comes_last(form: str):
    """Two equal rows and an orthogonal one: the twin gains log(3/2), the other log(2)."""
    rows = (NORM * np.array([[1, 0], [1, 0], [0, 1]])).astype(np.float32)

    found = lazy_greedy(objective(form, rows), everything(3))

    assert found.order.tolist() == [0, 2, 1]
    assert np.allclose(np.log([2.0, 2.0, 1.5]), found.gains, rtol=1e-12)


@FORMS
def test_the_total_and_a_fresh_start(form: str):
    """The total is what adding all reaches; a fresh objective knows nothing of it."""
    rows = rows_with_twins(2, 50)
    found = objective(form, rows)
    at_first = found.gains(np.arange(50))
    for row in range(50):
        found.add(row)

    assert np.isclose(found.value, found.total(), rtol=1e-12)
    assert found.fresh().value == 0
    assert at_first.tolist() == found.fresh().gains(np.arange(50)).tolist()
    assert objective(form, rows).total() == found.total()


def test_a_kernel_that_is_not_positive_semi_definite_is_refused():
    """0 is like 1 and 1 is like 2, but 0 is not like 2: nothing has such similarities, and candidate 1 shows it."""
    chain = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]])

    found = LogDeterminant(DenseSimilarity(chain), scale=4.0)
    found.add(0)
    found.add(2)

    with pytest.raises(ValueError, match=r"candidate 1 .* after 2 picks.*rbf"):
        found.gains(np.array([1]))
    with pytest.raises(ValueError, match="candidate 1 "):
        lazy_greedy(LogDeterminant(DenseSimilarity(chain), scale=4.0), everything(3))


def test_rounding_to_whole_numbers_does_not_count_as_a_fault():
    """A kernel of rank 2, rounded so that it has negative eigenvalues, runs to the end without a negative gain."""
    rows = np.random.default_rng(0).normal(size=(60, 2))
    similarity = DenseSimilarity(rows @ rows.T)
    rounded = similarity.block(slice(None), slice(None)).astype(np.float64)

    found = lazy_greedy(LogDeterminant(similarity, 1e4), everything(60))

    assert np.linalg.eigvalsh(rounded)[0] < -0.5
    assert np.all(found.gains >= 0)


def test_what_has_no_log_determinant_is_refused():
    """Similarities to other rows, and scales that are none."""
    rows = rows_with_twins(0, 5)

    with pytest.raises(ValueError, match="symmetric"):
        LogDeterminant(DotSimilarity(rows, rows[:3], clipped=False))
    for scale in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="scale"):
            LogDeterminant(DotSimilarity(rows, clipped=False), scale)
        with pytest.raises(ValueError, match="scale"):
            LowRankLogDeterminant(rows, scale)

"""Runs a comparison: every method and estimator on every sub-pool of every suite, here or on more processes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchcore.lab.contestants import Contestant, Judge, contestants, judges
from benchcore.lab.judging import Errors, assess, errors_of
from benchcore.lab.picking import Picked, draws_of, pick, picked_of
from benchcore.lab.pieces import Arrays, Pieces
from benchcore.lab.protocol import Protocol, Trial, trial_of
from benchcore.lab.provenance import code_identity
from benchcore.lab.suites import Suite
from benchcore.registry.identity import digest

log = logging.getLogger(__name__)

# Picks that took less are picked again rather than kept.
_WORTH_KEEPING_S = 0.2
# How long picking took; and the mark of a method that gives its picks no weights of its own.
_SECONDS, _ABSENT = "seconds", "absent"


# What of the bench itself every piece depends on.
OWN_CODE: tuple[Callable[..., Any], ...] = (trial_of, pick, assess)


@dataclass(frozen=True, eq=False)
class Bench:
    """A suite, ready to measure on.

    Attributes:
        suite: prompts and scores.
        features: blocks by name.
        protocol: settings.
        contestants: methods; the control is among them.
        judges: estimators; the headline one is among them.
        folder: where finished pieces are kept, or None.
    """

    suite: Suite
    features: Mapping[str, NDArray[Any]]
    protocol: Protocol
    contestants: Sequence[Contestant]
    judges: Sequence[Judge]
    folder: Path | None = None

    @cached_property
    def identity(self) -> str:
        """Hash of the data and of the settings that every piece depends on."""
        blocks = {name: digest(np.ascontiguousarray(block).tobytes().hex()) for name, block in self.features.items()}
        settings = {name: value for name, value in asdict(self.protocol).items() if name not in ("repeats", "panel")}
        own = [code_identity(part) for part in OWN_CODE]
        return digest("bench", self.suite.identity, blocks, settings, own)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What was measured of a method with an estimator on a sub-pool.

    Attributes:
        method: its name.
        estimator: its name.
        repeat: number of the sub-pool.
        errors: of all budgets and models.
        seconds: of one draw for all budgets.
    """

    method: str
    estimator: str
    repeat: int
    errors: Errors
    seconds: float


@dataclass(frozen=True)
class Failure:
    """A method or estimator that failed on a sub-pool.

    Attributes:
        what: method, estimator and sub-pool.
        why: the error, in one line.
    """

    what: str
    why: str


Result = Outcome | Failure


def measure(bench: Bench, repeat: int, advance: Callable[[int], None] = lambda _: None) -> list[Result]:
    """Measure everything on one sub-pool; what was kept is not measured again.

    Args:
        bench: the suite and what is compared on it.
        repeat: number of the sub-pool.
        advance: told after each method that one more is done.

    Raises:
        UsageError: the models cannot be split.
    """
    trial = trial_of(bench.suite, bench.features, bench.protocol, repeat)
    results: list[Result] = []
    for contestant in bench.contestants:
        results += _one_method(bench, trial, contestant)
        advance(1)
    return results


def _one_method(bench: Bench, trial: Trial, contestant: Contestant) -> Iterator[Result]:
    kept = Pieces(bench.folder)
    of_picks = digest(
        bench.identity, trial.repeat, contestant.name, code_identity(contestant.entry.method),
        contestant.entry.nested, contestant.entry.drawn, list(contestant.entry.needs),
    )  # fmt: skip
    picked: Picked | None = None
    for judge in bench.judges:
        if max(judge.panel, contestant.panel) > len(trial.split.source):
            continue
        key = digest(of_picks, judge.name, _judge_identity(judge))
        stored = kept.load(key)
        if stored is not None:
            if _ABSENT not in stored:
                yield _outcome(contestant, judge, trial, stored)
            continue
        try:
            if picked is None:
                picked = _picked(kept, of_picks, trial, contestant)
            if judge.takes_own and any(weights is None for weights in picked.own[0]):
                kept.save(key, {_ABSENT: np.array(True)})
                continue
            errors = assess(trial, contestant, judge, picked)
        except Exception as error:  # one method that fails must not take hours of others with it; told in the end
            what = f"{contestant.name} with {judge.name} on sub-pool {trial.repeat} of {trial.suite.name}"
            yield Failure(what, " ".join(f"{type(error).__name__}: {error}".split()))
            if picked is None:
                return
            continue
        measured = {**errors.arrays(), _SECONDS: np.array(picked.seconds)}
        kept.save(key, measured)
        yield _outcome(contestant, judge, trial, measured)


def _outcome(contestant: Contestant, judge: Judge, trial: Trial, measured: Arrays) -> Outcome:
    errors = errors_of({name: values for name, values in measured.items() if name != _SECONDS})
    return Outcome(contestant.name, judge.name, trial.repeat, errors, float(measured[_SECONDS]))


def _picked(kept: Pieces, key: str, trial: Trial, contestant: Contestant) -> Picked:
    stored = kept.load(key)
    if stored is not None:
        return picked_of(stored)
    picked = pick(trial, contestant)
    if picked.seconds * draws_of(contestant, trial.protocol) >= _WORTH_KEEPING_S:
        kept.save(key, picked.arrays())
    return picked


def read_code(entrants: Sequence[Contestant], jury: Sequence[Judge]) -> None:
    """Read the sources that pieces depend on now, as they are running: they may be edited while hours pass."""
    for function in (*OWN_CODE, *(contestant.entry.method for contestant in entrants)):
        code_identity(function)
    for judge in jury:
        _judge_identity(judge)


def _judge_identity(judge: Judge) -> str:
    weights = judge.entry.weights
    return digest(
        judge.panel, code_identity(judge.entry.estimator), None if weights is None else code_identity(weights)
    )


def run(
    benches: Sequence[Bench], *, workers: int = 1, ray: bool = False, advance: Callable[[int], None] = lambda _: None
) -> list[list[Result]]:
    """Measure everything on every sub-pool of every suite.

    Args:
        benches: one a suite.
        workers: processes; 1: this one. More, and Ray, know the methods and estimators of the registries alone.
        ray: run on Ray instead, on as many workers as it has room for.
        advance: told how many more methods are done, each on one sub-pool.

    Returns:
        Results of each bench. They do not depend on the workers.
    """
    for bench in benches:
        _say_left_out(bench)
    jobs = [(number, repeat) for number, bench in enumerate(benches) for repeat in range(bench.protocol.repeats)]
    results: list[list[Result]] = [[] for _ in benches]
    if ray:
        finished = _on_ray(benches, jobs)
    elif workers > 1:
        finished = _on_processes(benches, jobs, workers)
    else:
        finished = ((number, measure(benches[number], repeat, advance)) for number, repeat in jobs)
    for number, found in finished:
        results[number] += found
        if ray or workers > 1:
            advance(len(benches[number].contestants))
    for found in results:
        found.sort(key=_order)
    return results


def _say_left_out(bench: Bench) -> None:
    """Tell which pairs `_one_method` passes over because a split by families leaves too few models to look at."""
    panels = {contestant.name: contestant.panel for contestant in bench.contestants}
    panels |= {judge.name: judge.panel for judge in bench.judges}
    if not any(panels.values()):
        return
    repeats = bench.protocol.repeats
    sizes = np.array([len(trial_of(bench.suite, {}, bench.protocol, repeat).split.source) for repeat in range(repeats)])
    for name, panel in sorted(panels.items()):
        if missed := int((sizes < panel).sum()):
            told = "%s: %s is left out on %d of %d sub-pools: the split leaves fewer than %d models to look at"
            log.warning(told, bench.suite.name, name, missed, repeats, panel)


def _order(result: Result) -> tuple[int, str, str]:
    return (-1, result.what, "") if isinstance(result, Failure) else (result.repeat, result.method, result.estimator)


def _on_processes(
    benches: Sequence[Bench], jobs: Sequence[tuple[int, int]], workers: int
) -> Iterator[tuple[int, list[Result]]]:
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        parcels = [_parcel(bench) for bench in benches]
        waiting = {pool.submit(_single_threaded, parcels[number], repeat): number for number, repeat in jobs}
        try:
            for future in as_completed(waiting):
                yield waiting[future], future.result()
        finally:
            pool.shutdown(cancel_futures=True)


Parcel = tuple[Bench, list[str], list[str]]


def _parcel(bench: Bench) -> Parcel:
    """A bench that can be sent to another process: methods and estimators of the registries, by name."""
    names = [contestant.name for contestant in bench.contestants], [judge.name for judge in bench.judges]
    return replace(bench, contestants=(), judges=()), *names


def _single_threaded(parcel: Parcel, repeat: int) -> list[Result]:
    """Measure in another process; processes share the cores, so that each has one thread."""
    from threadpoolctl import threadpool_limits

    from benchcore.estimation import ESTIMATORS
    from benchcore.methods import METHODS

    bare, methods, estimators = parcel
    found = judges(estimators, ESTIMATORS, bare.protocol.panel)
    with threadpool_limits(1):
        return measure(replace(bare, contestants=contestants(methods, METHODS), judges=found), repeat)


def _on_ray(benches: Sequence[Bench], jobs: Sequence[tuple[int, int]]) -> Iterator[tuple[int, list[Result]]]:
    import ray

    from benchcore.config import RaySection
    from benchcore.ray_cluster import connect

    connect(RaySection())
    remote = ray.remote(_single_threaded)
    stored = [ray.put(_parcel(bench)) for bench in benches]
    waiting = {remote.remote(stored[number], repeat): number for number, repeat in jobs}
    while waiting:
        (done, *_), _ = ray.wait(list(waiting), num_returns=1)
        yield waiting.pop(done), ray.get(done)

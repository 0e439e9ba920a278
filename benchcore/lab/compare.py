"""A whole comparison: suites by their folders in, findings out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from benchcore.errors import UsageError
from benchcore.estimation.estimator import EstimatorEntry
from benchcore.lab.comparison import Bench, read_code, run
from benchcore.lab.contestants import CONTROL, HEADLINE, Contestant, Judge, contestants, judges
from benchcore.lab.features import BLOCKS, TextEncoder, default_cache, features_of
from benchcore.lab.protocol import ABLATIONS, EQUALS, Protocol, require_budgets
from benchcore.lab.results import findings
from benchcore.lab.rows import Findings
from benchcore.lab.splits import SPLITS, smallest_pool, split_models
from benchcore.lab.suites import Suite, load_suite
from benchcore.methods.entry import Entry
from benchcore.methods.names import require_known
from benchcore.progress import progress

log = logging.getLogger(__name__)

BUDGETS = (70, 100, 140, 200)
Entrant = TypeVar("Entrant", Contestant, Judge)


@dataclass(frozen=True)
class Field:
    """All that can take part.

    Attributes:
        methods: by name.
        estimators: by name.
        default: names of the default method, or None, and of its estimator.
    """

    methods: Mapping[str, Entry]
    estimators: Mapping[str, EstimatorEntry]
    default: tuple[str | None, str] = (None, HEADLINE)


def registered() -> Field:
    """The methods and estimators of the registries."""
    from benchcore import estimation, methods

    default = getattr(methods, "DEFAULT", None), getattr(estimation, "DEFAULT", HEADLINE)
    return Field(methods.METHODS, estimation.ESTIMATORS, default)


def compare(
    specs: Sequence[str],
    protocol: Protocol,
    *,
    methods: Sequence[str] | None = None,
    estimators: Sequence[str] | None = None,
    field: Field | None = None,
    encoder: Callable[[], TextEncoder] | None = None,
    scale: float | None = None,
    answers: bool = True,
    blocks: Sequence[str] = BLOCKS,
    cache: Path | None = None,
    out: Path | None = None,
    workers: int = 1,
    ray: bool = False,
) -> Findings:
    """Compare methods and estimators on suites.

    Args:
        specs: of suites, as `suites.load_suite` takes them.
        protocol: settings; without budgets, the usual ones that every suite has room for.
        methods: names, `NAME@P` that sees P models alone, `NAME:unbalanced` without quotas; None: all. The control
            always takes part.
        estimators: names, `NAME@P` with a panel of P models; None: all. The headline one always takes part.
        field: what there is; None: the registries.
        encoder: makes the encoder; called only where vectors are needed.
        scale: score of a perfect answer; None: scores lie in [0, 1].
        answers: whether answers belong to the texts.
        blocks: features that methods are given; `embedding` in any case where something needs it.
        cache: folder of feature blocks.
        out: folder of finished pieces; None: nothing is kept.
        workers: processes.
        ray: run on Ray instead.

    Raises:
        UsageError: a suite, a name or a budget is wrong.
    """
    field = field or registered()
    entrants = contestants(None if methods is None else [CONTROL, *methods], field.methods)
    jury = judges(None if estimators is None else [HEADLINE, *estimators], field.estimators, protocol.panel)
    _require_settings(protocol)
    read_code(entrants, jury)
    needed = _needed(entrants, jury, blocks)
    suites = [load_suite(spec, scale=scale, answers=answers) for spec in specs]
    _require_distinct(suites)
    for suite in suites:
        _require_split(suite, protocol)
    settled = [_with_budgets(suite, protocol) for suite in suites]
    benches = []
    for suite, own in zip(suites, settled, strict=True):
        lacks = "embedding" in needed and "embedding" not in suite.blocks
        encodes = encoder() if encoder and lacks and suite.texts else None
        features = features_of(suite, encodes, cache or default_cache(), needed)
        kept = out / ".pieces" if out else None
        benches.append(Bench(suite, features, own, _fitting(suite, entrants), _fitting(suite, jury), kept))
    total = sum(bench.protocol.repeats * len(bench.contestants) for bench in benches)
    with progress("compare", total, "methods on sub-pools") as advance:
        results = run(benches, workers=workers, ray=ray, advance=advance)
    return findings(benches, results, field.default)


def _needed(entrants: Sequence[Contestant], jury: Sequence[Judge], wanted: Sequence[str]) -> list[str]:
    """Blocks that methods are given: they take what they find, so that it must not depend on which others take part."""
    for name in wanted:
        require_known(name, BLOCKS, "feature block", "--features")
    needed = {block for contestant in entrants for block in contestant.entry.needs}
    if any(judge.entry.needs_embedding for judge in jury):
        needed.add("embedding")
    return [block for block in BLOCKS if block in needed or (block in wanted and needed)]


def _require_settings(protocol: Protocol) -> None:
    require_known(protocol.split, SPLITS, "split", "--split")
    require_known(protocol.equal, EQUALS, "equality", "--equal")
    if protocol.ablation is not None:
        require_known(protocol.ablation, ABLATIONS, "ablation", "--ablate")
    for value, name in ((protocol.repeats, "--repeats"), (protocol.draws, "--draws"), (min((*protocol.ks, 1)), "--k")):
        if value < 1:
            raise UsageError(f"is {value}, but must be at least 1", where=name)


def _require_distinct(suites: Sequence[Suite]) -> None:
    names = [suite.name for suite in suites]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"two suites are named '{name}'", where="SUITE", mend="Rename a folder.")


def _require_split(suite: Suite, protocol: Protocol) -> None:
    """Refuse models that cannot be split before anything is computed; where they can, every sub-pool's can."""
    import numpy as np

    try:
        split_models(protocol.split, suite.models, np.zeros(len(suite.models)), protocol.generator("split"))
    except UsageError as error:
        raise UsageError(error.what, where=suite.name, mend=error.mend) from None


def _with_budgets(suite: Suite, protocol: Protocol) -> Protocol:
    """The protocol with this suite's budgets: those that were asked for, or the usual ones that fit."""
    import numpy as np

    if protocol.ks:
        own = replace(protocol, ks=tuple(sorted(set(protocol.ks))))
    else:
        room = smallest_pool(np.unique(suite.groups, return_inverse=True)[1], protocol.least)
        least = len(suite.benchmarks)
        own = replace(protocol, ks=tuple(k for k in BUDGETS if least <= k <= room))
        usual = ", ".join(map(str, BUDGETS))
        if not own.ks:
            why = f"none of the usual budgets {usual} is from {least:,} (benchmarks) to {room:,} (smallest sub-pool)"
            raise UsageError(why, where=suite.name, mend=f"Choose --k from {least:,} to {room:,}.")
        if left := [k for k in BUDGETS if k not in own.ks]:
            told = "%s: only budgets from %d (benchmarks) to %d (smallest sub-pool) fit; %s left out"
            log.warning(told, suite.name, least, room, ", ".join(map(str, left)))
    require_budgets(suite, own)
    return own


def _fitting(suite: Suite, entrants: Sequence[Entrant]) -> list[Entrant]:
    """Methods or estimators without those whose panel would leave too few models.

    Raises:
        UsageError: nothing is left but the control.
    """
    fitting = [entrant for entrant in entrants if 2 * entrant.panel <= len(suite.models)]
    if left := [entrant.name for entrant in entrants if entrant not in fitting]:
        told = f"too few models ({len(suite.models)}) for {', '.join(left)}"
        if len(fitting) < 2:
            raise UsageError(told, where=suite.name, mend=f"Panels of at most {len(suite.models) // 2} fit.")
        log.warning("%s: %s", suite.name, told)
    return fitting

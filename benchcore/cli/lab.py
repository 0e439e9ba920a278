"""`benchcore lab`: which selection preserves scores, measured on suites of prompts that models were scored on."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchcore.cli.options import Debug, Json, Quiet, start_logging
from benchcore.errors import BenchcoreError, UsageError

if TYPE_CHECKING:
    from benchcore.lab.features import TextEncoder
    from benchcore.lab.rows import Findings

log = logging.getLogger(__name__)

app = typer.Typer(help="Measure which selection preserves scores.", no_args_is_help=True, rich_markup_mode=None)

Names = Annotated[str | None, typer.Option(metavar="NAME,NAME", show_default=False)]


@app.callback()
def lab() -> None:
    """Measure which selection preserves scores."""


@app.command()
def compare(
    suite: Annotated[
        list[str],
        typer.Argument(
            metavar="SUITE...", help="Folders or dataset:NAME; A+B joins some, A:odd and A:even are halves."
        ),
    ],
    *,
    k: Annotated[
        str | None, typer.Option("-k", "--k", metavar="K,K", help="Budgets (default: 70,100,140,200).")
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME",
            help="Default: a few; or all. NAME:unbalanced picks without quotas; NAME@3 sees three models' scores.",
        ),
    ] = None,
    estimators: Annotated[
        str | None,
        typer.Option(metavar="NAME,NAME", help="Default: macro,plain,own; or all. NAME@3 has a panel of three."),
    ] = None,
    repeats: Annotated[int, typer.Option(help="Sub-pools of each suite.")] = 20,
    draws: Annotated[int, typer.Option(help="Seeds of methods that draw, on each sub-pool; the control has 100.")] = 5,
    split: Annotated[str, typer.Option(help="Of models: random, family, or strongest (30 % are held out).")] = "random",
    panel: Annotated[
        str, typer.Option(metavar="P,P", help="Sizes of the panel for estimators that need one.")
    ] = "3,10",
    ablate: Annotated[
        str | None, typer.Option(help="shuffled features or permuted-scores: the ratio must fall to 1.")
    ] = None,
    equal: Annotated[str, typer.Option(help="Methods get equal prompts or equal tokens (characters).")] = "prompts",
    scale: Annotated[float | None, typer.Option(help="Score of a perfect answer, where it is not 1.")] = None,
    answers: Annotated[bool, typer.Option("--answers/--no-answers", help="Whether texts include answers.")] = True,
    features: Annotated[
        str, typer.Option(metavar="NAME,NAME", help="Blocks that methods are given.")
    ] = "embedding,surface,ngrams",
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Of all that is drawn.")] = 0,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the rows there.")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write rows and figures there; an interrupted run goes on.")
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Of features (default: ~/.cache/benchcore/lab).")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    ray: Annotated[bool, typer.Option("--ray", help="Run on Ray.")] = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Compare methods and estimators on suites, against balanced random picks with macro weights.

    A suite is a folder with prompts.jsonl (prompt_id, prompt, and if there are any answer, options, and benchmark,
    task or category as the group) and correct.parquet or a CSV file (a row a prompt, with the column prompt_id, and a
    column a model). Its own vectors can lie beside them as vectors.npy. dataset:mmlu_pro, dataset:ifeval and
    dataset:zeroeval_gsm, _crux and _math_l5 ship with the package.
    """
    start_logging(quiet=quiet, debug=debug)
    from benchcore.lab.compare import compare as run
    from benchcore.lab.contestants import USUAL_ESTIMATORS, USUAL_METHODS
    from benchcore.lab.protocol import Protocol
    from benchcore.lab.tables import require_writable, write_files

    require_writable(json=json, out=out)
    protocol = Protocol(
        ks=tuple(_numbers(k, "--k")),
        repeats=repeats,
        draws=draws,
        split=split,
        panel=tuple(_numbers(panel, "--panel", "3,10")),
        ablation=ablate,
        equal=equal,
        seed=seed,
    )
    found = run(
        suite,
        protocol,
        methods=_among(methods, USUAL_METHODS),
        estimators=_among(estimators, USUAL_ESTIMATORS),
        encoder=default_encoder,
        scale=scale,
        answers=answers,
        blocks=_names(features) or (),
        cache=cache,
        out=out,
        workers=workers,
        ray=ray,
    )
    _print(found)
    write_files(found, json=json, out=out)
    _draw(found, out)
    _require_complete(found)


@app.command()
def reproduce(
    *,
    suites: Annotated[
        str | None, typer.Option(metavar="NAME,NAME", help="mmlu_pro, mmlu_pro:odd, mmlu_pro:even, zeroeval, ifeval.")
    ] = None,
    k: Annotated[
        str | None, typer.Option("-k", "--k", metavar="K,K", help="Budgets (default: 70,100,140,200).")
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Sub-pools of each suite (default: 20).", show_default=False)
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Two suites, five sub-pools: about a minute.")] = False,
    full: Annotated[bool, typer.Option("--full", help="All methods and estimators: an hour and more.")] = False,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the rows there.")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write rows and figures there; an interrupted run goes on.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    ray: Annotated[bool, typer.Option("--ray", help="Run on Ray.")] = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Measure the README's table again, on the scores and vectors that ship with the package.

    Needs no encoder and no network. `benchcore lab compare dataset:ifeval` measures other things on the same suites.
    """
    start_logging(quiet=quiet, debug=debug)
    from benchcore.cli.output import print_table
    from benchcore.lab.compare import BUDGETS
    from benchcore.lab.reproduce import extent
    from benchcore.lab.reproduce import reproduce as run
    from benchcore.lab.tables import require_writable, summary_table, write_files

    require_writable(json=json, out=out)
    of = extent(_names(suites), repeats, quick=quick, full=full)
    found = run(of, ks=_numbers(k, "--k") or BUDGETS, out=out, workers=workers, ray=ray)
    print_table(*summary_table(found))
    write_files(found, json=json, out=out)
    _draw(found, out)
    _require_complete(found)


@app.command()
def intervals(
    suite: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SUITE]...", help="As for compare; default: those of reproduce.", show_default=False),
    ] = None,
    *,
    k: Annotated[str | None, typer.Option("-k", "--k", metavar="K,K", help="Budgets (default: 100,200,400).")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Sub-pools of each suite.")] = 20,
    draws: Annotated[int, typer.Option(min=1, help="Seeds on each sub-pool.")] = 5,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Of all that is drawn.")] = 0,
    json: Json = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Measure how often the 95 % intervals of `benchcore estimate` hold the true score, by suite and by their kind.

    Kinds: see docs/estimates.md. A suite is a folder or dataset:NAME, as for `lab compare`.
    """
    start_logging(quiet=quiet, debug=debug)
    from dataclasses import asdict

    from benchcore.cli.output import print_json, print_table
    from benchcore.lab.interval_coverage import BUDGETS, interval_coverage
    from benchcore.lab.reproduce import SUITES

    ks = _numbers(k, "--k", "100,200,400") or BUDGETS
    specs = suite or list(SUITES.values())
    rows = interval_coverage(specs, ks=ks, repeats=repeats, draws=draws, encoder=default_encoder, seed=seed)
    if json:
        print_json([asdict(row) for row in rows])
        return
    columns = ("suite", "kind", "k#", "intervals#", "coverage#", "+-#", "points wide#", "error#")
    lines = [
        (row.suite, row.kind, row.k, row.intervals, f"{row.coverage:.3f}", f"{row.spread:.3f}", row.width, row.error)
        for row in rows
    ]
    print_table("95 % intervals of a model's score", columns, lines)


def _draw(found: Findings, out: Path | None) -> None:
    """Draw figures beside the rows; without matplotlib, which is an extra, there are none."""
    from benchcore.lab.figures import can_draw, write_figures

    if out is not None and can_draw():
        write_figures(found, out / "figures")
    elif out is not None:
        log.warning("no figures: matplotlib is not installed (pip install 'benchcore[plots]')")


def _require_complete(found: Findings) -> None:
    if found.failures:
        first = found.failures[0]
        raise BenchcoreError(f"{len(found.failures)} measurements failed; the first is {first.what}: {first.why}")


def _numbers(written: str | None, where: str, example: str = "70,100,140,200") -> list[int]:
    numbers = []
    for text in _names(written) or ():
        if not text.isdecimal() or int(text) < 1:
            raise UsageError(f"'{text}' is no whole number above 0", where=where, mend=f"For example {example}.")
        numbers.append(int(text))
    return numbers


def _names(written: str | None) -> list[str] | None:
    return None if written is None else [name.strip() for name in written.split(",") if name.strip()]


def _among(written: str | None, usual: Sequence[str]) -> Sequence[str] | None:
    """The names that were written, or the usual ones; None for `all`."""
    return None if written == "all" else (_names(written) or usual)


def default_encoder() -> TextEncoder:
    """The project's default encoder, loaded when first asked to encode."""
    from benchcore.config import EmbedSection
    from benchcore.embedding.encoder import fingerprint_with, load
    from benchcore.lab.features import TextEncoder

    embed = EmbedSection()
    return TextEncoder(fingerprint_with(embed, "float32"), lambda texts: load(embed).encode(texts, "float32").vectors)


def _print(found: Findings) -> None:
    from benchcore.cli.output import print_table
    from benchcore.lab.tables import (
        budget_tables,
        explained_table,
        selection_by_estimator,
        summary_table,
        target_tables,
    )

    for title, columns, rows in (
        *budget_tables(found),
        *target_tables(found),
        *selection_by_estimator(found),
        summary_table(found),
        explained_table(found),
    ):
        if rows:
            print_table(title, columns, rows)

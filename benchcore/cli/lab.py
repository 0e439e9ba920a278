"""`benchcore lab`: which selection preserves scores, measured on suites of prompts that models were scored on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchcore.cli.options import Debug, Quiet, start_logging
from benchcore.errors import BenchcoreError, UsageError

if TYPE_CHECKING:
    from benchcore.lab.features import TextEncoder
    from benchcore.lab.rows import Findings

app = typer.Typer(help="Measure which selection preserves scores.", no_args_is_help=True, rich_markup_mode=None)

Names = Annotated[str | None, typer.Option(metavar="NAME,NAME", show_default=False)]


@app.callback()
def lab() -> None:
    """Measure which selection preserves scores."""


@app.command()
def compare(
    suite: Annotated[
        list[str],
        typer.Argument(metavar="SUITE...", help="Folders; DIR+DIR joins some, DIR:odd and DIR:even are halves of one."),
    ],
    *,
    k: Annotated[
        str | None, typer.Option("-k", "--k", metavar="K,K", help="Budgets (default: 70,100,140,200).")
    ] = None,
    methods: Annotated[
        str | None, typer.Option(metavar="NAME,NAME", help="Default: all. NAME:unbalanced picks without quotas.")
    ] = None,
    estimators: Annotated[
        str | None, typer.Option(metavar="NAME,NAME", help="Default: all. NAME@3 has a panel of three models.")
    ] = None,
    repeats: Annotated[int, typer.Option(help="Sub-pools of each suite.")] = 20,
    draws: Annotated[int, typer.Option(help="Seeds of methods that draw, on each sub-pool; the control has 100.")] = 10,
    split: Annotated[str, typer.Option(help="Of models: random, family, or strongest (30 % are held out).")] = "random",
    panel: Annotated[
        str, typer.Option(metavar="P,P", help="Sizes of the panel for estimators that need one.")
    ] = "3,10",
    ablate: Annotated[
        str | None, typer.Option(help="shuffled features or permuted-scores: the ratio must fall to 1.")
    ] = None,
    scale: Annotated[float | None, typer.Option(help="Score of a perfect answer, where it is not 1.")] = None,
    answers: Annotated[bool, typer.Option("--answers/--no-answers", help="Whether texts include answers.")] = True,
    features: Annotated[
        str, typer.Option(metavar="NAME,NAME", help="Blocks that methods are given.")
    ] = "embedding,surface,ngrams",
    seed: Annotated[int, typer.Option(help="Of all that is drawn.")] = 0,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the rows there.")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write rows and summaries there; an interrupted run goes on.")
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Of features (default: ~/.cache/benchcore/lab).")
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes.")] = 1,
    ray: Annotated[bool, typer.Option("--ray", help="Run on Ray.")] = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Compare methods and estimators on suites, against balanced random picks with macro weights.

    A suite is a folder with prompts.jsonl (prompt_id, prompt, and if there are any answer, options, and benchmark,
    task or category as the group) and correct.parquet or a CSV file (a row a prompt, with the column prompt_id, and a
    column a model). Its own vectors can lie beside them as vectors.npy.
    """
    start_logging(quiet=quiet, debug=debug)
    from benchcore.lab.compare import compare as run
    from benchcore.lab.protocol import Protocol
    from benchcore.lab.tables import write_files

    protocol = Protocol(
        ks=tuple(_numbers(k, "--k")),
        repeats=repeats,
        draws=draws,
        split=split,
        panel=tuple(_numbers(panel, "--panel")),
        ablation=ablate,
        seed=seed,
    )
    found = run(
        suite,
        protocol,
        methods=_names(methods),
        estimators=_names(estimators),
        encoder=_encoder,
        scale=scale,
        answers=answers,
        blocks=_names(features) or (),
        cache=cache,
        out=out,
        workers=workers,
        ray=ray,
    )
    write_files(found, json=json, out=out)
    _print(found)
    if found.failures:
        first = found.failures[0]
        raise BenchcoreError(f"{len(found.failures)} measurements failed; the first is {first.what}: {first.why}")


def _numbers(written: str | None, where: str) -> list[int]:
    numbers = []
    for text in _names(written) or ():
        if not text.isdecimal() or int(text) < 1:
            raise UsageError(f"'{text}' is no whole number above 0", where=where, mend="For example 70,100,140,200.")
        numbers.append(int(text))
    return numbers


def _names(written: str | None) -> list[str] | None:
    return None if written is None else [name.strip() for name in written.split(",") if name.strip()]


def _encoder() -> TextEncoder:
    """The project's default encoder, loaded when first asked to encode."""
    from benchcore.config import EmbedSection
    from benchcore.embedding.encoder import fingerprint_with, load
    from benchcore.lab.features import TextEncoder

    embed = EmbedSection()
    return TextEncoder(fingerprint_with(embed, "float32"), lambda texts: load(embed).encode(texts, "float32").vectors)


def _print(found: Findings) -> None:
    from benchcore.cli.output import print_table
    from benchcore.lab.tables import budget_tables, explained_table, selection_by_estimator, summary_table

    for title, columns, rows in (
        *budget_tables(found),
        *selection_by_estimator(found),
        summary_table(found),
        explained_table(found),
    ):
        if rows:
            print_table(title, columns, rows)

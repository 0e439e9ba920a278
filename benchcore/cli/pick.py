"""`benchcore pick`: the core alone, on an array in a file. No Spark, no Ray, no registry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchcore.cli.options import Debug, Json, Quiet, start_logging
from benchcore.errors import UsageError

if TYPE_CHECKING:
    from benchcore.cli.embeddings_file import Embeddings
    from benchcore.methods.picks import Picks

Texts = Annotated[Path | None, typer.Option(metavar="FILE", help="One value a line, in the order of the rows.")]
Ids = Annotated[list[str] | None, typer.Option(help="Id of a row (its number where there are no ids); repeatable.")]
IdFile = Annotated[Path | None, typer.Option(metavar="FILE", help="More of these, an id a line.")]
Column = Annotated[str | None, typer.Option(metavar="NAME", help="Column of a Parquet file.")]
Vectors = Annotated[Path | None, typer.Option(metavar="FILE", help="A file like EMBEDDINGS.")]


def pick(
    embeddings: Annotated[
        Path, typer.Argument(metavar="EMBEDDINGS", help="A .npy file, Parquet (column vector), or sparse .npz.")
    ],
    *,
    k: Annotated[int | None, typer.Option("-k", "--k", help="How many to pick.", show_default=False)] = None,
    objective: Annotated[
        str, typer.Option("--objective", "--method", help="What is maximized; random is the control.")
    ] = "facility_location",
    kernel: Annotated[
        str, typer.Option(help="Similarity: centered_cosine, cosine, shifted_cosine, rbf, linear, or precomputed.")
    ] = "centered_cosine",
    power: Annotated[float, typer.Option(help="Sharpens the similarity.")] = 1.0,
    bandwidth: Annotated[float | None, typer.Option(help="Of rbf; default: the median distance.")] = None,
    parameter: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Of the objective, e.g. redundancy=0.3; repeatable.")
    ] = None,
    ids: Texts = None,
    id_column: Column = None,
    groups: Texts = None,
    group_column: Column = None,
    mass: Annotated[str, typer.Option(help="macro: every group counts the same; micro: every row does.")] = "macro",
    balanced: Annotated[bool, typer.Option("--balance/--no-balance", help="Rounds over the groups.")] = True,
    quota: Annotated[
        list[str] | None,
        typer.Option(metavar="GROUP=LOW:HIGH", help="Least and most picks of a group, instead of rounds; repeatable."),
    ] = None,
    costs: Annotated[
        Path | None, typer.Option(metavar="FILE", help="One price a line, or a .npy file, in the order of the rows.")
    ] = None,
    cost_column: Column = None,
    budget: Annotated[float | None, typer.Option(help="Largest sum of costs (tokens, money).")] = None,
    cover: Annotated[float | None, typer.Option(help="Stop at this share of what all rows are worth.")] = None,
    include: Ids = None,
    include_file: IdFile = None,
    exclude: Ids = None,
    exclude_file: IdFile = None,
    query: Vectors = None,
    avoid: Vectors = None,
    optimizer: Annotated[str, typer.Option(help="lazy, naive, stochastic, threshold or sieve_streaming.")] = "lazy",
    epsilon: Annotated[float, typer.Option(help="What the last three may give away.")] = 0.1,
    swaps: Annotated[int, typer.Option(help="Sweeps that exchange single picks in the end.")] = 0,
    seed: Annotated[int, typer.Option(help="For what draws.")] = 0,
    json: Json = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Pick K rows of an array that stand for all.

    Prints their ids in the order of picking, one a line; with --json also gains, weights, value and certificate.
    EMBEDDINGS is a .npy file of shape (rows, dimensions), or a Parquet file with the column `vector` (or
    `embedding`) and, if wanted, `id` and `group` (or `prompt_id` and `benchmark`); for feature_based also a sparse
    matrix of SciPy. Without -k, a budget, quotas or cover decide how many are picked.
    """
    start_logging(quiet=quiet, debug=debug)
    if k is None and budget is None and cover is None and not quota:
        raise UsageError("Missing option '-k'", mend="Give it, or --budget, --cover or --quota.")
    from benchcore.cli.embeddings_file import read_embeddings

    file = read_embeddings(embeddings)
    from benchcore.progress import progress

    with progress("pick", file.rows if k is None else k, "picks") as advance:
        picked = _select(
            file.vectors,
            k,
            objective=objective,
            kernel=kernel,
            power=power,
            bandwidth=bandwidth,
            ids=_values(file, "id", ids, id_column),
            groups=_values(file, "group", groups, group_column),
            mass=mass,
            balanced=balanced,
            quotas=_quotas(quota),
            costs=_costs(file, costs, cost_column, wanted=budget is not None),
            budget=budget,
            cover=cover,
            include=_ids(include, include_file),
            exclude=_ids(exclude, exclude_file),
            query=None if query is None else read_embeddings(query).vectors,
            avoid=None if avoid is None else read_embeddings(avoid).vectors,
            optimizer=optimizer,
            epsilon=epsilon,
            swaps=swaps,
            seed=seed,
            advance=advance,
            **_parameters(parameter),
        )
    _print(picked, json=json)


def _select(*arguments: Any, **options: Any) -> Picks:
    from benchcore.methods.select import select

    return select(*arguments, **options)


def _values(file: Embeddings, kind: str, lines: Path | None, named: str | None) -> list[Any] | None:
    """Values, one a row: of a file of lines, or of a column."""
    from benchcore.cli.embeddings_file import read_lines

    if lines is not None:
        return read_lines(lines, file.rows)
    return file.column(kind, named)


def _costs(file: Embeddings, lines: Path | None, named: str | None, *, wanted: bool) -> list[float] | None:
    """Prices, one a row; a usual column is looked at only where there is a budget."""
    from benchcore.cli.embeddings_file import read_numbers

    values = read_numbers(lines, file.rows) if lines is not None else file.column("cost", named, implied=wanted)
    if values is None:
        return None
    costs = []
    for row, value in enumerate(values):
        try:
            costs.append(float(value))
        except (TypeError, ValueError):
            raise UsageError(f"row {row} costs {value!r}, which is no number", where=str(lines or file.path)) from None
    return costs


def _ids(named: list[str] | None, lines: Path | None) -> tuple[str, ...]:
    from benchcore.cli.embeddings_file import read_lines

    return (*(named or ()), *(read_lines(lines) if lines is not None else ()))


def _quotas(written: list[str] | None) -> dict[str, tuple[int | None, int | None]] | None:
    """Read GROUP=LOW:HIGH, either of which may be left out."""
    quotas: dict[str, tuple[int | None, int | None]] = {}
    for text in written or ():
        group, _, bounds = text.rpartition("=")
        low, colon, high = bounds.partition(":")
        try:
            least, most = (int(low) if low else None), (int(high) if high else None)
        except ValueError:
            colon = ""
        if not (group and colon):
            raise UsageError(f"'{text}' is not GROUP=LOW:HIGH", where="--quota", mend="For example --quota gsm8k=2:10.")
        quotas[group] = (least, most)
    return quotas or None


def _parameters(written: list[str] | None) -> dict[str, float | str]:
    """Read NAME=VALUE; what looks like a number is one."""
    from benchcore.methods.names import require_known
    from benchcore.methods.objectives_by_name import OBJECTIVES, parameters_of

    known = sorted({parameter for name in OBJECTIVES for parameter in parameters_of(name)})
    parameters: dict[str, float | str] = {}
    for text in written or ():
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise UsageError(f"'{text}' is not NAME=VALUE", where="--parameter", mend="For example redundancy=0.3.")
        require_known(name, known, "parameter", "--parameter")
        try:
            parameters[name] = float(value)
        except ValueError:
            parameters[name] = value
    return parameters


def _print(picked: Picks, *, json: bool) -> None:
    from dataclasses import asdict

    from benchcore.cli.output import print_json, print_line

    if json:
        print_json(
            {
                "indices": picked.indices.tolist(),
                "ids": picked.ids,
                "gains": picked.gains.tolist(),
                "weights": picked.weights.tolist(),
                "value": picked.value,
                "certificate": asdict(picked.certificate) if picked.certificate else None,
                "borrowed": picked.borrowed,
            }
        )
        return
    for identity in picked.ids:
        print_line(identity)

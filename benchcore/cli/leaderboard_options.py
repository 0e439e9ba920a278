"""Options that say how a leaderboard is to be read, the same for all commands that read one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

import typer

from benchcore.errors import UsageError
from benchcore.leaderboard.reading.declared import Declared

Matrix: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="MATRIX",
        help="File (.csv, .tsv, .parquet, .json, .jsonl), folder of MTEB or Every Eval Ever results, registry, "
        "or dataset:NAME.",
        show_default=False,
    ),
]
Name: TypeAlias = Annotated[str | None, typer.Option(metavar="NAME", help="Of the leaderboard.")]
ModelColumn: TypeAlias = Annotated[str | None, typer.Option(metavar="NAME", help="Column that names the models.")]
FamilyColumn: TypeAlias = Annotated[str | None, typer.Option(metavar="NAME", help="Column that names their families.")]
Tasks: TypeAlias = Annotated[str | None, typer.Option(metavar="TASK,TASK", help="Columns that are tasks.")]
Ignore: TypeAlias = Annotated[str | None, typer.Option(metavar="NAME,NAME", help="Columns that are not.")]
ScaleOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="[TASK=]LOW:HIGH", help="Of scores, e.g. 100, mtbench=1:10, elo=800:1400; repeatable."),
]
Lower: TypeAlias = Annotated[str | None, typer.Option(metavar="TASK,TASK", help="Lower is better there; or all.")]
Higher: TypeAlias = Annotated[str | None, typer.Option(metavar="TASK,TASK", help="Higher is better there; or all.")]
Transpose: TypeAlias = Annotated[
    bool | None, typer.Option("--transpose/--no-transpose", help="Whether rows are tasks.", show_default=False)
]
Repeated: TypeAlias = Annotated[
    str, typer.Option(metavar="WHAT", help="Models in several rows: refuse, mean, first or last.")
]
MtebSplit: TypeAlias = Annotated[str | None, typer.Option(metavar="NAME", help="Of MTEB results (default: test).")]
Revision: TypeAlias = Annotated[
    list[str] | None, typer.Option(metavar="MODEL=REVISION", help="Of MTEB results (default: newest); repeatable.")
]
Leaderboard: TypeAlias = Annotated[str | None, typer.Option(metavar="NAME", help="Which one of a registry.")]

_REPEATED = ("refuse", "mean", "first", "last")


def reads_matrix(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say how a leaderboard is read; it gets them as one, `reading`."""
    shared = inspect.signature(declared, eval_str=True).parameters
    own = inspect.signature(command, eval_str=True).parameters
    parameters = [parameter for name, parameter in own.items() if name != "reading"]

    def run(**given: Any) -> None:
        reading = declared(**{name: given.pop(name) for name in shared})
        command(**given, reading=reading)

    run.__name__, run.__doc__, run.__module__ = command.__name__, command.__doc__, command.__module__
    merged = [*parameters, *shared.values()]
    merged.sort(key=lambda parameter: parameter.kind)
    run.__signature__ = inspect.Signature(merged)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in merged}
    return run


def declared(
    *,
    name: Name = None,
    model_column: ModelColumn = None,
    family_column: FamilyColumn = None,
    tasks: Tasks = None,
    ignore: Ignore = None,
    scale: ScaleOption = None,
    lower_is_better: Lower = None,
    higher_is_better: Higher = None,
    transpose: Transpose = None,
    repeated: Repeated = "refuse",
    mteb_split: MtebSplit = None,
    revision: Revision = None,
    leaderboard: Leaderboard = None,
) -> Declared:
    """What a command line says about a leaderboard.

    Raises:
        UsageError: an option cannot be read.
    """
    from benchcore.methods.names import require_known

    require_known(repeated, _REPEATED, "way with repeated models", "--repeated")
    common, own = _scales(scale)
    return Declared(
        name=name,
        model_column=model_column,
        family_column=family_column,
        tasks=names(tasks),
        ignore=names(ignore),
        scale=common,
        scales=own,
        lower_is_better=names(lower_is_better),
        higher_is_better=names(higher_is_better),
        transpose=transpose,
        repeated=repeated,  # type: ignore[arg-type]  # one of _REPEATED
        split=mteb_split,
        revisions=_pairs(revision, "--revision", "MODEL=REVISION"),
        leaderboard=leaderboard,
    )


def names(written: str | None) -> tuple[str, ...]:
    """Names that are separated by commas."""
    return tuple(name.strip() for name in (written or "").split(",") if name.strip())


def _scales(written: list[str] | None) -> tuple[tuple[float, float] | None, dict[str, tuple[float, float]]]:
    common: tuple[float, float] | None = None
    own: dict[str, tuple[float, float]] = {}
    for text in written or ():
        task, equals, bounds = text.rpartition("=")
        if equals:
            own[task] = _bounds(bounds, text)
        else:
            common = _bounds(text, text)
    return common, own


def _bounds(written: str, text: str) -> tuple[float, float]:
    low, colon, high = written.rpartition(":")
    try:
        found = (float(low) if colon else 0.0, float(high))
    except ValueError:
        found = (0.0, 0.0)
    if not found[0] < found[1] or abs(found[0]) == float("inf") or found[1] == float("inf"):
        raise UsageError(f"'{text}' is no scale", where="--scale", mend="For example 100, 1:10 or elo=800:1400.")
    return found


def _pairs(written: list[str] | None, option: str, shape: str) -> dict[str, str]:
    pairs = {}
    for text in written or ():
        key, equals, value = text.partition("=")
        if not (key and equals and value):
            raise UsageError(f"'{text}' is not {shape}", where=option)
        pairs[key] = value
    return pairs

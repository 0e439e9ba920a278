"""`benchcore pick`: the core alone, on an array in a file. No Spark, no Ray, no registry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchcore.cli.options import Debug, Json, Quiet, start_logging
from benchcore.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchcore.methods.pick import PickResult

Texts = Annotated[Path | None, typer.Option(help="One value a line, in the order of the rows.")]
Ids = Annotated[list[str] | None, typer.Option(help="Id of a row (its number where there are no ids); repeatable.")]


def pick(
    embeddings: Annotated[Path, typer.Argument(metavar="EMBEDDINGS", help="A .npy file, or Parquet (column vector).")],
    *,
    k: Annotated[int, typer.Option("-k", "--k", help="How many to pick.")],
    groups: Texts = None,
    ids: Texts = None,
    mass: Annotated[str, typer.Option(help="macro: every group counts the same; micro: every row does.")] = "macro",
    balanced: Annotated[bool, typer.Option("--balance/--no-balance", help="Rounds over the groups.")] = True,
    include: Ids = None,
    exclude: Ids = None,
    method: Annotated[str, typer.Option(help="facility_location, or random (the control).")] = "facility_location",
    seed: Annotated[int, typer.Option(help="For methods that draw.")] = 0,
    json: Json = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Pick K rows of an array that stand for all.

    Prints their ids in the order of picking, one a line; with --json also gains, weights, value and certificate.
    EMBEDDINGS is a .npy file of shape (rows, dimensions), or a Parquet file with the column `vector` (or
    `embedding`) and, if wanted, `id` and `group` (or `prompt_id` and `benchmark`).
    """
    start_logging(quiet=quiet, debug=debug)
    vectors, file_ids, file_groups = read_vectors(embeddings)
    names = _lines(ids, len(vectors)) if ids else file_ids
    members = _lines(groups, len(vectors)) if groups else file_groups

    from benchcore.methods.pick import pick as pick_rows

    picked = pick_rows(
        vectors,
        k,
        ids=names,
        groups=members,
        mass=mass,
        balanced=balanced,
        include=tuple(include or ()),
        exclude=tuple(exclude or ()),
        method=method,
        seed=seed,
    )
    _print(picked, json=json)


def _print(picked: PickResult, *, json: bool) -> None:
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


def read_vectors(path: Path) -> tuple[NDArray[Any], list[str] | None, list[str] | None]:
    """Read vectors, and ids and groups where the file has them.

    Raises:
        UsageError: the file is missing, of another format, or holds no matrix of numbers.
    """
    try:
        with path.open("rb") as file:
            magic = file.read(6)
    except OSError as error:
        raise UsageError(f"cannot be read ({error.strerror})", where=str(path), mend="Check the path.") from None
    if magic == b"\x93NUMPY":
        vectors, ids, groups = _read_npy(path)
    elif magic[:4] == b"PAR1":
        vectors, ids, groups = _read_parquet(path)
    else:
        raise UsageError(
            "is neither a .npy nor a Parquet file", where=str(path), mend="Save the array with numpy.save."
        )
    if vectors.ndim != 2 or not len(vectors):
        raise UsageError(f"needs an array of shape (rows, dimensions), has {vectors.shape}", where=str(path))
    if vectors.dtype.kind not in "fiu":
        raise UsageError(
            f"needs numbers, has {vectors.dtype}", where=str(path), mend="Save it with array.astype('float32')."
        )
    return vectors, ids, groups


def _read_npy(path: Path) -> tuple[NDArray[Any], None, None]:
    import numpy as np

    try:
        return np.load(path, allow_pickle=False), None, None
    except (ValueError, EOFError, OSError) as error:
        objects = "Object arrays" in str(error)
        what = "holds Python objects" if objects else f"cannot be read ({error})"
        mend = "Save a plain matrix with array.astype('float32')." if objects else "Save the array again."
        raise UsageError(what, where=str(path), mend=mend) from None


def _read_parquet(path: Path) -> tuple[NDArray[Any], list[str] | None, list[str] | None]:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise UsageError(f"is no Parquet file that can be read ({error})", where=str(path)) from None
    column = _column(table, ("vector", "embedding"))
    if column is None:
        raise UsageError(f"has no column 'vector' (columns: {', '.join(table.column_names)})", where=str(path))
    lists = column.combine_chunks()
    if not (
        pa.types.is_list(lists.type) or pa.types.is_large_list(lists.type) or pa.types.is_fixed_size_list(lists.type)
    ):
        raise UsageError(f"column 'vector' must hold lists of numbers, holds {lists.type}", where=str(path))
    lengths = np.asarray(lists.value_lengths().fill_null(-1))
    if len(lengths) and (lengths != lengths[0]).any():
        row = int(np.argmax(lengths != lengths[0]))
        raise UsageError(f"row {row} has {lengths[row]} dimensions, row 0 has {lengths[0]}", where=str(path))
    vectors = np.asarray(lists.flatten()).reshape(len(lists), -1)
    ids, groups = (_column(table, names) for names in (("id", "prompt_id"), ("group", "benchmark")))
    return vectors, _strings(ids), _strings(groups)


def _column(table: Any, names: tuple[str, ...]) -> Any:
    return next((table[name] for name in names if name in table.column_names), None)


def _strings(column: Any) -> list[str] | None:
    return None if column is None else [str(value) for value in column.to_pylist()]


def _lines(path: Path, rows: int) -> list[str]:
    """Read one value a line.

    Raises:
        UsageError: the file cannot be read, or its lines are not as many as the rows.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise UsageError(f"cannot be read ({reason})", where=str(path), mend="Check the path.") from None
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    if len(lines) != rows:
        raise UsageError(f"has {len(lines)} lines, and the array has {rows} rows", where=str(path))
    return lines

"""Arrays in files: .npy, sparse .npz and Parquet, and columns beside them; every wrong file in one line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchcore.errors import UsageError

_NPY = b"\x93NUMPY"
_VECTORS = ("vector", "embedding")
COLUMNS = {"id": ("id", "prompt_id"), "group": ("group", "benchmark"), "cost": ("cost", "tokens")}


@dataclass(frozen=True, eq=False)
class Embeddings:
    """What a file holds.

    Attributes:
        path: the file.
        vectors: (n, d) numbers, an array or a sparse matrix.
        columns: (n,) values by name, of a Parquet file, without the vectors.
        names: of all its columns.
    """

    path: Path
    vectors: Any
    columns: Mapping[str, Any]
    names: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.vectors.shape[0])

    def column(self, kind: str, named: str | None, *, implied: bool = True) -> list[Any] | None:
        """The column of a kind in COLUMNS, by the name that the user gave or, if implied, by a usual one.

        Raises:
            UsageError: there is no column of that name.
        """
        if named is not None and named not in self.columns:
            there = f"columns: {', '.join(self.names)}" if self.names else "only a Parquet file has columns"
            what = f"column '{named}' holds the vectors" if named in self.names else f"has no column '{named}'"
            raise UsageError(f"{what} ({there})", where=str(self.path))
        usual = COLUMNS[kind] if implied else ()
        found = next((name for name in (named, *usual) if name in self.columns), None)
        return None if found is None else list(self.columns[found].to_pylist())


def read_embeddings(path: Path) -> Embeddings:
    """Read vectors, and columns where the file has them.

    Raises:
        UsageError: the file is missing, of another format, or holds no matrix of numbers.
    """
    try:
        with path.open("rb") as file:
            magic = file.read(6)
    except OSError as error:
        raise UsageError(f"cannot be read ({error.strerror})", where=str(path), mend="Check the path.") from None
    columns: Mapping[str, Any] = {}
    names: tuple[str, ...] = ()
    if magic == _NPY:
        vectors = _read_npy(path)
    elif magic[:4] == b"PK\x03\x04":
        vectors = _read_npz(path)
    elif magic[:4] == b"PAR1":
        vectors, columns, names = _read_parquet(path)
    else:
        raise UsageError(
            "is neither a .npy nor a Parquet file", where=str(path), mend="Save the array with numpy.save."
        )
    if vectors.ndim != 2 or not vectors.shape[0]:
        raise UsageError(f"needs an array of shape (rows, dimensions), has {vectors.shape}", where=str(path))
    if vectors.dtype.kind not in "fiu":
        raise UsageError(
            f"needs numbers, has {vectors.dtype}", where=str(path), mend="Save it with array.astype('float32')."
        )
    return Embeddings(path, vectors, columns, names)


def read_numbers(path: Path, rows: int) -> Any:
    """Read one number a row: a .npy file, or a text file with one a line (as texts).

    Raises:
        UsageError: the file cannot be read, or there are not as many as the rows.
    """
    try:
        with path.open("rb") as file:
            magic = file.read(6)
    except OSError as error:
        raise UsageError(f"cannot be read ({error.strerror})", where=str(path), mend="Check the path.") from None
    if magic != _NPY:
        return read_lines(path, rows)
    values = _read_npy(path)
    if values.shape != (rows,):
        raise UsageError(f"has numbers of shape {values.shape}, and the array has {rows} rows", where=str(path))
    return values.tolist()


def read_lines(path: Path, rows: int | None = None) -> list[str]:
    """Read one value a line.

    Args:
        path: a text file in UTF-8.
        rows: how many there must be, if that matters.

    Raises:
        UsageError: the file cannot be read, or its lines are not as many as the rows.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        mend = "Check the path." if isinstance(error, OSError) else "Give a text file with one value a line."
        raise UsageError(f"cannot be read ({reason})", where=str(path), mend=mend) from None
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []
    if rows is not None and len(lines) != rows:
        raise UsageError(f"has {len(lines)} lines, and the array has {rows} rows", where=str(path))
    return lines


def _read_npy(path: Path) -> Any:
    import numpy as np

    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        objects = "Object arrays" in str(error)
        what = "holds Python objects" if objects else f"cannot be read ({error})"
        mend = "Save a plain matrix with array.astype('float32')." if objects else "Save the array again."
        raise UsageError(what, where=str(path), mend=mend) from None


def _read_npz(path: Path) -> Any:
    from zipfile import BadZipFile

    from scipy.sparse import load_npz

    try:
        return load_npz(path).tocsr()
    except (ValueError, KeyError, OSError, BadZipFile) as error:
        raise UsageError(
            f"is no sparse matrix that can be read ({error})",
            where=str(path),
            mend="Save it with scipy.sparse.save_npz.",
        ) from None


def _read_parquet(path: Path) -> tuple[Any, Mapping[str, Any], tuple[str, ...]]:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise UsageError(f"is no Parquet file that can be read ({error})", where=str(path)) from None
    name = next((name for name in _VECTORS if name in table.column_names), None)
    if name is None:
        raise UsageError(f"has no column 'vector' (columns: {', '.join(table.column_names)})", where=str(path))
    if not table.num_rows:
        raise UsageError("has no rows", where=str(path))
    lists = table[name].combine_chunks()
    if not (
        pa.types.is_list(lists.type) or pa.types.is_large_list(lists.type) or pa.types.is_fixed_size_list(lists.type)
    ):
        raise UsageError(f"column '{name}' must hold lists of numbers, holds {lists.type}", where=str(path))
    if lists.null_count:
        row = int(np.argmax(np.asarray(lists.is_null())))
        raise UsageError(f"{lists.null_count} rows have no vector (null), row {row} first", where=str(path))
    lengths = np.asarray(lists.value_lengths())
    if (lengths != lengths[0]).any():
        row = int(np.argmax(lengths != lengths[0]))
        raise UsageError(f"row {row} has {lengths[row]} dimensions, row 0 has {lengths[0]}", where=str(path))
    if not lengths[0]:
        raise UsageError("rows have no numbers", where=str(path))
    vectors = np.asarray(lists.flatten()).reshape(len(lists), -1)
    return vectors, {other: table[other] for other in table.column_names if other != name}, tuple(table.column_names)

"""Columns of the frames between the steps, and the same types in Arrow's and in Spark's words."""

from __future__ import annotations

import pyarrow as pa

from benchcore.registry.schemas import INTEGER, SCHEMAS, TEXT

_SPARK = {pa.string(): "string", pa.int64(): "bigint", pa.list_(pa.string()): "array<string>", pa.bool_(): "boolean"}
_SPARK[SCHEMAS["prompts"].field("retired_at").type] = "timestamp"

# What identifies, says and describes a prompt before the registry adds its own columns.
CONTENT = tuple(
    name
    for name in SCHEMAS["prompts"].names
    if name not in ("prompt_id", "revision", "duplicate_of", "first_run", "retired_at")
)

# Kinds of the rows that reading gives.
PROMPT, REPEAT, QUARANTINE, TALLY, ERROR = "prompt", "repeat", "quarantine", "tally", "error"

READ = pa.schema(
    [
        pa.field("kind", TEXT),
        *(SCHEMAS["prompts"].field(name) for name in CONTENT),
        ("identity", TEXT),  # the declared id, else null
        ("row_hash", TEXT),  # of all that the record says: orders equals, whatever file they stand in
        ("reason", TEXT),
        ("raw", TEXT),
        ("rows_read", INTEGER),  # of a tally: rows that a unit gave
    ]
)

IDENTIFIED = pa.schema([pa.field("prompt_id", TEXT), *(SCHEMAS["prompts"].field(name) for name in CONTENT)])

# Beside what a prompt repeats: whether that is in its own benchmark, and its file if it was read in this run.
MARKS = pa.schema(
    [("prompt_id", TEXT), ("source", TEXT), ("path", TEXT), ("duplicate_of", TEXT), ("inside", pa.bool_())]
)


def beside(column: str, schema: pa.Schema) -> pa.Schema:
    """Put one more column of text before those of a schema."""
    return pa.schema([pa.field(column, TEXT), *schema])


def ddl(schema: pa.Schema) -> str:
    """Write an Arrow schema as Spark does: `name type, ...`."""
    return ", ".join(f"`{field.name}` {_SPARK[field.type]}" for field in schema)

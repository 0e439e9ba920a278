"""The tables of a registry: their columns, keys and partitions. Other people's scripts rely on these names."""

from __future__ import annotations

import pyarrow as pa

TEXT, INTEGER, REAL = pa.string(), pa.int64(), pa.float64()
TEXTS = pa.list_(pa.string())
TIME = pa.timestamp("us", tz="UTC")

SCHEMAS: dict[str, pa.Schema] = {
    "sources": pa.schema(
        [
            ("source", TEXT),
            ("path", TEXT),  # relative to the data folder, so that moving the folder changes nothing
            ("content_sha256", TEXT),
            ("mapping_sha256", TEXT),
            ("benchmark", TEXT),
            ("revision", TEXT),
            ("licence", TEXT),
            ("bytes", INTEGER),
            ("rows_read", INTEGER),
            ("rows_kept", INTEGER),
            ("rows_duplicate", INTEGER),
            ("rows_quarantined", INTEGER),
            ("run_id", TEXT),
            ("superseded_by", TEXT),  # the run that read a newer content of this path or found it gone; null = current
        ]
    ),
    "prompts": pa.schema(
        [
            ("prompt_id", TEXT),
            ("benchmark", TEXT),
            ("category", TEXT),
            ("task", TEXT),
            ("split", TEXT),
            ("language", TEXT),
            ("item_group", TEXT),
            ("tags", TEXTS),
            ("source", TEXT),
            ("path", TEXT),
            ("source_row", INTEGER),
            ("record_id", TEXT),  # the declared id as the source gives it; null where the source declares none
            ("prompt", TEXT),
            ("answer", TEXT),
            ("choices", TEXTS),
            ("metadata", TEXT),  # JSON object
            ("n_characters", INTEGER),
            ("content_hash", TEXT),
            ("revision", INTEGER),
            ("duplicate_of", TEXT),
            ("first_run", TEXT),
            ("retired_at", TIME),
        ]
    ),
    "quarantine": pa.schema(
        [
            ("source", TEXT),
            ("path", TEXT),
            ("source_row", INTEGER),
            ("benchmark", TEXT),
            ("reason", TEXT),
            ("raw", TEXT),
            ("run_id", TEXT),
        ]
    ),
    "embeddings": pa.schema(
        [
            ("text_hash", TEXT),
            ("encoder", TEXT),
            ("dimension", pa.int32()),
            ("vector", pa.list_(pa.float32())),
            ("truncated", pa.bool_()),
            ("bucket", pa.int32()),
        ]
    ),
    "coresets": pa.schema(
        [
            ("coreset_id", TEXT),
            ("rank", pa.int32()),
            ("prompt_id", TEXT),
            ("content_hash", TEXT),
            ("benchmark", TEXT),
            ("gain", REAL),
            ("represents", INTEGER),
            ("role", TEXT),
            ("inclusion_probability", REAL),
        ]
    ),
    "coreset_weights": pa.schema(
        [("coreset_id", TEXT), ("target", TEXT), ("prompt_id", TEXT), ("weight", REAL)],
    ),
    "manifests": pa.schema(
        [
            ("coreset_id", TEXT),
            ("semantic_configuration", TEXT),  # JSON object: all that changes picks
            ("input_digest", TEXT),
            ("table_versions", TEXT),  # JSON object: table -> version that was read
            ("encoders", TEXT),  # JSON object: feature block -> encoder fingerprint and its description
            ("centre", pa.list_(pa.float32())),
            ("seed", INTEGER),
            ("k", INTEGER),
            ("value", REAL),  # in [0, 1]: the mass-weighted mean similarity of a prompt to its nearest pick
            ("certificate", TEXT),  # JSON object: upper_bound, ratio, kind; confidence and rows where it is sampled
            ("coverage", TEXT),  # JSON list, one object a benchmark
            ("library_versions", TEXT),  # JSON object
            ("timings", TEXT),  # JSON object: step -> seconds
            ("plan", TEXT),  # JSON object: shards, merges, workers, expected seconds and bytes of each round
            ("run_id", TEXT),
        ]
    ),
    "bindings": pa.schema(
        [
            ("harness", TEXT),
            ("task", TEXT),
            ("document_hash", TEXT),
            ("prompt_id", TEXT),
            ("content_hash", TEXT),  # of the prompt when it was bound; of an edited prompt the binding is void
            ("document_id", TEXT),
            ("harness_version", TEXT),
        ]
    ),
    "scores": pa.schema(
        [
            ("model", TEXT),
            ("prompt_id", TEXT),
            ("run", TEXT),
            ("metric", TEXT),
            ("epoch", pa.int32()),
            ("content_hash", TEXT),
            ("score", REAL),
            ("raw_score", TEXT),
            ("filter", TEXT),
            ("harness", TEXT),
            ("source_path", TEXT),
            ("measured_at", TIME),  # when the run was made, as its log says, else when it was imported
        ]
    ),
    "leaderboards": pa.schema(
        [
            ("leaderboard", TEXT),
            ("model", TEXT),
            ("task", TEXT),
            ("score", REAL),
            ("scale", TEXT),
            ("direction", TEXT),
            ("source", TEXT),
        ]
    ),
    "runs": pa.schema(
        [
            ("run_id", TEXT),
            ("command", TEXT),
            ("configuration_hash", TEXT),
            ("started", TIME),
            ("finished", TIME),
            ("outcome", TEXT),
            ("counts", TEXT),  # JSON object
        ]
    ),
}

KEYS: dict[str, tuple[str, ...]] = {
    "sources": ("source", "path", "content_sha256", "mapping_sha256"),
    "prompts": ("prompt_id",),
    "quarantine": ("source", "path", "source_row"),
    "embeddings": ("text_hash", "encoder"),
    "coresets": ("coreset_id", "rank"),
    "coreset_weights": ("coreset_id", "target", "prompt_id"),
    "manifests": ("coreset_id",),
    "bindings": ("harness", "task", "document_hash"),
    "scores": ("model", "prompt_id", "run", "metric", "epoch"),
    "leaderboards": ("leaderboard", "model", "task"),
    "runs": ("run_id",),
}

PARTITIONS: dict[str, tuple[str, ...]] = {"embeddings": ("encoder", "bucket")}

# Tables that are read by Ray's workers stay readable by every Delta reader (docs/tables.md).
READABLE: dict[str, str] = {"delta.enableDeletionVectors": "false", "delta.columnMapping.mode": "none"}

# Engines cut a table's log after 30 days and vacuum files after 7, whatever a manifest pins. `benchcore registry
# vacuum` goes by the manifests instead.
RETENTION: dict[str, str] = {
    "delta.logRetentionDuration": "interval 3650 days",
    "delta.deletedFileRetentionDuration": "interval 3650 days",
}

PROPERTIES: dict[str, str] = READABLE | RETENTION

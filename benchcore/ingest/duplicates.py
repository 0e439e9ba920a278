"""Which prompts repeat others: collapsed inside a benchmark, only marked across benchmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


# Spelled out: \s alone is ASCII, and (?U) makes it several times as slow.
_WHITE = r"[\s\u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]+"


def shown_hash() -> Column:
    """Hash what a model is shown: the choices, and the prompt with its white space evened out, but no answer."""
    from pyspark.sql import functions as F

    choices = F.to_json(F.coalesce("choices", F.array()))  # ends itself, so nothing can move between the two
    return F.sha2(F.concat(choices, F.trim(F.regexp_replace("prompt", _WHITE, " "))), 256)


def with_duplicates(prompts: DataFrame) -> DataFrame:
    """Say for each prompt which one it repeats.

    Inside a benchmark the copy with the smallest id stands for all of equal content. A prompt that stands for others,
    or has no copy, may still show the model what another benchmark's prompt shows: then it names the smallest such id,
    if that is smaller than its own.

    Args:
        prompts: prompt_id, benchmark, content_hash, shown (`shown_hash`) of all prompts that are not retired; source
            and path are passed on.

    Returns:
        Columns as `columns.MARKS`; duplicate_of is null where nothing is repeated.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    copies = Window.partitionBy("benchmark", "content_hash")
    inside = prompts.withColumn("_first", F.min("prompt_id").over(copies))
    least = prompts.groupBy("shown", "benchmark").agg(F.min("prompt_id").alias("_id"))
    shared = (
        least.groupBy("shown")
        .agg(F.sort_array(F.collect_list(F.struct("_id", "benchmark"))).alias("_least"))
        .where(F.size("_least") > 1)
        .select("shown", F.col("_least")[0].alias("_one"), F.col("_least")[1].alias("_two"))
    )
    other = F.when(F.col("_one.benchmark") == F.col("benchmark"), F.col("_two._id")).otherwise(F.col("_one._id"))
    is_copy = F.col("_first") < F.col("prompt_id")
    across = F.when(other < F.col("prompt_id"), other)
    return inside.join(shared, "shown", "left").select(
        "prompt_id",
        "source",
        "path",
        F.when(is_copy, F.col("_first")).otherwise(across).alias("duplicate_of"),
        is_copy.alias("inside"),
    )

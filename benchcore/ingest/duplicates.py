"""Which prompts repeat others: collapsed inside a benchmark, only marked across benchmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


# White space that is not one plain blank: spelled out, since (?U)\s+, which stops at every blank, is far slower.
_WHITE = r"\s\u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000"
_UNEVEN = rf"[{_WHITE}]{{2,}}|[{_WHITE}&&[^ ]]"


def shown_hash() -> Column:
    """Hash what a model is shown: the choices, and the prompt with its white space evened out, but no answer."""
    from pyspark.sql import functions as F

    choices = F.to_json(F.coalesce("choices", F.array()))  # ends itself, so nothing can move between the two
    return F.sha2(F.concat(choices, F.trim(F.regexp_replace("prompt", _UNEVEN, " "))), 256)


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

    copies, alike = Window.partitionBy("benchmark", "content_hash"), Window.partitionBy("shown")
    elsewhere = F.col("benchmark") != F.col("_least.benchmark")
    ranked = (
        prompts.withColumn("_first", F.min("prompt_id").over(copies))
        .withColumn("_least", F.min(F.struct("prompt_id", "benchmark")).over(alike))
        .withColumn("_next", F.min(F.when(elsewhere, F.col("prompt_id"))).over(alike))
    )
    other = F.when(elsewhere, F.col("_least.prompt_id")).otherwise(F.col("_next"))  # the smallest of another benchmark
    is_copy = F.col("_first") < F.col("prompt_id")
    across = F.when(other < F.col("prompt_id"), other)
    return ranked.select(
        "prompt_id",
        "source",
        "path",
        F.when(is_copy, F.col("_first")).otherwise(across).alias("duplicate_of"),
        is_copy.alias("inside"),
    )

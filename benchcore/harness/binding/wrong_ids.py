"""What to say where ids are of no prompt: how the registry's own look, and which benchmark may be meant."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from benchcore.harness.binding.prompts import Prompts

_SHOWN = 60


def mend_ids(prompts: Prompts, benchmarks: Sequence[str]) -> str:
    """What would mend results none of whose ids is known.

    Args:
        prompts: of the registry.
        benchmarks: those that the results name; an empty name where they name none.
    """
    known = sorted(prompts.benchmarks())
    unknown = [name for name in benchmarks if name and name not in known]
    if unknown:
        near = difflib.get_close_matches(unknown[0], known, n=1)
        listed = f"Did you mean '{near[0]}'?" if near else f"There are {', '.join(known[:5])}."
        return f"There is no benchmark '{unknown[0]}'. {listed}"
    named = [name for name in benchmarks if name]
    look = _looks(prompts, named or known)
    if named:
        return f"{look} A prompt_id will do as well."
    return (
        f"Without a benchmark an id must be a prompt_id. {look} A column `benchmark` (in a map, the key `benchmark`) "
        "says whose ids these are."
    )


def _looks(prompts: Prompts, benchmarks: Sequence[str]) -> str:
    """How the record ids of the first benchmark that has some look."""
    for name in benchmarks:
        example = next((record_id for benchmark, record_id in prompts.by_record if benchmark == name), None)
        if example is not None:
            cut = example if len(example) <= _SHOWN else f"{example[: _SHOWN - 1]}…"
            return f"Ids of {name} look like {cut!r}."
    example = next(iter(prompts.by_id), "")
    of = f"The sources of {', '.join(benchmarks[:3])} declare no ids; " if benchmarks else ""
    return f"{of}prompt_ids look like {example!r}." if of else f"Prompt_ids look like {example!r}."

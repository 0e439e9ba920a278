"""Which prompts are to go."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow.compute as pc

from benchcore.registry.tables import among


@dataclass(frozen=True)
class Target:
    """Prompts by their ids, benchmarks or sources, all of them together.

    Attributes:
        prompts: ids.
        benchmarks: names; rows in quarantine are meant too.
        sources: names; rows in quarantine are meant too.
        copies: also all other prompts of the same content.
    """

    prompts: tuple[str, ...] = ()
    benchmarks: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    copies: bool = False

    @property
    def of_prompts(self) -> pc.Expression:
        """The rows of `prompts` that are named."""
        return among("prompt_id", self.prompts) | self.of_files

    @property
    def of_files(self) -> pc.Expression:
        """The rows of `quarantine` (or of `prompts`) whose benchmark or source is named."""
        return among("benchmark", self.benchmarks) | among("source", self.sources)

    @property
    def arguments(self) -> str:
        """As on the command line."""
        named = (("--prompt", self.prompts), ("--benchmark", self.benchmarks), ("--source", self.sources))
        told = [f"{option} {value}" for option, values in named for value in values]
        return " ".join([*told, *(["--copies"] if self.copies else [])])

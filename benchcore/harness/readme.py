"""The README in the folder of an export: what it is, what to run, and how the scores come back."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchcore.harness.entry import Harness
    from benchcore.harness.exporting import ExportOutcome


def readme(coreset_id: str, name: str, harness: Harness, outcome: ExportOutcome, root: str) -> str:
    """The text, in Markdown: the same export of the registry at `root` gives the same text."""
    registry = f"--root {shlex.quote(root)}"
    parts = [
        f"# Coreset {coreset_id}, for {harness.title}",
        f"{outcome.exported:,} of {_whose(outcome)}, to be run with a model of yours.",
        "## Run",
        f"```sh\n{outcome.command}\n```",
        "\n".join(f"* {remark}" for remark in outcome.remarks),
        "## Bring the scores back",
        f"```sh\nbenchcore import LOGS --harness {shlex.quote(name)} {registry}\n"
        f"benchcore estimate {coreset_id} {registry}\n```",
        "`LOGS` are what the run wrote. Importing twice adds nothing.",
        "## What is in it",
        "\n".join(f"* `{file}`" for file in outcome.files),
        _versions(outcome),
        _left_out(outcome),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _whose(outcome: ExportOutcome) -> str:
    if outcome.older is None:
        return f"the coreset's {outcome.picks:,} prompts"
    return f"the {outcome.picks:,} prompts that coreset {outcome.older} lacks"


def _versions(outcome: ExportOutcome) -> str:
    said = []
    if outcome.edited:
        said.append(f"{outcome.edited:,} prompts were edited since the coreset was made: their earlier text counts.")
    if outcome.retired:
        said.append(f"{outcome.retired:,} prompts have left their benchmark since.")
    return " ".join(said)


def _left_out(outcome: ExportOutcome) -> str:
    if not outcome.left_out:
        return ""
    listed = "\n".join(f"* {count:,}: {reason}" for reason, count in outcome.left_out.items())
    return f"## Left out\n\n`left_out.jsonl` names them; estimates say what is missing.\n\n{listed}"

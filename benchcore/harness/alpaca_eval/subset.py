"""The picks as instructions, and a script that keeps their outputs of a file of outputs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from benchcore.harness.alpaca_eval.annotations import NAME, instruction_digest
from benchcore.harness.content import content_source
from benchcore.harness.picks import Exported, Pick
from benchcore.whole_file import write_file

_INSTRUCTIONS, _SCRIPT = "instructions.json", "subset.py"


def export(coreset_id: str, picks: Sequence[Pick], folder: Path) -> Exported:
    """Write the picks' instructions with their hashes, and the script that filters outputs by them."""
    told = [
        {
            "instruction": pick.prompt,
            "dataset": pick.benchmark,
            "prompt_id": pick.prompt_id,
            "hashes": sorted({instruction_digest(pick.prompt), *(bound.document_hash for bound in pick.documents)}),
        }
        for pick in picks
    ]
    write_file(folder / _INSTRUCTIONS, (json.dumps(told, indent=1) + "\n").encode())
    script = files("benchcore.harness.alpaca_eval").joinpath("subset_script.txt").read_text()
    script = script.replace("# CONTENT_DIGEST\n", content_source()).replace("NAME = None\n", f'NAME = "{NAME}"\n')
    write_file(folder / _SCRIPT, script.encode())
    return Exported(
        files=(folder / _INSTRUCTIONS, folder / _SCRIPT),
        command=(
            f"python3 {_SCRIPT} MODEL_OUTPUTS.json model_outputs.json\n"
            f"python3 {_SCRIPT} REFERENCE_OUTPUTS.json reference_outputs.json\n"
            "alpaca_eval --model_outputs model_outputs.json --reference_outputs reference_outputs.json "
            "--precomputed_leaderboard None --output_path results"
        ),
        remarks=(
            f"Outputs are yours: let the model and the reference answer {_INSTRUCTIONS}, or give files with the "
            "outputs of all instructions; the script keeps the picks.",
            "Outputs are joined by the instruction's text, so that it must stay as it is.",
            "Read the win rate from `benchcore estimate` (metric preference); that of alpaca_eval is of the picks "
            "alone, without their weights.",
        ),
    )

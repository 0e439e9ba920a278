"""lm-evaluation-harness: its sample logs, `--samples` files, and a task of one's own prompts."""

from __future__ import annotations

from benchcore.harness.entry import Harness
from benchcore.harness.lm_eval.exporting import export
from benchcore.harness.lm_eval.sample_logs import results

LM_EVAL = Harness(title="lm-evaluation-harness", results=results, export=export)

"""Harnesses by name: how each runs a subset and what its logs hold (docs/harnesses.md)."""

from __future__ import annotations

from benchcore.harness.alpaca_eval import ALPACA_EVAL
from benchcore.harness.entry import Harness
from benchcore.harness.every_eval_ever import EVERY_EVAL_EVER
from benchcore.harness.generic import JSONL, PARQUET
from benchcore.harness.helm import HELM
from benchcore.harness.inspect_ai import INSPECT
from benchcore.harness.lighteval import LIGHTEVAL
from benchcore.harness.lm_eval import LM_EVAL
from benchcore.harness.mapped import MAPPED
from benchcore.harness.mteb import MTEB
from benchcore.harness.opencompass import OPENCOMPASS

HARNESSES: dict[str, Harness] = {
    "jsonl": JSONL,
    "parquet": PARQUET,
    "mapped": MAPPED,
    "inspect": INSPECT,
    "lm-eval": LM_EVAL,
    "every-eval-ever": EVERY_EVAL_EVER,
    "helm": HELM,
    "lighteval": LIGHTEVAL,
    "opencompass": OPENCOMPASS,
    "alpaca-eval": ALPACA_EVAL,
    "mteb": MTEB,
}

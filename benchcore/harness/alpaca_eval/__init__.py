"""alpaca_eval: its annotations as scores, the picks as instructions that outputs are filtered by."""

from benchcore.harness.alpaca_eval.annotations import read_results
from benchcore.harness.alpaca_eval.subset import export
from benchcore.harness.entry import Harness

ALPACA_EVAL = Harness(title="AlpacaEval", results=read_results, export=export)

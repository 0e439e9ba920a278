"""The shared schema of Every Eval Ever: its files of single instances and of aggregates, read and written."""

from benchcore.harness.entry import Harness
from benchcore.harness.every_eval_ever.aggregates import read_aggregates
from benchcore.harness.every_eval_ever.instances import read_results

EVERY_EVAL_EVER = Harness(title="Every Eval Ever", results=read_results, aggregates=read_aggregates)

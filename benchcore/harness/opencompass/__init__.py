"""OpenCompass: its results as scores, the picks as custom data sets."""

from benchcore.harness.entry import Harness
from benchcore.harness.opencompass.custom import export
from benchcore.harness.opencompass.results import read_results

OPENCOMPASS = Harness(title="OpenCompass", results=read_results, export=export)

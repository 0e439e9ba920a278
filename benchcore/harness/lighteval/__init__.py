"""lighteval: its details as results, the picks as custom tasks that run the picks of its own."""

from benchcore.harness.entry import Harness
from benchcore.harness.lighteval.details import read_results
from benchcore.harness.lighteval.subset import export

LIGHTEVAL = Harness(title="lighteval", results=read_results, export=export, needs_documents=True)

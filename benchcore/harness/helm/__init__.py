"""HELM: its run folders and cached instances, read; the picks as cached instances, written."""

from benchcore.harness.entry import Harness
from benchcore.harness.helm.instances import read_documents
from benchcore.harness.helm.runs import read_results
from benchcore.harness.helm.subset import export

HELM = Harness(title="HELM", results=read_results, documents=read_documents, export=export, needs_documents=True)

"""Which prompt of the registry a harness's document is: by content, never by position."""

from __future__ import annotations

from benchcore.harness.binding.binder import Binder, Binding
from benchcore.harness.binding.declared import Declared, Source, parse_benchmarks
from benchcore.harness.binding.prompts import Known, Prompts, documents_in, load_prompts
from benchcore.harness.binding.stored import store_bindings, stored_bindings
from benchcore.harness.binding.wrong_ids import mend_ids

__all__ = [
    "Binder",
    "Binding",
    "Declared",
    "Known",
    "Prompts",
    "Source",
    "documents_in",
    "load_prompts",
    "mend_ids",
    "parse_benchmarks",
    "store_bindings",
    "stored_bindings",
]

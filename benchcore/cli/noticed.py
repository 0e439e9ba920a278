"""What was noticed while logs were read, said on stderr."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from benchcore.cli.output import shown

if TYPE_CHECKING:
    from benchcore.harness.notes import Notes

log = logging.getLogger(__name__)

# Kind -> what is said of one, and of several; other kinds are said as they are called, with their count.
_SAID = {
    "differing": (
        "a score differs from the stored one, which is kept (--replace takes the new one, --run NAME keeps both)",
        "{} scores differ from the stored ones, which are kept (--replace takes the new ones, --run NAME keeps both)",
    ),
    "replaced": ("a stored score was replaced", "{} stored scores were replaced"),
    "several runs": (
        "a model has several runs, of which the newest counts on each prompt",
        "{} models have several runs, of which the newest counts on each prompt",
    ),
    "unused option": ("an option had no use", "{} options had no use"),
    "no results file": ("a results file is missing", "{} results files are missing"),
    "another name in the log": ("--model wins over the log", "--model wins over {} names in the log"),
    "without score": ("a score is missing", "{} scores are missing"),
    "refused": ("a score was refused", "{} scores were refused"),
}


def tell(notes: Notes) -> None:
    """Say each kind of thing with its count and the first examples."""
    for kind, count in notes.counts.items():
        if kind in _SAID:
            log.warning("%s:", _SAID[kind][count > 1].format(f"{count:,}"))
        else:
            log.warning("%s: %s", kind, f"{count:,}")
        for example in notes.examples.get(kind, ()):
            log.warning("  %s", shown(example))

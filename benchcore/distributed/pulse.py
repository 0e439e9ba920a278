"""Whether workers still live: a process that is frozen answers nothing for ever, and is no death that Ray would see."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

log = logging.getLogger(__name__)

PULSE = "pulse"  # the thread of an actor that answers, and the method that it calls


@dataclass
class _Pulse:
    """What one worker was asked last.

    Attributes:
        question: that it lives.
        asked: when, by the monotonic clock.
        place: its process, as it said; None while it starts, which is Ray's business and takes what it takes.
    """

    question: Any
    asked: float
    place: str | None = None


class Pulses:
    """Asks workers whether they live, beside their work: it does not matter how long that takes.

    Args:
        actors: of a class with the concurrency group and the method `PULSE`, which says what process it is.
        patience_s: how long one may be silent.
    """

    def __init__(self, actors: Sequence[Any], patience_s: float) -> None:
        self._actors, self._patience_s = actors, patience_s
        self._pulses = [self._ask(actor) for actor in actors]

    def check(self) -> None:
        """Have Ray end workers that are silent for too long, and repeat their calls on new ones, as after a death."""
        import ray
        from ray.exceptions import RayError

        for number, actor in enumerate(self._actors):
            pulse = self._pulses[number]
            if ray.wait([pulse.question], timeout=0)[0]:
                try:
                    place = ray.get(pulse.question)
                except RayError:  # it has died: it starts again, or whoever waits for its work is told
                    place = None
                self._pulses[number] = self._ask(actor, place)
            elif pulse.place is not None and time.monotonic() - pulse.asked > self._patience_s:
                log.warning(
                    "select: a worker (at last %s) does not answer for %g s, as if it were stopped;"
                    " it is ended and its work done again",
                    pulse.place,
                    self._patience_s,
                )
                ray.kill(actor, no_restart=False)
                self._pulses[number] = self._ask(actor)

    def _ask(self, actor: Any, place: str | None = None) -> _Pulse:
        question = getattr(actor, PULSE).options(concurrency_group=PULSE, max_task_retries=0).remote()
        return _Pulse(question, time.monotonic(), place)

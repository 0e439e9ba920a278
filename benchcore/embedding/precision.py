"""Which precision an encoder computes in: probed once for a registry, then fixed, since it changes the vectors."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from benchcore.config import EmbedSection
from benchcore.embedding.encoder import Encoder, base_fingerprint, description
from benchcore.embedding.files import exists, read_bytes, write_atomically
from benchcore.errors import BenchcoreError
from benchcore.registry.root import Registry

log = logging.getLogger(__name__)

_LEAST_COSINE = 0.999
# Noise on a busy machine must not decide: where bfloat16 pays at all it is 1.6 times as fast or more.
_LEAST_SPEEDUP = 1.2
_ROUNDS = 3


@dataclass(frozen=True)
class Probe:
    """What the probe found.

    Attributes:
        precision: "float32" or "bfloat16".
        speedup: of bfloat16 over float32.
        cosine: the smallest between a text's vectors in both.
        device: "cpu" or "cuda".
    """

    precision: str
    speedup: float
    cosine: float
    device: str


def decided(embed: EmbedSection, registry: Registry) -> str | None:
    """Say which precision holds for an encoder in a registry; None when it has to be probed first.

    Raises:
        BenchcoreError: the record of the probe cannot be understood.
    """
    if embed.encoder.precision != "auto":
        return embed.encoder.precision
    record = _record(embed, registry)
    if not exists(registry, record):
        return None
    try:
        precision = json.loads(read_bytes(registry, record))["precision"]
    except (ValueError, KeyError, TypeError):
        precision = None
    if precision not in ("float32", "bfloat16"):
        raise BenchcoreError("is not a record of a precision", where=record, mend="Remove it; it is probed again then.")
    return str(precision)


def probe(encoder: Encoder, texts: Sequence[str], device: str) -> Probe:
    """Encode a few texts in both precisions, in turn, and take the faster one if it says the same.

    Args:
        encoder: loaded.
        texts: a few, of the kind that is to be encoded.
        device: where it was loaded.
    """
    seconds: dict[str, list[float]] = {"float32": [], "bfloat16": []}
    vectors = {}
    # Other work on the machine counts in seconds that pass, not in those of the CPU.
    clock = time.process_time if device == "cpu" else time.perf_counter
    for _ in range(_ROUNDS):
        for precision, taken in seconds.items():
            start = clock()
            vectors[precision] = encoder.encode(texts, precision).vectors
            taken.append(clock() - start)
    unit = {name: rows / np.linalg.norm(rows, axis=1, keepdims=True) for name, rows in vectors.items()}
    cosine = float(np.min(np.sum(unit["float32"] * unit["bfloat16"], axis=1)))
    speedup = min(seconds["float32"]) / min(seconds["bfloat16"])
    faster = speedup >= _LEAST_SPEEDUP and cosine >= _LEAST_COSINE
    return Probe("bfloat16" if faster else "float32", round(speedup, 2), round(cosine, 6), device)


def decide(embed: EmbedSection, registry: Registry, found: Probe) -> str:
    """Record what the probe found; it holds for this encoder and registry from then on."""
    content = asdict(found) | {"encoder": description(embed)}
    registry.require_writable()
    write_atomically(registry, _record(embed, registry), json.dumps(content, indent=2, sort_keys=True).encode())
    log.info(
        "encoder %s: %s (bfloat16 is %.2f times as fast, cosine %.5f)",
        embed.encoder.name, found.precision, found.speedup, found.cosine,
    )  # fmt: skip
    return found.precision


def _record(embed: EmbedSection, registry: Registry) -> str:
    return registry.sidecar("_encoders", f"{base_fingerprint(embed)}.json")

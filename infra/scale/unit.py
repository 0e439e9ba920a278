"""The process that measures the unit of all times: `python -m infra.scale.unit select.yaml 100000`."""

from __future__ import annotations

import json
import sys

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchcore.config import load_config
from benchcore.embedding.encoder import fingerprint
from benchcore.registry.root import Registry
from benchcore.registry.tables import dataset
from infra.bench.blas import kernels
from infra.bench.product import product_seconds


def main(conf: str, n: str) -> None:
    """Time one product of n of the registry's vectors with themselves, in blocks of single precision."""
    rows = vectors(conf, int(n))
    sys.stdout.write(json.dumps({"rows": len(rows), "seconds": product_seconds(rows), "blas": kernels()}) + "\n")


def vectors(conf: str, n: int) -> NDArray[np.float32]:
    """Any n vectors of the registry of a configuration, or all where there are fewer."""
    config = load_config(conf)
    registry = Registry.at(config.registry.root)
    wanted = pc.field("encoder") == fingerprint(config.embed, registry)
    found = dataset(registry, "embeddings").head(n, columns=["vector"], filter=wanted)["vector"].combine_chunks()
    return np.asarray(found.flatten().to_numpy(zero_copy_only=False), np.float32).reshape(len(found), -1)


if __name__ == "__main__":
    main(*sys.argv[1:])

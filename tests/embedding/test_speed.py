"""The pool, its start, reads and writes included, against one plain call of the library on the same cores."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from benchcore.config import Config
from benchcore.embedding.job import embed
from benchcore.embedding.model_files import locate
from benchcore.registry.identity import text_hash
from benchcore.registry.tables import read
from tests.embedding.conftest import add_prompts

TEXTS = 2000
TAKEN_OF_A_FILE = 40

# The library as one would use it, in a process of its own: all cores, one call.
PLAIN = """
import json, sys, time
import numpy as np
texts = json.load(open(sys.argv[1]))
start = time.perf_counter()
from sentence_transformers import SentenceTransformer
model = SentenceTransformer(sys.argv[2], device="cpu")
loaded = time.perf_counter()
np.save(sys.argv[3], model.encode(texts, show_progress_bar=False))
print(json.dumps({"start": loaded - start, "encode": time.perf_counter() - loaded}))
"""


def real_texts(folder: Path) -> list[str]:
    """Lines of the real benchmarks' files: mixed short and long ones, as they are."""
    texts: set[str] = set()
    for file in sorted(path for path in (folder / "prompts").rglob("*") if path.suffix in (".json", ".jsonl")):
        lines = [line.strip() for line in file.read_text(encoding="utf-8").split("\n") if line.strip()]
        texts.update(random.Random(0).sample(lines, min(TAKEN_OF_A_FILE, len(lines))))
    return random.Random(0).sample(sorted(texts), TEXTS)


@pytest.mark.slow
def test_the_pool_is_at_least_as_fast_as_the_plain_library(shared_data: Path, ray_instance: None, tmp_path: Path):
    """And says the same, at cosine .999 or better."""
    texts = real_texts(shared_data)
    (tmp_path / "texts.json").write_text(json.dumps(texts))
    arguments = [tmp_path / "texts.json", locate(Config().embed.encoder).folder, tmp_path / "plain.npy"]
    plain = json.loads(subprocess.check_output([sys.executable, "-c", PLAIN, *map(str, arguments)], text=True))
    registry = add_prompts(tmp_path / "root", texts)
    start = time.perf_counter()
    outcome = embed(Config(), registry, "speed")
    pool = time.perf_counter() - start
    stored = read(registry, "embeddings")
    vectors = dict(zip(stored["text_hash"].to_pylist(), stored["vector"].to_pylist(), strict=True))
    ours = np.array([vectors[text_hash(text)] for text in texts], np.float32)
    cosine = np.sum(ours * np.load(tmp_path / "plain.npy"), axis=1) / np.linalg.norm(ours, axis=1)
    sys.stderr.write(
        f"\nplain: {plain['start']:.1f} s to start, {plain['encode']:.1f} s to encode {TEXTS} texts; "
        f"pool: {pool:.1f} s in all, {outcome.truncated} truncated, least cosine {cosine.min():.6f}\n"
    )

    assert outcome.encoded == TEXTS
    assert pool <= plain["encode"]
    assert cosine.min() >= 0.999

"""Kept pieces: what is damaged counts as not there, and nothing is ever half there."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchcore.lab.pieces import Pieces


def kept(folder: Path) -> Path:
    Pieces(folder).save("abcd", {"one": np.arange(5), "two": np.ones((2, 3)), "seconds": np.array(0.5)})
    (file,) = folder.rglob("*.npz")
    return file


def test_what_is_kept_comes_back(tmp_path: Path):
    kept(tmp_path)
    found = Pieces(tmp_path).load("abcd")
    assert found is not None
    assert set(found) == {"one", "two", "seconds"}
    assert found["one"].tolist() == [0, 1, 2, 3, 4]
    assert Pieces(tmp_path).load("abce") is None


def test_damage_of_any_kind_gives_nothing_or_the_whole(tmp_path: Path):
    """Bytes changed, zeroed or cut off at random."""
    file = kept(tmp_path)
    whole, generator = file.read_bytes(), np.random.default_rng(0)
    for _ in range(1500):
        content, place = bytearray(whole), int(generator.integers(len(whole)))
        kind = generator.integers(3)
        if kind == 0:
            content[place] = int(generator.integers(256))
        elif kind == 1:
            content[place : place + 64] = bytes(len(content[place : place + 64]))
        else:
            del content[place:]
        file.write_bytes(content)
        found = Pieces(tmp_path).load("abcd")
        assert found is None or (set(found) == {"one", "two", "seconds"} and found["one"].tolist() == [0, 1, 2, 3, 4])
    file.write_bytes(bytes.fromhex("504b0506") + bytes(18))  # an archive without members
    assert Pieces(tmp_path).load("abcd") is None

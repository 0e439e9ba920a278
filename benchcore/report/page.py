"""The page about one coreset: a single HTML file without scripts or network, readable in light and in dark."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Any

import orjson
import pyarrow.compute as pc

from benchcore.errors import BenchcoreError
from benchcore.registry.manifests import Manifest, find_manifest, manifest_warnings, read_picks, read_weights
from benchcore.registry.root import Registry
from benchcore.registry.tables import read

# What the page opens up on demand, from the manifest.
_PROVENANCE = {
    "Configuration that decides the picks": "semantic_configuration",
    "Encoders": "encoders",
    "Table versions that were read": "table_versions",
    "Library versions": "library_versions",
    "Seconds by step": "timings",
    "Digest of the input": "input_digest",
}

# Control characters but line feed and tab, Unicode's line ends, and what turns the reading direction of others round.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")


def write(registry: Registry, coreset_id: str, path: Path) -> Path:
    """Write the page of a coreset; one that is there already with the same content is not touched.

    Args:
        registry: holds the coreset.
        coreset_id: which one.
        path: where the page goes; folders are made.

    Returns:
        `path`.

    Raises:
        BenchcoreError: there is no such coreset, or the file cannot be written.
    """
    manifest = find_manifest(registry, coreset_id)
    if manifest is None:
        raise BenchcoreError(f"no coreset '{coreset_id}'", where=registry.root, mend="Run `benchcore select CONF`.")
    page = render(manifest, picked_prompts(registry, manifest), read_weights(registry, coreset_id)).encode()
    try:
        if not path.is_file() or path.read_bytes() != page:
            _replace(path, page)
    except OSError as error:
        raise BenchcoreError(
            f"the page cannot be written ({error.strerror})", where=str(path), mend="Choose another with report.path."
        ) from error
    return path


def picked_prompts(registry: Registry, manifest: Manifest) -> list[dict[str, Any]]:
    """The picks by rank, with their prompts as they were at the version that the selection read."""
    picks = read_picks(registry, manifest.coreset_id).to_pylist()
    columns = ("prompt_id", "category", "source", "path", "source_row", "record_id", "prompt", "answer", "choices")
    wanted = pc.field("prompt_id").isin([pick["prompt_id"] for pick in picks])
    found = read(registry, "prompts", manifest.table_versions.get("prompts"), columns, wanted).to_pylist()
    prompts = {row["prompt_id"]: row for row in found}
    missing = [pick["prompt_id"] for pick in picks if pick["prompt_id"] not in prompts]
    if missing:
        raise BenchcoreError(f"the table of prompts lacks {len(missing)} picks, first {missing[0]}", registry.root)
    return [pick | prompts[pick["prompt_id"]] for pick in picks]


def render(manifest: Manifest, picks: Sequence[Mapping[str, Any]], weights: Mapping[str, float]) -> str:
    """The page as text: the same coreset gives the same text.

    Args:
        manifest: of the coreset.
        picks: by rank, each with its prompt; all text in them is taken for hostile.
        weights: of the picks for the whole suite, by prompt id.
    """
    import jinja2

    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    environment.filters |= {"visible": visible, "bounded": bounded}
    template = environment.from_string(resources.files(__package__).joinpath("template.html").read_text("utf-8"))
    facts = asdict(manifest)
    return template.render(
        manifest=manifest,
        semantic=manifest.semantic_configuration,
        certificate=manifest.certificate,
        coverage=sorted(manifest.coverage, key=lambda row: (row["category"], row["benchmark"])),
        prompts=sum(row["prompts"] for row in manifest.coverage),
        warnings=manifest_warnings(manifest),
        picks=picks,
        weights=weights,
        gains=any(pick["gain"] for pick in picks),
        provenance=[(title, _pretty(facts[name])) for title, name in _PROVENANCE.items()],
    )


def bounded(text: str, characters: int) -> str:
    """The beginning of a text, and how much more there is."""
    more = len(text) - characters
    return text if more <= 0 else f"{text[:characters]} … ({more:,} more characters)"


def visible(text: str | None) -> str:
    """A text whose control and direction-changing characters are spelled out, so that it shows what it holds."""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", (text or "").replace("\r\n", "\n"))


def _pretty(value: Any) -> str:
    if isinstance(value, str):
        return value
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode()


def _replace(path: Path, page: bytes) -> None:
    """Write beside and rename, so that a reader sees the old page or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".report-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(page)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(temporary).unlink()
        raise

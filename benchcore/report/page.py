"""The page about one coreset: a single HTML file that works offline, readable in light and in dark."""

from __future__ import annotations

import base64
import contextlib
import hashlib
from collections.abc import Iterator
from dataclasses import asdict
from importlib import resources
from pathlib import Path

from benchcore.errors import BenchcoreError
from benchcore.progress import waiting
from benchcore.registry.identity import digest
from benchcore.registry.manifests import Manifest, find_manifest
from benchcore.registry.root import Registry
from benchcore.report.findings import find
from benchcore.report.ground import Ground
from benchcore.report.hostile_text import bounded, named, visible
from benchcore.report.packing import beginning_length, packed
from benchcore.report.page_data import data_block, points_block, texts_block
from benchcore.report.plotting_library import plotting_library
from benchcore.report.reading import beginnings, exact_copies, picked_prompts, rows_of, weights_by_target
from benchcore.report.stored_layouts import stored_layout
from benchcore.report.view import Material, view
from benchcore.scoring.estimates import Estimates, estimate
from benchcore.whole_file import replace_file

_SCRIPTS = ("theme.js", "data.js", "picks.js", "map.js", "start.js")
_PARTS = ("page.html", "style.css", *_SCRIPTS)
_VERSION = 1  # of what is read and computed; raised when the same coreset shall give another page
_HEAD = 4096  # bytes, in which the page says what it was made of

# Its WebGL part puts its drawing functions together as text. The page's own scripts do nothing of the kind.
_LIBRARY_NEEDS = "'unsafe-eval'"

Library = tuple[str, str]


def write(registry: Registry, coreset_id: str, path: Path, ground: Ground) -> bool:
    """Write the page of a coreset; one of the same coreset and the same scores is left alone.

    Args:
        registry: holds the coreset.
        coreset_id: which one.
        path: where the page goes; folders are made.
        ground: the prompts that the coreset was selected from.

    Returns:
        Whether a page was written; False where it was there.

    Raises:
        BenchcoreError: there is no such coreset, its tables lack something, or the file cannot be written.
    """
    manifest = find_manifest(registry, coreset_id)
    if manifest is None:
        raise BenchcoreError(f"no coreset '{coreset_id}'", where=registry.root, mend="Run `benchcore select CONF`.")
    library, estimates = plotting_library(), estimate(registry, manifest)
    made_of = _made_of(manifest, estimates, library)
    with _writing(path):
        if _is_there(path, made_of):
            return False
    with waiting("report"):
        material = gather(registry, manifest, ground, estimates, mapped=library is not None)
        page = render(material, library, made_of).encode()
    with _writing(path):
        replace_file(path, page)
    return True


def gather(registry: Registry, manifest: Manifest, ground: Ground, estimates: Estimates, *, mapped: bool) -> Material:
    """Read and work out all that a page shows.

    Args:
        registry: holds the coreset.
        manifest: of the coreset.
        ground: the prompts that it was selected from.
        estimates: of models.
        mapped: whether there shall be a map.
    """
    rows = rows_of(registry, manifest, ground)
    picks = picked_prompts(registry, manifest)
    masses = {row["benchmark"]: row["mass"] for row in manifest.coverage}
    ids = [pick["prompt_id"] for pick in picks]
    return Material(
        manifest=manifest,
        picks=picks,
        weights=weights_by_target(registry, manifest.coreset_id),
        ground=ground,
        findings=find(ground, rows, ids, masses, exact_copies(registry, manifest)),
        beginnings=beginnings(registry, manifest, ground, beginning_length(ground.n)),
        estimates=estimates,
        positions=stored_layout(registry, ground.text_hash, rows) if mapped else None,
    )


def render(material: Material, library: Library | None, made_of: str = "") -> str:
    """The page as text: the same material gives the same text.

    Args:
        material: of the coreset; all text in it is taken for hostile.
        library: source and version of the plotting library; None makes a page without a map.
        made_of: what identifies the material, for a later run to know the page by.
    """
    import jinja2

    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    environment.filters |= {"visible": visible, "bounded": bounded, "named": named}
    script = '(() => {\n"use strict";\n' + "\n".join(_part(name) for name in _SCRIPTS) + "})();\n"
    blocks = {"data": packed(data_block(material))}
    if library is not None and material.positions is not None:
        blocks |= {
            "points": packed(points_block(material)),
            "texts": packed(texts_block(material)),
            "plotly": packed(library[0].encode()),
        }
    return environment.from_string(_part("page.html")).render(
        **view(material),
        made_of=made_of,
        style=_part("style.css"),
        script=script,
        allowed=" ".join([_hashed(script), *([_hashed(library[0]), _LIBRARY_NEEDS] if library is not None else [])]),
        blocks=blocks,
        library=library[1] if library is not None else None,
    )


def _made_of(manifest: Manifest, estimates: Estimates, library: Library | None) -> str:
    """Names all that the page depends on: the coreset, the scores and this room's own parts."""
    parts = [hashlib.sha256(_part(name).encode()).hexdigest() for name in _PARTS]
    return digest("page", _VERSION, parts, library and library[1], asdict(manifest), asdict(estimates))


def _is_there(path: Path, made_of: str) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(_HEAD)
        file.seek(max(0, path.stat().st_size - 16))
        return f'content="{made_of}"'.encode() in head and file.read().rstrip().endswith(b"</html>")


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Tell what stands in the way of a page; errors of tables that are read are not meant."""
    try:
        yield
    except OSError as error:
        raise BenchcoreError(
            f"the page cannot be written ({error.strerror})", where=str(path), mend="Choose another with report.path."
        ) from error


def _part(name: str) -> str:
    return resources.files(__package__).joinpath("parts", name).read_text("utf-8")


def _hashed(source: str) -> str:
    """As a content security policy names a script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"

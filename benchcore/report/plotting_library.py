"""The plotting library that the map is drawn with: the file that the Python package `plotly` carries."""

from __future__ import annotations

from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path


def plotting_library() -> tuple[str, str] | None:
    """Source and version of the library, read without importing the package; None where it is not installed."""
    found = find_spec("plotly")
    folders = list(found.submodule_search_locations or ()) if found is not None else []
    for folder in folders:
        file = Path(folder) / "package_data" / "plotly.min.js"
        if file.is_file():
            return file.read_text("utf-8"), version("plotly")
    return None

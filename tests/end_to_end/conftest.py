"""The registry that all end-to-end tests start from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end import books, commands
from tests.end_to_end.corpora import write_registry


@dataclass(frozen=True)
class TwiceAtOnce:
    """Two identical runs that were started at once on one root.

    Attributes:
        folder: holds `conf.yaml`, the sources, the data and the registry.
        ended: how the two runs ended.
        contents: what the tables said then (see `books.contents`).
    """

    folder: Path
    ended: tuple[commands.Ended, commands.Ended]
    contents: dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="session")
def twice_at_once(tmp_path_factory: pytest.TempPathFactory) -> TwiceAtOnce:
    """Run the small registry twice at once, undisturbed otherwise."""
    folder = tmp_path_factory.mktemp("registry")
    conf = write_registry(folder)
    first, second = (commands.Command(folder, "run", str(conf), "--json") for _ in range(2))
    ended = (first.result(), second.result())
    books.check_accounting(folder / "registry")
    return TwiceAtOnce(folder, ended, books.contents(folder / "registry"))

"""Options that every command has, declared once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    from benchcore.config import Config
    from benchcore.registry.root import Registry

Conf: TypeAlias = Annotated[Path, typer.Argument(metavar="CONF", help="Configuration file (YAML).", show_default=False)]
OptionalConf: TypeAlias = Annotated[
    Path | None, typer.Argument(metavar="[CONF]", help="Configuration file (YAML).", show_default=False)
]
Root: TypeAlias = Annotated[
    str | None,
    typer.Option("--root", metavar="URI", help="Registry root; wins over the configuration's (default: ./registry)."),
]
Set: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Set a configuration value, e.g. select.k=50; repeatable."),
]
Count: TypeAlias = Annotated[int | None, typer.Option("-k", "--k", help="How many to pick; wins over the file.")]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
DryRun: TypeAlias = Annotated[
    bool, typer.Option("--dry-run", help="Print the plan, its time and memory; start nothing, write nothing.")
]
Debug: TypeAlias = Annotated[bool, typer.Option("--debug", help="Say more; show tracebacks.")]
RunName: TypeAlias = Annotated[
    str | None,
    typer.Option("--run-id", metavar="NAME", help="The scheduler's name for this run, as the end of its id."),
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Only warnings and errors on stderr.")]


def configuration(path: Path | None, root: str | None, settings: list[str] | None) -> Config:
    """Read the configuration that a command line names."""
    from benchcore.config import load_config

    return load_config(path, settings or (), root)


def existing_registry(config: Config) -> Registry:
    """The registry that a configuration means; unlike a job's, it must be there.

    Raises:
        BenchcoreError: it is not, or holds no table, as an address that is misspelt.
    """
    from benchcore.errors import BenchcoreError
    from benchcore.registry.root import Registry

    opened = Registry.at(config.registry.root)
    if opened.is_local and not Path(opened.root).is_dir():
        raise BenchcoreError("there is no registry", where=opened.root, mend="Name its root with --root or CONF.")
    if opened.is_local and not os.access(opened.root, os.R_OK | os.X_OK):
        raise BenchcoreError("the registry cannot be read (no permission)", where=opened.root)
    if not opened.is_local:
        opened.require_writable()  # asks whether the store is there
    if not opened.holds_tables():
        raise BenchcoreError(
            "there is no registry: no table lies there", where=opened.root, mend="Name its root with --root or CONF."
        )
    return opened


def start_logging(*, quiet: bool, debug: bool) -> None:
    """Log to stderr from here on."""
    from benchcore.pipeline.logs import LogStyle, configure_logging

    configure_logging(LogStyle(quiet=quiet, debug=debug))

"""The command line of the scripts in `jobs/`: one step of the pipeline, with the options that every step has."""

from __future__ import annotations

import sys

import typer

from benchcore.cli.main import execute
from benchcore.cli.options import Conf, Debug, Json, Quiet, Root, RunName, Set
from benchcore.cli.steps import perform, select


def main(step: str, *, isolate: bool = True) -> None:
    """Run one step with this process's arguments, and exit as the command `benchcore` does.

    Args:
        step: one of `pipeline.steps.STEPS`.
        isolate: see `pipeline.steps.run`.
    """
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

    described = app.command(help=f"The step `{step}` of benchcore, for schedulers.")

    def job(
        conf: Conf,
        *,
        root: Root = None,
        settings: Set = None,
        run_id: RunName = None,
        json: Json = False,
        debug: Debug = False,
        quiet: Quiet = False,
    ) -> None:
        perform(
            step,
            (step,),
            conf,
            root=root,
            settings=settings,
            json=json,
            debug=debug,
            quiet=quiet,
            run_id=run_id,
            isolate=isolate,
        )

    described(select if step == "select" else job)
    sys.exit(execute(app, sys.argv[1:], name=sys.argv[0]))

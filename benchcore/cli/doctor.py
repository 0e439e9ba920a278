"""`benchcore doctor`: is this machine able."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from benchcore.cli.options import Debug, Json, OptionalConf, Quiet, Root, Set, configuration, start_logging


def doctor(
    conf: OptionalConf = None,
    *,
    root: Root = None,
    settings: Set = None,
    deep: Annotated[bool, typer.Option("--deep", help="Also load the encoder (takes seconds).")] = False,
    json: Json = False,
    debug: Debug = False,
    quiet: Quiet = False,
) -> None:
    """Say what this machine has and lacks.

    Each lack comes with the way to mend it; the status is 1 if there is any.
    """
    from benchcore.cli.output import print_json, print_line, shown
    from benchcore.pipeline.diagnosis import examine

    start_logging(quiet=quiet, debug=debug)
    findings = examine(configuration(conf, root, settings), deep=deep)
    able = all(finding.ok for finding in findings)
    if json:
        print_json({"able": able, "findings": [asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            print_line(f"{'ok  ' if finding.ok else 'LACK'}  {finding.name:<22} {shown(finding.detail)}")
            if finding.mend:
                print_line(f"{'->':>31} {finding.mend}")
    if not able:
        raise typer.Exit(1)

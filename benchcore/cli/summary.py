"""What a command did and what came out, for people and for scripts. All but the times comes from the tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from benchcore.cli.output import print_line, print_table

if TYPE_CHECKING:
    from benchcore.pipeline.steps import RunOutcome
    from benchcore.registry.manifests import Manifest


def print_summary(root: str, outcome: RunOutcome) -> None:
    """Print the coreset (the same lines whenever it is asked for again), then what was done and skipped this time."""
    manifest = _manifest(root, outcome)
    if manifest is not None:
        print_coreset(manifest)
    rows = [
        (step.step, "done" if step.changed else "nothing to do", f"{step.seconds:.1f}", counted(step.counts))
        for step in outcome.steps
    ]
    print_table("steps", ("step", "", "seconds#", "counts"), rows)
    if outcome.report is not None:
        print_line(f"report: {outcome.report}")


def print_coreset(manifest: Manifest) -> None:
    """Print what a coreset holds and how good it is."""
    from benchcore.registry.manifests import manifest_warnings

    picks, prompts = Counter[str](), Counter[str]()
    for row in manifest.coverage:
        picks[row["category"]] += row["picks"]
        prompts[row["category"]] += row["prompts"]
    print_table(
        "picks by category",
        ("category", "prompts#", "picks#"),
        [(category, prompts[category], picks[category]) for category in sorted(prompts)],
    )
    ordered = sorted(manifest.coverage, key=lambda row: (row["category"], row["benchmark"]))
    print_table(
        "picks by benchmark",
        ("category", "benchmark", "prompts#", "picks#", "coverage#"),
        [(row["category"], row["benchmark"], row["prompts"], row["picks"], row["coverage"]) for row in ordered],
    )
    print_line(f"coreset      {manifest.coreset_id}")
    print_line(f"picks        {manifest.k:,} of {prompts.total():,} prompts, {len(ordered)} benchmarks")
    print_line(f"coverage     {manifest.mean_coverage:.4f} (mean similarity of a prompt to the pick nearest to it)")
    if manifest.query is not None:
        print_line(f"objective    {manifest.value:.4f} (of the query, select.{manifest.query})")
    print_line(f"certificate  {_certificate(manifest)}")
    if "uncovered" in manifest.plan:
        share, looked_at = manifest.plan["uncovered"], manifest.plan["neighbours"]
        print_line(f"uncovered    {100 * share:.2f} % of the prompts: no pick is among their {looked_at:,} neighbours")
    print_line(f"expect       {_expected(manifest, prompts.total())}")
    for warning in manifest_warnings(manifest):
        print_line(f"warning: {warning}")
    print_line()


def as_json(root: str, outcome: RunOutcome) -> dict[str, Any]:
    """The same for scripts."""
    manifest = _manifest(root, outcome)
    return {
        "run_id": outcome.run_id,
        "changed": outcome.changed,
        "root": root,
        "coreset_id": outcome.coreset_id,
        "report": str(outcome.report) if outcome.report else None,
        "steps": [asdict(step) for step in outcome.steps],
        "manifest": asdict(manifest) if manifest else None,
    }


def _manifest(root: str, outcome: RunOutcome) -> Manifest | None:
    from benchcore.registry.manifests import find_manifest
    from benchcore.registry.root import Registry

    return find_manifest(Registry.at(root), outcome.coreset_id) if outcome.coreset_id else None


def _certificate(manifest: Manifest) -> str:
    from benchcore.registry.manifests import certainty

    certificate = manifest.certificate
    if not certificate:
        method = manifest.semantic_configuration.get("method")
        return "none (select.certificate is none)" if method == "facility_location" else f"none ({method} has none)"
    bound = f"{certificate['kind']} upper bound {certificate['upper_bound']:.4f}{certainty(certificate)}"
    return f"at least {100 * certificate['ratio']:.1f} % of the optimum ({bound})"


def _expected(manifest: Manifest, prompts: int) -> str:
    """What error such a coreset had on the suites of the lab, for a model's score and for two models' difference."""
    from benchcore.datasets import load_error_curves
    from benchcore.estimation.expected_error import expected_error
    from benchcore.methods import DEFAULT

    method, mass = (manifest.semantic_configuration.get(name) for name in ("method", "mass"))
    if (method, mass) != (DEFAULT, "macro"):
        return f"unknown: errors were measured of {DEFAULT} with macro mass (docs/lab.md)"
    found = expected_error(load_error_curves(), manifest.k, prompts)
    beyond = "" if found.measured else "; no suite was measured at such a k"
    return (
        f"a model's score within {found.margin.mean:.1f} points at 95 %, a difference of two models within"
        f" {found.gap.mean:.1f} (on the lab's suites {found.margin.low:.1f}-{found.margin.high:.1f} and"
        f" {found.gap.low:.1f}-{found.gap.high:.1f}{beyond})"
    )


def counted(counts: dict[str, int]) -> str:
    """Counts in words; what is nought is left out."""
    return ", ".join(f"{name.replace('_', ' ')} {number:,}" for name, number in counts.items() if number)

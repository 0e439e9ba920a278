"""Ask submodlib for its picks on small seeded instances, as an oracle for the tests.

By hand, from the root of the repository, in an environment with Python 3.11, NumPy and submodlib-py 0.0.3:

    PYTHONPATH=. python infra/peer_figures.py tests/submodular/peer_figures.json

Each case runs in a process of its own, since some end it: what it failed with is kept in place of the figures.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.submodular.peer_instances import PeerCase, cases


def main(arguments: list[str]) -> int:
    """Write the figures of all cases to a file."""
    if len(arguments) != 1:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    import submodlib  # noqa: F401  (once, before the processes part)

    lines = [json.dumps({"name": case.name, **ask(case)}) for case in cases()]
    Path(arguments[0]).write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    return 0


def ask(case: PeerCase) -> dict[str, Any]:
    """The figures of a case, or what a process failed with that asked for them."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(case, there))
    process.start()
    there.close()
    try:
        found: dict[str, Any] = here.recv()
    except EOFError:
        found = {"failed": "it ended the process"}
    process.join()
    return found


def figures(case: PeerCase) -> dict[str, Any]:
    """What submodlib's naive greedy picks, what each pick gains, and the value that it gives the set."""
    function = build(case)
    found = function.maximize(budget=case.k, optimizer="NaiveGreedy", show_progress=False)
    picks = [int(pick) for pick, _ in found]
    gains = [float(f"{gain:.7g}") for _, gain in found]
    return {"picks": picks, "gains": gains, "value": float(f"{function.evaluate(set(picks)):.9g}")}


def build(case: PeerCase) -> Any:
    """The function of a case, by submodlib's name and conventions."""
    import submodlib

    n, q, kernel, signed, features = case.n, 5, case.kernel(), case.kernel(signed=True), case.features()
    within, across = kernel[:n, :n], kernel[:n, n:]
    parts = {"data_sijs": signed[:n, :n], "query_sijs": signed[:n, n:], "query_query_sijs": signed[n:, n:]}
    return {
        "facility location": lambda: submodlib.FacilityLocationFunction(n, "dense", sijs=within, separate_rep=False),
        "graph cut": lambda lam: submodlib.GraphCutFunction(n, "dense", lam, ggsijs=within),
        "log-determinant": lambda a: submodlib.LogDeterminantFunction(n, "dense", 1 / a, sijs=signed[:n, :n]),
        "feature-based": lambda psi: submodlib.FeatureBasedFunction(
            n, features.tolist(), features.shape[1], sparse=False, mode=_concave("FeatureBased", psi)
        ),
        "FLVMI": lambda eta: submodlib.FacilityLocationMutualInformationFunction(
            n, q, data_sijs=within, query_sijs=across, magnificationEta=eta
        ),
        "FLQMI": lambda eta: submodlib.FacilityLocationVariantMutualInformationFunction(
            n, q, query_sijs=across, queryDiversityEta=eta
        ),
        "GCMI": lambda lam: submodlib.GraphCutMutualInformationFunction(n, q, query_sijs=across),  # 2 lam is 1
        "COM": lambda eta, psi: submodlib.ConcaveOverModularFunction(
            n, q, query_sijs=across, queryDiversityEta=eta, mode=_concave("ConcaveOverModular", psi)
        ),
        "LogDetMI": lambda eta, ridge: submodlib.LogDeterminantMutualInformationFunction(
            n, q, ridge, **parts, magnificationEta=eta
        ),
    }[case.objective](*case.parameters)


def _concave(function: str, psi: str) -> Any:
    import submodlib_cpp

    modes = getattr(submodlib_cpp, function)
    return {"sqrt": modes.squareRoot, "log": modes.logarithmic, "ratio": modes.inverse}[psi]


def _answer(case: PeerCase, there: Connection) -> None:
    try:
        there.send(figures(case))
    except Exception as error:
        there.send({"failed": f"{type(error).__name__}: {str(error)[:100]}"})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

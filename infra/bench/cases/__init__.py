"""What `make bench` shows; a new case is one more entry here."""

from __future__ import annotations

from infra.bench.case import Case
from infra.bench.cases.compilation import compilation
from infra.bench.cases.constraints import constraints
from infra.bench.cases.facility_location import facility_location, growth, reference
from infra.bench.cases.other_libraries import apricot, submodlib
from infra.bench.cases.other_objectives import feature_based, log_determinant
from infra.bench.cases.same_picks import same_picks
from infra.bench.sizes import Sizes


def all_cases(sizes: Sizes) -> dict[str, Case]:
    """All cases by name, in the order in which they run.

    Args:
        sizes: full, or a part for trying the bench itself.
    """
    cases = (
        compilation(sizes),
        reference(sizes),
        facility_location(sizes, 20_000, (200,)),
        facility_location(sizes, 61_000, (610, 6_100)),
        facility_location(sizes, 120_000, (1_200,)),
        apricot(sizes),
        submodlib(sizes),
        log_determinant(sizes),
        feature_based(sizes),
        constraints(sizes),
        growth(sizes),
        same_picks(sizes),
    )
    return {case.name: case for case in cases}

"""What one child process measures, and what it found."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

PEERS = ("apricot", "submodlib")


@dataclass(frozen=True)
class Task:
    """One measurement. Equal tasks are measured once, however many cases show them.

    Attributes:
        n: rows.
        k: picks.
        kind: of data (see `data`): `clustered`, `random` or `duplicates`.
        engine: `benchcore`, `apricot`, `submodlib`, or `product`: the matrix product alone.
        objective: its name in `benchcore.select`.
        constraint: `none`, `rounds`, `quotas` or `knapsack`.
        way: how a peer is called (see `peer_child`).
        warm_rows: rows of the run before, which compiles what is measured; 0 for none.
        product: whether to time the product of the rows with themselves just before the run.
        block: rows of a block of the product; 0 for the usual ones.
        threads: other than the bench's; 0 for these.
        shuffled: rows in another order, with ids.
        tile: another size of tiles; 0 for the usual one.
        cache: of compiled code: `usual`, or a folder of the bench's own, `empty` or `filled` by the same task before.
    """

    n: int
    k: int
    kind: str = "clustered"
    engine: str = "benchcore"
    objective: str = "facility_location"
    constraint: str = "none"
    way: str = ""
    warm_rows: int = 0
    product: bool = False
    block: int = 0
    threads: int = 0
    shuffled: bool = False
    tile: int = 0
    cache: str = "usual"

    def to_json(self) -> str:
        """For the child's command line."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> Task:
        """What `to_json` wrote."""
        return Task(**json.loads(text))

    def __str__(self) -> str:
        usual = Task(self.n, self.k)
        others = {
            name: value
            for name, value in asdict(self).items()
            if value != getattr(usual, name) and name not in ("engine", "objective", "warm_rows", "product")
        }
        words = [self.engine, self.objective if self.engine != "product" else "", f"n={self.n:,} k={self.k:,}"]
        return " ".join([*filter(None, words), *(f"{name}={value}" for name, value in others.items())])


@dataclass(frozen=True)
class Outcome:
    """What a child found; None is what it did not measure.

    Attributes:
        seconds: of the run, without compilation.
        peak: bytes of the process at most while it ran, the data among them.
        value: of the picks, by the bench's own evaluator.
        picks: how many.
        digest: hash of their ids in the order of picking.
        warm_up: seconds of the run before: imports, the compiler or its cache, and a small instance.
        product: seconds of the matrix product, the median of three where these are short.
        blas: kernels and threads of the linear algebra.
        versions: of libraries that the parent does not have.
        error: why there is nothing.
    """

    seconds: float | None = None
    peak: int | None = None
    value: float | None = None
    picks: int | None = None
    digest: str | None = None
    warm_up: float | None = None
    product: float | None = None
    blas: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    error: str | None = None

    def to_json(self) -> str:
        """For the child's last line."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> Outcome:
        """What `to_json` wrote."""
        found = json.loads(text)
        return Outcome(**{**found, "blas": tuple(found["blas"]), "versions": tuple(found["versions"])})

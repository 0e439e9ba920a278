"""The linear algebra that a process uses."""

from __future__ import annotations

from threadpoolctl import threadpool_info


def kernels() -> tuple[str, ...]:
    """Such as 'openblas 0.3.31 Haswell, threads: 2'; one for each library that is loaded."""
    found = {
        f"{pool['internal_api']} {pool['version']} {pool.get('architecture', '')}, threads: {pool['num_threads']}"
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    }
    return tuple(sorted(found))

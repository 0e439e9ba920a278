"""What the actors of all rooms have in common."""

from __future__ import annotations

from typing import Any

import pytest

from benchcore.ray_cluster import use_threads


class Actor:
    """Computes with two threads, though Ray gives it one CPU and its environment says as much."""

    def __init__(self) -> None:
        import numpy  # noqa: F401  # Ray may load it before the constructor runs, to unpickle arguments

        use_threads(2)

    def threads(self) -> list[int]:
        """Of numpy's linear algebra, and of what is loaded only now: scipy's, and compiled loops."""
        import numba
        import scipy.linalg  # noqa: F401
        from threadpoolctl import threadpool_info

        libraries = [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
        return [*libraries, int(numba.get_num_threads())]


@pytest.mark.usefixtures("ray_instance")
def test_an_actor_computes_with_the_threads_that_it_is_given():
    """In libraries that were loaded before it says so, and in those that are loaded after."""
    import ray

    actor: Any = ray.remote(Actor).options(num_cpus=1)

    assert ray.get(actor.remote().threads.remote()) == [2, 2, 2]


def test_what_ray_tells_is_a_log_line(
    ray_instance: None, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
):
    """Of workers that died Ray writes to stdout otherwise, among the results."""
    from ray._private import worker

    caplog.set_level("INFO")
    worker.print_to_stdstream({"lines": ["A worker died\nand more"], "pid": "raylet", "is_err": False}, False)

    assert "print_to_stdstream" in worker.listen_error_messages.__code__.co_names
    assert capsys.readouterr().out == ""
    assert "Ray: A worker died" in caplog.messages

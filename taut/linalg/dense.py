"""Dense numpy algebra on one thread.

OpenBLAS's threads wait for each other by spinning, so that on cores with other work a singular value decomposition of
300 x 360 takes 1.5 to 5 s in place of 0.1 s, and matrices of mechanisms are too small to gain from a second thread.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def on_one_thread(function: Callable[P, T]) -> Callable[P, T]:
    """The function, with BLAS held to one thread while it runs."""

    @wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> T:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1, user_api="blas"):
            return function(*args, **kwargs)

    return limited

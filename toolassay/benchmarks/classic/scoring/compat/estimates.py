"""pass@k and pass^k as published: where there are fewer than k runs, they are 0."""

from __future__ import annotations

from toolassay.metrics import repeats


def pass_at_k(n: int, c: int, k: int) -> float:
    """At least one of k of n runs is right, of which c are.

    >>> pass_at_k(3, 1, 2), pass_at_k(3, 3, 4)
    (0.6666666666666667, 0.0)
    """
    return repeats.pass_at_k(n, c, k) if k <= n else 0.0


def pass_hat_k(n: int, c: int, k: int) -> float:
    """All of k of n runs are right, of which c are.

    >>> pass_hat_k(3, 2, 2), pass_hat_k(3, 3, 4)
    (0.3333333333333333, 0.0)
    """
    return repeats.pass_hat_k(n, c, k) if k <= n else 0.0

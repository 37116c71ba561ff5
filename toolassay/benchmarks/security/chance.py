"""Choices that are the same in every run."""

from __future__ import annotations

import hashlib
import heapq
import random
from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")


def in_hash_order(items: Iterable[Item], key: Callable[[Item], str], count: int, *, seed: int) -> list[Item]:
    """The first few of a stream in an order that depends on each item alone, so that asking for more adds.

    Args:
        items: gone through once; `count` of them are held.
        key: what an item is told by.
        count: how many.
        seed: of the order.

    >>> few = in_hash_order("abcdef", str, 2, seed=0)
    >>> in_hash_order("fedcba", str, 4, seed=0)[:2] == few
    True
    """
    return heapq.nsmallest(count, items, key=lambda item: _hash(f"{seed} {key(item)}"))


def generator(seed: int, name: str) -> random.Random:
    """The random stream of one probe, which depends on no other."""
    return random.Random(f"{seed} {name}")


def code(chance: random.Random) -> str:
    """A text that stands nowhere by chance.

    >>> code(generator(0, "a")) == code(generator(0, "a")), len(code(generator(0, "a")))
    (True, 12)
    """
    digits = f"{chance.getrandbits(32):08X}"
    return f"QX{digits[:4]}-{digits[4:]}J"


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()

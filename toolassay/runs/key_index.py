"""Where the entry of each key starts, for millions of keys: 20 to 30 bytes a key, whatever their length."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator

_SMALLEST = 1024  # slots; a power of two
_EMPTY = -1


class KeyIndex:
    """File offsets by key, in the order the keys were first set.

    Only a 64-bit hash of each key is held. Where a hash is met again, `holds(offset, key)` decides by
    looking at the entry itself, so that two keys with one hash are never taken for each other.

    >>> stored = {0: "a", 7: "b"}
    >>> index = KeyIndex(lambda offset, key: stored[offset] == key)
    >>> index.set("a", 0); index.set("b", 7)
    >>> index.get("b"), index.get("c"), len(index), list(index)
    (7, None, 2, [0, 7])
    """

    def __init__(self, holds: Callable[[int, str], bool], hash_of: Callable[[str], int] = hash) -> None:
        self._holds = holds
        self._hash_of = hash_of
        self._hashes = array("q")
        self._offsets = array("q")
        self._slots = array("l", [_EMPTY]) * _SMALLEST

    def get(self, key: str) -> int | None:
        """The offset of a key; None where it has none."""
        number = self._slots[self._slot(self._hash_of(key), key)]
        return None if number == _EMPTY else self._offsets[number]

    def number(self, key: str) -> int | None:
        """The place of a key in the order in which they were first set, from 0."""
        number = self._slots[self._slot(self._hash_of(key), key)]
        return None if number == _EMPTY else number

    def set(self, key: str, offset: int) -> None:
        """Note where the entry of a key starts, or starts now."""
        code = self._hash_of(key)
        slot = self._slot(code, key)
        if self._slots[slot] != _EMPTY:
            self._offsets[self._slots[slot]] = offset
            return
        self._slots[slot] = len(self._offsets)
        self._hashes.append(code)
        self._offsets.append(offset)
        if 2 * len(self._offsets) > len(self._slots):
            self._grow()

    def __len__(self) -> int:
        return len(self._offsets)

    def __iter__(self) -> Iterator[int]:
        """The offsets, by first appearance of their keys."""
        return iter(self._offsets)

    def _slot(self, code: int, key: str) -> int:
        """The slot that holds the key, or the empty one where it belongs."""
        mask = len(self._slots) - 1
        place = code & mask
        while True:
            number = self._slots[place]
            if number == _EMPTY or (self._hashes[number] == code and self._holds(self._offsets[number], key)):
                return place
            place = (place + 1) & mask

    def _grow(self) -> None:
        self._slots = array("l", [_EMPTY]) * (2 * len(self._slots))
        mask = len(self._slots) - 1
        for number, code in enumerate(self._hashes):
            place = code & mask
            while self._slots[place] != _EMPTY:
                place = (place + 1) & mask
            self._slots[place] = number

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.runs.journal import KeyIndex


@given(st.lists(st.text(max_size=2)), st.integers(min_value=1, max_value=5))
def test_it_is_a_dictionary_whatever_hashes_collide(keys: list[str], hashes: int) -> None:
    index = KeyIndex(lambda offset, key: keys[offset] == key, lambda key: len(key) % hashes)
    expected: dict[str, int] = {}
    for offset, key in enumerate(keys):
        assert index.get(key) == expected.get(key)
        index.set(key, offset)
        expected[key] = offset
        assert index.get(key) == offset
    assert list(index) == list(expected.values())
    assert [index.number(key) for key in expected] == list(range(len(expected)))
    assert len(index) == len(expected)


def test_it_grows() -> None:
    index = KeyIndex(lambda offset, key: str(offset) == key)
    for number in range(5000):
        index.set(str(number), number)
    assert all(index.get(str(number)) == number for number in range(5000))
    assert index.get("5000") is None
    assert index.number("no") is None


@pytest.mark.parametrize("code", [-1, -(2**63), 2**63 - 1])
def test_any_hash_has_a_slot(code: int) -> None:
    index = KeyIndex(lambda offset, key: key == "a", lambda key: code)
    index.set("a", 7)
    assert index.get("a") == 7
    assert index.get("b") is None

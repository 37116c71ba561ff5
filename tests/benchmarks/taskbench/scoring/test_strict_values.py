from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.normalised_plan import comparable, resource_type

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (7, "7"),
        ("7.50", 7.5),
        (" 'hello' ", "hello"),
        (True, "true"),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (10**30, str(10**30)),
        ([7, {"a": 1.0}], [7.0, {"a": 1}]),
        ("'" * 1_000_000, ""),  # in one pass
    ],
)
def test_same_meaning(one: Any, other: Any) -> None:
    assert comparable(one) == comparable(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a", "A"),
        ("07", 7),
        (1, True),
        ("", None),
        ("7.0000000000000000000000000001", 7),
        ([1, 2], [2, 1]),
        ("don't", "dont"),
        (["7"], [7]),
    ],
)
def test_other_meaning(one: Any, other: Any) -> None:
    assert comparable(one) != comparable(other)


@given(json_values)
def test_any_value_can_be_compared_and_equals_itself(value: Any) -> None:
    assert comparable(value) == comparable(value)
    hash(comparable(value))


@given(st.text())
def test_blanks_and_quotes_around_do_not_matter(text: str) -> None:
    assert comparable(f" '{text}' ") == comparable(text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("photo.JPG", "image"),
        ("talk.m4a?x=1", "audio"),
        ("a clip.webm.", "video"),
        ("https://site.icon/page", "text"),
        ("apples.gift", "text"),
        ("notes", "text"),
    ],
)
def test_resource_type_is_a_whole_extension(text: str, kind: str) -> None:
    assert resource_type(text) == kind

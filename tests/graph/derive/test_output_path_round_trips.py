"""Paths and references are read back as they were written, whatever the names of the fields."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolassay.tools.output_paths import (
    EACH,
    Part,
    Reference,
    parse_path,
    parse_reference,
    path_text,
    reference_text,
)

# A field cannot be named "[]", and a name cannot have both quotes with a bracket after them.
names = st.text("ab0.[]*'\"<>- \n\u00e9", max_size=5).filter(
    lambda name: name != EACH and not ("']" in name and '"]' in name)
)
paths = st.lists(names | st.integers(0, 99) | st.just(EACH), max_size=4).map(tuple)


@given(paths)
@example(("",))
@example(("a\nb",))
@example(("\"]'",))
@example(("a", "0", 0))
def test_a_path_is_read_back(parts: tuple[Part, ...]) -> None:
    assert parse_path(path_text(parts)) == parts


@given(st.integers(0, 99), paths)
@example(0, ("ids[]", EACH))
def test_a_reference_is_read_back(node: int, parts: tuple[Part, ...]) -> None:
    assert parse_reference(reference_text(Reference(node, parts))) == Reference(node, parts)


@pytest.mark.parametrize("quoted", ["['a']", '["a"]'])
def test_a_wrong_text_of_many_quoted_names_is_no_reference(quoted: str) -> None:
    """It was once split at the quotes in every way, which takes hours for 60 names."""
    assert parse_reference(f"<node-0>{quoted * 60}x") is None
    assert parse_reference(f"<node-0>{quoted * 60}") == Reference(0, ("a",) * 60)

"""The final answer states what the results say, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.exporters.executed_results import EMPTY, LONGEST, grounded_answer, shortened


def answer(*results: Any) -> str:
    texts = [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in results]
    return grounded_answer(texts)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ("The desk is yours.\nSee you on Friday.", "The desk is yours.\nSee you on Friday."),
        ({"id": 7, "free": False, "title": "Heat", "next": None}, "id: 7, free: false, title: Heat"),
        ({"name": "Ann", "notes": "x" * 101, "note": "x" * 100}, f"name: Ann, note: {'x' * 100}"),
        ({"notes": "word " * 30, "next": None}, f"notes: {('word ' * 30).strip()}"),
        (
            {"owner": {"name": "Ann", "home": {"city": "Oslo"}}, "price": 2},
            "price: 2, owner.name: Ann, owner.home.city: Oslo",
        ),
        (["a", 2, None, 4.50], "4 items: a; 2; 4.5"),
        ([{"id": 1, "name": "a"}, {"id": 2, "name": "b"}], "2 items: (id: 1, name: a); (id: 2, name: b)"),
        ([[1, 2], [3]], "2 items: 2 items; 1 item"),
        (list(range(6)), "6 items: 0; 1; 2; 3; 4; …"),
        ({f"f{n}": n for n in range(11)}, ", ".join(f"f{n}: {n}" for n in range(10))),
    ],
)
def test_each_kind_of_result_has_its_form(result: Any, expected: str) -> None:
    assert answer(result) == expected


def test_numbers_are_written_as_in_the_result() -> None:
    assert grounded_answer(['{"a": 1e3, "b": 12345678901234567890, "c": 1.50, "d": NaN}']) == (
        "a: 1e3, b: 12345678901234567890, c: 1.50, d: NaN"
    )


@pytest.mark.parametrize(
    ("text", "longest", "expected"),
    [
        ("Room 12", 7, "Room 12"),
        ("Room 12 is free", 8, "Room 12…"),
        ("中文" * 6, 5, "中文中文…"),
        ("12345678", 5, "1234…"),
        ("a bcdefghijkl", 10, "a bcdefgh…"),
    ],
)
def test_a_cut_spares_words_and_numbers(text: str, longest: int, expected: str) -> None:
    assert shortened(text, longest) == expected


_names = st.text("abcdefgh", min_size=1, max_size=5)
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text("ab 日本.\n", max_size=700),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(_names, inner, max_size=10),
    max_leaves=12,
)


def scalars(value: Any) -> Iterator[str]:
    """The facts of a value: its texts, numbers, truth values and names."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from scalars(item)
    elif isinstance(value, list):
        for item in value:
            yield from scalars(item)
    else:
        yield value if isinstance(value, str) else json.dumps(value)


@given(st.lists(_values, min_size=1, max_size=4))
def test_every_word_of_an_answer_is_in_a_result(results: list[Any]) -> None:
    text = answer(*results)
    known = " ".join(" ".join(one.split()) for value in results for one in scalars(value))
    frame = re.compile(r"\d+ items?(?=[:;,)\n]|$)|…")

    assert text == answer(*results)
    assert len(text) <= LONGEST
    for word in frame.sub(" ", text.replace(EMPTY, " ")).split():
        for part in re.split(r"[.:;,()]+", word):  # `owner.name` is two names
            assert part in known

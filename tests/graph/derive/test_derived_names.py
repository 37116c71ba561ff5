"""The words of names, what names mean, and which name the same thing."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolassay.graph.derive.fields import (
    IDENTITIES,
    attribute_fit,
    words_of,
)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("movieId", "movie id"),
        ("movieIDs", "movie id"),
        ("getHTTPServers", "get http server"),
        ("X-Request-ID", "x request id"),
        ("filter[movie.id]", "filter movie id"),
        ("indices", "index"),
        ("status", "status"),
        ("storageclasses", "storageclass"),
        ("影片_id", "影片 id"),
        ("--", ""),
    ],
)
def test_a_name_is_split_into_its_words_in_singular(name: str, words: str) -> None:
    assert " ".join(words_of(name)) == words


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyzS_-", max_size=12))
@example("orgs")
@example("IDs")
def test_the_words_of_words_are_the_same(name: str) -> None:
    words = words_of(name)
    assert all(word == word.lower() for word in words)
    assert words_of("_".join(words)) == words


@given(st.sampled_from(["movie", "review", "person", "company", "index", "box"]), st.booleans())
def test_the_case_and_number_of_a_name_do_not_matter(name: str, plural: bool) -> None:
    known = words_of(name)
    assert words_of(name.upper()) == words_of(name.capitalize()) == known
    assert words_of(f"{name}_id") == words_of(f"{name}Id") == words_of(f"{name}-ids") == (*known, "id")


def test_identities_of_any_name_fit_each_other_better_than_names() -> None:
    for one in IDENTITIES:
        assert attribute_fit(one, "id") >= 0.9
        assert attribute_fit("name", one) <= 0.5
        assert attribute_fit("title", one) == 0

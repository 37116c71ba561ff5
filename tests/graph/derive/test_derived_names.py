"""The words of names, what names mean, and which name the same thing."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolassay.graph.derive.fields import (
    IDENTITIES,
    attribute_fit,
    is_control,
    meaning_of,
    same_thing,
    thing_of,
    word_groups,
    word_list,
    words_of,
)

things = st.lists(
    st.sampled_from(["movie", "task", "parent", "owner", "token", "new", "user"]), max_size=3
).map(tuple)
attributes = st.sampled_from(
    ["", "id", "uuid", "name", "slug", "key", "email", "sha", "url", "number", "title"]
)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("movieId", "movie id"),
        ("MovieID", "movie id"),
        ("movie_ids", "movie id"),
        ("movieIDs", "movie id"),
        ("photoURLs", "photo url"),
        ("HTTPServer", "http server"),
        ("getHTTPServers", "get http server"),
        ("sha256", "sha 256"),
        ("X-Request-ID", "x request id"),
        ("filter[movie.id]", "filter movie id"),
        ("children", "child"),
        ("indices", "index"),
        ("policies", "policy"),
        ("addresses", "address"),
        ("boxes", "box"),
        ("statuses", "status"),
        ("status", "status"),
        ("analysis", "analysis"),
        ("series", "series"),
        ("news", "news"),
        ("aws_region", "aws region"),
        # Words that no dictionary has.
        ("configmaps", "configmap"),
        ("storageclasses", "storageclass"),
        ("uuids", "uuid"),
        ("影片_id", "影片 id"),
        ("", ""),
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


@pytest.mark.parametrize(
    ("name", "thing", "attribute"),
    [
        ("movie_id", "movie", "id"),
        ("movieIDs", "movie", "id"),
        ("id", "", "id"),
        ("channel", "channel", ""),
        ("issueIdOrKey", "issue", "id"),
        ("owner_login", "owner", "login"),
        ("user_email", "user", "email"),
        ("identity", "identity", ""),
        ("valid", "valid", ""),
        ("", "", ""),
    ],
)
def test_a_name_is_that_of_a_thing_of_an_attribute_or_of_both(name: str, thing: str, attribute: str) -> None:
    meaning = meaning_of(name)
    assert (" ".join(meaning.thing), meaning.attribute) == (thing, attribute)


@pytest.mark.parametrize(
    ("one", "other", "least", "most"),
    [
        ("movie", "movie", 1.0, 1.0),
        ("parent task", "task", 0.9, 0.99),
        ("pull request", "request", 0.5, 0.8),
        ("access token", "device token", 0.0, 0.0),
        ("task", "task list", 0.0, 0.0),
        ("movie", "", 0.0, 0.0),
    ],
)
def test_things_are_the_same_if_one_is_a_special_case(
    one: str, other: str, least: float, most: float
) -> None:
    assert least <= same_thing(tuple(one.split()), tuple(other.split())) <= most


def test_identities_of_any_name_fit_each_other_better_than_names() -> None:
    for one in IDENTITIES:
        assert attribute_fit(one, "id") >= 0.9
        assert attribute_fit("name", one) <= 0.5
        assert attribute_fit("title", one) == 0


@pytest.mark.parametrize(
    ("name", "thing"),
    [
        ("MovieDetail", "movie"),
        ("movie-list-object", "movie"),
        ("io.k8s.api.core.v1.PodList", "pod"),
        ("results", ""),
        ("data", ""),
        ("Response200", ""),
    ],
)
def test_the_name_of_a_schema_without_empty_words_is_a_thing(name: str, thing: str) -> None:
    assert " ".join(thing_of(name)) == thing


@pytest.mark.parametrize(
    "name", ["page", "perPage", "per-page", "sort_by", "sort_order", "created_after", "q", "query", "api_key"]
)
def test_how_to_answer_is_a_control(name: str) -> None:
    assert is_control(name)


@pytest.mark.parametrize("name", ["modifiers", "empty names", "transparent", "attributes", "listing"])
def test_the_lists_have_words_as_names_give_them(name: str) -> None:
    """Others would never be found: words are compared in singular and spelled out."""
    assert [one for one in word_list(name) if one.isalpha() and words_of(one) != (one,)] == []


def test_the_verbs_are_words_as_names_give_them_and_say_one_thing() -> None:
    words = [word for group in word_groups("verbs").values() for word in group]
    assert len(words) == len(set(words))
    assert [word for word in words if words_of(word) != (word,)] == []

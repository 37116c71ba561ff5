"""The words of identifiers and their singular."""

from __future__ import annotations

import pytest

from toolassay.tools.identifiers import singular, words


@pytest.mark.parametrize("name", ["TVShowIDs", "tv_show_ids", "tv-show.ids", "tvShowIds", "TV Show IDs"])
def test_every_spelling_of_a_name_has_the_same_words(name: str) -> None:
    assert words(name) == ("tv", "show", "ids")


def test_the_words_of_a_name_are_their_own_words() -> None:
    for name in ("HTTPServer", "sha256", "用send_email", "movieIDs"):
        assert tuple(one for word in words(name) for one in words(word)) == words(name)


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        ("uuids", "uuid"),
        ("statuses", "status"),
        ("configmaps", "configmap"),
        ("series", "series"),
        ("bus", "bus"),
    ],
)
def test_a_singular_has_no_other_singular(plural: str, one: str) -> None:
    assert singular(plural) == singular(one) == one

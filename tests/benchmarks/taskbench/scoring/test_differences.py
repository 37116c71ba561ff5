from __future__ import annotations

from toolassay.evaluation.verification import Difference, differences, shortened


def test_numbers_within_the_tolerance_are_the_same() -> None:
    assert not list(differences({"a": [1.0, {"b": 2}]}, {"a": [1.0 + 1e-10, {"b": 2}]}))
    assert list(differences({"a": 1.0}, {"a": 1.0 + 1e-8})) == [Difference("a", 1.0, 1.0 + 1e-8)]


def test_a_missing_key_is_a_difference_unless_the_other_is_null() -> None:
    assert list(differences({"a": 1}, {})) == [Difference("a", 1, None)]
    assert not list(differences({"a": None}, {}))


def test_true_is_not_one() -> None:
    assert list(differences(True, 1)) == [Difference("", True, 1)]


def test_long_values_are_shown_where_they_differ() -> None:
    old, new = shortened("x" * 500 + "a" + "y" * 500, "x" * 500 + "b" + "y" * 500)
    assert old.startswith("…xxx")
    assert old[20:23] != new[20:23]
    assert "a" in old
    assert "b" in new
    assert max(len(old), len(new)) < 100

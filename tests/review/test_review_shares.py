"""Samples shared out among reviewers."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from tests.support.reviewing import folder_with, say, session_of
from toolassay import export_reviews
from toolassay.errors import UsageError
from toolassay.records.data_folder import DataFolder
from toolassay.review.samples import Shares, drawn_samples
from toolassay.review.sheets import read_sheet
from toolassay.stages.pipeline import by_people
from toolassay.stages.review import publishable_by_people

NAMES = ("Ann", "Bob", "Cem", "Zoë")


def test_each_sample_is_seen_by_as_many_and_everybody_sees_about_as_many() -> None:
    shares = Shares(NAMES, 2)
    of = [shares.of(f"s{number}") for number in range(2000)]
    assert {len(set(names)) for names in of} == {2}
    load = Counter(name for names in of for name in names)
    assert all(abs(load[name] - 1000) < 100 for name in NAMES)
    pairs = Counter(tuple(sorted(names)) for names in of)
    assert all(abs(pairs[tuple(sorted(pair))] - 333) < 80 for pair in combinations(NAMES, 2))


def test_it_depends_on_names_and_ids_alone() -> None:
    one, other = Shares(NAMES, 2), Shares(NAMES[::-1], 2)
    assert [one.of(number) for number in range(50)] == [other.of(number) for number in range(50)]
    assert any(one.of(number) != one.of(str(number)) for number in range(50))
    # With another person, samples move to that person only.
    more = Shares((*NAMES, "Eva"), 2)
    assert all(set(more.of(number)) - {"Eva"} <= set(one.of(number)) for number in range(200))


def test_without_names_everybody_looks_at_everything() -> None:
    assert Shares().holds("Ann", 1)
    assert all(Shares(NAMES).holds(name, 1) for name in NAMES)


@pytest.mark.parametrize(
    ("names", "each", "wrong"),
    [
        (("Ann", "ann"), 1, "named twice"),
        ((), 2, "--each needs --reviewers"),
        (("Ann",), 2, "2 of 1 reviewers"),
    ],
)
def test_shares_that_cannot_be_made(names: tuple[str, ...], each: int, wrong: str) -> None:
    with pytest.raises(UsageError, match=wrong):
        Shares(names, each)


def test_the_queue_holds_the_share(tmp_path: Path) -> None:
    session = session_of(folder_with(tmp_path / "d", 12))
    session.shares = Shares(NAMES[:3], 2)
    seen = Counter(item.id for name in NAMES[:3] for item in session.overview(name, "all").items)
    assert set(seen.values()) == {2} and len(seen) == 12
    with pytest.raises(UsageError, match="'Zoë' is none of the reviewers"):
        session.overview("Zoë", "all")
    assert session.overview("Zoë", "conflicts").items == []  # an adjudicator may be anybody


def test_a_sheet_holds_the_share(tmp_path: Path) -> None:
    folder, sheet = folder_with(tmp_path / "d", 12), tmp_path / "ann.csv"
    names, shares = ["Ann", "Bob", "Cem"], Shares(["Ann", "Bob", "Cem"], 1)
    count = export_reviews(folder, sheet, reviewer="Ann", reviewers=names, each=1)
    made = session_of(folder)
    assert count == len(read_sheet(sheet)) == sum(shares.holds("Ann", one.id) for one in made.samples)


def test_a_sample_is_drawn_by_ids_and_its_decisions_are_a_share(tmp_path: Path) -> None:
    folder, sheet = folder_with(tmp_path / "d", 12), tmp_path / "few.csv"
    assert export_reviews(folder, sheet, sample=4) == 4
    made = session_of(folder)
    few, more = (drawn_samples(made.samples, count) for count in (4, 6))
    assert len(few) == 4 and few < more
    assert publishable_by_people(folder) == (0, 0)
    places = [one.number for one in made.samples if one.id in few]
    for number in places[1:]:
        say(made, "Ann", number, "correct")
    say(made, "Ann", places[0], "discard")
    assert publishable_by_people(folder) == (3, 4)
    share = by_people(DataFolder(folder))
    assert share is not None and share.value == 0.75

from __future__ import annotations

from typing import Any

import pytest
from reviewed_links import link

from toolassay.link_review import LinkVerdict, apply_verdicts, doubtful_links

YES, NO = LinkVerdict("acme", True, "an id"), LinkVerdict("acme", False, "a page")
SETTLED: list[dict[str, Any]] = [
    {"origin": "user"},
    {"origin": "critic"},
    {"further": (("pinned", True),)},
    {"further": (("verdict", {"sensible": True}),)},
    {"origin": "trace", "count": 3},
    {"origin": "schema", "count": 3},
    {"kind": "observed"},
]


def test_the_most_doubtful_links_come_first() -> None:
    scores = (0.19, 0.2, 0.3, 0.45, 0.55, 0.6, 0.61)
    found = doubtful_links([link(number, score) for number, score in enumerate(scores)])
    assert [one.score for one in found] == [0.45, 0.3, 0.55, 0.2, 0.6]


def test_a_band_and_a_number_limit_the_links() -> None:
    given = [link(number, number / 10) for number in range(11)]
    assert [one.score for one in doubtful_links(given, band=(0.6, 1), most=2)] == [0.8, 0.7]


@pytest.mark.parametrize("settled", SETTLED)
def test_a_settled_link_is_neither_judged_nor_changed(settled: dict[str, Any]) -> None:
    given = link(**settled)
    assert doubtful_links([given]) == []
    assert apply_verdicts([given], {("find_0", "show_0"): NO}) == [given]


@pytest.mark.parametrize("open_link", [{"origin": "description"}, {"origin": "trace", "count": 2}])
def test_weak_evidence_is_judged(open_link: dict[str, Any]) -> None:
    assert doubtful_links([link(**open_link)]) == [link(**open_link)]


@pytest.mark.parametrize(
    ("score", "verdict", "becomes"), [(0.4, YES, 0.85), (0.9, YES, 0.9), (0.4, NO, 0.1), (0.05, NO, 0.05)]
)
def test_a_verdict_moves_the_score_and_is_kept_with_the_link(
    score: float, verdict: LinkVerdict, becomes: float
) -> None:
    (judged,) = apply_verdicts([link(score=score)], {("find_0", "show_0"): verdict})
    assert (judged.score, judged.origin) == (becomes, "critic")
    assert judged.to_json()["verdict"] == verdict._asdict()
    assert judged.fields == link().fields


def test_a_link_without_a_verdict_keeps_its_place_and_score() -> None:
    given = [link(0), link(1), link(2)]
    judged = apply_verdicts(given, {("find_1", "show_1"): NO})
    assert [one.score for one in judged] == [0.5, 0.1, 0.5]
    assert (judged[0], judged[2]) == (given[0], given[2])

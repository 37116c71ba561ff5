"""Requests that repeat one another."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from toolassay.errors import UsageError
from toolassay.plans.gold import Gold
from toolassay.variety.near_duplicates import (
    Item,
    PlanDigest,
    Thresholds,
    content,
    find_repeats,
    jaccard,
    shingles,
)

item = Item.from_request
LONG = (
    "For the village festival we need a press kit about urban beekeeping. I took a photo of the hives on our "
    "roof and saved it as example.jpg. Please cut the picture into its regions, then put the caption into "
    "Italian. My neighbour Emil is waiting for it."
)
OTHER = (
    "Book a room at The Garden House on 2027-01-16, and pay the outstanding council tax bill from my account."
)
ONE_PLAN, OTHER_PLAN, OTHER_TOOLS = PlanDigest(1, 1), PlanDigest(1, 2), PlanDigest(2, 3)


def held(items: list[Item], **settings: object) -> list[object]:
    return list(find_repeats(items, **settings).held_back)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "said",
    [
        LONG,
        LONG.upper(),
        LONG.replace("Please", "Please,").replace(".", " ."),
        f"Hello! Could you help me, please? {LONG} Thank you very much in advance!",
        LONG.replace("picture", "image").replace("need", "require"),
        ". ".join(reversed(LONG.rstrip(".").split(". "))),
        LONG.replace("festival", "fetsival"),
    ],
)
def test_a_request_said_again_is_held_back(said: str) -> None:
    for plan in (PlanDigest(), ONE_PLAN):
        assert held([item(1, LONG, plan), item(2, OTHER), item(3, said, plan)]) == [3]
    assert held([item(3, said)], against=[item(1, LONG)]) == [3]


def test_exact_and_near_are_distinguished() -> None:
    found = find_repeats([item(1, LONG), item(2, LONG.lower()), item(3, f"{LONG} Quickly.")]).held_back
    assert {key: (match.earlier, match.exact) for key, match in found.items()} == {
        2: (0, True),
        3: (0, False),
    }
    assert found[2].similarity == 1 > found[3].similarity > 0.9


def test_plans_move_the_bar() -> None:
    one = "I want to book a flight from New York to Los Angeles on September 21st."
    other = "Book me a flight to Los Angeles from New York, leaving on September 21st."
    likeness = jaccard(shingles(content(one)), shingles(content(other)))
    assert 0.6 < likeness < 0.75
    expected = {ONE_PLAN: [2], PlanDigest(): [2], PlanDigest(1): [2], OTHER_PLAN: [], OTHER_TOOLS: []}
    for plan, answer in expected.items():
        assert held([item(1, one, ONE_PLAN), item(2, other, plan)]) == answer
    assert held(
        [item(1, one, ONE_PLAN), item(2, other, ONE_PLAN)], thresholds=Thresholds(likeness + 0.09)
    ) == [2]
    assert (
        held(
            [item(1, one, ONE_PLAN), item(2, other, ONE_PLAN)],
            thresholds=Thresholds(likeness + 0.11),
        )
        == []
    )


def test_other_figures_are_another_request_where_no_plan_is_known() -> None:
    one, other = (
        "Set the alarm of my phone to 7:30 tomorrow.",
        "Please set my phone's alarm to 8:45 tomorrow.",
    )
    assert held([item(1, one), item(2, other)]) == []
    assert held([item(1, one), item(2, other.replace("8:45", "7:30"))]) == [2]


def test_the_same_words_for_another_plan_are_exact_duplicates_and_say_so() -> None:
    match = find_repeats([item(1, LONG, ONE_PLAN), item(2, LONG, OTHER_PLAN)]).held_back[2]
    assert match.exact and match.plans == "other"


def test_what_repeats_only_a_near_duplicate_stays_but_belongs_together() -> None:
    words = [f"word{letter}" for letter in "abcdefghijklmnopqrst"]
    texts = [" ".join(words[start : start + 12]) for start in (0, 3, 6)]
    repeats = find_repeats([item(place, text) for place, text in enumerate(texts)])
    assert list(repeats.held_back) == [1]
    assert repeats.clusters() == [[0, 1, 2]]


def test_against_another_set_its_repeats_and_ones_own_do_not_count() -> None:
    mine = [
        item(1, OTHER),
        item(2, OTHER),
        item(3, f"{LONG} Quickly."),
        item(4, f"{LONG} quickly"),
    ]
    theirs = [item(1, LONG), item(2, LONG)]
    repeats = find_repeats(mine, against=theirs)
    assert [(match.later, match.earlier) for match in repeats.held_back.values()] == [(4, 0), (5, 0)]
    assert list(repeats.held_back) == [3, 4]


def test_empty_requests_repeat_nothing() -> None:
    assert held([item(1, ""), item(2, " "), item(3, ""), item(4, "?"), item(5, "?")]) == [5]
    assert not find_repeats([]).held_back and not find_repeats([]).clusters()
    assert held([], against=[item(1, LONG)]) == held([item(1, LONG)], against=[]) == []


def test_the_similarity_of_real_requests_decides(root: Path) -> None:
    labels = (root / "data_multimedia" / "data.json").read_text(encoding="utf-8").splitlines()
    chance, items, expected = random.Random(5), [], set()
    for number, line in enumerate(labels):
        words = [word for word in json.loads(line)["user_request"].split() if word.isalpha()]
        texts = " ".join(words), " ".join(words[: chance.randint(len(words) // 2, len(words))])
        items += [item(2 * number, texts[0]), item(2 * number + 1, texts[1])]
        if jaccard(*(shingles(content(text)) for text in texts)) >= 0.6:
            expected.add(2 * number + 1)
    held = set(find_repeats(items).held_back)
    assert len(labels) / 2 < len(expected) < len(labels)
    assert held <= expected and len(held) >= 0.97 * len(expected)


def test_in_a_crowd_each_request_is_compared_with_few_others(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0

    def counted(one: frozenset[str], other: frozenset[str]) -> float:
        nonlocal compared
        compared += 1
        return jaccard(one, other)

    monkeypatch.setattr("toolassay.variety.near_duplicates._CROWD", 4)
    monkeypatch.setattr("toolassay.variety.near_duplicates.jaccard", counted)
    base = " ".join(f"word{number}" for number in range(30))
    repeats = find_repeats(item(number, f"{base} number{number}") for number in range(300))
    assert len(repeats.clusters()) == 1
    assert compared < 24 * 300  # all pairs are 150 a request


@pytest.mark.parametrize("threshold", [0, 0.1, 1.1, -1, float("nan")])
def test_a_threshold_that_makes_no_sense_is_refused(threshold: float) -> None:
    with pytest.raises(UsageError, match="--threshold"):
        Thresholds(threshold)


def plan(*calls: tuple[str, object], links: list[dict[str, str]] | None = None) -> PlanDigest:
    nodes = [{"task": tool, "arguments": arguments} for tool, arguments in calls]
    return PlanDigest.of(Gold.of({"id": 1, "task_nodes": nodes, "task_links": links or []}))


def test_a_plan_is_its_tools_values_and_links_in_any_order() -> None:
    chain = plan(("crop", ["A.jpg"]), ("mail", ["<node-0>", "Zoë"]))
    assert chain == plan(("mail", ["Zoë", "<node-1>"]), ("crop", ["a.jpg"]))
    assert chain.whole != plan(("crop", ["A.jpg"]), ("mail", ["<node-1>", "Zoë"])).whole
    assert chain.whole != plan(("crop", ["A.jpg"]), ("mail", ["<node-0>", "Ann"])).whole
    linked = plan(
        ("crop", ["A.jpg"]), ("mail", ["<node-0>", "Zoë"]), links=[{"source": "crop", "target": "mail"}]
    )
    assert chain.whole != linked.whole and chain.tools == linked.tools


def test_a_plan_of_named_values() -> None:
    there = plan(("fly", [{"name": "from", "value": "Cork"}, {"name": "to", "value": "Lyon"}]))
    back = plan(("fly", [{"name": "from", "value": "Lyon"}, {"name": "to", "value": "Cork"}]))
    assert there.whole != back.whole and there.tools == back.tools
    assert plan(("fly", [{"name": "to", "value": {"city": 1}}, 7, None])).whole


def test_a_plan_without_arguments_is_known_by_its_tools_alone() -> None:
    nodes = [{"task": "crop"}, {"task": "mail"}]
    digest = PlanDigest.of(Gold.of({"id": 1, "task_nodes": nodes}))
    assert digest.tools and not digest.whole
    assert PlanDigest.of(Gold.of({"id": 1})) == PlanDigest()

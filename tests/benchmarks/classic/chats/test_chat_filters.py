"""Each filter, and the seeded draw: equal shares, whole chats."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from toolassay.benchmarks.classic.chats.chat import (
    Action,
    Chat,
    Exchange,
    Filter,
    apply,
    profane_words,
    standard_filters,
)
from toolassay.benchmarks.classic.chats.chat_sample import draw_chats


def chat(name: str, *texts: str) -> Chat:
    return Chat(name, "hr", tuple(Exchange(text) for text in texts))


def named(name: str) -> Filter:
    filters = standard_filters(profane=profane_words(["darn", "d*mn"]))
    return next(each for each in filters if each.name == name)


# What each filter finds, and what it lets pass.
EXAMPLES: dict[str, tuple[list[str | None], list[str]]] = {
    "null": (["", None], ["x"]),
    "too_short": (["ok", "help"], ["hello"]),
    "profanity": (["well DARN it", "d*mn"], ["darned", "dmn"]),
    "mostly_masked": (["**** please", "[REDACTED] [NAME_REDACTED]", "it is <IBAN_1> <IBAN_2>"], ["2 ** 3"]),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_filter_finds_what_it_is_for_and_nothing_else(name: str) -> None:
    found, passed = EXAMPLES[name]
    for text in found:
        assert named(name).find(chat("c", *([] if text is None else [text]))) is not None, text
    for text in passed:
        assert named(name).find(chat("c", text)) is None, text


def test_a_person_who_takes_over_is_found() -> None:
    asked = chat("c", "leave please", "talk to a human")
    assert named("human").find(asked) is None
    found = named("human").find(replace(asked, exchanges=(asked.exchanges[0], Exchange("hello", human=True))))
    assert found is not None and found[0] == 1


def test_the_first_of_repeated_chats_stays() -> None:
    chats = [chat("a", "Leave  please"), chat("b", "leave PLEASE", "now"), chat("c", "pay", "leave please")]
    other = Chat("d", "it", chats[0].exchanges)
    kept, out = apply(named("repeated"), [*chats, other], "drop")
    assert [each.id for each in kept] == ["a", "c", "d"]
    assert [(each.id, stay, why) for each, stay, why in out] == [("b", 0, "message 0: begins as a does")]


@pytest.mark.parametrize(
    ("action", "left"), [("drop", {"b": 1}), ("cut", {"a": 2, "b": 1}), ("off", {"a": 4, "b": 1, "c": 2})]
)
def test_what_a_filter_does(action: Action, left: dict[str, int]) -> None:
    chats = [
        chat("a", "leave please", "on Friday", "ok", "thank you"),
        chat("b", "pay slip"),
        chat("c", "no", "later"),
    ]
    kept, out = apply(named("too_short"), chats, action)
    assert {each.id: len(each.exchanges) for each in kept} == left
    assert sum(len(each.exchanges) for each in kept) + sum(
        len(each.exchanges) - stay for each, stay, _ in out
    ) == sum(len(each.exchanges) for each in chats)


def test_no_reason_repeats_the_text() -> None:
    secret = chat("c", "darn 4111")
    for each in standard_filters(min_length=99, profane=lambda _: True):
        offence = each.find(secret)
        assert offence is None or "4111" not in offence[1]


CHATS = [
    *(
        Chat(f"a{n:02}", "hr", (Exchange("x", workflow="w1"), Exchange("y", workflow="w2")))
        for n in range(30)
    ),
    *(Chat(f"b{n}", "hr", (Exchange("x"), Exchange("y", workflow="w2"))) for n in range(3)),
    *(Chat(f"c{n}", "hr", (Exchange("x"),)) for n in range(9)),
    *(Chat(f"d{n:02}", "it", (Exchange("x"),) * (1 + n % 6)) for n in range(24)),
]


def test_workflows_give_equal_shares_and_lengths_where_there_are_none() -> None:
    drawn, _ = draw_chats(CHATS, 15, seed=3)
    assert Counter(chat.workflow for chat in drawn if chat.domain == "hr") == {"w1": 6, "w2": 3, "": 6}
    lengths = Counter(min(4, len(chat.exchanges)) for chat in drawn if chat.domain == "it")
    assert lengths == {1: 4, 2: 3, 3: 4, 4: 4} or sorted(lengths.values()) == [3, 4, 4, 4]


def test_the_same_seed_draws_the_same_and_another_does_not() -> None:
    assert draw_chats(CHATS, 10, seed=1) == draw_chats(CHATS, 10, seed=1)
    assert draw_chats(CHATS, 10, seed=1)[0] != draw_chats(CHATS, 10, seed=2)[0]


def test_the_draw_of_a_domain_does_not_depend_on_others_nor_on_the_order() -> None:
    alone, _ = draw_chats([chat for chat in CHATS if chat.domain == "it"], 10, seed=1)
    backwards, _ = draw_chats(CHATS[::-1], 10, seed=1)
    drawn = [chat for chat in draw_chats(CHATS, 10, seed=1)[0] if chat.domain == "it"]
    assert drawn == alone == [chat for chat in backwards if chat.domain == "it"][::-1]


def test_chats_are_whole_and_none_is_lost() -> None:
    drawn, others = draw_chats(CHATS, 10, seed=1)
    assert sorted([*drawn, *(chat for chat, _ in others)], key=lambda chat: chat.id) == CHATS
    assert {why for chat, why in others if chat.id.startswith("a")} == {"not drawn: 4 of 30 with workflow w1"}

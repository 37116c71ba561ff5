"""A seeded draw: equal shares, whole chats."""

from __future__ import annotations

from collections import Counter

from toolassay.benchmarks.classic.chats.chat import Chat, Exchange
from toolassay.benchmarks.classic.chats.chat_sample import draw_chats

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

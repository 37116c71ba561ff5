"""Each filter: what it finds, what it lets pass, and what it does with it."""

from __future__ import annotations

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


def chat(name: str, *texts: str) -> Chat:
    return Chat(name, "hr", tuple(Exchange(text) for text in texts))


def named(name: str) -> Filter:
    filters = standard_filters(profane=profane_words(["darn", "d*mn"]))
    return next(each for each in filters if each.name == name)


FOUND: dict[str, list[str | None]] = {
    "null": ["", None],
    "too_short": ["ok", "help"],
    "leaving": ["cancel", "Exit!", " QUIT. ", "end chat"],
    "test_chat": [
        "test",
        "Testing 1 2 3",
        "this is a test",
        "just testing",
        "testing_bot_7",
        "testing the bot",
        "Test test",
    ],
    "human": [
        *("I want to talk to a human", "please connect me with an agent", "agent", "a real person please"),
        *("I need a human", "can I speak to someone real?", "transfer me to a live representative"),
    ],
    "profanity": ["well DARN it", "d*mn"],
    "mostly_masked": [
        "****",
        "**** please",
        "[REDACTED] [NAME_REDACTED] thanks",
        "<EMAIL_1>",
        "it is <IBAN_1> <IBAN_2>",
    ],
}
PASSED = {
    "null": ["x"],
    "too_short": ["hello"],
    "leaving": ["cancel my order", "how do I exit the programme?"],
    "test_chat": ["I need a drug test", "when is my test?", "testing equipment is broken", "test results"],
    "human": [
        *("I need to add a person to my account", "human resources contact", "who is the estate agent?"),
        *("I want to talk to human resources", "I need a human resources letter"),
    ],
    "profanity": ["darned", "dmn"],
    "mostly_masked": ["my mail is <EMAIL_1> now", "2 ** 3", "three *** stars"],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in FOUND.items() for text in texts])
def test_a_filter_finds(name: str, text: str | None) -> None:
    assert named(name).find(chat("c", *([] if text is None else [text]))) is not None


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in PASSED.items() for text in texts])
def test_a_filter_lets_pass(name: str, text: str) -> None:
    assert named(name).find(chat("c", text)) is None


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

"""Filters that leave out chats, each with a name."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from toolassay.benchmarks.classic.chats.chat import Chat

Action = Literal["drop", "cut", "off"]
Offence = tuple[int, str]
"""The number of the first message that a filter objects to, and the reason."""

LEAVING = frozenset(
    {"cancel", "exit", "quit", "stop", "abort", "end chat", "close chat", "restart", "start over"}
)
# Matches "test", "this is just a test 2" and "testing the bot"; not "test results for blood".
_TEST = re.compile(
    r"\W*(?:(?:this is|just|only) )*(?:a |an )?test(?:ing)?"
    r"(?:[ _]+(?:\d+|test(?:ing)?|message|chat|bot|please ignore))*\W*"
    r"|testing_.*|testing\b.{0,40}\b(?:bot|assistant|chat)\W*",
    re.IGNORECASE | re.DOTALL,
)
_ROLE = r"(?:human|person|agent|representative|operator)"
_PERSON = rf"(?:(?:live |real |actual )?{_ROLE}|someone real|human being)"
# Matches "talk to a real person", "I need a human" and "agent please"; not "talk to human resources".
_HUMAN = re.compile(
    r"\b(?:talk|speak|chat|connect|transfer)\b[^.?!]{0,20}\b(?:to|with)\b[^.?!]{0,12}"
    rf"\b{_PERSON}\b(?! resources)"
    rf"|\b(?:want|need|get me) an? (?:human(?! resources)|(?:live|real|actual) {_ROLE})\b"
    rf"|^\W*(?:an? )?{_PERSON}(?: please)?\W*$",
    re.IGNORECASE,
)
# A masked value: matches "<PERSON_1>", "[NAME REDACTED]", "****" and "XXXXX"; not "<your name>" or "xxxxx".
_MASK = re.compile(r"<[A-Z][A-Z_]*_\d+>|\[[A-Z_ ]*REDACTED[A-Z_ ]*\]|\*{4,}|X{5,}")


@dataclass(frozen=True)
class Filter:
    """A filter that leaves out chats.

    Args:
        name: of the step in the funnel.
        why: its reason, as written in the funnel.
        find: gives the first offence in a chat, None if it passes. It may keep state between chats.
    """

    name: str
    why: str
    find: Callable[[Chat], Offence | None]


def standard_filters(
    *, min_length: int = 5, profane: Callable[[str], bool] | None = None
) -> Iterator[Filter]:
    """All filters, in order. Make new ones for each pass, because some keep state."""
    yield Filter("null", "no user message, or an empty one", _null)
    yield Filter(
        "too_short",
        f"a user message of fewer than {min_length} characters",
        _each(lambda text: f"{len(text)} characters" if len(text) < min_length else ""),
    )
    yield Filter("leaving", "a user message that is only a word to leave (cancel, exit, …)", _each(_leaving))
    yield Filter(
        "test_chat",
        "a user message that only tests the bot",
        _each(lambda text: "a test" if _TEST.fullmatch(text) else ""),
    )
    yield Filter("human", "a person took over, or the user asks for one", _human)
    if profane is not None:
        yield Filter(
            "profanity",
            "a user message with profanity",
            _each(lambda text: "profanity" if profane(text) else ""),
        )
    yield mostly_masked()
    yield repeated()


def mostly_masked() -> Filter:
    """A filter for messages in which at least half of the words are masked (`****`, `[REDACTED]`,
    `<PERSON_1>`).
    """
    return Filter("mostly_masked", "a user message of which half or more was masked", _each(_masked))


def repeated() -> Filter:
    """A filter for chats that start with the same message as an earlier chat of the domain."""
    seen: dict[tuple[str, str], str] = {}

    def find(chat: Chat) -> Offence | None:
        key = chat.domain, " ".join(chat.exchanges[0].user.casefold().split())
        first = seen.setdefault(key, chat.id)
        return None if first == chat.id else (0, f"begins as {first} does")

    return Filter("repeated", "begins with the same message as an earlier chat of its domain", find)


def apply(
    chosen: Filter, chats: Sequence[Chat], action: Action
) -> tuple[list[Chat], list[tuple[Chat, int, str]]]:
    """Apply a filter.

    Args:
        chosen: the filter.
        chats: to filter.
        action: `drop` leaves out the whole chat, `cut` keeps the messages before the offence, `off` does
            nothing.

    Returns:
        The chats that stay, whole or cut; and each dropped or cut chat with the number of messages that stay
        and the reason.
    """
    if action == "off":
        return list(chats), []
    kept: list[Chat] = []
    out: list[tuple[Chat, int, str]] = []
    for chat in chats:
        offence = chosen.find(chat)
        if offence is None:
            kept.append(chat)
            continue
        place, why = offence
        stay = place if action == "cut" else 0
        out.append((chat, stay, f"message {place}: {why}"))
        if stay:
            kept.append(replace(chat, exchanges=chat.exchanges[:stay]))
    return kept, out


def profane_words(words: Collection[str]) -> Callable[[str], bool]:
    """Create a function that tells whether a text contains one of these words.

    >>> profane_words(["darn"])("Darn it"), profane_words(["darn"])("darned")
    (True, False)
    """
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)", re.IGNORECASE)
    return lambda text: pattern.search(text) is not None


def _each(offends: Callable[[str], str]) -> Callable[[Chat], Offence | None]:
    def find(chat: Chat) -> Offence | None:
        for place, exchange in enumerate(chat.exchanges):
            if why := offends(exchange.user):
                return place, why
        return None

    return find


def _null(chat: Chat) -> Offence | None:
    return _each(lambda text: "" if text else "empty")(chat) if chat.exchanges else (0, "no user message")


def _leaving(text: str) -> str:
    return "a word to leave" if text.casefold().strip(" .!?") in LEAVING else ""


def _human(chat: Chat) -> Offence | None:
    for place, exchange in enumerate(chat.exchanges):
        if exchange.human:
            return place, "a person took over"
        if _HUMAN.search(exchange.user):
            return place, "asks for a person"
    return None


def _masked(text: str) -> str:
    masks = len(_MASK.findall(text))
    words = len(_MASK.sub(" ", text).split())
    return "mostly masked" if masks and masks >= words else ""

"""A chat of a team, its cleaning, and the filters that select chats."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import takewhile
from typing import Any, Literal

from toolassay.benchmarks.csv_tables import CsvRow
from toolassay.extras import needed


@dataclass(frozen=True)
class Exchange:
    """A user message with the replies to it.

    Attributes:
        user: the message.
        bot: the bot's replies, one per line; empty if there are none.
        human: whether a member of the team wrote as well.
        workflow: the workflow that the bot started, as recorded; may be empty.
        cost, latency, tokens: of the answer, as recorded; may be empty.
    """

    user: str
    bot: str = ""
    human: bool = False
    workflow: str = ""
    cost: str = ""
    latency: str = ""
    tokens: str = ""


@dataclass(frozen=True)
class Chat:
    """A conversation within one domain; exchanges in order."""

    id: str
    domain: str
    exchanges: tuple[Exchange, ...]

    @property
    def workflow(self) -> str:
        """The first workflow that the bot started; empty if it started none."""
        return next((exchange.workflow for exchange in self.exchanges if exchange.workflow), "")


def count_messages(chats: Sequence[Chat]) -> int:
    """The number of user messages.

    >>> count_messages([Chat("a", "hr", (Exchange("hi"), Exchange("leave?")))])
    2
    """
    return sum(len(chat.exchanges) for chat in chats)


FIGURES = ("cost", "latency", "tokens")
"""Optional columns with measurements of an answer."""


@dataclass(frozen=True)
class RawMessage:
    """A row with its time and its sender: `user`, `bot` or `human`."""

    position: tuple[str, float]
    sender: str
    row: CsvRow


def count_greetings(chat: Sequence[RawMessage]) -> int:
    """The number of bot messages before the first user message."""
    return sum(
        message.sender == "bot" for message in takewhile(lambda message: message.sender != "user", chat)
    )


def exchanges_of(chat: Sequence[RawMessage]) -> Iterator[Exchange]:
    """Group the messages of a chat, which are in order, into exchanges.

    Of each measurement the first row of an exchange that has it counts. A member of the team who wrote before
    the first user message took over from there.
    """
    before = list[RawMessage]()
    groups = list[list[RawMessage]]()
    for message in chat:
        if message.sender == "user":
            groups.append([])
        (groups[-1] if groups else before).append(message)
    for number, group in enumerate(groups):
        replies = (message.row["text"] for message in group if message.sender == "bot")
        bot = reduce(lambda reply, text: f"{reply}\n{text}".strip("\n"), replies, "")
        human = any(message.sender == "human" for message in (*group, *(() if number else before)))
        recorded = {
            name: next(filter(None, (message.row.get(name) for message in group)), "")
            for name in ("workflow", *FIGURES)
        }
        yield Exchange(group[0].row["text"], bot, human, **recorded)


# Only these tags are markup. Matches "<br/>" and "</p>"; not "<your name>" or a placeholder "<PERSON_1>".
_LINES = (
    "address|article|blockquote|br|dd|div|dl|dt|footer|form|h[1-6]|header|hr|li|ol|p|pre|section|table|tr|ul"
)
_TAGS = (
    rf"(?:{_LINES}|a|abbr|b|body|button|center|code|em|font|head|html|i|iframe|img|input|label|link|main|mark"
    r"|meta|nav|option|s|script|select|small|span|strong|style|sub|sup|tbody|td|textarea|tfoot|th|thead|title|u"
    r"|video|wbr)\b"
)
_TAG = rf"/?{_TAGS}[^<>]*>"
# A "<" that starts no known tag, to be escaped: matches that of "a < b"; not that of "<br>".
_NO_TAG = re.compile(rf"<(?!{_TAG})", re.IGNORECASE)
_LINE_TAG = re.compile(rf"</?(?:{_LINES})\b[^<>]*>", re.IGNORECASE)
# Soft hyphen, zero-width space, word joiner and byte order mark: inside an e-mail address they hide it from
# the patterns of masking. Zero-width joiners are kept, because some scripts and emoji need them.
_UNSEEN = re.compile("[\u00ad\u200b\u2060\ufeff]")
# Matches "<!-- note -->", over several lines too; not "<!DOCTYPE html>".
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
# Whether there is any HTML to parse: matches "<b>", "<!--" and "&amp;"; not "a < b" or "Q&A".
_MARKUP = re.compile(rf"<{_TAG}|<!--|&(?:\w+|#\d+|#x[0-9a-f]+);", re.IGNORECASE)


def cleaner() -> Callable[[str], str]:
    """Create a function that repairs Unicode and removes HTML from a text.

    Raises:
        UsageError: ftfy or beautifulsoup4 is not installed.
    """
    ftfy = needed("ftfy", "cleaning chats", "chats")
    soup = needed("bs4", "cleaning chats", "chats")

    def clean(text: str) -> str:
        fixed: str = ftfy.fix_text(text, unescape_html=False, uncurl_quotes=False)
        if _MARKUP.search(fixed):
            marked = _LINE_TAG.sub(r"\n\g<0>\n", _COMMENT.sub("", fixed))
            with warnings.catch_warnings():
                # BeautifulSoup warns about texts that consist of a URL.
                warnings.simplefilter("ignore", soup.MarkupResemblesLocatorWarning)
                fixed = _text_of(soup.BeautifulSoup(_NO_TAG.sub("&lt;", marked), "html.parser"))
        return _UNSEEN.sub("", fixed).strip()

    return clean


def _text_of(soup: Any) -> str:
    for element in soup.find_all(["script", "style"]):
        element.decompose()
    lines = (" ".join(line.split()) for line in soup.get_text().split("\n"))
    return "\n".join(filter(None, lines))


Action = Literal["drop", "cut", "off"]
Offence = tuple[int, str]
"""The number of the first message that a filter objects to, and the reason."""

# A masked value: matches "<PERSON_1>", "[NAME REDACTED]", "****" and "XXXXX"; not "<your name>" or "xxxxx".
_MASK = re.compile(r"<[A-Z][A-Z_]*_\d+>|\[[A-Z_ ]*REDACTED[A-Z_ ]*\]|\*{4,}|X{5,}")


@dataclass(frozen=True)
class Filter:
    """A filter that leaves out chats.

    Attributes:
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
    empty = _each(lambda exchange: "" if exchange.user else "empty")
    short = _each(
        lambda exchange: f"{len(exchange.user)} characters" if len(exchange.user) < min_length else ""
    )
    why = "no user message, or an empty one"
    yield Filter("null", why, lambda chat: empty(chat) if chat.exchanges else (0, "no user message"))
    yield Filter("too_short", f"a user message of fewer than {min_length} characters", short)
    took_over = "a person took over"
    yield Filter("human", took_over, _each(lambda exchange: took_over if exchange.human else ""))
    if profane is not None:
        swears = _each(lambda exchange: "profanity" if profane(exchange.user) else "")
        yield Filter("profanity", "a user message with profanity", swears)
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
        number, why = offence
        stay = number if action == "cut" else 0
        out.append((chat, stay, f"message {number}: {why}"))
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


def _each(offends: Callable[[Exchange], str]) -> Callable[[Chat], Offence | None]:
    """A filter of single exchanges; `offends` gives the reason, which is empty for none."""

    def find(chat: Chat) -> Offence | None:
        reasons = enumerate(map(offends, chat.exchanges))
        return next(((number, why) for number, why in reasons if why), None)

    return find


def _masked(exchange: Exchange) -> str:
    text = exchange.user
    masks = len(_MASK.findall(text))
    words = len(_MASK.sub(" ", text).split())
    return "mostly masked" if masks and masks >= words else ""

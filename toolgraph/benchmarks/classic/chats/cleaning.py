"""Texts without broken Unicode and without HTML."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from toolgraph.benchmarks.classic.chats.chat import Chat
from toolgraph.benchmarks.classic.chats.extra import needed

# Only these are markup: what a user writes as <your name>, or a placeholder, stays.
_LINES = (
    "address|article|blockquote|br|dd|div|dl|dt|footer|form|h[1-6]|header|hr|li|ol|p|pre|section|table|tr|ul"
)
_TAGS = (
    rf"(?:{_LINES}|a|abbr|b|body|button|center|code|em|font|head|html|i|iframe|img|input|label|link|main|mark"
    r"|meta|nav|option|s|script|select|small|span|strong|style|sub|sup|tbody|td|textarea|tfoot|th|thead|title|u"
    r"|video)\b"
)
_NO_TAG = re.compile(rf"<(?!/?{_TAGS}|!--)", re.IGNORECASE)
_MARKUP = re.compile(rf"</?{_TAGS}[^<]*>|<!--|&(?:\w+|#\d+|#x[0-9a-f]+);", re.IGNORECASE)


def cleaner() -> Callable[[str], str]:
    """A function that repairs Unicode and takes HTML out of a text.

    Raises:
        UsageError: ftfy or beautifulsoup4 is not installed.
    """
    ftfy, soup = needed("ftfy", "cleaning chats"), needed("bs4", "cleaning chats")

    def clean(text: str) -> str:
        fixed: str = ftfy.fix_text(text, unescape_html=False, uncurl_quotes=False)
        if _MARKUP.search(fixed):
            fixed = _without_html(soup.BeautifulSoup(_NO_TAG.sub("&lt;", fixed), "html.parser"))
        return fixed.strip()

    return clean


def _without_html(soup: Any) -> str:
    for element in soup.find_all(["script", "style"]):
        element.decompose()
    for element in soup.find_all(re.compile(f"^(?:{_LINES})$")):
        element.insert_before("\n")
        element.insert_after("\n")
    lines = (" ".join(line.split()) for line in soup.get_text().split("\n"))
    return "\n".join(line for line in lines if line)


def clean_chat(chat: Chat, clean: Callable[[str], str]) -> Chat:
    """A chat of cleaned texts."""
    return replace(
        chat,
        exchanges=tuple(
            replace(exchange, user=clean(exchange.user), bot=clean(exchange.bot))
            for exchange in chat.exchanges
        ),
    )

"""Removes broken Unicode and HTML from texts."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from toolassay.benchmarks.classic.chats.chat import Chat
from toolassay.extras import needed

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
    ftfy, soup = needed("ftfy", "cleaning chats", "chats"), needed("bs4", "cleaning chats", "chats")

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
    return "\n".join(line for line in lines if line)


def clean_chat(chat: Chat, clean: Callable[[str], str]) -> Chat:
    """A chat with cleaned texts."""
    return replace(
        chat,
        exchanges=tuple(
            replace(exchange, user=clean(exchange.user), bot=clean(exchange.bot))
            for exchange in chat.exchanges
        ),
    )

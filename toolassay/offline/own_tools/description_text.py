"""The sentences of a description: without Markdown, HTML, labels and remarks."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import partial

_LONGEST = 1_500  # characters that are read
_MOST = 6  # sentences that are tried
# Code, then images and links, of which the text stays.
_FENCED = re.compile(r"```.*?(?:```|$)|~~~.*?(?:~~~|$)", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]{0,200})\]\([^)]{0,500}\)")
_TAG = re.compile(r"</?(?:p|br|li|ul|ol|div|h\d|tr|table)\b[^>]{0,200}>", re.IGNORECASE)
_INLINE_TAG = re.compile(r"</?[a-zA-Z][^>]{0,200}>")
# A heading, a list mark, a quotation mark or a table's bar at the start of a line.
_LINE_MARK = re.compile(r"^\s*(?:#{1,6}\s+|[-*+]\s+|\d+[.)]\s+|>\s*|\|)", re.MULTILINE)
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)|`")
# "[DEPRECATED]", "(beta)", "Deprecated:", "NOTE:", "Summary -": labels before a sentence; not "Note the
# time".
_LABEL = re.compile(
    r"^\s*(?:[\[(](?:[\w -]{1,24})[\])]\s*[:-]?|(?:deprecated|beta|alpha|experimental|internal|preview|note|"
    r"notice|summary|"
    r"description|purpose|overview|update|get|post|put|patch|delete|api|todo)\s*[:–—-]+\s)\s*",
    re.IGNORECASE,
)
# Sentences about the API or the reader, not about what the tool does.
_REMARK = re.compile(
    r"^(?:note\b|notes\b|warning|caution|important|deprecated|requires?\b|required\b|see\b|"
    r"please (?:note|see|use|refer)|"
    r"for more|if you|when you|you must|you need|only available|available (?:to|for|only|since)|"
    r"returns? (?:a )?\d{3}|"
    r"supports?\b|example|e\.g|i\.e|this (?:endpoint|operation|method|api|call|tool) "
    r"(?:is|was|requires|does not|has|will be)\b"
    r"(?! used)|accepts?\b|args?\b|arguments\b|parameters\b|params\b|returns:|oauth|permissions?\b|scopes?\b"
    r"|http\b)",
    re.IGNORECASE,
)
# The end of a sentence: a stop before a capital or the end; not "e.g. " nor "v1.2".
_END = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)(?<=[\w)\"'”’\]])[.!?]+(?=\s+[A-Z\"'“(]|\s*$)|\n+"
)


def sentences_of(description: str, common: Collection[str] = ()) -> list[str]:
    r"""The first sentences of a description as plain text, remarks left out.

    Args:
        description: The text.
        common: Words in lower case that are no names, wherever they have a capital letter.

    >>> sentences_of("## Bookings\n**NOTE:** beta. [Cancels](x.md) a `booking`.")
    ['Bookings', 'beta', 'Cancels a booking']
    """
    text = _FENCED.sub(" ", description[:_LONGEST])
    text = _TAG.sub("\n", text)
    text = _INLINE_TAG.sub("", _LINK.sub(r"\1", text))
    text = _LINE_MARK.sub("", text)
    text = re.sub(r"[^\S\n]{2,}(?=[A-Z])", "\n", _EMPHASIS.sub("", text))  # "Get providers   Returns a list"
    text = re.sub(r"[^\S\n]+", " ", text)
    found = []
    for part in _END.split(text):
        sentence = part.strip(" .\t-:|")
        for _ in range(2):
            sentence = _LABEL.sub("", sentence, count=1)
        if sentence and not _REMARK.match(sentence):
            found.append(_CAPITAL.sub(partial(_lowered, common), _unshouted(_without_repeat(sentence))))
    return found[:_MOST]


# "Playlist" and "Playlists", not "iPhone".
_CAPITAL = re.compile(r"\b[A-Z][a-z]+\b")


def _lowered(common: Collection[str], match: re.Match[str]) -> str:
    word = match[0].lower()
    return word if word in common or word.removesuffix("s") in common or f"{word}s" in common else match[0]


def _without_repeat(sentence: str) -> str:
    """The summary of "get credits Get the credits of a movie", where both were joined without a stop."""
    first = sentence.split(" ", 1)[0]
    match = re.search(rf"(?<=[a-z]) {re.escape(first.capitalize())} ", sentence[len(first) :])
    return sentence[: len(first) + match.start()] if match and first.isalpha() else sentence


def _unshouted(sentence: str) -> str:
    """A sentence in capitals in lower case."""
    letters = [one for one in sentence if one.isalpha()]
    if len(sentence.split()) > 2 and all(one.isupper() for one in letters):
        return sentence.capitalize()
    return sentence

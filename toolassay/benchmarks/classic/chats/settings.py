"""The options of a sample of raw chats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from toolassay.declarations import Option


def _pair(text: str) -> tuple[str, str]:
    """The name and the value of `NAME=VALUE`.

    Raises:
        ValueError: A part is missing.
    """
    name, sign, value = text.partition("=")
    if not (name and sign and value):
        raise ValueError(f"{text!r} has no '=': write NAME=VALUE")
    return name.strip(), value


@dataclass(frozen=True)
class ChatSampling:
    """How raw chats are read, filtered, drawn and masked."""

    workflows: Annotated[
        Path | None, Option("Table of workflows with the columns workflow, name, description, domain.")
    ] = None
    per_domain: Annotated[int, Option("Maximum conversations per domain.", minimum=1)] = 1000
    seed: Annotated[int, Option("Random seed of the draw.")] = 0
    min_length: Annotated[int, Option("Minimum number of characters of a user message.", minimum=1)] = 5
    mask: Annotated[
        str,
        Option(
            "How to find personal data. A model is a local spaCy folder; nothing is downloaded.",
            metavar="patterns|MODEL_PATH|off",
        ),
    ] = "patterns"
    mask_patterns: Annotated[
        Sequence[tuple[str, str]],
        Option(
            "Additional pattern to mask, e.g. EMPLOYEE=E[0-9]{6}.",
            "mask_pattern",
            metavar="KIND=REGEX",
            read=_pair,
        ),
    ] = ()
    phone_regions: Annotated[
        Sequence[str],
        Option(
            "Regions of telephone numbers without a country code [default: eight large ones].",
            metavar="US,DE,…",
            listed=True,
        ),
    ] = ()
    profanity: Annotated[
        Path | None,
        Option("File with profane words, one per line. Without it there is no profanity filter."),
    ] = None
    filters: Annotated[
        Sequence[tuple[str, str]],
        Option(
            "What a filter does with a match: drop the conversation (default), truncate it there, or "
            "nothing.",
            "filter",
            metavar="NAME=drop|cut|off",
            read=_pair,
        ),
    ] = ()
    columns: Annotated[
        Sequence[tuple[str, str]],
        Option(
            "Name of a column in your tables, e.g. text=body.", "column", metavar="NAME=THEIRS", read=_pair
        ),
    ] = ()
    domain: Annotated[str, Option("Domain of all chats, if there is no such column.")] = ""
    user_is: Annotated[
        Sequence[str], Option("Values of the sender column that mean the user.", metavar="A,B", listed=True)
    ] = ("user", "customer", "client", "visitor")
    bot_is: Annotated[
        Sequence[str], Option("Values of the sender column that mean the bot.", metavar="A,B", listed=True)
    ] = ("bot", "assistant", "system")
    human_is: Annotated[
        Sequence[str],
        Option("Values of the sender column that mean your team.", metavar="A,B", listed=True),
    ] = ("human", "agent", "operator", "live_agent")

    @property
    def actions(self) -> Mapping[str, Any]:
        """The action of each filter that has one, by name; the others drop."""
        return dict(self.filters)

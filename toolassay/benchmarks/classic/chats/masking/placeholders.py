"""The same value of one chat becomes the same placeholder, so that the chat stays readable."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace

from toolassay.benchmarks.classic.chats.chat import Chat
from toolassay.benchmarks.classic.chats.masking.finder import Finder, Found, without_overlaps
from toolassay.benchmarks.classic.data import Workflow

_PLACEHOLDER = re.compile(r"<[A-Z][A-Z_]*_\d+>")
_SHORTEST = 3


@dataclass
class Scope:
    """The values of one chat; they are forgotten with it.

    Args:
        find: what finds them.
        counts: how many were masked, by kind; several scopes may share it.
    """

    find: Finder
    counts: Counter[str] = field(default_factory=Counter)
    _numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    _known: dict[str, tuple[str, int]] = field(default_factory=dict)
    _in_any_case: dict[str, tuple[str, int]] = field(default_factory=dict)

    def mask(self, texts: list[str]) -> list[str]:
        r"""The texts with placeholders, also where a value that one text gives away stands in another.

        >>> def find(text):
        ...     return [Found(m.start(), m.end(), "EMAIL") for m in re.finditer(r"\S+@\S+", text)]
        >>> Scope(find).mask(["write to a@b.example", "to A@B.example or c@d.example"])
        ['write to <EMAIL_1>', 'to <EMAIL_1> or <EMAIL_2>']
        """
        found = [self._outside_placeholders(text) for text in texts]
        for text, these in zip(texts, found, strict=True):
            for one in these:
                self._remember(text[one.start : one.end], one.kind)
        return [self._replaced(text, these) for text, these in zip(texts, found, strict=True)]

    def _outside_placeholders(self, text: str) -> list[Found]:
        taken = [match.span() for match in _PLACEHOLDER.finditer(text)]
        return [
            one
            for one in self.find(text)
            if not any(one.start < end and start < one.end for start, end in taken)
        ]

    def _remember(self, value: str, kind: str) -> None:
        key = kind, _same(value, kind)
        number = self._numbers.setdefault(key, 1 + sum(known == kind for known, _ in self._numbers))
        # A single name may be a word of the language: "Will" is somebody, "WILL" may be, "will" is nobody.
        if len(value) >= _SHORTEST and (kind != "PERSON" or " " in value):
            self._in_any_case.setdefault(value.casefold(), (kind, number))
        for part in (value, *(value.split() if kind == "PERSON" else ())):
            if len(part) >= _SHORTEST:
                self._known.setdefault(part, (kind, number))
                self._known.setdefault(part.upper(), (kind, number))

    def _number_of(self, value: str) -> tuple[str, int] | None:
        return self._known.get(value) or self._in_any_case.get(value.casefold())

    def _replaced(self, text: str, found: list[Found]) -> str:
        masked, place = [], 0
        for one in without_overlaps([*found, *self._again(text)]):
            value = text[one.start : one.end]
            kind, number = self._number_of(value) or (
                one.kind,
                self._numbers.get((one.kind, _same(value, one.kind)), 0),
            )
            if not number:  # overlapping values made a longer one
                self._remember(value, kind)
                number = self._numbers[kind, _same(value, kind)]
            masked += [text[place : one.start], f"<{kind}_{number}>"]
            place = one.end
            self.counts[kind] += 1
        return "".join([*masked, text[place:]])

    def _again(self, text: str) -> list[Found]:
        if not self._known:
            return []
        loose, exact = (
            "|".join(map(re.escape, sorted(values, key=len, reverse=True))) or r"\Z."
            for values in (self._in_any_case, self._known)
        )
        pattern = re.compile(rf"(?<!\w)(?:(?i:{loose})|{exact})(?!\w)")
        return [
            Found(match.start(), match.end(), known[0])
            for match in pattern.finditer(text)
            if (known := self._number_of(match[0])) is not None
        ]


def mask_chat(chat: Chat, find: Finder, counts: Counter[str]) -> Chat:
    """A chat with placeholders; `counts` grows by what was masked, by kind."""
    texts = [text for exchange in chat.exchanges for text in (exchange.user, exchange.bot)]
    masked = Scope(find, counts).mask(texts)
    exchanges = (
        replace(exchange, user=user, bot=bot)
        for exchange, user, bot in zip(chat.exchanges, masked[::2], masked[1::2], strict=True)
    )
    return replace(chat, exchanges=tuple(exchanges))


def mask_workflow(workflow: Workflow, find: Finder, counts: Counter[str]) -> Workflow:
    """A workflow with placeholders in its name and description."""
    name, description = Scope(find, counts).mask([workflow.name, workflow.description])
    return replace(workflow, name=name, description=description)


def _same(value: str, kind: str) -> str:
    """What two spellings of one value have in common."""
    if kind in ("PHONE", "CARD", "SSN"):
        return re.sub(r"\D", "", value)
    return re.sub(r"[\s-]+", "", value.casefold()) if kind == "IBAN" else " ".join(value.casefold().split())

"""A seeded sample of whole chats, with an equal share for each workflow."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence

from toolassay.benchmarks.classic.chats.chat import Chat

_LONG = 4


def draw(chats: Sequence[Chat], per_domain: int, seed: int) -> tuple[list[Chat], list[tuple[Chat, str]]]:
    """Draw chats of each domain.

    In a domain in which the bot started workflows, each of them (the first of a chat counts, and "none" is
    one too) gives the same number of chats; in others, each length does (1, 2, 3, 4 or more user messages).
    What one cannot give, the others do. The draw of a domain depends on the seed and its chats alone.

    Args:
        chats: of all domains.
        per_domain: how many to draw of each, if it has as many.
        seed: the same seed draws the same chats.

    Returns:
        The drawn chats, in the order given, and the others, each with why.
    """
    domains: dict[str, list[Chat]] = defaultdict(list)
    for chat in chats:
        domains[chat.domain].append(chat)
    drawn: set[str] = set()
    why: dict[str, str] = {}
    for domain, these in domains.items():
        groups = _groups(these)
        for name, group in groups.items():
            random.Random(f"{seed}/{domain}/{name}").shuffle(group)
        for name, size in _shares({name: len(group) for name, group in groups.items()}, per_domain).items():
            drawn.update(chat.id for chat in groups[name][:size])
            reason = f"not drawn: {size} of {len(groups[name])} with {name}"
            why.update((chat.id, reason) for chat in groups[name][size:])
    return [chat for chat in chats if chat.id in drawn], [
        (chat, why[chat.id]) for chat in chats if chat.id not in drawn
    ]


def _groups(chats: Sequence[Chat]) -> dict[str, list[Chat]]:
    triggered = any(chat.workflow for chat in chats)
    groups: dict[str, list[Chat]] = defaultdict(list)
    for chat in sorted(chats, key=lambda chat: chat.id):
        length = len(chat.exchanges)
        by_length = f"{_LONG} or more messages" if length >= _LONG else f"{length} messages"
        groups[f"workflow {chat.workflow or '(none)'}" if triggered else by_length].append(chat)
    return dict(sorted(groups.items()))


def _shares(sizes: dict[str, int], wanted: int) -> dict[str, int]:
    """How many each gives: as equal as their sizes allow, the smallest first.

    >>> _shares({"a": 2, "b": 9, "c": 9}, 10)
    {'a': 2, 'b': 4, 'c': 4}
    """
    shares = {}
    left = wanted
    for number, (name, size) in enumerate(sorted(sizes.items(), key=lambda item: (item[1], item[0]))):
        shares[name] = min(size, left // (len(sizes) - number))
        left -= shares[name]
    return shares

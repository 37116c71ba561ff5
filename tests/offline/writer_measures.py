"""How varied a set of requests is: skeletons, openings, overlap of word triples."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from toolassay.tools import ToolLibrary

_WORD = re.compile(r"[a-z0-9']+")
_COMMON = 40


class Variety(NamedTuple):
    """`sentences` and `skeletons` are counted with literals and tool words replaced by a placeholder."""

    sentences: int
    skeletons: int
    opening: float
    overlap: float
    different: int


def literals_of(reply: Mapping[str, Any], library: ToolLibrary) -> list[str]:
    """What the user states of the gold: every input that is no tool, every argument that is no switch."""
    nodes = reply["invoking_graph"]["nodes"]
    inputs = [text for node in nodes for text in node.get("input", ()) if text not in library]
    values = [argument["value"] for node in nodes for argument in node.get("arguments", ())]
    return inputs + [value for value in values if value not in ("true", "false")]


def measure(replies: Sequence[Mapping[str, Any]], library: ToolLibrary) -> Variety:
    """The variety of the requests."""
    requests = [str(reply["user_request"]) for reply in replies]
    words = {word for tool in library for word in _words(f"{tool.id} {tool.description}".replace("_", " "))}
    sentences: set[str] = set()
    skeletons = set()
    for reply, request in zip(replies, requests, strict=True):
        for literal in sorted(literals_of(reply, library), key=len, reverse=True):
            request = request.replace(literal, "L")
        parts = [
            " ".join("_" if word in words else word for word in _words(sentence))
            for sentence in re.split(r"(?<=[.!?:;])\s", request)
        ]
        sentences.update(parts)
        skeletons.add(" | ".join(parts))
    openings = Counter(" ".join(request.split()[:3]) for request in requests)
    return Variety(
        len(sentences),
        len(skeletons),
        max(openings.values()) / len(requests),
        _largest_overlap(requests),
        len(set(requests)),
    )


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _largest_overlap(requests: Sequence[str]) -> float:
    """The largest Jaccard index of word triples of two requests (candidates share an uncommon triple)."""
    triples = []
    for request in requests:
        words = _words(request)
        triples.append({" ".join(words[start : start + 3]) for start in range(len(words) - 2)})
    frequency = Counter(triple for some in triples for triple in some)
    holders: dict[str, list[int]] = defaultdict(list)
    largest = 0.0
    for number, some in enumerate(triples):
        rare = [triple for triple in some if frequency[triple] <= max(_COMMON, len(requests) // 25)]
        shared = Counter(other for triple in rare for other in holders[triple])
        for other, _ in shared.most_common(10):
            both = len(some & triples[other])
            largest = max(largest, both / (len(some) + len(triples[other]) - both))
        for triple in rare:
            holders[triple].append(number)
    return largest

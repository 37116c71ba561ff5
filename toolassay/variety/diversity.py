"""Diversity measures of a data set.

Wording: distinct-n and the moving-average type-token ratio. Similarity: ROUGE-L of each request with its
nearest neighbour. Coverage: which tools and links of a library the gold plans use.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from itertools import chain
from math import log
from typing import TYPE_CHECKING, Any

from toolassay.graph import ToolGraph
from toolassay.tools import ToolLibrary

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


WINDOW = 50
"""Words in a window of the type-token ratio. Most requests are shorter, so texts are concatenated."""


def distinct(texts: Sequence[Sequence[str]], length: int) -> float | None:
    """Distinct-n: the number of different n-grams divided by the number of all n-grams.

    Li, Galley, Brockett, Gao and Dolan, A Diversity-Promoting Objective Function for Neural Conversation
    Models, NAACL 2016. It falls with the amount of text: compare only samples of one size.

    Args:
        texts: the words of each text; an n-gram does not cross from one text to the next.
        length: n.

    Returns:
        From 0 to 1; None if every text is shorter than n words.

    >>> distinct([["crop", "it"], ["crop", "it", "now"]], 1), distinct([["crop", "it"], ["crop", "it"]], 2)
    (0.6, 0.5)
    """
    runs = [run for text in texts for run in zip(*(text[start:] for start in range(length)), strict=False)]
    return len(set(runs)) / len(runs) if runs else None


def moving_type_token_ratio(texts: Sequence[Sequence[str]], window: int = WINDOW) -> float | None:
    """The moving-average type-token ratio: the mean share of different words in a window of words.

    Covington and McFall, Cutting the Gordian Knot: The Moving-Average Type-Token Ratio, Journal of
    Quantitative Linguistics, 2010. It hardly depends on the amount of text.

    Args:
        texts: the words of each text; the texts are concatenated.
        window: words in a window. If there are fewer words, all of them are one window.

    Returns:
        From 0 to 1; None without words.

    >>> moving_type_token_ratio([["crop", "it"], ["crop", "now"]], window=2)
    1.0
    """
    seen: deque[str] = deque()
    counts: Counter[str] = Counter()
    total, windows = 0, 0
    for word in chain.from_iterable(texts):
        seen.append(word)
        counts[word] += 1
        if len(seen) > window:
            gone = seen.popleft()
            counts[gone] -= 1
            if not counts[gone]:
                del counts[gone]
        if len(seen) == window:
            total, windows = total + len(counts), windows + 1
    if not seen:
        return None
    return total / windows / window if windows else len(counts) / len(seen)


# The first surrogate and their number: code points that a text must not hold.
_SURROGATES = 0xD800, 0x800
# Texts compared with all others at once: a limit on the size of the matrix.
_ROWS = 250


def nearest_rouge(texts: Sequence[Sequence[str]]) -> npt.NDArray[np.float64]:
    """For each text, the highest ROUGE-L with any other text.

    Self-Instruct measures the novelty of an instruction so, and drops those above 0.7 (Wang and others,
    Self-Instruct: Aligning Language Models with Self-Generated Instructions, ACL 2023). It rises with the
    number of texts: compare only samples of one size.

    Args:
        texts: the words of each text; every pair is compared.

    Returns:
        Shape (texts,): the F1 of the longest common subsequence of words; 0 for a single text.

    >>> nearest_rouge([["crop", "the", "photo"], ["crop", "the", "picture"], ["pay", "it"]]).round(2).tolist()
    [0.67, 0.67, 0.0]
    """
    import numpy as np
    from rapidfuzz.distance import Indel
    from rapidfuzz.process import cdist

    # One character per word: the character-level similarity of rapidfuzz is then that of the words.
    letters: dict[str, str] = {}
    written = ["".join(letters.setdefault(word, _letter(len(letters))) for word in text) for text in texts]
    best = np.zeros(len(written))
    for start in range(0, len(written), _ROWS):
        # 1 - (insertions + deletions) / (words of both) = 2 · common / (words of both): ROUGE-L's F1.
        rows = cdist(
            written[start : start + _ROWS], written, scorer=Indel.normalized_similarity, dtype=np.float64
        )
        rows[np.arange(len(rows)), start + np.arange(len(rows))] = 0
        best[start : start + len(rows)] = rows.max(axis=1)
    return best


def _letter(number: int) -> str:
    first, count = _SURROGATES
    return chr(number if number < first else number + count)


Ends = tuple[str, str]


def tool_coverage(uses: Mapping[str, int], library: ToolLibrary) -> dict[str, Any]:
    """How evenly the plans use the tools of a library.

    Args:
        uses: number of plans that use each tool.
        library: all tools.

    Returns:
        `tools`, `used` and its `share`; `evenness`: the entropy of the uses divided by its maximum (Pielou
        1966), 1 if all tools are used equally often; `never_used` in library order; `unknown`: tools that the
        library does not have, with their uses; `uses` of the library's tools, most used first.
    """
    used = {tool: uses.get(tool, 0) for tool in library.ids}
    total = sum(used.values())
    shares = [count / total for count in used.values() if count]
    return {
        "tools": len(used),
        "used": len(shares),
        "share": len(shares) / len(used),
        "evenness": -sum(share * log(share) for share in shares) / log(len(used)) if len(used) > 1 else None,
        "never_used": [tool for tool, count in used.items() if not count],
        "unknown": {tool: count for tool, count in uses.items() if tool not in library},
        "uses": dict(Counter(used).most_common()),
    }


def link_coverage(uses: Mapping[Ends, int], graph: ToolGraph, *, most: int = 10) -> dict[str, Any]:
    """How many of the possible links the plans use. A link is a pair of tools, whatever its types.

    The time grows with the tools and with the links used, not with the pairs of tools.

    Args:
        uses: number of plans that use each link.
        graph: the tool graph.
        most: number of links in `most_used`.

    Returns:
        `possible`: links of the graph; `used` and its `share`; `used_once`; `not_in_graph`: different links
        of the plans that the graph does not have; `most_used`: `[source, target, plans]` each.
    """
    known = {ends: count for ends, count in uses.items() if graph.link_types(*ends)}
    possible = sum(len(graph.numbered.successors(place)) for place in range(len(graph)))
    return {
        "possible": possible,
        "used": len(known),
        "share": len(known) / possible if possible else None,
        "used_once": sum(count == 1 for count in known.values()),
        "not_in_graph": len(uses) - len(known),
        "most_used": [[*ends, count] for ends, count in Counter(known).most_common(most)],
    }

"""How varied the words of some requests are."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from itertools import chain

WINDOW = 50


def distinct(texts: Sequence[Sequence[str]], length: int) -> float | None:
    """Distinct-n: of all runs of `length` words, the share that are different runs.

    Li, Galley, Brockett, Gao and Dolan, A Diversity-Promoting Objective Function for Neural Conversation
    Models, NAACL 2016. The more text, the lower it is: compare only samples of one size.

    Args:
        texts: each as its words; runs do not cross from one to the next.
        length: n.

    Returns:
        A share; None where no text is that long.

    >>> distinct([["crop", "it"], ["crop", "it", "now"]], 1), distinct([["crop", "it"], ["crop", "it"]], 2)
    (0.6, 0.5)
    """
    runs = [run for text in texts for run in zip(*(text[start:] for start in range(length)), strict=False)]
    return len(set(runs)) / len(runs) if runs else None


def moving_ratio(texts: Sequence[Sequence[str]], window: int = WINDOW) -> float | None:
    """The moving-average type-token ratio: different words of `window` words in a row, on average.

    Covington and McFall, Cutting the Gordian Knot: The Moving-Average Type-Token Ratio, Journal of
    Quantitative Linguistics, 2010. It hardly depends on how much text there is.

    Args:
        texts: each as its words; they are read as one text.
        window: how many words are looked at at a time; all of them where there are fewer.

    >>> moving_ratio([["crop", "it"], ["crop", "now"]], window=2)
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

"""Samples whose requests are nearly the same."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from toolassay.gold import Gold
from toolassay.variety import Bars, Item, PlanDigest, find_repeats
from toolassay.variety.plans import digest
from toolassay.variety.spill import Spill, temporary_folder


def near_repeats(golds: Iterable[Gold], bars: Bars | None = None) -> list[list[int]]:
    """The places, from 0, of samples whose requests repeat one another nearly, by whatever chain.

    They are compared in an order of their own: in a crowd of requests that are much alike not every pair is
    looked at, and which ones are must not depend on the order of the file.

    Args:
        golds: read once; words lie in a temporary file, a few numbers of each are held in memory.
        bars: how alike near duplicates are; see `toolassay.variety.find_repeats`.

    >>> texts = ["Crop a.jpg for me", "Pay the bill", "Could you please crop a.jpg?"]
    >>> near_repeats(Gold.of({"id": number, "user_request": text}) for number, text in enumerate(texts))
    [[0, 2]]
    """
    plans: list[PlanDigest] = []
    ranks = array("Q")
    with temporary_folder() as folder, Spill(folder / "texts") as texts:
        for gold in golds:
            plan = PlanDigest.of(gold)
            texts.append(gold.request)
            plans.append(plan)
            ranks.append(digest([str(gold.id), gold.request, plan]))
        order = sorted(range(len(plans)), key=ranks.__getitem__)
        items = (Item(place, texts[place], plans[place]) for place in order)
        clusters = find_repeats(items, bars=bars).clusters()
    return sorted(sorted(int(place) for place in cluster) for cluster in clusters)

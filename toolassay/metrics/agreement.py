"""How far people who judge the same items agree, beyond chance.

Cohen's kappa for two raters (Cohen, A coefficient of agreement for nominal scales, 1960; that of
scikit-learn), Fleiss' for more (Fleiss, Measuring nominal scale agreement among many raters, 1971). Items
may have different numbers of votes: each weighs its own pairs, and chance is taken from all votes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Votes = Mapping[str, str]
"""Of one item: the label by rater; who chose nothing is not there."""


@dataclass(frozen=True)
class Agreement:
    """Of some items.

    Args:
        items: with two votes or more; the others say nothing.
        raw: the chance that two raters of one item agree; None without items.
        kappa: the same beyond chance, from 1 (always) over 0 (as by chance); None where chance alone makes
            everybody agree.
        kind: `cohen` or `fleiss`.
    """

    items: int
    raw: float | None
    kappa: float | None
    kind: str

    def to_json(self, items: str = "items") -> dict[str, Any]:
        """As a JSON object, which calls the items so."""
        return {items: self.items, "raw": self.raw, "kappa": self.kappa, "kind": self.kind}


def agreement_of(votes: Sequence[Votes]) -> Agreement:
    """Agreement of raters: Cohen's kappa of two, Fleiss' of more.

    Args:
        votes: one entry an item; those with fewer than two votes are left out.

    Returns:
        The agreement on the others; `raw` is the mean over items of the share of pairs of raters that agree.

    >>> agreement_of([{"a": "x", "b": "x"}, {"a": "x", "b": "y"}, {"a": "y", "b": "y"}]).raw
    0.6666666666666666
    """
    rated = [item for item in votes if len(item) > 1]
    raters = sorted({name for item in rated for name in item})
    kind = "fleiss" if len(raters) > 2 else "cohen"
    if not rated:
        return Agreement(0, None, None, kind)
    raw = sum(_agreeing_pairs(item) for item in rated) / len(rated)
    return Agreement(len(rated), raw, _cohen(rated, raters) if kind == "cohen" else _fleiss(rated, raw), kind)


def agreement_on(label: str, votes: Sequence[Votes]) -> Agreement:
    """Agreement on whether an item has this label, of the items for which somebody chose it.

    Args:
        label: the label.
        votes: one entry an item.

    Returns:
        `raw` is the specific agreement (Dice, Measures of the amount of ecologic association between species,
        1945): if one rater chose the label, the chance that another one of the same item did too; `kappa` is
        that of yes and no, over all items with two votes or more.

    >>> agreement_on("x", [{"a": "x", "b": "x"}, {"a": "x", "b": "y"}, {"a": "y", "b": "y"}]).raw
    0.6666666666666666
    """
    yes_or_no = [{name: str(vote == label) for name, vote in item.items()} for item in votes if len(item) > 1]
    whole = agreement_of(yes_or_no)
    chosen = [item for item in yes_or_no if "True" in item.values()]
    return Agreement(len(chosen), _specific(chosen), whole.kappa, whole.kind)


def _specific(chosen: Sequence[Votes]) -> float | None:
    pairs = both = 0
    for item in chosen:
        yes = sum(vote == "True" for vote in item.values())
        pairs += yes * (len(item) - 1)
        both += yes * (yes - 1)
    return both / pairs if pairs else None


def _agreeing_pairs(item: Votes) -> float:
    number = len(item)
    return sum(count * (count - 1) for count in Counter(item.values()).values()) / (number * (number - 1))


def _cohen(rated: Sequence[Votes], raters: Sequence[str]) -> float | None:
    one, other = raters
    if len({vote for item in rated for vote in item.values()}) == 1:
        return None
    from sklearn.metrics import cohen_kappa_score

    kappa = float(cohen_kappa_score([item[one] for item in rated], [item[other] for item in rated]))
    return None if math.isnan(kappa) else kappa


def _fleiss(rated: Sequence[Votes], raw: float) -> float | None:
    totals = Counter(vote for item in rated for vote in item.values())
    chance = sum((count / totals.total()) ** 2 for count in totals.values())
    return None if chance == 1 else (raw - chance) / (1 - chance)

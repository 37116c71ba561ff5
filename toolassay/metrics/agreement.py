"""Agreement between raters of the same items, corrected for chance.

Two raters: Cohen's kappa (Cohen, A coefficient of agreement for nominal scales, 1960), by scikit-learn.
More: Fleiss' kappa (Fleiss, Measuring nominal scale agreement among many raters, 1971), where items may have
different numbers of votes: the observed agreement is the mean over items, and chance is that of all votes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Votes = Mapping[str, str]
"""The votes on one item: label by rater. A rater without a vote has no entry."""


@dataclass(frozen=True)
class Agreement:
    """The agreement of raters on some items.

    Attributes:
        items: the number of items with two or more votes; others are left out.
        raw: the probability that two raters of an item agree, 0 to 1; None without items.
        kappa: agreement beyond chance: 1 is perfect, 0 is chance, negative is less. None if it is
            undefined: no items, or all votes are the same.
        kind: `cohen` or `fleiss`.
    """

    items: int
    raw: float | None
    kappa: float | None
    kind: str

    def to_json(self, items: str = "items") -> dict[str, Any]:
        """The agreement as a JSON object.

        Args:
            items: the key of the number of items.
        """
        return {items: self.items, "raw": self.raw, "kappa": self.kappa, "kind": self.kind}


def agreement_of(votes: Sequence[Votes]) -> Agreement:
    """The agreement of raters: Cohen's kappa for two, Fleiss' for more.

    Args:
        votes: the votes on each item; an item with fewer than two is left out.

    Returns:
        The agreement; `raw` is the mean over items of the share of pairs of raters that agree.

    >>> agreement_of([{"a": "x", "b": "x"}, {"a": "x", "b": "y"}, {"a": "y", "b": "y"}]).raw
    0.6666666666666666
    """
    rated = [item for item in votes if len(item) > 1]
    raters = sorted({name for item in rated for name in item})
    kind = "fleiss" if len(raters) > 2 else "cohen"
    if not rated:
        return Agreement(0, None, None, kind)
    counts = [Counter(item.values()) for item in rated]
    pairs = (
        sum(n * (n - 1) for n in counter.values()) / (counter.total() * (counter.total() - 1))
        for counter in counts
    )
    raw = sum(pairs) / len(rated)
    totals = Counter(vote for item in rated for vote in item.values())
    chance = sum((count / totals.total()) ** 2 for count in totals.values())
    if kind == "fleiss":
        return Agreement(len(rated), raw, None if chance == 1 else (raw - chance) / (1 - chance), kind)
    if len(totals) == 1:  # scikit-learn would divide 0 by 0 and warn
        return Agreement(len(rated), raw, None, kind)
    from sklearn.metrics import cohen_kappa_score

    kappa = float(cohen_kappa_score(*([item[name] for item in rated] for name in raters)))
    return Agreement(len(rated), raw, None if math.isnan(kappa) else kappa, kind)


def agreement_on(label: str, votes: Sequence[Votes]) -> Agreement:
    """The agreement on one label, over the items for which at least one rater chose it.

    Args:
        label: the label.
        votes: the votes on each item.

    Returns:
        `raw` is the specific agreement (Dice, Measures of the amount of ecologic association between species,
        1945): the probability that another rater of an item chose the label too if one did. `kappa` is of
        "chose it" against "did not", over all items with two or more votes.

    >>> agreement_on("x", [{"a": "x", "b": "x"}, {"a": "x", "b": "y"}, {"a": "y", "b": "y"}]).raw
    0.6666666666666666
    """
    yes_or_no = [{name: str(vote == label) for name, vote in item.items()} for item in votes if len(item) > 1]
    whole = agreement_of(yes_or_no)
    chosen = [item for item in yes_or_no if "True" in item.values()]
    pairs = both = 0
    for item in chosen:
        yes = sum(vote == "True" for vote in item.values())
        pairs += yes * (len(item) - 1)
        both += yes * (yes - 1)
    return Agreement(len(chosen), both / pairs if pairs else None, whole.kappa, whole.kind)

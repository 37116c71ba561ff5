"""How far annotators agree, beyond chance.

Cohen's kappa for two annotators (Cohen, A coefficient of agreement for nominal scales, 1960; that of
scikit-learn), Fleiss' for more (Fleiss, Measuring nominal scale agreement among many raters, 1971). Messages
may have different numbers of votes: each weighs its own pairs, and chance is taken from all votes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Votes = Mapping[str, str]
"""Of one message: the first label by annotator; who chose nothing is not there."""


@dataclass(frozen=True)
class Agreement:
    """Of some messages.

    Args:
        messages: with two votes or more; the others say nothing.
        raw: the chance that two annotators of one message agree; None without messages.
        kappa: the same beyond chance, from 1 (always) over 0 (as by chance); None where chance alone makes
            everybody agree.
        kind: `cohen` or `fleiss`.
    """

    messages: int
    raw: float | None
    kappa: float | None
    kind: str

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {"messages": self.messages, "raw": self.raw, "kappa": self.kappa, "kind": self.kind}


def agreement_of(votes: Sequence[Votes]) -> Agreement:
    """Agreement of annotators.

    Args:
        votes: one entry a message.

    >>> agreement_of([{"a": "x", "b": "x"}, {"a": "x", "b": "y"}, {"a": "y", "b": "y"}]).raw
    0.6666666666666666
    """
    rated = [message for message in votes if len(message) > 1]
    annotators = sorted({name for message in rated for name in message})
    kind = "fleiss" if len(annotators) > 2 else "cohen"
    if not rated:
        return Agreement(0, None, None, kind)
    raw = sum(_agreeing_pairs(message) for message in rated) / len(rated)
    return Agreement(
        len(rated), raw, _cohen(rated, annotators) if kind == "cohen" else _fleiss(rated, raw), kind
    )


def agreement_on(label: str, votes: Sequence[Votes]) -> Agreement:
    """Agreement on whether a message has this label, of the messages for which somebody chose it."""
    yes_or_no = [
        {name: str(vote == label) for name, vote in message.items()} for message in votes if len(message) > 1
    ]
    whole = agreement_of(yes_or_no)
    chosen = [message for message in yes_or_no if "True" in message.values()]
    return Agreement(*(len(chosen), _specific(chosen), whole.kappa, whole.kind))


def _specific(chosen: Sequence[Votes]) -> float | None:
    """If one annotator chose it, the chance that another one of the same message did too."""
    pairs = both = 0
    for message in chosen:
        yes = sum(vote == "True" for vote in message.values())
        pairs += yes * (len(message) - 1)
        both += yes * (yes - 1)
    return both / pairs if pairs else None


def _agreeing_pairs(message: Votes) -> float:
    number = len(message)
    return sum(count * (count - 1) for count in Counter(message.values()).values()) / (number * (number - 1))


def _cohen(rated: Sequence[Votes], annotators: Sequence[str]) -> float | None:
    one, other = annotators
    if len({vote for message in rated for vote in message.values()}) == 1:
        return None
    from sklearn.metrics import cohen_kappa_score

    kappa = float(
        cohen_kappa_score([message[one] for message in rated], [message[other] for message in rated])
    )
    return None if math.isnan(kappa) else kappa


def _fleiss(rated: Sequence[Votes], raw: float) -> float | None:
    totals = Counter(vote for message in rated for vote in message.values())
    chance = sum((count / totals.total()) ** 2 for count in totals.values())
    return None if chance == 1 else (raw - chance) / (1 - chance)

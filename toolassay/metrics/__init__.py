"""Metrics that no benchmark owns, and the meanings of their short headings.

- `rouge`: ROUGE-1, -2, -L, -Lsum of pairs of texts.
- `bertscore`: BERTScore, by the package bert-score.
- `f1`: counts of true and false positives, their F1, and the best one-to-one assignment.
- `confidence_interval`: bootstrap intervals of ratios, Wilson intervals of shares.
- `significance`: paired tests of two models, and Holm's correction.
- `pass_k`: pass@k, pass^k and the agreement of repeated runs (stability).
- `agreement`: Cohen's and Fleiss' kappa of raters.
- `installed`: metrics of other packages, by entry point.
"""

from __future__ import annotations

from collections.abc import Iterable

from toolassay.files import package_data

MEANINGS: dict[str, str] = package_data(__package__, "meanings.json")


def legend(headings: Iterable[str]) -> str:
    """A sentence that explains the abbreviated ones among some headings; empty if there are none.

    >>> legend(["n", "R1", "n-F1"])
    'R1: ROUGE-1 of the steps; n-F1: F1 of the tools (nodes).'
    """
    meanings = "; ".join(f"{heading}: {MEANINGS[heading]}" for heading in headings if heading in MEANINGS)
    return f"{meanings}." if meanings else ""

"""What the short headings of a table of scores mean."""

from __future__ import annotations

from collections.abc import Iterable

MEANINGS = {
    "R1": "ROUGE-1 of the steps",
    "R2": "ROUGE-2",
    "RL": "ROUGE-L",
    "BsF": "BERTScore F1 of the steps",
    "n-F1": "F1 of the tools (nodes)",
    "e-F1": "F1 of the links (edges)",
    "t-F1": "F1 of tool and argument name (or type)",
    "v-F1": "F1 of tool, argument name (or type) and value",
    "ED": "edit distance of the sequences of tools, lower is better",
}


def legend(headings: Iterable[str]) -> str:
    """One sentence about those headings that are short for something; empty where none is.

    >>> legend(["n", "R1", "n-F1"])
    'R1: ROUGE-1 of the steps; n-F1: F1 of the tools (nodes).'
    """
    told = "; ".join(f"{heading}: {MEANINGS[heading]}" for heading in headings if heading in MEANINGS)
    return f"{told}." if told else ""

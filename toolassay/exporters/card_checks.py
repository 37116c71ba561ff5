"""What the card of an export says of checks: by gates, and by people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from toolassay.exporters.selection import NOT_CHECKED
from toolassay.words import cell_of, count_of

_STATES = ("pass", "quarantine", "reject", "unknown", "not applicable")
_DECISIONS = {
    "correct": "correct",
    "fix_syntax": "fixed for syntax",
    "fix_instruction": "fixed for instruction",
    "fix_graph": "fixed for tool invocation graph",
    "discard": "discarded",
    "undecided": "undecided",
}


def told_checks(
    levels: Mapping[str, int], benchmark: Mapping[str, Any], funnel: Any, refused: int
) -> Iterator[str]:
    """Lines of Markdown.

    Args:
        levels: how many samples here the gates gave each level, by `gates.jsonl`.
        benchmark: the object of `benchmark.json`, in which `toolassay check` and `toolassay review` say what
            they let into a folder.
        funnel: what `toolassay check` counted, as it wrote it; None where it did not.
        refused: how many samples could not be exported.
    """
    checked, reviewed = benchmark.get("checked"), benchmark.get("reviewed")
    level = checked.get("level") if isinstance(checked, Mapping) else None
    if set(levels) - {NOT_CHECKED}:
        yield "| level by the gates | samples here |\n| --- | ---: |"
        for name, count in sorted(levels.items()):
            yield f"| {cell_of(name)} | {count:,} |"
    elif isinstance(level, str):
        before = ", before people reviewed them" if isinstance(reviewed, Mapping) else ""
        yield f"`toolassay check` gave these samples the level `{cell_of(level)}`{before}."
    else:
        yield "No gates were recorded (`toolassay check`)."
    if isinstance(reviewed, Mapping):
        counts = {kind: count for kind, count in reviewed.items() if isinstance(count, int) and count}
        told = ", ".join(f"{count:,} {_DECISIONS.get(kind, cell_of(kind))}" for kind, count in counts.items())
        yield f"\nReviewed by people (`toolassay review`): {told or 'nobody has decided'}."
    if refused:
        yield f"\n{count_of(refused, 'sample')} refused, as no calls can be made of them (`refused.jsonl`)."
    if funnel is not None:
        yield from _funnel(funnel, reviewed=isinstance(reviewed, Mapping))


def _funnel(funnel: Any, *, reviewed: bool) -> Iterator[str]:
    of = "Before the review: of" if reviewed else "Of"
    try:
        whole, levels = funnel["input"], funnel["levels"]
        yield (
            f"\n{of} the whole set of {count_of(whole, 'sample')} the gates let {levels['pass']:,} pass, put "
            f"{levels['quarantine']:,} in quarantine and rejected {levels['reject']:,}:\n"
        )
        rows = [
            [gate, *(f"{states[state]:,}" for state in _STATES)] for gate, states in funnel["gates"].items()
        ]
        signature = funnel.get("signature")
    except (KeyError, TypeError, ValueError, AttributeError):
        yield f"\n{'Before the review: the' if reviewed else 'The'} funnel of the whole set:\n"
        yield f"```json\n{json.dumps(funnel, indent=2, ensure_ascii=False)}\n```"
        return
    yield f"| gate | {' | '.join(_STATES)} |"
    yield f"| --- |{' ---: |' * len(_STATES)}"
    for row in rows:
        yield f"| {' | '.join(map(cell_of, row))} |"
    yield "\nNot applicable: the gate had nothing to judge, such as arguments or a review; that is no pass."
    if isinstance(signature, str):
        yield f"\n`{signature}`"

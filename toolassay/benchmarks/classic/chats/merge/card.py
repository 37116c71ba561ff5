"""The card of a set: what is in it, how it came about, how far its annotators agreed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from toolassay.benchmarks.classic.chats.merge.merged import MergedSet
from toolassay.benchmarks.classic.data import Workflow
from toolassay.words import count_of


def card(merged: MergedSet, workflows: Sequence[Workflow], annotators: int, rules: Sequence[str]) -> str:
    """The card, in Markdown.

    Args:
        merged: the set.
        workflows: that its agents choose from.
        annotators: how many; their names are not told.
        rules: how their choices were put together, a sentence each.
    """
    offered = Counter(workflow.domain for workflow in workflows)
    domains = sorted({row.domain for row in merged.rows})
    parts = [
        "# Chats and the workflows to start",
        "One example is a chat up to a user message; an agent names the workflow of its domain to start, "
        "or none.",
        "| domain | messages | conversations | workflows | no workflow | two labels |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: |\n"
        + "\n".join(_counts(merged, domain, offered[domain]) for domain in domains)
        + "\n"
        + _counts(merged, None, sum(offered[domain] for domain in domains)),
        f"## Labels\n\nBy {count_of(annotators, 'annotator')}. " + " ".join(rules),
        "| domain | messages with two votes or more | raw agreement | kappa |\n| --- | ---: | ---: | ---: |\n"
        + "\n".join(_agreement(name, found) for name, found in _parts(merged.agreement)),
        "First labels of all that was annotated. Kappa is Cohen's for two annotators, Fleiss' for more.",
        f"## What was left out\n\n{merged.funnel.table()}",
    ]
    return "\n\n".join(parts) + "\n"


def _counts(merged: MergedSet, domain: str | None, workflows: int) -> str:
    rows = [row for row in merged.rows if domain in (None, row.domain)]
    chats = len({row.conversation for row in rows})
    none, two = sum(not row.label for row in rows), sum(bool(row.second_label) for row in rows)
    name = "**all**" if domain is None else domain
    return f"| {name} | {len(rows):,} | {chats:,} | {workflows:,} | {none:,} | {two:,} |"


def _parts(agreement: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    return [*agreement["domains"].items(), ("**all**", agreement["all"])]


def _agreement(name: str, found: Mapping[str, Any]) -> str:
    raw, kappa = ("-" if found[key] is None else f"{found[key]:.3f}" for key in ("raw", "kappa"))
    return f"| {name} | {found['messages']:,} | {raw} | {kappa} |"

"""A plan as a number, the same for two plans that say the same."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable

from toolassay.benchmarks.taskbench.scoring.strict_plan import REFERENCE, Plan


def plan_digest(plan: Plan) -> int:
    """A number from 0 that two plans share if they have the same nodes, links and arguments.

    As in the strict scores the order of nodes, links and arguments does not count, a reference stands for
    the node it points to, and steps are not compared.

    >>> def plan(*nodes):
    ...     return Plan([name for name, _ in nodes], [[("text", value)] for _, value in nodes], None, None)
    >>> one = plan(("Painter", "a cat"), ("Captioner", "<node-0>"))
    >>> other = plan(("Captioner", "<node-1>"), ("Painter", "a cat"))
    >>> plan_digest(one) == plan_digest(other), plan_digest(one) == plan_digest(plan(("Painter", "a dog")))
    (True, False)
    """
    nodes = [f"{_number(name):x}" for name in plan.names]  # no text that an argument may hold by chance
    # Each round tells nodes apart by what they point to one step further; a plan is no longer than its nodes.
    for _ in range(len(nodes) if plan.has_references else 1):
        nodes = [_node(plan, place, nodes) for place in range(len(nodes))]
    return _number(repr((sorted(nodes), plan.links if plan.links is None else sorted(plan.links))))


def _node(plan: Plan, place: int, labels: list[str]) -> str:
    """A node with its arguments, in which the labels of nodes stand for references."""
    given = plan.arguments[place] if plan.arguments is not None else []
    arguments = sorted(repr((name, _spelled(value, labels))) for name, value in given)
    return f"{_number(repr((plan.names[place], arguments))):x}"


def _spelled(value: Hashable, labels: list[str]) -> str:
    if isinstance(value, str):
        return REFERENCE.sub(lambda found: _label(int(found[1]), labels), value)
    return f"<number {hash(value)}>"  # 7 and 7.0 are one, and that hash is the same in every process


def _label(place: int, labels: list[str]) -> str:
    return f"<{labels[place]}>" if place < len(labels) else f"<outside {place}>"


def _number(text: str) -> int:
    digest = hashlib.blake2b(text.encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1

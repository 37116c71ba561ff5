"""Whether two gold plans are the same: digests of what they call, and with which values."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any, NamedTuple

from toolassay.dataset import reference_index
from toolassay.gold import Gold
from toolassay.variety.normal_form import same_words


class PlanDigest(NamedTuple):
    """What a plan is compared by; 0 where it is not known.

    Attributes:
        tools: which tools it calls, in whatever order.
        whole: the tools with their values and links, in whatever order and spelling.
    """

    tools: int = 0
    whole: int = 0

    @classmethod
    def of(cls, gold: Gold) -> PlanDigest:
        """The digests of a label's plan.

        >>> def plan(*values):
        ...     nodes = [{"task": "crop", "arguments": [value]} for value in values]
        ...     return PlanDigest.of(Gold.of({"id": 1, "task_nodes": nodes}))
        >>> plan("a.jpg", "b.jpg") == plan("B.jpg", "a.jpg")
        True
        >>> plan("a.jpg").tools == plan("c.jpg").tools, plan("a.jpg").whole == plan("c.jpg").whole
        (True, False)
        """
        if not gold.nodes:
            return cls()
        tools = digest(sorted(node.tool for node in gold.nodes))
        if not gold.has_arguments:
            return cls(tools)
        at = {node.place: node.tool for node in gold.nodes}
        calls = sorted(
            [node.tool, sorted(_value(argument, at) for argument in node.arguments or ())]
            for node in gold.nodes
        )
        return cls(tools, digest([calls, sorted(gold.links)]))


def digest(value: Any) -> int:
    """A number of 64 bits for a JSON value, never 0, the same in every process."""
    text = json.dumps(value, ensure_ascii=True)
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little") or 1


def _value(argument: Any, at: dict[int, str]) -> str:
    if isinstance(argument, dict):
        return f"{argument.get('name')}={_value(argument.get('value'), at)}"
    place = reference_index(argument)
    if place is not None:
        return f"<{at.get(place)}>"
    return same_words(argument if isinstance(argument, str) else json.dumps(argument, ensure_ascii=False))

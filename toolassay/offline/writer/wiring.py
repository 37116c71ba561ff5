"""Which earlier tool feeds which input of a sample, and which inputs the user supplies."""

from __future__ import annotations

from dataclasses import dataclass

from toolassay.dataset import Sample
from toolassay.graph import DependencyType
from toolassay.offline.writer.phrases import slot_names
from toolassay.tools import Tool, ToolLibrary


@dataclass(frozen=True, slots=True)
class Slot:
    """An input of a call: its name in phrases, and the earlier node that feeds it (None: the user)."""

    name: str
    source: int | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """One node of the sample: its tool, its slots, and the earlier nodes it depends on.

    `waits` are those of them that feed no slot: what flows is only the order.
    """

    tool: Tool
    slots: tuple[Slot, ...]
    sources: tuple[int, ...]
    waits: tuple[int, ...]


def wire(sample: Sample, library: ToolLibrary, dependency_type: DependencyType) -> list[Call]:
    """The calls of a sample, in its order.

    In a resource graph a link feeds the first free input of its type; one that finds none feeds nothing.
    """
    order = {name: number for number, name in enumerate(sample.nodes)}
    calls = []
    for name in sample.nodes:
        tool = library[name]
        names = slot_names(tool, dependency_type)
        links = [link for link in sample.links if link.target == name and link.source in order]
        feeds: dict[int, int] = {}
        waits = []
        for link in links:
            free = (
                number
                for number, kind in enumerate(tool.inputs)
                if dependency_type == "resource" and kind == link.type and number not in feeds
            )
            number = next(free, None)
            if number is None:
                waits.append(order[link.source])
            else:
                feeds[number] = order[link.source]
        slots = tuple(Slot(slot, feeds.get(number)) for number, slot in enumerate(names))
        sources = tuple(sorted({order[link.source] for link in links}))
        calls.append(Call(tool, slots, sources, tuple(sorted(set(waits) - set(feeds.values())))))
    return calls

"""Reading and changing plans: slots, references, links, and the words of a request."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from measurements.planted_defects.samples import Record, Tool

REFERENCE = re.compile(r"<node-(\d+)>")
MEDIA = {
    "image": ("jpg", "jpeg", "png", "gif", "bmp", "tif", "tiff", "webp", "svg"),
    "audio": ("wav", "mp3", "flac", "ogg", "m4a", "aac"),
    "video": ("mp4", "mov", "avi", "mkv", "webm"),
    "document": ("pdf", "docx", "odt", "doc"),
    "table": ("csv", "xlsx", "tsv"),
}
MEDIUM = {ending: medium for medium, endings in MEDIA.items() for ending in endings}
_FILE = re.compile(r"[^\s'\"]+\.([A-Za-z0-9]{2,4})")


class Slot(NamedTuple):
    """Where a value stands in a plan: the node, the place among its arguments, the parameter's name."""

    node: int
    place: int
    name: str | None
    value: Any

    @property
    def where(self) -> str:
        """As `task_nodes[1].arguments[0]`."""
        return f"task_nodes[{self.node}].arguments[{self.place}]"


def slots(record: Record) -> list[Slot]:
    """Every value of a plan."""
    found = []
    for node, call in enumerate(record["task_nodes"]):
        for place, argument in enumerate(call.get("arguments") or ()):
            if isinstance(argument, Mapping) and "value" in argument:
                found.append(Slot(node, place, str(argument.get("name")), argument["value"]))
            else:
                found.append(Slot(node, place, None, argument))
    return found


def put(record: Record, slot: Slot, value: Any) -> None:
    """Put another value into a slot."""
    arguments = record["task_nodes"][slot.node]["arguments"]
    if slot.name is None:
        arguments[slot.place] = value
    else:
        arguments[slot.place]["value"] = value


def put_also_in_steps(record: Record, slot: Slot, value: Any) -> None:
    """The same, and the steps that quote the old value quote the new one."""
    put(record, slot, value)
    if isinstance(slot.value, str) and len(slot.value) > 2:
        record["task_steps"] = [step.replace(slot.value, str(value)) for step in record["task_steps"]]


def reference(value: Any) -> int | None:
    """The node that a value refers to by number."""
    match = REFERENCE.fullmatch(value.strip()) if isinstance(value, str) else None
    return int(match[1]) if match else None


def is_reference(value: Any, record: Record) -> bool:
    """Whether a value is another node's output, by number or by the name of a tool of the plan."""
    return reference(value) is not None or value in tools_of(record)


def tools_of(record: Record) -> list[str]:
    """The tool of each node."""
    return [node["task"] for node in record["task_nodes"]]


def links_of(record: Record, key: str = "task_links") -> Counter[tuple[str, str]]:
    """The links as a multiset of (source, target)."""
    return Counter((link["source"], link["target"]) for link in record.get(key) or ())


def linked_by_references(record: Record) -> Counter[tuple[str, str]]:
    """The links that the references make: one for each pair of nodes."""
    pairs = {(j, slot.node) for slot in slots(record) if (j := reference(slot.value)) is not None}
    tools = tools_of(record)
    return Counter((tools[j], tools[i]) for j, i in pairs if j < len(tools))


def file_type(value: Any) -> str | None:
    """The medium of a file by its ending; None for what is no file name.

    >>> file_type("scan 1.PDF"), file_type("scan.pdf"), file_type("https://example.com/a.mp3")
    (None, 'document', 'url')
    """
    if not isinstance(value, str):
        return None
    if re.fullmatch(r"https?://\S+", value):
        return "url"
    match = _FILE.fullmatch(value)
    return MEDIUM.get(match[1].lower()) if match else None


def type_of(value: Any, record: Record, tools: Mapping[str, Tool]) -> str | None:
    """The resource type of an argument: of the file, of the node referred to (its first), else text."""
    j = reference(value)
    if j is not None:
        names = tools_of(record)
        tool = tools.get(names[j]) if j < len(names) else None
        return tool.outputs[0] if tool and tool.outputs else None
    if not isinstance(value, str):
        return None
    return file_type(value) or "text"


def bare(text: str) -> str:
    """A text without case, blanks and marks.

    >>> bare("Image Search (by Image)")
    'imagesearchbyimage'
    """
    return re.sub(r"[\W_]+", "", text.casefold())


def words(text: str) -> list[str]:
    """The words of a text in small letters."""
    return re.findall(r"[^\W_]+(?:['’][^\W_]+)?", text.casefold())


def occurs(value: str, request: str) -> bool:
    """Whether a value stands in a request, whatever its case, blanks and marks."""
    return bare(value) in bare(request)


def sentences(text: str) -> list[str]:
    """A text cut after full stops, question marks and exclamation marks.

    >>> sentences("Hello there. Cut example.mp4, please! Thanks")
    ['Hello there.', 'Cut example.mp4, please!', 'Thanks']
    """
    return [part for part in re.split(r"(?<=[.!?])\s+(?=[A-Z\"'“])", text.strip()) if part]


def renamed(record: Record, old: str, new: str, keys: Sequence[str]) -> None:
    """Call a tool by another name in the given parts of a record."""
    if "task_nodes" in keys:
        for node in record["task_nodes"]:
            if node["task"] == old:
                node["task"] = new
    if "sampled_nodes" in keys:
        for node in record.get("sampled_nodes") or ():
            for key in ("task", "id"):
                if node.get(key) == old:
                    node[key] = new
    for links in (key for key in ("task_links", "sampled_links") if key in keys):
        for link in record.get(links) or ():
            for end in ("source", "target"):
                if link[end] == old:
                    link[end] = new
    if "task_steps" in keys:
        record["task_steps"] = [step.replace(old, new) for step in record["task_steps"]]


def reaches(links: Iterator[tuple[str, str]] | Sequence[tuple[str, str]], start: str, goal: str) -> bool:
    """Whether a path of links leads from one tool to another."""
    links, seen, front = list(links), {start}, [start]
    while front:
        here = front.pop()
        for source, target in links:
            if source == here and target not in seen:
                seen.add(target)
                front.append(target)
    return goal in seen and goal != start

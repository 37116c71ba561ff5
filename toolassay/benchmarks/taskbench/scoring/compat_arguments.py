"""How the published evaluator reads the arguments of resource plans, its stale-argument path included.

Where converting an argument fails (a number, null, a reference out of range, …), the published evaluator
silently takes **whatever it converted last**: in the same plan, in the label just before, or in an earlier
sample. `ArgumentConverter.last` is that memory, made visible.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

_EXTENSIONS = {
    "image": ("jpg", "png", "jpeg", "gif", "bmp", "tiff", "svg", "ico"),
    "audio": ("mp3", "wav", "wma", "ogg", "aac", "flac", "aiff", "au"),
    "video": ("mp4", "avi", "mov", "flv", "wmv", "mkv", "webm", "m4v", "mpg", "mpeg"),
}
_KIND_OF = {extension: kind for kind, extensions in _EXTENSIONS.items() for extension in extensions}
_MARKER = re.compile(rf"\.({'|'.join(_KIND_OF)})")
_REFERENCE = "<node-"
_SHORT = 300  # characters

NamePair = tuple[str, str]


class Converted(NamedTuple):
    """An argument as the published evaluator compares it: a resource type, and a text or a tool name."""

    type: str
    value: str


class NothingConverted(Exception):
    """An argument cannot be converted, and none was converted before it in this sample."""


def content_type(text: str) -> str:
    """The type the published evaluator guesses: a file extension anywhere, image before audio before video.

    >>> content_type("clip.avi.png"), content_type("a.JPG"), content_type("https://www.author.com")
    ('image', 'text', 'audio')
    """
    if "." not in text:
        return "text"
    return (_known_type if len(text) <= _SHORT else _content_type)(text)


def _content_type(text: str) -> str:
    found = {_KIND_OF[extension] for extension in _MARKER.findall(text)}
    return next((kind for kind in _EXTENSIONS if kind in found), "text")


_known_type = lru_cache(maxsize=10_000)(_content_type)  # the gold's texts come back in the prediction


class ArgumentConverter:
    """Converts the arguments of one sample, label first, then prediction.

    Args:
        output_types: the first output type of each tool by its id ("none" where it has none).
        last: what was converted last before this sample, if anything.
    """

    def __init__(self, output_types: Mapping[str, str], last: Converted | None = None) -> None:
        self._output_types = output_types
        self.last = last
        self.borrowed = 0

    def convert(
        self, nodes: Sequence[Any], names: Sequence[str], *, required: bool
    ) -> tuple[list[list[Converted]], list[NamePair]]:
        """The arguments of each node, and the links the references make (source name, raw target name).

        Args:
            nodes: the plan's nodes.
            names: their normalised tool names.
            required: whether a node without the key `arguments` is an error (labels) or has none.

        Raises:
            NothingConverted: a bad argument with nothing to borrow.
            Exception: whatever else reading a malformed plan raises.
        """
        arguments: list[list[Converted]] = []
        links: list[NamePair] = []
        for place, node in enumerate(nodes):
            converted: list[Converted] = []
            for argument in node["arguments"] if required else node.get("arguments", []):
                try:
                    text = argument if type(argument) is str else _as_text(argument)
                    if _REFERENCE in text:
                        position = int(text[text.index(_REFERENCE) + len(_REFERENCE) : text.index(">")])
                        if position == place:
                            continue
                        source = names[position]
                        links.append((source, node["task"]))
                        self.last = Converted(self._output_types.get(source, "other"), source)
                    else:
                        self.last = Converted(content_type(text), text)
                except Exception:
                    self.borrowed += 1
                    if self.last is None:
                        raise NothingConverted from None
                converted.append(self.last)
            arguments.append(converted)
        return arguments, links


def _as_text(argument: Any) -> str:
    if isinstance(argument, dict):
        argument = next(iter(argument.values()))
    if isinstance(argument, list):
        argument = " ".join(argument)
    if not isinstance(argument, str):
        raise TypeError("not a text")
    return argument

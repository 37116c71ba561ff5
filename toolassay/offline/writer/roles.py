"""What a user supplies for a resource input: a text, a file or an address, in a role."""

from __future__ import annotations

import re

from toolassay.offline.writer.kinds import value_of
from toolassay.offline.writer.lists import read_list
from toolassay.offline.writer.story import Story
from toolassay.offline.writer.words import id_words
from toolassay.tools import Tool


def guessed_role(tool: Tool, number: int) -> str:
    """The role of an input of a tool nobody has written phrases for, by type and description.

    `kind:…` stands for a kind of value, `file:…` for a file of that ending, `named:…` for a thing with a
    reference number.
    """
    types = read_list("types")
    kind = tool.inputs[number].casefold()
    word = " ".join(id_words(kind)) or kind
    if kind in types["media"]:
        return (
            str(types["media"][kind])
            if tool.inputs[:number].count(tool.inputs[number]) == 0 or kind != "image"
            else "second photo"
        )
    if kind in ("url", "link", "uri", "web page", "webpage"):
        media = " ".join(tool.outputs)
        return next(
            (
                f"{m} address"
                for t, m in (("image", "picture"), ("video", "video"), ("audio", "sound"))
                if t in media
            ),
            "page address",
        )
    if kind in ("text", "string", "sentence", "paragraph", "prompt", "query", "question"):
        return _text_role(tool, number, kind)
    if word in types["kinds"]:
        return f"kind:{types['kinds'][word]}"
    if word in types["formats"]:
        return f"file:{word}"
    if word.split()[-1] in types["documents"]:
        return "file:pdf"
    return "named:"


def _text_role(tool: Tool, number: int, kind: str) -> str:
    about = f"{' '.join(id_words(tool.id))} {tool.description}"
    if tool.inputs.count("text") > 1 and number == tool.inputs.index("text") and kind == "text":
        return "passage"
    if len(tool.inputs) > 1 and re.search(r"instruct", about, re.I):
        return "photo instruction" if "image" in tool.inputs else "note"
    if len(tool.inputs) > 1 and kind == "text" and tool.inputs.count("text") == 1:
        of = next(
            (k for k in ("currency", "language", "colour", "city") if re.search(rf"\b{k}", about, re.I)), None
        )
        if of:
            return f"kind:{of}"
        if not re.search(r"question|caption|script|text|title|message", about, re.I):
            return "note"
    if kind in ("query", "question", "prompt"):
        return {"query": "query", "question": "question about text", "prompt": "scene"}[kind]
    if re.search(r"question", about, re.I) and len(tool.inputs) > 1:
        return "question about photo" if "image" in tool.inputs else "question about text"
    head = about[:120]
    role = next(
        (role for pattern, role in read_list("types")["text roles"] if re.search(pattern, head, re.I)),
        "passage",
    )
    if role == "scene" and not {"image", "video"} & set(tool.outputs):
        role = "prompt"
    if role.startswith("question") and len(tool.inputs) == 1:
        role = "message"
    return role


def role_entry(role: str, kind: str) -> dict[str, object]:
    """The wording of a role: how the literal is told, how a result is."""
    roles = read_list("roles")
    if role in roles:
        entry: dict[str, object] = roles[role]
        return entry
    word = " ".join(id_words(kind)) or kind
    told = role[5:] if role.startswith("kind:") and word == "text" else word
    given = {
        "kind": [f"the {told} {{value}}"],
        "file": [f"the {word} {{value}}"],
        "named": [f"the {word} {{value}}"],
    }
    return {
        "given": given[role.split(":")[0]],
        "result": ["{np}"],
        "step": "{value}",
        "handles": [],
        "setups": [],
    }


def role_value(role: str, story: Story) -> str:
    """A fresh literal for a role."""
    if role.startswith("kind:"):
        if role == "kind:coordinates":
            return story.fresh(lambda: f"{value_of('latitude', story)}, {value_of('longitude', story)}")
        return value_of(role[5:], story)
    if role.startswith("file:"):
        ending = role[5:]
        return story.fresh(lambda: _file(ending, story), attempts=20)
    if role.startswith("named:"):
        return story.fresh(lambda: story.field("identifier"))
    entry = read_list("roles")[role]
    if "file" in entry:
        return story.fresh(lambda: story.file(entry["file"], entry.get("names")))
    if "url" in entry:
        return story.fresh(lambda: story.url(entry["url"]))
    return story.fresh(lambda: story.fill(story.pick(entry["values"])))


def _file(ending: str, story: Story) -> str:
    first = f"example.{ending}"
    if first not in story.literals:
        return first
    return f"{story.pick(('sample', 'latest', 'second', 'spring', 'north', 'draft', 'copy'))}.{ending}"

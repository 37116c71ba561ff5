"""Values of the user: concrete ones of a kind, and the role of a resource input."""

from __future__ import annotations

import re

from toolassay.offline.writer.english import id_words, read_list
from toolassay.offline.writer.story import Story
from toolassay.tools import Tool


def is_quoted(kind: str) -> bool:
    """Whether values of a kind always have quotation marks (texts and titles)."""
    return bool(read_list("kinds").get(kind, {}).get("quoted"))


def value_of(kind: str, story: Story) -> str:
    """A new value of a kind, coherent with the story."""
    if kind.startswith("one of|"):
        return story.fresh(lambda: story.pick(kind.split("|")[1:]), attempts=0)
    if kind.startswith("within|"):
        low, high, decimals = (float(text) for text in kind.split("|")[1:])
        steps = round((high - low) * 10**decimals) + 1
        return story.fresh(lambda: f"{low + story.below(steps) / 10**decimals:.{int(decimals)}f}", attempts=0)
    entry = read_list("kinds")[kind]
    if "from" in entry:
        template = "{" + str(entry["from"]) + "}"
        repeats = kind in ("city", "date", "topic", "country")
        if repeats:
            value = _field(template, story)
            if value not in story.literals:
                story.literals.append(value)
            return value
        return story.fresh(lambda: _field(template, story))
    return story.fresh(lambda: story.fill(story.pick(entry["values"])))


def _field(template: str, story: Story) -> str:
    name = template[1:-1]
    story.used.add(name)
    return story.field(name)


def guessed_role(tool: Tool, number: int) -> str:
    """The role of an input of a tool without hand-written phrases, by type and description.

    `kind:…` is a kind of value, `file:…` a file with that extension, `named:…` a thing with a reference
    number.
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
    """The wording of a role for literals and for results."""
    roles = read_list("roles")
    if role in roles:
        entry: dict[str, object] = roles[role]
        return entry
    word = " ".join(id_words(kind)) or kind
    noun = role[5:] if role.startswith("kind:") and word == "text" else word
    given = {
        "kind": [f"the {noun} {{value}}"],
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
    """A new literal for a role."""
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

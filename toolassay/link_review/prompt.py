"""The prompt of a link review, and parsing of its answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any, NamedTuple

from toolassay.answers import read_answer, shown_forms, without_reasoning
from toolassay.argument_schemas import schema_at
from toolassay.graph.dependencies import Dependency
from toolassay.models.structured_output import json_schema
from toolassay.output_paths import EACH, parse_path
from toolassay.signatures import shown_tool
from toolassay.tools import ToolLibrary

_VERDICTS = "verdicts"
_MOST_DESCRIPTION = 300  # characters of the description of a field
_MOST_REASON = 300  # characters of a reason in a verdict
_WORDS = {"true": True, "yes": True, "false": False, "no": False}


class LinkKey(NamedTuple):
    """Identifies a link as a critic saw it: a changed tool or other fields give another digest."""

    source: str
    target: str
    digest: str

    @classmethod
    def of(cls, link: Dependency, library: ToolLibrary) -> LinkKey:
        """The key of a link. Score and reasons do not count: they change with other tools of the library."""
        shown = {**_shown_link(link, library), "reasons": None}
        tools = [shown_tool(library[name]) for name in (link.source, link.target)]
        text = json.dumps([shown, tools], sort_keys=True)
        return cls(link.source, link.target, hashlib.sha256(text.encode()).hexdigest()[:24])


@cache
def template() -> str:
    """The text of `templates/link_review.txt`, with the placeholders $tools and $links."""
    return (files("toolassay.link_review") / "templates" / "link_review.txt").read_text(encoding="utf-8")


def review_prompt(links: Sequence[Dependency], library: ToolLibrary) -> str:
    """The prompt for some links, numbered from 1.

    Each tool and each link is one line of JSON, so that no description can end its line or add a link.
    """
    names = dict.fromkeys(name for link in links for name in (link.source, link.target))
    numbered = ({"link": number, **_shown_link(link, library)} for number, link in enumerate(links, start=1))
    return Template(template()).substitute(
        tools="\n".join(_json(shown_tool(library[name])) for name in names),
        links="\n".join(_json(link) for link in numbered),
    )


def answer_schema(count: int) -> dict[str, Any]:
    """The `response_format` parameter for the verdicts on `count` links."""
    verdict = {"link": {"type": "integer"}, "reason": {"type": "string"}, "sensible": {"type": "boolean"}}
    verdicts = {"type": "array", "items": _object(verdict), "maxItems": count}
    return json_schema(_VERDICTS, _object({_VERDICTS: verdicts}))


def read_verdicts(text: str, count: int, finish_reason: str | None = None) -> dict[int, tuple[bool, str]]:
    """The verdicts in an answer, by the number of the link.

    Left out are links without a readable verdict or with contradicting ones, and numbers that were not
    shown. Of a truncated answer the last verdict is left out, because its number may be incomplete.

    Args:
        text: The answer: the object that the prompt shows, or only its list.
        count: Number of links in the prompt.
        finish_reason: Finish reason of the provider.

    >>> read_verdicts('[{"link": 2, "sensible": false, "reason": "a page number"}, {"link": 3}]', 3)
    {2: (False, 'a page number')}
    """
    forms = shown_forms((template(),), keys={_VERDICTS})
    answer = read_answer(text, keys={_VERDICTS}, forms=forms, nested=False, finish_reason=finish_reason)
    if answer.value is None:
        text = without_reasoning(text)[0]
        listed = f'{{"{_VERDICTS}": {text[text.find("[") : text.rfind("]") + 1]}}}'
        answer = read_answer(listed, keys={_VERDICTS}, forms=forms, nested=False, finish_reason=finish_reason)
    items = (answer.value or {}).get(_VERDICTS)
    found: dict[int, tuple[bool, str]] = {}
    contradicted = set()
    for item in (items[:-1] if answer.truncated else items) if isinstance(items, list) else ():
        given = item if isinstance(item, Mapping) else {}
        number, sensible = _number(given.get("link")), _boolean(given.get("sensible"))
        if number is None or sensible is None or not 1 <= number <= count:
            continue
        if number in found and found[number][0] != sensible:
            contradicted.add(number)
        reason = given.get("reason")
        found[number] = sensible, _shortened(reason, _MOST_REASON) if isinstance(reason, str) else ""
    return {number: found[number] for number in sorted(found) if number not in contradicted}


def _shown_link(link: Dependency, library: ToolLibrary) -> dict[str, Any]:
    source, target = library[link.source], library[link.target]
    flows = [
        {
            "result": pair.source,
            **_about(pair.source, source.output_schema),
            "argument": pair.target,
            **{f"argument_{key}": text for key, text in _about(pair.target, target.input_schema).items()},
        }
        for pair in sorted(link.fields)
    ]
    return {"from": link.source, "to": link.target, "flows": flows or link.type, "reasons": link.reasons}


def _about(path: str, schema: Mapping[str, Any] | None) -> dict[str, str]:
    """The description of the place in a result or of an argument, if it has one."""
    parts = [0 if part == EACH else part for part in parse_path(path)]
    text = schema_at(parts, schema or {}).get("description")
    return {"description": _shortened(text, _MOST_DESCRIPTION)} if isinstance(text, str) and text else {}


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _number(value: Any) -> int | None:
    """The number of a link: 3, 3.0 or "3"."""
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value[:9])
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        return None
    return int(value)


def _boolean(value: Any) -> bool | None:
    if isinstance(value, str):
        return _WORDS.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)

"""Results and fields as templates: JSON in which `${…}` names a value.

`${record.name}` alone is the value itself, inside a longer text it is its text. A field of an object whose
value is not there is left out. `{"$each": template}` is a list with the template of each record found, with
`"$of": "posts"` of each in another list. `{"$add": [a, b]}` is a number; also `$subtract`, `$multiply`,
`$days` from one date to another, and `$count` of the items of a list. `$merge` puts the fields of objects
together.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import reduce
from typing import Any

from toolassay.tools.output_paths import parse_path

_NAMED = re.compile(r"\$\{([^{}]*)\}")  # "${record.id}"
EACH, OF = "$each", "$of"
_CALCULATIONS = {"$add": operator.add, "$subtract": operator.sub, "$multiply": operator.mul}
COUNT, DAYS, MERGE = "$count", "$days", "$merge"
_DIGITS = 9  # after the point, of what is calculated
MISSING: Any = object()
"""What a path names that a value does not have."""
Follow = Callable[[Mapping[str, Any], str], Any]
"""The record to which a field of a record refers; MISSING if it refers to none."""


def no_reference(record: Mapping[str, Any], field: str) -> Any:
    """No field is a reference."""
    return MISSING


def value_of(value: Any, path: str, follow: Follow = no_reference) -> Any:
    """What a path names in a value; MISSING if there is nothing.

    Args:
        value: The value.
        path: Names and numbers: `parent.page_id`, `items[0].id`; empty for the value itself.
        follow: Finds the record behind a reference, where a path goes on.

    >>> value_of({"parent": {"id": 7}, "tags": ["a"]}, "parent.id"), value_of({"tags": ["a"]}, "tags[0]")
    (7, 'a')
    """
    before: Any = None
    name: Any = None
    for part in parse_path(path) if path else ():
        if isinstance(value, str | int) and isinstance(before, Mapping):
            value = follow(before, name)  # a key, and the path goes on
        inside: Any = MISSING
        if isinstance(value, Mapping):
            inside = value.get(part, MISSING)
        elif isinstance(value, Sequence) and isinstance(part, int) and part < len(value):
            inside = value[part]
        before, name, value = value, part, inside
    return value


def filled(template: Any, scope: Mapping[str, Any], follow: Follow = no_reference) -> Any:
    """A template with values; MISSING if it names one value that is not there.

    Args:
        template: The template.
        scope: What can be named: `arguments`, `record`, `records`, `count`, …
        follow: As for `value_of`.

    >>> scope = {"record": {"id": 7}, "records": [{"id": 7}, {"id": 9}], "arguments": {}}
    >>> filled({"ids": {"$each": "${record.id}"}, "text": "No. ${record.id}", "q": "${arguments.q}"}, scope)
    {'ids': [7, 9], 'text': 'No. 7'}
    >>> filled({"$subtract": ["${record.id}", 2]}, scope), filled({"$days": ["2026-02-27", "2026-03-01"]}, {})
    (5, 2)
    >>> filled({"$count": "${records}"}, scope), filled({"$merge": [{"a": 1}, {"a": 2, "b": 3}]}, scope)
    (2, {'a': 2, 'b': 3})
    """
    if isinstance(template, str):
        whole = _NAMED.fullmatch(template)
        if whole is not None:
            return value_of(scope, whole[1], follow)

        def text(match: re.Match[str]) -> str:
            value = value_of(scope, match[1], follow)
            return "" if value is MISSING else str(value)

        return _NAMED.sub(text, template)
    if isinstance(template, list):
        return [part for part in (filled(item, scope, follow) for item in template) if part is not MISSING]
    if isinstance(template, dict):
        if template.keys() in ({EACH}, {EACH, OF}):
            each = [{**scope, "record": record} for record in scope.get(template.get(OF, "records"), ())]
            return [
                part for part in (filled(template[EACH], one, follow) for one in each) if part is not MISSING
            ]
        if len(template) == 1 and (name := next(iter(template))) in (*_CALCULATIONS, COUNT, DAYS, MERGE):
            return _calculated(name, filled(template[name], scope, follow))
        parts = {name: filled(part, scope, follow) for name, part in template.items()}
        return {name: part for name, part in parts.items() if part is not MISSING}
    return template


def _calculated(name: str, values: Any) -> Any:
    """The result of a calculation; MISSING if one of its parts has the wrong type."""
    if not isinstance(values, list):
        return MISSING
    if name == COUNT:
        return len(values)
    if name == MERGE:
        objects = [value for value in values if isinstance(value, Mapping)]
        return {key: part for one in objects for key, part in one.items()}
    if name == DAYS:
        try:
            first, last = (date.fromisoformat(str(value)[:10]) for value in values)
        except ValueError:
            return MISSING
        return (last - first).days
    if not values or any(isinstance(value, bool) or not isinstance(value, int | float) for value in values):
        return MISSING
    result = reduce(_CALCULATIONS[name], values)
    return result if isinstance(result, int) else round(result, _DIGITS)


def names_in(template: Any) -> list[str]:
    """What a template names.

    >>> names_in({"id": "${record.id}", "text": ["by ${arguments.who}"]})
    ['record.id', 'arguments.who']
    """
    if isinstance(template, str):
        return _NAMED.findall(template)
    parts = (
        template.values() if isinstance(template, dict) else template if isinstance(template, list) else ()
    )
    return [name for part in parts for name in names_in(part)]

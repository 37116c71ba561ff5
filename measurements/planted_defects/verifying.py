"""Whether a planted sample is really defective: looked at anew, without what the planting knew."""

from __future__ import annotations

import re
from collections import Counter

from measurements.planted_defects.forms import Form
from measurements.planted_defects.plans import (
    bare,
    linked_by_references,
    links_of,
    occurs,
    reference,
    slots,
    tools_of,
    type_of,
)
from measurements.planted_defects.samples import DataSet, Parameter, Record


def is_defective(form: Form, original: Record, planted: Record, data: DataSet) -> bool:
    """Whether a sample has the defect that it was given, and the original has not."""
    looks = {
        "unknown tool": _unknown_tool,
        "wrong type": _wrong_type,
        "dangling reference": _dangling,
        "value not in the request": _unsaid,
        "tool name leaked": _leaked,
        "missing required argument": _missing,
        "swapped link": _swapped,
        "duplicate request": _repeated,
        "value in the wrong slot": _elsewhere,
    }
    return looks[form.kind](original, planted, data)


def _elsewhere(original: Record, planted: Record, data: DataSet) -> bool:
    """The slots differ, and what they have now they could have elsewhere: nothing is invented."""
    before, after = slots(original), slots(planted)
    changed = [
        new.value
        for old, new in zip(before, after, strict=True)
        if bare(str(old.value)) != bare(str(new.value))
    ]
    had = {bare(str(slot.value)) for slot in before}
    return bool(changed) and all(not isinstance(value, str) or bare(value) in had for value in changed)


def _unknown_tool(original: Record, planted: Record, data: DataSet) -> bool:
    known = {bare(name) for name in data.tools}
    return any(bare(tool) not in known for tool in tools_of(planted))


def _wrong_type(original: Record, planted: Record, data: DataSet) -> bool:
    for slot in slots(planted):
        tool = data.tools.get(tools_of(planted)[slot.node])
        if tool is None:
            continue
        parameter = tool.parameter(slot.name) if slot.name else None
        if parameter is not None and not fits(slot.value, parameter):
            return True
    return not data.temporal and any(
        _types(planted, node, data) != _types(original, node, data)
        and _types(planted, node, data) != Counter(data.tools[tool].inputs)
        for node, tool in enumerate(tools_of(planted))
        if tool in data.tools
    )


def _types(record: Record, node: int, data: DataSet) -> Counter[str | None]:
    return Counter(type_of(slot.value, record, data.tools) for slot in slots(record) if slot.node == node)


def fits(value: object, parameter: Parameter) -> bool:
    """Whether a value is of a parameter's type; a type that is not known takes all."""
    if parameter.values:
        return value in parameter.values
    if isinstance(value, str) and reference(value) is not None:
        return True
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match parameter.type:
        case "string":
            return isinstance(value, str)
        case "number":
            return number
        case "integer":
            return number and value == int(str(value).split(".")[0])
        case "boolean":
            return isinstance(value, bool)
        case "date":
            return isinstance(value, str) and _is_day(value)
        case "time":
            return isinstance(value, str) and bool(re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", value))
        case "email":
            return isinstance(value, str) and "@" in value
        case "array":
            return isinstance(value, list)
    return True


def _is_day(value: str) -> bool:
    """Whether a text is a day in some spelling; weekdays alone are none."""
    from dateutil import parser

    try:
        parser.parse(value)
    except (ValueError, OverflowError):
        return False
    return any(letter.isdigit() for letter in value)


def _dangling(original: Record, planted: Record, data: DataSet) -> bool:
    tools = tools_of(planted)
    for slot in slots(planted):
        match = re.fullmatch(r"<node-(-?\d+)>", slot.value) if isinstance(slot.value, str) else None
        if match and not 0 <= int(match[1]) < slot.node:
            return True
        if isinstance(slot.value, str) and slot.value in data.tools and slot.value not in tools:
            return not occurs(slot.value, planted["user_request"])
    return False


def _unsaid(original: Record, planted: Record, data: DataSet) -> bool:
    """Some value is another than before, and does not stand in the request as it is."""
    for before, now in zip(slots(original), slots(planted), strict=True):
        if before.value != now.value:
            same = isinstance(now.value, bool) or not occurs(str(now.value), planted["user_request"])
            return same and bare(str(before.value)) != bare(str(now.value))
    return False


def _leaked(original: Record, planted: Record, data: DataSet) -> bool:
    before, now = bare(original["user_request"]), bare(planted["user_request"])
    return any(bare(tool) in now and bare(tool) not in before for tool in tools_of(planted))


def _missing(original: Record, planted: Record, data: DataSet) -> bool:
    for node in planted["task_nodes"]:
        tool = data.tools.get(node["task"])
        arguments = node.get("arguments") or []
        if tool is None:
            continue
        if data.temporal:
            given = {a.get("name") for a in arguments if _filled(a.get("value"))}
            if any(p.required and p.name not in given for p in tool.parameters):
                return True
        elif sum(_filled(value) for value in arguments) < len(tool.inputs):
            return True
    return False


def _filled(value: object) -> bool:
    return value is not None and not (isinstance(value, str) and not value.strip())


def _swapped(original: Record, planted: Record, data: DataSet) -> bool:
    if links_of(original) != links_of(planted):
        tools = Counter(tools_of(planted))
        turned = +(links_of(planted) - links_of(original))
        return all(a != b for a, b in turned) and all(tools[a] and tools[b] for a, b in turned)
    return linked_by_references(planted) != links_of(planted)


def _repeated(original: Record, planted: Record, data: DataSet) -> bool:
    """The plan is the same, and the words nearly: told by the share of letters in common words."""
    before, now = (Counter(re.findall(r"\w+", r["user_request"].casefold())) for r in (original, planted))
    shared = sum((before & now).values())
    same_plan = original["task_nodes"] == planted["task_nodes"]
    return same_plan and shared >= 0.8 * sum(before.values())

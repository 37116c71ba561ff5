"""Reads JSON, JSON Lines and YAML from outside, with bounds on size, depth and expansion.

YAML is built from libyaml's events instead of `yaml.safe_load`: the loader overflows the C stack at some
100,000 open brackets, an alias bomb has the size of its text until someone walks it, and YAML 1.1 turns
`2026-11-23` into a date, `no` into False and the key `200` into a number. Here scalars follow the JSON schema
of YAML 1.2, and keys are texts.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from toolassay.errors import UsageError
from toolassay.files.data_files import Line, read_text

MOST_BYTES = {"JSON": 128 * 2**20, "YAML": 32 * 2**20}
"""Largest file: JSON of 128 MiB is read in about 5 s and 700 MB, YAML of 32 MiB in about 30 s."""
DEEPEST = 200
"""Maximum nesting; the deepest of 2,637 published OpenAPI documents has 40 levels."""
_MOST_NODES = 10_000_000  # values after aliases are expanded
_CORE = (
    (re.compile(r"|~|null|Null|NULL"), lambda text: None),
    (re.compile(r"true|True|TRUE"), lambda text: True),
    (re.compile(r"false|False|FALSE"), lambda text: False),
    # "12", "-7" and "0"; not "007", which is an identifier more often than a number.
    (re.compile(r"[-+]?(?:0|[1-9][0-9]{0,300})"), int),
    # "1.5", "-.5" and "1e3"; not "1.2.3" or "01.5".
    (re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"), float),
)


def read_document(path: Path) -> Any:
    """The value of a JSON or YAML file; which one is decided by the first character.

    Raises:
        UsageError: It is missing, is neither, or exceeds a bound.
    """
    return parse_document(_text(path), path)


def parse_document(text: str, path: Path | str) -> Any:
    """The value of a JSON or YAML text; raises as `read_document`, naming `path`."""
    if text.lstrip()[:1] in ("{", "["):
        if len(text) > MOST_BYTES["JSON"]:
            raise _too_large(path, "JSON")
        try:
            return _parsed(text, path)
        except UsageError as problem:
            try:  # YAML may begin with a bracket too
                return parse_yaml(text, path)
            except UsageError:
                raise problem from None
    return parse_yaml(text, path)


def read_values(path: Path) -> Iterator[Line]:
    """The values of a JSON Lines file, or the single value of a JSON or YAML file, each with its line.

    Raises:
        UsageError: As `read_document`.
    """
    text = _text(path)
    first, _, remainder = text.lstrip().partition("\n")
    if remainder.strip() and first.strip()[:1] in ("{", "[") and is_json(first):
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                yield Line(number, _parsed(line, path, number))
        return
    yield Line(1, parse_document(text, path))


def too_deep(value: Any) -> bool:
    """Whether lists and objects are nested in more than `DEEPEST` levels; without recursion."""
    nested = [value]
    for _ in range(DEEPEST + 1):
        nested = [
            inner
            for item in nested
            if isinstance(item, dict | list)
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
        if not nested:
            return False
    return True


def _parsed(text: str, path: Path | str, line: int | None = None) -> Any:
    """The value of a JSON text, of which a JSON Lines file has the number of its line."""
    try:
        return json.loads(text, parse_constant=_no_number, object_pairs_hook=_object)
    except RecursionError:
        problem = "is nested too deeply"
        fix = "flatten it"
    except ValueError as error:  # also of `_object`, and of a number of more than 4,300 digits
        problem = f"is not valid JSON: {getattr(error, 'msg', error)}"
        fix = "correct it"
        line = line or getattr(error, "lineno", None)
    raise UsageError(problem, file=path, line=line, fix=fix)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        key = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"an object has the key {key[:80]!r} twice, of which a reader sees only the last")
    return value


def _no_number(name: str) -> None:
    """NaN and Infinity, which Python writes and JSON does not have, become null."""


def is_json(text: str) -> bool:
    """Whether a text is a JSON value."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _text(path: Path) -> str:
    try:
        size = path.stat().st_size
    except OSError:
        size = 0  # `read_text` says what is wrong
    if size > MOST_BYTES["JSON"]:
        raise _too_large(path, "JSON")
    return read_text(path)


def _too_large(path: Path | str, form: str) -> UsageError:
    return UsageError(
        f"is larger than {MOST_BYTES[form] // 2**20} MiB, the limit for {form}",
        file=path,
        fix="split it" if form == "JSON" else "convert it to JSON, or split it",
    )


def parse_yaml(text: str, path: Path | str = "YAML") -> Any:
    """The value of a YAML text with one document.

    Raises:
        UsageError: It is not valid, or exceeds a bound; names the line.

    >>> parse_yaml("on: {200: 1.50, day: 2026-11-23, no: ~}")
    {'on': {'200': 1.5, 'day': '2026-11-23', 'no': None}}
    """
    if len(text) > MOST_BYTES["YAML"]:
        raise _too_large(path, "YAML")
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Builder(path, yaml.parse(text, Loader=loader)).document()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = " ".join(str(getattr(error, "problem", None) or error).split())[:200]
        raise UsageError(
            f"is neither JSON nor YAML: {what}",
            file=path,
            line=mark.line + 1 if mark else None,
            fix="correct that line" if mark else "check the file",
        ) from None


class _Builder:
    """Builds the value of YAML events."""

    def __init__(self, path: Path | str, events: Iterator[Any]) -> None:
        self._path = path
        self._events = events
        self._anchors: dict[str, tuple[Any, int]] = {}  # value and number of nodes in it

    def document(self) -> Any:
        from yaml import events

        value = None
        documents = 0
        for event in self._events:
            if isinstance(event, events.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self._fail("has several YAML documents", "write one document in a file", event)
                value, _ = self._value(next(self._events), 0)
        return value

    def _value(self, event: Any, level: int) -> tuple[Any, int]:
        """The value that an event begins, and the number of nodes in it, aliases expanded."""
        from yaml import events

        if isinstance(event, events.AliasEvent):
            if event.anchor not in self._anchors:
                message = f"the alias *{event.anchor} has no anchor before it"
                raise self._fail(message, "correct that line", event)
            return self._anchors[event.anchor]
        value = None
        nodes = 1
        if isinstance(event, events.ScalarEvent):
            value = _scalar(event)
        elif level == DEEPEST:
            raise self._fail(f"is nested more than {DEEPEST} levels deep", "flatten it", event)
        else:
            items = []
            is_mapping = isinstance(event, events.MappingStartEvent)
            keys = dict[str, None]()
            while not isinstance(inner := next(self._events), events.CollectionEndEvent):
                if is_mapping:
                    named, _ = self._value(inner, level + 1)
                    if isinstance(inner, events.ScalarEvent):
                        key = inner.value
                    else:
                        key = named if isinstance(named, str) else json.dumps(named)
                    if key in keys:
                        message = f"the key {key[:80]!r} occurs twice"
                        raise self._fail(message, "rename or remove one of them", inner)
                    keys[key] = None
                    inner = next(self._events)
                item, count = self._value(inner, level + 1)
                items.append(item)
                nodes += count
                if nodes > _MOST_NODES:
                    message = "expands to too many values through its aliases"
                    raise self._fail(message, "remove the aliases", inner)
            value = _merged(dict(zip(keys, items, strict=True))) if is_mapping else items
        if event.anchor:
            self._anchors[event.anchor] = value, nodes
        return value, nodes

    def _fail(self, message: str, fix: str, event: Any) -> UsageError:
        return UsageError(message, file=self._path, line=event.start_mark.line + 1, fix=fix)


def _scalar(event: Any) -> Any:
    text = str(event.value)
    if not event.implicit[0] or event.style:  # quoted, a block, or with a tag
        return text
    for pattern, convert in _CORE:
        if pattern.fullmatch(text):
            value = convert(text)
            return text if isinstance(value, float) and not math.isfinite(value) else value
    return text


def _merged(value: dict[str, Any]) -> Any:
    """A mapping with the mappings under its merge key `<<` inserted; its own keys win."""
    parts = value.get("<<", [])
    parts = parts if isinstance(parts, list) else [parts]
    if not all(isinstance(part, dict) for part in parts):
        return value
    merged = {key: item for part in reversed(parts) for key, item in part.items()}
    return {**merged, **{key: item for key, item in value.items() if key != "<<"}}

"""Reads JSON, JSON Lines and YAML from outside, with bounds on size, depth and expansion.

YAML is built from libyaml's events instead of `yaml.safe_load`: the loader overflows the C stack at some
100,000 open brackets, an alias bomb has the size of its text until someone walks it, and YAML 1.1 turns
`2026-11-23` into a date, `no` into False and the key `200` into a number. Here scalars follow the JSON schema
of YAML 1.2, and keys are texts.
"""

from __future__ import annotations

import gc
import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from toolassay.errors import UsageError
from toolassay.files import Line, read_text

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


@contextmanager
def no_cycle_search() -> Iterator[None]:
    """Pause Python's search for reference cycles, which takes half of the time among a million values."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def read_document(path: Path) -> Any:
    """The value of a JSON or YAML file; which one is decided by the first character.

    Raises:
        UsageError: It is missing, is neither, or exceeds a bound.
    """
    text = _text(path)
    return parse_document(text, path)


def parse_document(text: str, path: Path | str) -> Any:
    """The value of a JSON or YAML text; raises as `read_document`, naming `path`."""
    if text.lstrip()[:1] in ("{", "["):
        if len(text) > MOST_BYTES["JSON"]:
            raise _too_large(path, "JSON")
        try:
            return _parsed(text)
        except RecursionError:
            raise UsageError("is nested too deeply", file=path, fix="flatten it") from None
        except json.JSONDecodeError as error:
            problem = UsageError(
                f"is not valid JSON: {error.msg}", file=path, line=error.lineno, fix="correct that line"
            )
        except _RepeatedKeyError as error:
            raise UsageError(str(error), file=path, fix="rename or remove one of them") from None
        except ValueError as error:  # a number of more than 4,300 digits
            raise UsageError(f"is not valid JSON: {error}", file=path, fix="shorten that number") from None
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
    first, _, rest = text.lstrip().partition("\n")
    if rest.strip() and first.strip()[:1] in ("{", "[") and is_json(first):
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                try:
                    yield Line(number, _parsed(line))
                except _RepeatedKeyError as error:
                    raise UsageError(
                        str(error), file=path, line=number, fix="rename or remove one of them"
                    ) from None
                except (ValueError, RecursionError):
                    raise UsageError(
                        "is not valid JSON", file=path, line=number, fix="correct or remove that line"
                    ) from None
        return
    yield Line(1, parse_document(text, path))


def too_deep(value: Any, levels: int = DEEPEST) -> bool:
    """Whether lists and objects are nested more than this; without recursion."""
    nested = [value]
    for _ in range(levels + 1):
        nested = [
            one
            for item in nested
            if isinstance(item, dict | list)
            for one in (item.values() if isinstance(item, dict) else item)
        ]
        if not nested:
            return False
    return True


class _RepeatedKeyError(ValueError):
    def __init__(self, key: str) -> None:
        super().__init__(f"an object has the key {key[:80]!r} twice, of which a reader sees only the last")


def _parsed(text: str) -> Any:
    return json.loads(text, parse_constant=_no_number, object_pairs_hook=_object)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _RepeatedKeyError(Counter(key for key, _ in pairs).most_common(1)[0][0])
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
        return _Builder(path).build(yaml.parse(text, Loader=loader))
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
    """Builds values from YAML events; a stack of open collections instead of recursion."""

    def __init__(self, path: Path | str) -> None:
        self._path = path
        self._anchors: dict[str, tuple[Any, int]] = {}  # value and number of nodes in it
        # Open collections: the value, the pending key of a mapping, whether it is one, its anchor, its nodes.
        self._open: list[list[Any]] = []
        self._root: Any = None

    def build(self, events: Iterator[Any]) -> Any:
        from yaml import events as kinds

        documents = 0
        for event in events:
            if isinstance(event, kinds.ScalarEvent):
                key_is_due = bool(self._open) and self._open[-1][1] is _NO_KEY and self._open[-1][2]
                value = str(event.value) if key_is_due else _scalar(event)
                if event.anchor:
                    self._anchors[event.anchor] = value, 1
                self._add(value, 1, event)
            elif isinstance(event, kinds.MappingStartEvent | kinds.SequenceStartEvent):
                if len(self._open) >= DEEPEST:
                    raise self._fail(f"is nested more than {DEEPEST} levels deep", "flatten it", event)
                is_mapping = isinstance(event, kinds.MappingStartEvent)
                self._open.append([{} if is_mapping else [], _NO_KEY, is_mapping, event.anchor, 1])
            elif isinstance(event, kinds.MappingEndEvent | kinds.SequenceEndEvent):
                value, _, _, anchor, nodes = self._open.pop()
                value = _merged(value)
                if anchor:
                    self._anchors[anchor] = value, nodes
                self._add(value, nodes, event)
            elif isinstance(event, kinds.AliasEvent):
                if event.anchor not in self._anchors:
                    raise self._fail(
                        f"the alias *{event.anchor} has no anchor before it", "correct that line", event
                    )
                self._add(*self._anchors[event.anchor], event)
            elif isinstance(event, kinds.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self._fail("has several YAML documents", "write one document in a file", event)
        return self._root

    def _add(self, value: Any, nodes: int, event: Any) -> None:
        if not self._open:
            self._root = value
            return
        top = self._open[-1]
        top[4] += nodes
        if top[4] > _MOST_NODES:
            raise self._fail("expands to too many values through its aliases", "remove the aliases", event)
        if not top[2]:
            top[0].append(value)
        elif top[1] is _NO_KEY:
            top[1] = value if isinstance(value, str) else json.dumps(value, default=str)
        else:
            if top[1] in top[0]:
                raise self._fail(
                    f"the key {top[1][:80]!r} occurs twice", "rename or remove one of them", event
                )
            top[0][top[1]] = value
            top[1] = _NO_KEY

    def _fail(self, message: str, fix: str, event: Any) -> UsageError:
        return UsageError(message, file=self._path, line=event.start_mark.line + 1, fix=fix)


_NO_KEY = object()


def _scalar(event: Any) -> Any:
    text = str(event.value)
    if not event.implicit[0] or event.style:  # quoted, a block, or with a tag
        return text
    for pattern, convert in _CORE:
        if pattern.fullmatch(text):
            value = convert(text)
            return text if isinstance(value, float) and not math.isfinite(value) else value
    return text


def _merged(value: Any) -> Any:
    """A mapping with the mappings under its merge key `<<` inserted; its own keys win."""
    if not isinstance(value, dict) or "<<" not in value:
        return value
    given = value["<<"]
    parts = given if isinstance(given, list) else [given]
    if not all(isinstance(part, dict) for part in parts):
        return value
    merged: dict[str, Any] = {}
    for part in reversed(parts):
        merged |= part
    return {**merged, **{key: item for key, item in value.items() if key != "<<"}}

"""Keys that a service gives to new rows, which may differ between executions that leave the same.

A service numbers what is made in the order of the calls, or draws keys at random. So who pays two invoices in
the other order leaves what the gold plan leaves, but for the keys of the payments.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Set
from typing import Any, NamedTuple, TypeVar, cast

import msgspec

from toolassay.plans.execution_record import Change, Execution

Key = str | int
Names = Mapping[Key, Key]
"""Keys of one execution, and those that stand for the same rows in another."""
AnyValue = TypeVar("AnyValue")
_MOST_KEYS = 100  # of rows that differ; the time grows with the square where rows are equal


class _Row(NamedTuple):
    """A place that changed: a row, by column, or another one, whose path is its only cell."""

    table: str
    cells: Mapping[str, Any]
    counts: tuple[Any, Any]

    def text(self, names: Mapping[Any, Any]) -> str:
        """The row with other names for some keys."""
        return json.dumps([self.table, renamed(self.cells, names), self.counts], sort_keys=True)


def with_keys_of(gold: Execution, predicted: Execution) -> Execution:
    """An execution with the keys of the gold's, if both leave the same but for these; else as it is."""
    names = key_names(gold, predicted)
    if not names:
        return predicted
    calls = tuple(
        msgspec.structs.replace(
            call, arguments=renamed(call.arguments, names), result=renamed(call.result, names)
        )
        for call in predicted.calls
    )
    answer = renamed(predicted.answer, names)
    return msgspec.structs.replace(predicted, calls=calls, answer=answer, state_after=gold.state_after)


def key_names(gold: Execution, predicted: Execution) -> Names:
    """The keys that the service gave in an execution, with those that it gave to the same rows for the gold.

    A key is one that the service gave if it names a row that came, in its first column, and no call had it as
    an argument before a result had it. What is in a row that both have is no such key: mostly that row was
    there before. All that changed must be equal once these keys have one name, a different one each; so
    nothing that a person or an agent chose is ever taken for another.

    Returns:
        Empty if the executions leave the same as it is, or something else under any names.
    """
    left, own = gold.changes or {}, predicted.changes or {}
    if left == own or len(left) != len(own):
        return {}
    wanted, made = list(_rows(left)), list(_rows(own))
    common = {path: change for path, change in left.items() if own.get(path) == change}
    fixed = _chosen(gold) | _chosen(predicted)
    fixed.update(value for row in _rows(common) for value in row.cells.values() if _is_key(value))
    wanted_keys = _new_keys(wanted) - fixed
    made_keys = _new_keys(made) - fixed
    if len(wanted_keys) != len(made_keys) or len(made_keys) > _MOST_KEYS:
        return {}
    pairs = zip(_ordered(made_keys, made), _ordered(wanted_keys, wanted), strict=True)
    names = {own: other for own, other in pairs if own != other}
    is_same = Counter(row.text(names) for row in made) == Counter(row.text({}) for row in wanted)
    return names if is_same else {}


def renamed(value: AnyValue, names: Mapping[Any, Any]) -> AnyValue:
    """A JSON value in which other names stand for some texts and numbers.

    >>> renamed({"id": "PA-2", "for": ["PA-2", 3]}, {"PA-2": "PA-1"})
    {'id': 'PA-1', 'for': ['PA-1', 3]}
    """
    made: Any = names.get(value, value) if _is_key(value) else value
    if isinstance(value, Mapping):
        made = {name: renamed(part, names) for name, part in value.items()}
    elif isinstance(value, list | tuple):
        made = type(value)(renamed(part, names) for part in value)
    return cast("AnyValue", made)


def _is_key(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _rows(changes: Mapping[str, Change]) -> Iterator[_Row]:
    for path, change in changes.items():
        table, brace, row = path.partition("/{")
        counts = change["before"], change["after"]
        try:
            yield _Row(table, json.loads(brace[1:] + row), counts)
        except ValueError:  # no row of a table
            yield _Row(path, {}, counts)


def _new_keys(rows: Collection[_Row]) -> set[Key]:
    """What names rows that came, and no row that went: that would be a row that was changed."""
    keys: dict[bool, set[tuple[str, Key]]] = {True: set(), False: set()}
    for row in rows:
        key: Any = next(iter(row.cells.values()), None)
        if _is_key(key):
            keys[row.counts[1] is not None].add((row.table, key))
    return {key for _, key in keys[True] - keys[False]}


def _chosen(execution: Execution) -> set[Any]:
    """The texts and numbers that are arguments of a call before a result has them."""
    chosen: set[Any] = set()
    seen = ""
    for call in execution.calls:
        for value in _scalars(call.arguments):
            # As a word: "PA-5" is in "paid: PA-5." and not in "PA-50".
            if not re.search(rf"(?<!\w){re.escape(str(value))}(?!\w)", seen):
                chosen.add(value)
        seen += json.dumps(call.result, ensure_ascii=False, default=str)
    return chosen


def _scalars(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _scalars(part)
    elif _is_key(value):
        yield value


_ROUNDS = 3  # a row is told from others by what it holds, by what refers to it, and by what refers to that


def _ordered(keys: Set[Key], rows: Collection[_Row]) -> list[Key]:
    """Keys in an order that depends on their rows alone, and not on what they are: by colour refinement.

    Of keys that it cannot tell apart, which mostly stand for equal rows, any one comes first.
    """
    own_rows = [row for row in rows if not keys.isdisjoint(filter(_is_key, row.cells.values()))]
    colours = _refined(dict.fromkeys(keys, ""), own_rows)
    while tied := [colour for colour, count in Counter(colours.values()).items() if count > 1]:
        one = next(key for key, colour in colours.items() if colour == min(tied))
        colours = _refined({**colours, one: f"{colours[one]} first"}, own_rows)
    return sorted(keys, key=lambda key: colours[key])


def _refined(colours: Mapping[Key, str], rows: Collection[_Row]) -> dict[Key, str]:
    """The colours after some rounds: equal if they were, and the rows are, with colours instead of keys."""
    refined = dict(colours)
    for _ in range(_ROUNDS):
        signatures: defaultdict[Key, list[str]] = defaultdict(list)
        for row in rows:
            for key in refined.keys() & set(filter(_is_key, row.cells.values())):
                signatures[key].append(row.text({**refined, key: f"* {refined[key]}"}))
        texts = {key: "".join(sorted(signatures[key])) for key in refined}
        refined = {key: hashlib.sha256(text.encode()).hexdigest() for key, text in texts.items()}
    return refined

"""Links from recorded calls: the order in which tools were called, and values that reappear in arguments.

A call takes a value from an earlier result if the value is distinctive and was new there: no person and no
earlier argument had it before. Its source is the latest result that has it, except for results that repeat
their own argument. Values are compared as a whole, or as items and properties of lists and objects: a text
that merely contains a value cannot be filled by a reference.

Both scores are lower bounds of a share (Wilson, 1927; one-sided, 95 %), so that a share of few calls counts
less: one of one gives 0.27, two of two 0.42, 12 of 14 0.65. For a value it is the share of the target calls
after the source, with that argument, that took it from the source. Calls are left out whose value was known
before, or came from a third tool: that others give it too does not make a link less certain. For an order, it
is the share of the source's calls that the target followed directly.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from toolassay.console.text_formatting import count_of
from toolassay.graph.dependencies import ORDER, Dependency
from toolassay.graph.links import FieldPair, overlap
from toolassay.graph.recorded_calls import RecordedCall, RecordedTurn, read_traces, shown_keys
from toolassay.tools.argument_schemas import schema_at
from toolassay.tools.identifiers import words
from toolassay.tools.library import Tool, ToolLibrary
from toolassay.tools.output_paths import EACH, Part, path_text

_Z = 1.645  # one-sided 95 %
_MOST_VALUES = 50_000  # of a result that are looked at
_MOST_PATHS = 8  # places of one value in a result that are kept
_LONGEST_VALUE = 500  # characters; longer texts are no values that a call takes over
# Levels of a recorded value. Deeper ones are not read, so that no recording can exhaust the stack.
_DEEPEST = 32
_LEAST_SHARE = 0.5  # of the best field's score that another field of the link needs


def lower_bound(part: int, whole: int) -> float:
    """The lower bound of a share (Wilson's interval, one-sided, 95 %); 0 for nothing.

    >>> [round(lower_bound(*counts), 2) for counts in ((1, 1), (2, 2), (12, 14), (0, 5))]
    [0.27, 0.42, 0.65, 0.0]
    """
    if part <= 0 or whole <= 0:
        return 0.0
    share = part / whole
    spread = _Z * _Z / whole
    root = math.sqrt(share * (1 - share) / whole + spread / (4 * whole))
    return max(0.0, (share + spread / 2 - _Z * root) / (1 + spread))


@dataclass
class Traced:
    """What recorded calls say about a library.

    Attributes:
        dependencies: One link for each ordered pair, by source, then target, in library order.
        sequences: The number of sequences.
        calls: The number of calls of the library's tools that did not fail.
        failed: The number that failed; they are evidence of nothing.
        unread: The number of calls whose arguments or result could not be read, by the keys that were found.
        unknown: The number of calls of each tool that the library lacks.
    """

    dependencies: list[Dependency] = field(default_factory=list)
    sequences: int = 0
    calls: int = 0
    failed: int = 0
    unread: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)


def trace_dependencies(paths: Iterable[Path], library: ToolLibrary) -> Traced:
    """The links that files of recorded calls give (see the module).

    Memory grows with the pairs of tools that occur in one sequence, not with the length of the files.

    Raises:
        UsageError: A file is missing, is no JSON (with the line), or has no call.
    """
    counts = _Counts(library)
    for path in paths:
        for turns in read_traces(path, library, counts.traced.unread):
            counts.add(turns)
    counts.traced.dependencies = counts.dependencies()
    return counts.traced


class _Flow(NamedTuple):
    """An argument of a tool that a result of another filled."""

    source: str
    target: str
    argument: str


@dataclass
class _Source:
    """Where a value was seen in a result."""

    tool: str | None  # None for a tool that the library lacks
    turn: int
    paths: list[str]
    words: int  # characters that people had written when a result first had it


class _Counts:
    """Counts over all sequences."""

    def __init__(self, library: ToolLibrary) -> None:
        self.library = library
        self.traced = Traced()
        self.followed: Counter[tuple[str, str]] = Counter()  # (tool, the tool called directly after it)
        self.left: Counter[str] = Counter()  # calls of a tool that any other call followed
        self.taken: Counter[_Flow] = Counter()
        self.possible: Counter[_Flow] = Counter()  # the same, and calls whose value no result had
        self.elsewhere: Counter[_Flow] = Counter()  # calls that took the value from another tool
        self.paths: dict[_Flow, Counter[str]] = {}
        self.takers: Counter[tuple[str, str]] = Counter()  # calls that took any value

    def add(self, turns: Sequence[RecordedTurn]) -> None:
        """Count a sequence."""
        self.traced.sequences += 1
        sequence = _Sequence(self)
        for number, turn in enumerate(turns):
            sequence.add(number, turn)

    def dependencies(self) -> list[Dependency]:
        flows: dict[tuple[str, str], list[_Flow]] = {}
        for flow in self.taken:
            flows.setdefault((flow.source, flow.target), []).append(flow)
        index = self.library.index
        pairs = sorted({*flows, *self.followed}, key=lambda pair: (index(pair[0]), index(pair[1])))
        return [self.link(*pair, flows.get(pair, [])) for pair in pairs]

    def link(self, source: str, target: str, flows: list[_Flow]) -> Dependency:
        after = self.followed[source, target]
        left = self.left[source]
        order = f"{after} of {count_of(left, 'recorded call')} of `{source}` came directly before `{target}`"
        if not flows:
            return Dependency(
                source, target, ORDER, lower_bound(after, left), (), (order,), "observed", "trace", after
            )
        score = {flow: lower_bound(self.taken[flow], self.possible[flow]) for flow in flows}
        flows = sorted(flows, key=lambda flow: (-score[flow], flow.argument))
        flows = [flow for flow in flows if score[flow] >= _LEAST_SHARE * score[flows[0]]]
        fields = [FieldPair(self.path(flow), flow.argument) for flow in flows]
        reasons = [
            f"{self.taken[flow]} of {count_of(self.possible[flow], 'recorded call')} took "
            f"`{pair.target}` from {f'`{pair.source}`' if pair.source else 'the result'}"
            + (f"; {self.elsewhere[flow]} more took it from other tools" if self.elsewhere[flow] else "")
            for flow, pair in zip(flows, fields, strict=True)
        ]
        return Dependency(
            source,
            target,
            fields[0].target,
            score[flows[0]],
            tuple(fields),
            (*reasons, *([order] if after else [])),
            "dependency",
            "trace",
            self.takers[source, target],
        )

    def path(self, flow: _Flow) -> str:
        """The place of the value in most results; of equals one that ends in the argument's name."""
        name = _last_word(flow.argument)
        return min(
            self.paths[flow].items(),
            key=lambda counted: (-counted[1], _last_word(counted[0]) != name, len(counted[0]), counted),
        )[0]


class _Sequence:
    """The values of one sequence so far."""

    def __init__(self, counts: _Counts) -> None:
        self.counts = counts
        self.library = counts.library
        self.traced = counts.traced
        self.words = ""
        self.given_values: set[str] = set()  # values of arguments so far
        self.seen: dict[str, _Source] = {}  # values that were new in a result
        self.before: list[str] = []  # the tools of the last turn
        self.earlier: dict[str, None] = {}  # the tools with a result, in order

    def add(self, number: int, turn: RecordedTurn) -> None:
        self.words += f"\n{turn.words.casefold()}" if turn.words else ""
        calls = [self.with_own_arguments(call) if call.tool in self.library else call for call in turn.calls]
        ours = [call for call in calls if call.tool in self.library]
        succeeded = [call for call in ours if not call.failed]
        self.traced.unknown.update(call.tool for call in calls if call.tool not in self.library)
        self.traced.unread.update(call.unread for call in ours if call.unread)
        self.traced.calls += len(succeeded)
        self.traced.failed += sum(call.failed and not call.unread for call in ours)
        for call in succeeded:
            self.take(call)
        self.follow([call.tool for call in succeeded])
        arguments = [{_key(value) for _, value in _leaves(call.arguments)} for call in calls]
        self.given_values.update(*arguments)
        for call, call_keys in zip(calls, arguments, strict=True):
            if not call.failed:
                self.give(call, call_keys, number)
        self.earlier |= dict.fromkeys(call.tool for call in succeeded)

    def with_own_arguments(self, call: RecordedCall) -> RecordedCall:
        """A call with the arguments that its tool has, or that are in an object of another name."""
        names = {parameter.name for parameter in self.library[call.tool].parameters}
        for candidate in (call.arguments, *call.arguments.values()):
            if isinstance(candidate, Mapping) and names & candidate.keys():
                return call._replace(arguments={name: candidate[name] for name in candidate if name in names})
        is_read = not names or not call.arguments
        return call if is_read else call._replace(failed=True, unread=shown_keys(call.arguments))

    def follow(self, tools: list[str]) -> None:
        """Count that these tools were called directly after those of the turn before."""
        if not tools:
            return
        after = dict.fromkeys(tools)
        for source in self.before:
            others = [target for target in after if target != source]
            self.counts.left[source] += bool(others)
            self.counts.followed.update((source, target) for target in others)
        self.before = tools

    def take(self, call: RecordedCall) -> None:
        """Count where the values of a call's arguments come from."""
        tool = self.library[call.tool]
        arguments: dict[str, list[tuple[tuple[Part, ...], str]]] = {}
        for parts, value in _leaves(call.arguments):
            # The items of a list fill the list: `ids` rather than `ids[]`.
            while parts and parts[-1] == EACH:
                parts = parts[:-1]
            arguments.setdefault(path_text(parts), []).append((parts, value))
        sources: set[str] = set()
        for argument, values in arguments.items():
            paths_by_tool: dict[str, set[str]] = {}
            is_taken = False
            for parts, value in values:
                source = self.source(parts, value, tool)
                is_taken |= source is not None
                if source is not None and source.tool is not None and source.tool != tool.id:
                    paths_by_tool.setdefault(source.tool, set()).update(source.paths)
            if not is_taken and any(self.is_known(value) for _, value in values):
                continue
            counter = self.counts.elsewhere if is_taken else self.counts.possible
            counter.update(
                _Flow(name, tool.id, argument)
                for name in self.earlier
                if name != tool.id and name not in paths_by_tool
            )
            for name, paths in paths_by_tool.items():
                flow = _Flow(name, tool.id, argument)
                self.counts.taken[flow] += 1
                self.counts.possible[flow] += 1
                self.counts.paths.setdefault(flow, Counter()).update(paths)
            sources.update(paths_by_tool)
        self.counts.takers.update((source, tool.id) for source in sources)

    def source(self, parts: tuple[Part, ...], value: Any, tool: Tool) -> _Source | None:
        earlier = self.seen.get(_key(value))
        if earlier is None or not is_distinctive(value, parts, tool):
            return None
        return None if _is_in(_key(value), self.words[: earlier.words]) else earlier

    def is_known(self, value: Any) -> bool:
        """Whether a person or an earlier argument had a value before any result."""
        key = _key(value)
        if key not in self.seen:
            return key in self.given_values or _is_in(key, self.words)
        return _is_in(key, self.words[: self.seen[key].words])

    def give(self, call: RecordedCall, argument_keys: set[str], turn: int) -> None:
        """Remember the values of a result that were new in it."""
        tool = call.tool if call.tool in self.library else None
        for parts, value in islice(_leaves(call.result), _MOST_VALUES):
            key = _key(value)
            before = self.seen.get(key)
            if (
                not key
                or key in argument_keys
                or (before is None and key in self.given_values)
                or any(isinstance(part, str) and _DATA_NAME.search(part) for part in parts)
            ):
                continue
            path = path_text(parts)
            if before is not None and before.tool == tool and before.turn == turn:
                if len(before.paths) < _MOST_PATHS and path not in before.paths:
                    before.paths.append(path)
            else:
                words = len(self.words) if before is None else before.words
                self.seen[key] = _Source(tool, turn, [path], words)


def _leaves(value: Any, parts: tuple[Part, ...] = ()) -> Iterator[tuple[tuple[Part, ...], Any]]:
    """The values in a JSON value that are no lists or objects, each with its path."""
    if len(parts) > _DEEPEST:
        return
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _leaves(item, (*parts, str(name)))
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, (*parts, EACH))
    else:
        yield parts, value


def _key(value: Any) -> str:
    """A value as text, so that 603 equals "603"; "" for a value that no call takes over."""
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    text = value.strip() if isinstance(value, str) else repr(value)
    return text if len(text) <= _LONGEST_VALUE else ""


def _is_in(key: str, words: str) -> bool:
    """Whether a text in lower case has a value as a word or words: "603" is in "film 603", not in "16035"."""
    key = key.casefold()
    return bool(key) and key in words and re.search(rf"(?<!\w){re.escape(key)}(?!\w)", words) is not None


# A name that is data, as in {"reservations": {"ZFA04Y1234": {…}}}: matches "card_4421486" and "2024-05-16",
# not "address1". No path can describe such names.
_DATA_NAME = re.compile(r"\d{4}|\s.*\d|^.{60}")


def is_said(value: Any, words: str) -> bool:
    """Whether words have a value as a word or words of theirs."""
    return _is_in(_key(value), words.casefold())


_IDENTIFYING = frozenset(
    {"id", "ids", "code", "codes", "guid", "handle", "hash", "key", "keys", "login", "name", "no", "number"}
    | {"ref", "reference", "sha", "slug", "symbol", "token", "username", "uuid"}
)
# A day or a time, which people say in other words: "2024-05-20", "18:30". Not "2024-05-20T18:30:11Z".
_DAY_OR_TIME = re.compile(r"\d{4}-\d\d-\d\d|\d\d?:\d\d(:\d\d)?")
_COMMON_WORD = re.compile(r"(?:[^\W\d]|-){1,14}")  # "economy", "one_way"; not "card_7", "HAT110", "two words"


def _last_word(path: str) -> str:
    return words(path)[-1] if words(path) else ""


def identifies(argument: tuple[Part, ...]) -> bool:
    """Whether an argument identifies something, by its name: `movie_id`, `countryCode`, `username`."""
    return _last_word(path_text(argument)) in _IDENTIFYING


def is_distinctive(value: Any, argument: tuple[Part, ...], tool: Tool) -> bool:
    """Whether a value that reappears in an argument is unlikely to be there by chance.

    Not distinctive: true, false, null, an empty text; a value that the argument's schema lists (enum, const,
    default, examples); a day or a time; a number below 10. Numbers below 1000, round hundreds, years, texts
    of fewer than four characters and single words are distinctive only in an argument that identifies
    something, by its name: `movie_id`, `countryCode`, `username`.
    """
    key = _key(value)
    if not key or _DAY_OR_TIME.fullmatch(key):
        return False
    schema = schema_at([0 if part == EACH else part for part in argument], tool.input_schema or {})
    listed = [schema.get("const"), schema.get("default")]
    for keyword in ("enum", "examples"):
        listed += more if isinstance(more := schema.get(keyword), list) else []
    if key in map(_key, listed):
        return False
    try:
        number = abs(float(key))
    except ValueError:
        is_weak = len(key) < 4 or _COMMON_WORD.fullmatch(key) is not None
    else:
        if number < 10 and key.isdecimal():
            return False
        is_weak = number < 1000 or number % 100 == 0 or (number.is_integer() and 1900 <= number <= 2100)
    return not is_weak or identifies(argument)


def merge(derived: Sequence[Dependency], traced: Sequence[Dependency]) -> list[Dependency]:
    """One link for each pair: the derived ones, then those of recorded calls only.

    Two links of a pair are independent evidence: the score is 1 − (1 − a)(1 − b). Fields of recorded calls
    come first, and one argument is filled once. The origin is "trace" if recorded calls are the stronger
    evidence that a value flows. The count is that of the recorded calls.
    """
    links = {(link.source, link.target): link for link in derived}
    for link in traced:
        pair = link.source, link.target
        links[pair] = _combined(links[pair], link) if pair in links else link
    return list(links.values())


def _combined(derived: Dependency, traced: Dependency) -> Dependency:
    fields = list(traced.fields)
    for pair in derived.fields:
        if not any(overlap(pair.target, other.target) for other in fields):
            fields.append(pair)
    is_stronger = traced.score > derived.score and (traced.kind == "dependency" or not derived.fields)
    dependency = "dependency" in (derived.kind, traced.kind)
    return replace(
        derived,
        type=fields[0].target if fields else derived.type,
        score=derived.score + traced.score * (1 - derived.score),
        fields=tuple(fields),
        reasons=tuple(dict.fromkeys((*traced.reasons, *derived.reasons))),
        kind="dependency" if dependency else "observed",
        origin="trace" if is_stronger else derived.origin,
        count=traced.count,
    )

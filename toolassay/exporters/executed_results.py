"""Results of executed plans: read from `executions.jsonl` by id, and checked against the plan."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from toolassay.errors import as_called
from toolassay.executors.executor import CallResult
from toolassay.executors.fact_sources import results_of
from toolassay.files.data_files import (
    LineRange,
    line_ranges,
    map_texts,
    read_json_lines,
    readable,
    record_of,
    unescaped_json,
)
from toolassay.graph import DependencyType
from toolassay.plans.call_plan import Argument, Call, CallPlan, Unfit, slots_of
from toolassay.plans.execution_record import SIMULATOR, WORLD, ExecutedCall, Execution, Outcome
from toolassay.records.dataset import RequestId
from toolassay.tools.argument_schemas import ArgumentValidator
from toolassay.tools.library import ToolLibrary

Marking = Literal["executed", "world", "simulated"]
"""Whether results are those of a tool, of a simulated world, or made up by an earlier version."""


def _fix(outcome: Outcome) -> str:
    """What to do about a plan without results."""
    match outcome:
        case "failed":
            return f"fix the plan, then run {as_called('execute')}"
        case "not_allowed":
            return f"run {as_called('execute', allow_writes=True)}"
        case _:
            return f"run {as_called('execute')}"


@dataclass(frozen=True)
class RefusedCall:
    """A call with a mistake, which its tool refused.

    Attributes:
        number: Number of the right call that follows it.
        call: The wrong call.
        error: The tool's words.
    """

    number: int
    call: Call
    error: str


@dataclass(frozen=True)
class PlanResults:
    """What the calls of one plan returned.

    Attributes:
        calls: The calls, with values in place of references.
        texts: For each call, its result as a model reads it.
        executor: Name of the executor.
        refused: A wrong call before one of them; None if there is none.
        expanded: The plan with these calls, if its `[each]` made several of one; else None.
        by_node: The results by number of the node.
        facts: What the person must be told, in words; empty if nothing is known of that, or nothing must be.
    """

    calls: tuple[Call, ...]
    texts: tuple[str, ...]
    executor: str
    refused: RefusedCall | None = None
    expanded: CallPlan | None = None
    by_node: Mapping[int, CallResult] = field(default_factory=dict)
    facts: str = ""

    @property
    def marking(self) -> Marking:
        """How these results are marked in an export."""
        markings: dict[str, Marking] = {SIMULATOR: "simulated", WORLD: "world"}
        return markings.get(self.executor, "executed")


class _OfSample(msgspec.Struct):
    id: RequestId


class ExecutedResults:
    """The results in an `executions.jsonl`, read one plan at a time.

    Of several lines with one id the last counts.

    Args:
        path: The file.
        lines: The place of each id's line; results may be larger than memory.
        library: The tools.
        kind: The dependency type.
    """

    def __init__(
        self, path: Path, lines: Mapping[str, LineRange], library: ToolLibrary, kind: DependencyType
    ) -> None:
        self._path = path
        self._lines = lines
        self._library = library
        self._kind = kind
        self._validators: dict[str, ArgumentValidator] = {}

    @classmethod
    def index(cls, path: Path, library: ToolLibrary, kind: DependencyType) -> ExecutedResults:
        """Find the line of each id.

        Raises:
            UsageError: The file is missing, or a line is malformed (names its number).
        """
        ranges: dict[str, LineRange] = {}
        fix = f"make it with {as_called('execute')}, or use --results references"
        for lines in line_ranges(path, 1, fix=fix):
            for number, value in read_json_lines(path, lines=lines):
                sample = record_of(
                    value, _OfSample, file=path, line=number, fix=f"run {as_called('execute')} again"
                )
                ranges[_key(sample.id)] = lines
        return cls(path, ranges, library, kind)

    def of(self, request_id: RequestId, plan: CallPlan) -> PlanResults:
        """The results of a plan.

        Raises:
            Unfit: There are none, they are those of another plan, or an argument is not valid.
            UsageError: The line is malformed.
        """
        if (lines := self._lines.get(_key(request_id))) is None:
            raise Unfit(f"has no execution of this sample; run {as_called('execute')}", self._path.name)
        ((number, value),) = read_json_lines(self._path, lines=lines)
        execution = record_of(
            value, Execution, file=self._path, line=number, fix=f"run {as_called('execute')} again"
        )
        if execution.plan != plan.fingerprint:
            raise Unfit(
                f"has an execution of an earlier version of this plan; run {as_called('execute')}",
                self._path.name,
            )
        if execution.outcome != "ran":
            why = f" ({execution.reason})" if execution.reason else ""
            raise Unfit(
                f"has no results of this sample, its outcome is {execution.outcome}{why}; "
                f"{_fix(execution.outcome)}",
                self._path.name,
            )
        nodes = plan.nodes or range(plan.size)
        executed = []
        owners = []  # the call of the plan that made each
        for number, node in enumerate(nodes):
            where = f"task_nodes[{node}]"
            tool = plan.calls[number].tool
            calls = [call for call in execution.calls if (call.node, call.tool) == (node, tool)]
            if not calls:
                raise Unfit(f"has no result in {self._path.name}; run {as_called('execute')}", where)
            executed += [self._call(call, where) for call in calls]
            owners += [number] * len(calls)
        calls_with_values = tuple(call for call, _ in executed)
        expanded = None
        if len(owners) > plan.size:
            needs = plan.needs()
            pairs = product(enumerate(owners), repeat=2)
            links = tuple(
                (source, target) for (source, giver), (target, taker) in pairs if giver in needs[taker]
            )
            expanded = replace(plan, calls=calls_with_values, links=links, nodes=())
        return PlanResults(
            calls_with_values,
            tuple(text for _, text in executed),
            execution.executor,
            self._refused(execution.wrong_call, [nodes[owner] for owner in owners], expanded or plan),
            expanded,
            results_of(execution),
        )

    def _call(self, executed: ExecutedCall, where: str) -> tuple[Call, str]:
        """A call as it was executed, and its result."""
        tool = executed.tool
        call = _call_of(executed)
        if call is None:
            raise Unfit("was executed with a value that JSON does not have, such as NaN", where)
        slot_names = {slot.name for slot in slots_of(self._library[tool], self._kind)}
        for name, _ in call.arguments:
            if name not in slot_names:
                raise Unfit(f"was executed with '{name}', which is not a parameter of '{tool}'", where)
        if problem := self._problem(call):
            raise Unfit(f"was executed with arguments that its schema forbids: {problem}", where)
        return call, _text_of(executed)

    def _problem(self, call: Call) -> str:
        """What the schema of a tool forbids in a call; empty if it is valid or the tool has no schema."""
        tool = self._library[call.tool]
        if tool.input_schema is None or (self._kind == "resource" and tool.is_resource):
            return ""
        if tool.id not in self._validators:
            try:
                self._validators[tool.id] = ArgumentValidator(tool.input_schema)
            except ValueError as error:
                return f"it is no JSON Schema: {error}"
        for problem in self._validators[tool.id].problems(dict(call.arguments)):
            return f"{problem.path}: {problem.reason}" if problem.path else problem.reason
        return ""

    def _refused(self, wrong: ExecutedCall | None, nodes: list[int], plan: CallPlan) -> RefusedCall | None:
        if wrong is None or not (wrong.error or "").strip() or wrong.node not in nodes:
            return None
        number = nodes.index(wrong.node)
        call = _call_of(wrong)
        # Another tool might not be among the functions that the chat offers.
        if call is None or call.tool != plan.calls[number].tool:
            return None
        return RefusedCall(number, call, readable(wrong.error or ""))


def drawn(ids: Iterable[str], count: int, seed: int) -> frozenset[str]:
    """A random choice of ids, which does not depend on their order; a larger one includes a smaller one.

    >>> sorted(drawn("abcdef", 2, 0) - drawn("fedcba", 3, 0)), len(drawn("abc", 9, 0))
    ([], 3)
    """
    ranked = sorted(
        ids, key=lambda sample_id: (random.Random(f"{seed} recovery {sample_id}").random(), sample_id)
    )
    return frozenset(ranked[:count])


def _call_of(executed: ExecutedCall) -> Call | None:
    """A call as it was executed; None if a value is not JSON."""
    try:
        json.dumps(dict(executed.arguments), allow_nan=False)
    except (ValueError, RecursionError):
        return None
    arguments = map_texts(dict(executed.arguments), readable)
    return Call(executed.tool, tuple(Argument(name, value) for name, value in arguments.items()))


def _text_of(executed: ExecutedCall) -> str:
    text = executed.result if executed.text is None else executed.text
    return readable(text if isinstance(text, str) else unescaped_json(text))


def _key(request_id: object) -> str:
    """The key of an id: 7 and "7" are different ids."""
    return json.dumps(request_id)


LONGEST = 600
"""Characters of an answer."""
EMPTY = "The result is empty."
_SHORT = 100  # characters of a text that counts as a short field
_MOST_FIELDS = 10  # fields of an object
_MOST_ITEMS = 5  # items of a list
_LEAST = 20  # characters that every one of several results keeps
# A number that a cut may have shortened: the "12" at the end of "in 12", also "1.2"; not the one in "12 men".
_LAST_NUMBER = re.compile(r"[\d.,]+$")


def grounded_answer(results: Sequence[str]) -> str:
    """An answer of results as the chat shows them, in order, one line each.

    It is made of the texts in the chat and not of other forms of the results, so that a model has read every
    fact of it.

    >>> print(grounded_answer(['{"id": 7, "title": "Heat", "cast": []}', '["a", "b"]', ""]))
    id: 7, title: Heat
    2 items: a; b
    The result is empty.
    """
    if len(results) == 1:
        return shortened(_answer(results[0]), LONGEST)
    lines = [" ".join(_answer(text).split()) for text in results]
    # Short lines leave their share to longer ones.
    lengths = [0] * len(lines)
    left = LONGEST - len(lines)
    for count, position in enumerate(sorted(range(len(lines)), key=lambda position: len(lines[position]))):
        lengths[position] = min(len(lines[position]), max(left // (len(lines) - count), _LEAST))
        left -= lengths[position]
    return "\n".join(map(shortened, lines, lengths))


def shortened(text: str, longest: int) -> str:
    """A text of at most `longest` characters, cut after a word.

    >>> shortened("The castle is open", 12), shortened("Room 1234", 7), shortened("x" * 9, 4)
    ('The castle …', 'Room …', 'xxx…')
    """
    if len(text) <= longest:
        return text
    head = text[: longest - 1]
    if text[longest - 1].isspace():
        return f"{head.rstrip()}…"
    # A text without spaces, such as Chinese or an address, is cut anywhere but in a number.
    words = re.match(r"(.*)\s", head, re.DOTALL)
    if words and len(words[1].rstrip()) * 2 >= longest:
        return f"{words[1].rstrip()} …"
    return f"{_LAST_NUMBER.sub('', head) or head}…"


def _answer(text: str) -> str:
    try:
        value = _parsed(text)
        return (value.strip() if isinstance(value, str) else _described(value)) or EMPTY
    except RecursionError:  # nested too deeply
        return text.strip()


class _Literal(str):
    """A number of a JSON text as it is written: 1e3 stays 1e3, and no digit is lost."""


def _parsed(text: str) -> Any:
    """The object or list that is all of a text; None for a text "null"; any other text itself."""
    if text.strip() == "null":
        return None
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return json.loads(text, parse_int=_Literal, parse_float=_Literal, parse_constant=_Literal)
    except ValueError:
        return text


def _described(value: Any) -> str:
    """One line for a value; empty if it is empty."""
    if isinstance(value, Mapping):
        fields = list(_fields(value))
        # A long text is shown only if the result has nothing shorter.
        shown = [field for field in fields if not field.is_long] or fields
        return ", ".join(f"{entry.name}: {entry.text}" for entry in shown[:_MOST_FIELDS])
    if not isinstance(value, list):
        return _scalar(value)
    if not value:
        return ""
    items = [text for item in value[:_MOST_ITEMS] if (text := _item(item))]
    more = ["…"] if len(value) > _MOST_ITEMS and items else []
    return f"{_count(value)}: {'; '.join([*items, *more])}" if items else _count(value)


class _Field(NamedTuple):
    """A field of an object; a field of an object within it has both names, `owner.name`."""

    name: str
    text: str
    is_long: bool = False


def _fields(value: Mapping[str, Any], within: str = "") -> Iterator[_Field]:
    """The fields that are not empty: texts, numbers and truth values before lists and objects."""
    for name, item in value.items():
        if text := _scalar(item):
            yield _Field(f"{within}{name}", text, len(text) > _SHORT)
    for name, item in value.items():
        if isinstance(item, Mapping):
            yield from _fields(item, f"{within}{name}.")
        elif isinstance(item, list) and item:
            yield _Field(f"{within}{name}", _described(item))


def _item(value: Any) -> str:
    if isinstance(value, list):
        return _count(value)
    text = shortened(_described(value), _SHORT)
    return f"({text})" if text and isinstance(value, Mapping) else text


def _count(value: Sequence[Any]) -> str:
    return f"{len(value)} item{'' if len(value) == 1 else 's'}"


def _scalar(value: Any) -> str:
    """A text, number or truth value in one line; empty for everything else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return " ".join(value.split()) if isinstance(value, str) else ""

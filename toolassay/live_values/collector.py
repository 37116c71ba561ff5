"""Calls the tools of a server to learn which values they accept, what they return and which links work."""

from __future__ import annotations

import asyncio
import re
import string
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any, Literal, NamedTuple

from toolassay.argument_values.allowed_values import allowed_values
from toolassay.argument_values.drawn_values import UnfillableError, draw_arguments, drawn_value
from toolassay.argument_values.fed_arguments import FedArgument, fed_argument
from toolassay.argument_values.places import as_text
from toolassay.executors.executor import (
    CallResult,
    Environment,
    EnvironmentFailure,
    OpenExecutor,
    Refusal,
    call_tool,
)
from toolassay.executors.plan_run import Unresolvable, resolve_arguments
from toolassay.executors.workspace import digest_of
from toolassay.files.data_files import unescaped_json
from toolassay.graph import Dependency
from toolassay.graph.derive.fields import verb_of, words_of
from toolassay.live_values.candidates import (
    ArgumentPlace,
    Known,
    argument_places,
    is_day,
    is_new_text,
    writes,
)
from toolassay.live_values.facts import facts_of
from toolassay.live_values.results import (
    SeenCall,
    is_empty,
    is_opaque,
    is_plain_value,
    schema_of_results,
    values_with_errors,
)
from toolassay.live_values.statements import learn_rows, table_of
from toolassay.plans.execution_record import Arguments
from toolassay.tools.argument_schemas import kinds_of, schema_at
from toolassay.tools.library import Parameter, Tool, ToolLibrary
from toolassay.tools.output_paths import EACH

MOST_CALLS = 1_500
"""Calls of a whole collection, trials of links included."""
# How often tools are called. A call takes time and may count against a quota, so a tool is left alone as soon
# as it has enough rows; a new round uses the values that other tools returned in the one before.
_ROUNDS = 3
_TRIES = 12  # calls of a tool in a round
_ENOUGH = 8  # accepted calls of a tool that writes
_FRESH_TRIES = 4  # calls of a tool, each in a process of its own, which takes long to start
# Share of `MOST_CALLS` for values. The others try links, which need values on both sides first.
_COLLECTING_SHARE = 0.7
# What is kept. Generation draws from these rows, and `results.json` shows models a few results.
_MOST_ROWS = 24  # accepted calls of a tool
_MOST_RESULTS = 3  # results of a reading tool
# How a call chooses its values. None of the shares is 1: a server may accept only what is tried rarely.
_MOST_CHOICES = 30  # candidates
_OPTIONAL_SHARE = 0.3  # of the calls with an optional argument
_PROVEN_SHARE = 0.7  # of the calls with a value that some tool accepted
_TOGETHER_SHARE = 0.9  # of the calls with values that one object has, because servers check that they fit
_COMING_SHARE = 0.5  # of the calls with invented days: results have past days, a booking needs one to come
_LAST_DAY = 300  # days from today, of invented dates
# When something is given up. One failure may be an accident; repeated ones, with other rows, are a rule.
_MOST_REFUSALS = 2  # of a value by a tool
_LINK_TRIES = 8  # of one link, each with another row or item
_FEWEST_TRIALS = 3  # failed ones with different rows that refute a link
_PROBES = 2  # values that do not exist, by which a refusal of the value is recognised
_MOST_FAILURES = 5  # calls in a row without an answer: the server is gone
_MOST_TOOL_FAILURES = 2  # calls of a tool without an answer, each of which may take as long as the limit
# Seconds. A workspace that takes longer to read is not compared after each call, or comparing would take most
# of the time.
_LONGEST_LOOK = 1.0


@dataclass(frozen=True)
class Accepted:
    """A call that a tool accepted.

    Attributes:
        real: The values by which it was made, by place; a list for the items of a list.
        arguments: All arguments.
        result: What it returned.
        after: Digest of the workspace after the call; empty if it is not known.
    """

    real: Arguments
    arguments: Arguments
    result: CallResult
    after: str = ""


@dataclass
class Trials:
    """How many calls were accepted and refused."""

    accepted: int = 0
    refused: int = 0

    @property
    def is_hopeless(self) -> bool:
        """Whether several were refused and none accepted."""
        return not self.accepted and self.refused >= _MOST_REFUSALS


class _LinkTrial(NamedTuple):
    """How a trial of a link ended.

    Attributes:
        verdict: "ran"; "wrong", the argument does not take such values; "refused" for a reason that may be
            that of a row; "unknown".
        row: The values that it took; empty if each trial counts.
        problem: The message of the server.
    """

    verdict: Literal["ran", "wrong", "refused", "unknown"]
    row: str = ""
    problem: str = ""


@dataclass
class Observation:
    """What was learnt of a server.

    Attributes:
        values: `{tool: {argument: [value, …]}}`: columns of accepted calls, null where a call has no value.
        results: Accepted calls of tools that read, with different results, by tool.
        schemas: Schemas of results of tools that declare none, by tool.
        refuted: Links whose values the argument does not take, each with the words of the last refusal.
        idle: Links that are not refuted, but did not work with the first item of any result.
        calls: Number of calls that were made.
        unusable: Tools of which no call was accepted, with the words of the last refusal.
        fruitless: Tools that read and found nothing with any value.
        changing: Tools whose calls changed the workspace.
    """

    values: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    results: dict[str, list[SeenCall]] = field(default_factory=dict)
    schemas: dict[str, dict[str, Any]] = field(default_factory=dict)
    refuted: dict[tuple[str, str], str] = field(default_factory=dict)
    idle: set[tuple[str, str]] = field(default_factory=set)
    calls: int = 0
    unusable: dict[str, str] = field(default_factory=dict)
    fruitless: set[str] = field(default_factory=set)
    changing: set[str] = field(default_factory=set)


class Collector:
    """Collects values with an executor that is open.

    Tools that only read are called wherever the server is. The others, and those that a server does not mark,
    are called only on a copy that is thrown away, and only with consent.

    Args:
        opened: The executor. It may use one process for all calls.
        library: The tools.
        known: What is known before: the paths of the workspace.
        allow_writes: Consent to calling tools that are not marked read-only.
        seed: Random seed.
        fresh: The same executor with a new process for each call. What `opened` refuses is tried again here,
            because a process may remember calls of which the workspace is restored. None if there is none.
        today: The day that invented dates follow; None for that of the clock.
    """

    def __init__(
        self,
        opened: OpenExecutor,
        library: ToolLibrary,
        known_values: Known,
        *,
        allow_writes: bool,
        seed: int,
        fresh: OpenExecutor | None = None,
        today: date | None = None,
    ) -> None:
        self._opened = opened
        self._library = library
        self._known_values = known_values
        self._fresh = fresh or opened
        self._allow_writes = allow_writes
        self._seed = seed
        known_values.may_write = opened.is_isolated and allow_writes
        self._accepted: dict[str, list[Accepted]] = {tool.id: [] for tool in library}
        # Accepted calls that found or changed nothing: better than none.
        self._idle: dict[str, list[Accepted]] = {tool.id: [] for tool in library}
        # Calls that were accepted and refused, by tool, argument and value; also by kind of value (a file, a
        # folder) and by whether the value was known or drawn.
        self._trials: dict[tuple[str, str, str], Trials] = defaultdict(Trials)
        self._seen: dict[str, set[str]] = defaultdict(set)
        # Values that some tool accepted, by the last word of the argument.
        self._proven: set[tuple[str, str]] = set()
        self._probes: dict[tuple[str, str], set[str]] = {}
        self._failures = 0
        self._failures_of = Counter[str]()
        self._unchanged = ""
        self._compares = opened.is_isolated
        self._today = today or datetime.now(UTC).date()
        self.observation = Observation()
        for tool in library:
            if reason := opened.missing(tool):
                self.observation.unusable[tool.id] = reason
        may_call = [tool for tool in library if self._may_call(tool)]
        self._readers = [tool for tool in may_call if self._reads(tool)]
        self._writers = [tool for tool in may_call if tool not in self._readers]
        self._left = self.steps

    @property
    def steps(self) -> int:
        """The number of steps that `collect` reports."""
        return _ROUNDS * (len(self._readers) + len(self._writers))

    def _may_call(self, tool: Tool) -> bool:
        if self._opened.missing(tool):
            return False
        return self._opened.is_read_only(tool) or (self._opened.is_isolated and self._allow_writes)

    def _reads(self, tool: Tool) -> bool:
        """Whether a tool only reads: as marked, or by its name where nothing outlives the call."""
        if self._opened.is_read_only(tool):
            return True
        return self._may_call(tool) and verb_of(tool, None) in ("find", "search")

    async def collect(self, advance: Callable[[], None] = lambda: None) -> Observation:
        """Call the tools that read, in rounds, then those that write.

        Args:
            advance: Called after each step.

        Raises:
            EnvironmentFailure: The server does not work.
        """
        for turn in range(_ROUNDS):
            async with _Shared(self._opened) as shared:
                for tool in self._readers:
                    await self._try(tool, turn, shared)
                    advance()
        for turn in range(_ROUNDS):
            for tool in self._writers:
                accepted = len(self._accepted[tool.id])
                if turn == _ROUNDS - 1 and not accepted and self._fresh is not self._opened:
                    advance()
                    continue  # a process for each call takes long
                if accepted < _ENOUGH and not (turn and self._idle[tool.id] and not accepted):
                    await self._try(tool, turn, None)
                advance()
            self._demote_idle()
        observation = self.observation
        observation.changing = {
            tool.id for tool in self._writers if any(row.after for row in self._accepted[tool.id])
        }
        observation.fruitless = {
            tool.id for tool in self._readers if self._idle[tool.id] and not self._accepted[tool.id]
        }
        for name, rows in self._accepted.items():
            rows.extend(() if rows else self._idle[name])
            if rows:
                observation.unusable.pop(name, None)
        observation.values = {tool.id: columns for tool in self._library if (columns := self._columns(tool))}
        for tool in self._readers:
            calls = [SeenCall.of(row.arguments, row.result) for row in self._accepted[tool.id]]
            if different := {call.result: call for call in reversed(calls)}:
                observation.results[tool.id] = [*reversed(different.values())][:_MOST_RESULTS]
        for tool in self._library:
            results = [accepted.result.value for accepted in self._accepted[tool.id]]
            structured = [value for value in results if isinstance(value, dict | list) and value]
            is_open = is_opaque(tool.output_schema) or tool.source.get("output_schema") == "proposed"
            if is_open and structured and len(structured) == len(results):
                observation.schemas[tool.id] = schema_of_results(structured)
        return observation

    def _demote_idle(self) -> None:
        """Take accepted calls that changed nothing out of those that count.

        Some servers write their file in another layout at each call. Calls of several tools then end in one
        state, which is that in which nothing changed.
        """
        tools_of: dict[str, set[str]] = defaultdict(set)
        for tool in self._writers:
            for row in self._accepted[tool.id]:
                tools_of[row.after].add(tool.id)
        for tool in self._writers:
            rows = self._accepted[tool.id]
            idle = [row for row in rows if row.after and len(tools_of[row.after]) > 1]
            self._accepted[tool.id] = [row for row in rows if row not in idle]
            self._idle[tool.id] += idle

    async def _try(self, tool: Tool, turn: int, shared: _Shared | None) -> None:
        """Call a tool several times, each time with other values, within its share of the calls left."""
        tool_arguments = argument_places(tool)
        share = (int(MOST_CALLS * _COLLECTING_SHARE) - self.observation.calls) // self._left
        last = self.observation.calls + max(share, int(turn == 0))
        self._left -= 1
        accepted = self._accepted[tool.id]
        observation = self.observation
        seen = self._seen[tool.id]
        most = _MOST_ROWS if shared is not None else _ENOUGH
        for number in range(_TRIES):
            if (
                len(accepted) >= most
                or observation.calls >= last
                or self._failures_of[tool.id] >= _MOST_TOOL_FAILURES
            ):
                return
            rng = Random(f"{self._seed} {tool.id} {turn} {number}")
            real, open_places = self._chosen(tool, tool_arguments, rng)
            if not tool_arguments and seen:
                return
            try:
                drawn = draw_arguments(tool, rng, given=real).arguments
            except UnfillableError as error:
                observation.unusable.setdefault(tool.id, str(error))
                continue
            is_again = turn > 0 and not accepted and self._fresh is not self._opened
            if _text(drawn) in seen and not is_again:
                continue
            if observation.calls >= MOST_CALLS or (is_again and number >= _FRESH_TRIES):
                return
            seen.add(_text(drawn))
            try:
                result, after = await self._call(tool, drawn, shared, is_again=is_again)
            except Refusal as error:
                self._learn_from_refusal(tool, tool_arguments, str(error))
                quoted = [
                    value
                    for _, value in _values_by_place(tool_arguments, real)
                    if as_text(value) in str(error)
                ]
                if quoted or not open_places:
                    self._blame(tool, tool_arguments, real, only=quoted)
                observation.unusable[tool.id] = str(error)
                continue
            is_useful = after != self._unchanged and not (shared is not None and is_empty(result))
            real |= {name: drawn[name] for name in open_places if name in drawn}
            if shared is not None:  # what a writer made is gone with its copy
                self._learn(tool, drawn, result)
            row = Accepted(real, drawn, result, after or "")
            for argument, value in _values_by_place(tool_arguments, real):
                self._trials[tool.id, argument.name, self._kind(value)].accepted += 1
            if wrong := values_with_errors(result, drawn):
                self._blame(tool, tool_arguments, real, only=wrong)
            elif not is_useful:
                self._idle[tool.id].append(row)
            else:
                for argument, value in _values_by_place(tool_arguments, real):
                    self._trials[tool.id, argument.name, repr(value)].accepted += 1
                    self._proven.add((argument.head, repr(value)))
                accepted.append(row)

    async def _call(
        self, tool: Tool, arguments: Arguments, shared: _Shared | None, is_again: bool = False
    ) -> tuple[CallResult, str | None]:
        """Call a tool: the result, and the digest of the workspace after it; None if that is unknown.

        Raises:
            Refusal: The tool refused the call, or did not answer.
            EnvironmentFailure: The server does not work.
        """
        self.observation.calls += 1
        after = None
        try:
            if shared is not None:
                result = await shared.call(tool, arguments)
            else:
                opened = self._fresh if is_again else self._opened
                async with opened.environment() as environment:
                    compares = await self._is_compared(environment)
                    # A refusal that left the environment would end its process.
                    answer = await _answer(environment, tool, arguments)
                    if compares and isinstance(answer, CallResult):
                        after = digest_of(await environment.state() or {})
                if isinstance(answer, Refusal):
                    raise answer
                result = answer
        except EnvironmentFailure as error:
            self._failures += 1
            self._failures_of[tool.id] += 1
            if self._failures >= _MOST_FAILURES:
                raise
            raise Refusal(str(error)) from None
        except Refusal:
            self._failures = 0
            raise
        self._failures = 0
        return result, after

    async def _is_compared(self, environment: Environment) -> bool:
        """Whether the workspace is read after each call; looks at a fresh environment the first time."""
        if self._compares and not self._unchanged:
            began = asyncio.get_running_loop().time()
            state = await environment.state()
            took = asyncio.get_running_loop().time() - began
            self._compares = state is not None and took < _LONGEST_LOOK
            self._unchanged = digest_of(state or {})
        return self._compares

    def _chosen(
        self, tool: Tool, tool_arguments: Sequence[ArgumentPlace], rng: Random
    ) -> tuple[dict[str, Any], list[str]]:
        """Values for a call, of what is known; they belong together where a result says so.

        Also the places for which the writer draws a value.
        """
        open_places: list[str] = []
        is_maker = writes(tool) and verb_of(tool, None) == "make"
        real: dict[str, Any] = {}
        taken_values: list[Any] = []
        nested = {
            argument.name for argument in tool_arguments if argument.is_listed and argument.name.count(".")
        }
        count = 2 if len(nested) < 2 and rng.random() < 0.3 else 1
        for argument in tool_arguments:
            values: Sequence[Any] = self._known_values.candidates(tool, argument, rng, taken_values)
            values = [value for value in values if value not in taken_values] or values
            if taken_values and rng.random() < _TOGETHER_SHARE:
                values = self._beside(values, taken_values, is_maker=is_maker)
            values = self._promising(tool, argument, values, rng)
            is_plain = argument.is_required and not argument.is_listed and "." not in argument.name
            is_day_to_come = is_day(argument) and rng.random() < _COMING_SHARE
            if is_plain and (is_day_to_come or not values) and not is_new_text(tool, argument):
                open_places.append(argument.name)  # the value counts as known if the call is accepted
                continue
            if not values or not (argument.is_required or rng.random() < _OPTIONAL_SHARE):
                continue
            chosen = rng.sample(
                values, min(count if argument.is_listed and argument.is_required else 1, len(values))
            )
            real[argument.name] = chosen if argument.is_listed else chosen[0]
            taken_values += chosen
        lists = [value for value in real.values() if isinstance(value, list)]
        shortest = min(map(len, lists), default=0)
        real = {name: value[:shortest] if isinstance(value, list) else value for name, value in real.items()}
        self._order_days(
            [argument.name for argument in tool_arguments if is_day(argument)], real, open_places, rng
        )
        return real, open_places

    def _order_days(
        self, names: Sequence[str], real: dict[str, Any], open_places: Sequence[str], rng: Random
    ) -> None:
        """Give the dates of a call values in the order of its arguments: known ones, or days to come."""
        names = [name for name in names if name in open_places or isinstance(real.get(name), str)]
        days = sorted(str(real.get(name, "")) for name in names)
        if any(name in open_places for name in names):
            day = self._today + timedelta(rng.randrange(2, _LAST_DAY))
            for number in range(len(names)):
                days[number] = day.isoformat()
                day += timedelta(rng.randrange(1, 5))
        real.update(zip(names, days, strict=True))

    def _beside(self, values: Sequence[Any], taken_values: Sequence[Any], *, is_maker: bool) -> Sequence[Any]:
        """The values that one object has with those that are chosen; what is made must not be there yet."""
        together = [
            value
            for value in values
            if all(self._known_values.belong_together(value, taken_value) for taken_value in taken_values)
        ]
        if is_maker and len(taken_values) > 1:
            return [value for value in values if value not in together] or values
        return together or values

    def _promising(
        self, tool: Tool, argument: ArgumentPlace, values: Sequence[Any], rng: Random
    ) -> list[Any]:
        """The candidates that the tool has not refused: mostly new ones that other tools accepted."""
        refused = self._known_values.refused[tool.id, argument.name]
        # A tool that refused two files takes folders.
        kinds = {
            value: self._trials[tool.id, argument.name, self._kind(value)].is_hopeless for value in values
        }
        not_refused = [value for value in values if value not in refused and not kinds[value]] or list(values)
        untried = [
            value for value in not_refused if not self._trials[tool.id, argument.name, repr(value)].accepted
        ] or not_refused
        proven = [value for value in untried if (argument.head, repr(value)) in self._proven]
        return (proven if proven and rng.random() < _PROVEN_SHARE else untried)[:_MOST_CHOICES]

    def _blame(
        self, tool: Tool, tool_arguments: Sequence[ArgumentPlace], real: Arguments, only: Sequence[Any] = ()
    ) -> None:
        """Remember a refusal: of the values that no tool has accepted so far, or else of all."""
        tried_values = [(argument, value) for argument, value in _values_by_place(tool_arguments, real)]
        doubtful = [
            (argument, value)
            for argument, value in tried_values
            if (value in only if only else (argument.head, repr(value)) not in self._proven)
        ]
        for argument, value in doubtful or tried_values:
            self._trials[tool.id, argument.name, repr(value)].refused += 1
            if self._trials[tool.id, argument.name, repr(value)].is_hopeless:
                self._known_values.refused[tool.id, argument.name].add(value)
            self._trials[tool.id, argument.name, self._kind(value)].refused += 1

    def _kind(self, value: Any) -> str:
        return f"kind {self._known_values.kind_of(value)}"

    def _learn_from_refusal(self, tool: Tool, tool_arguments: Sequence[ArgumentPlace], words: str) -> None:
        """Remember the values that a refusal lists, for the arguments that it names, or else for all."""
        listed = allowed_values(Parameter("", "string", words))
        named = [
            argument for argument in tool_arguments if re.search(rf"\b{re.escape(argument.name)}\b", words)
        ]
        for argument in (named or tool_arguments) if listed else ():
            hints = self._known_values.hints[tool.id, argument.name]
            hints += [hint for hint in map(argument.slot.typed, listed) if hint not in hints]

    def _learn(self, tool: Tool, arguments: Arguments, result: CallResult) -> None:
        self._known_values.add(facts_of(tool, arguments, result.value, result.text))
        names = [value for value in arguments.values() if isinstance(value, str)]
        if len(names) == 1:
            self._known_values.add_text(names[0], result.text)
            learn_rows(self._known_values.tables, names[0], result.value)
            table = table_of(names[0], result.value)
            if table is not None and names[0] not in self._known_values.tables:
                self._known_values.tables[names[0]] = table

    def _columns(self, tool: Tool) -> dict[str, list[Any]]:
        """The values of the accepted calls, by argument; calls without a required one that others have go."""
        rows = [accepted.real for accepted in self._accepted[tool.id]]
        required_names = [argument.name for argument in argument_places(tool) if argument.is_required]
        for name in required_names:
            having = [row for row in rows if name in row]
            rows = having if 2 * len(having) >= len(rows) else rows
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: [row.get(name) for row in rows] for name in names}

    async def try_links(
        self, links: Iterable[Dependency], library: ToolLibrary, advance: Callable[[], None] = lambda: None
    ) -> None:
        """Try each link with accepted calls of both tools.

        A link is refuted if several rows fail, none works, and each refusal concerns the argument.

        Args:
            links: The links.
            library: The tools, with the observed schemas.
            advance: Called after each link.

        Raises:
            EnvironmentFailure: The server does not work.
        """
        async with _Shared(self._fresh) as self._reading:
            for link in links:
                source = library[link.source]
                target = library[link.target]
                rows = self._accepted[source.id]
                if link.fields and rows and self._may_call(source) and self._may_call(target):
                    await self._judge_link(link, source, target, rows)
                advance()

    async def _judge_link(
        self, link: Dependency, source: Tool, target: Tool, rows: Sequence[Accepted]
    ) -> None:
        """Try a link with each row and the first item of its result, then with further items."""
        problems: dict[str, str] = {}
        fresh = self._reading if self._reads(source) and self._reads(target) else self._fresh
        is_fresh = self._fresh is self._opened
        has_failed = False
        for number in range(_LINK_TRIES):
            # A source and a target, and the probes.
            if self.observation.calls + 2 + _PROBES > MOST_CALLS or len(problems) >= _FEWEST_TRIALS:
                break
            # Only failures in a fresh process refute a link, but most links work at once.
            is_first = number == 0 and not is_fresh
            item, row = divmod(number if is_fresh or is_first else number - 1, len(rows))
            opened = self._opened if is_first else fresh
            trial = await self._try_link(opened, link, source, target, rows[row], item)
            if trial.verdict == "ran" and item == 0:
                return
            if trial.verdict == "unknown" or is_first:
                continue
            has_failed = True
            if trial.verdict == "wrong":
                problems.setdefault(trial.row or str(number), trial.problem)
            elif item:
                break
            else:
                problems = {}
        if len(problems) >= _FEWEST_TRIALS:
            self.observation.refuted[source.id, target.id] = [*problems.values()][-1]
        elif has_failed:
            self.observation.idle.add((source.id, target.id))

    async def _try_link(
        self,
        opened: OpenExecutor | _Shared,
        link: Dependency,
        source: Tool,
        target: Tool,
        first: Accepted,
        item: int,
    ) -> _LinkTrial:
        """Execute a link once.

        Args:
            opened: The executor.
            link: The link.
            source: The tool that gives the value.
            target: The tool that takes it.
            first: The call of the source.
            item: Number of the item of the result whose value is taken.
        """
        paths = [pair.source.replace(EACH, f"[{item}]", 1) if item else pair.source for pair in link.fields]
        pairs = (pair._replace(source=path) for pair, path in zip(link.fields, paths, strict=True))
        fed_arguments = [fed_argument(pair, 0, source, target) for pair in pairs]
        rows = self._accepted[target.id]
        rng = Random(f"{self._seed} {source.id} {target.id} {item}")
        row = rng.choice(rows) if rows else None
        real = {
            name: value
            for name, value in (row.real if row else {}).items()
            if not any(
                name == argument.place or name.startswith(f"{argument.place}.") for argument in fed_arguments
            )
        }
        shared = {
            pair.target: first.arguments[pair.source]
            for pair in link.shared
            if pair.source in first.arguments
        }
        unknown = _LinkTrial("unknown")
        try:
            drawn = draw_arguments(target, rng, fed=fed_arguments, given={**real, **shared})
        except UnfillableError:
            return unknown
        try:
            async with opened.environment() as environment:
                self.observation.calls += 1
                result = await _answer(environment, source, first.arguments)
                if isinstance(result, Refusal):
                    return unknown  # which says nothing of the target
                try:
                    arguments = resolve_arguments(drawn.arguments, {0: result}, target.input_schema)
                    values = [
                        resolve_arguments({"": argument.value}, {0: result}, None)[""]
                        for argument in fed_arguments
                    ]
                except Unresolvable as error:
                    # A shorter list has no such item; a result without the field is no list of that kind.
                    return unknown if item else _LinkTrial("wrong", _text(first.arguments), str(error))
                for argument, value in zip(fed_arguments, values, strict=True):
                    if problem := self._text_problem(argument, value, target):
                        return _LinkTrial("wrong", "", problem)  # a tool may have no other text
                self.observation.calls += 1
                answer = await _answer(environment, target, arguments)
        except EnvironmentFailure:
            self._failures += 1
            if self._failures >= _MOST_FAILURES:
                raise
            return unknown
        self._failures = 0
        if isinstance(answer, Refusal) or values_with_errors(answer, arguments):
            words = str(answer) if isinstance(answer, Refusal) else answer.text[:200]
            is_about = row is not None and any(
                [
                    await self._is_about(argument, value, words, target, row)
                    for argument, value in zip(fed_arguments, values, strict=True)
                ]
            )
            return _LinkTrial("wrong" if is_about else "refused", _text(values), words)
        return unknown if is_empty(answer) and not writes(target) else _LinkTrial("ran")

    async def _is_about(self, fed: FedArgument, value: Any, words: str, target: Tool, row: Accepted) -> bool:
        """Whether a refusal concerns the argument that a link fills, and not the state of the row it names.

        It does if the schema does not allow the value, if the tool takes folders and the value is a file, or
        if the server answers as to values that do not exist: "the booking is cancelled" is no such answer.
        """
        argument = next(
            (candidate for candidate in argument_places(target) if candidate.name == fed.place), None
        )
        value = value[0] if isinstance(value, list) and value else value
        if argument is None or not isinstance(value, str | int | float):
            return False
        if not argument.slot.allows(value):
            return True
        accepted = [
            accepted_value
            for row in self._accepted[target.id]
            for _, accepted_value in _values_by_place([argument], row.real)
        ]
        kinds = {self._known_values.kind_of(accepted_value) for accepted_value in accepted}
        if self._known_values.kind_of(value):
            return self._known_values.kind_of(value) not in kinds
        if value in accepted:
            return False
        key = target.id, argument.name
        if key not in self._probes and accepted:
            self._probes[key] = {text async for text in self._probed(argument, target, row)}
        return _template(words, value) in self._probes.get(key, ())

    async def _probed(self, argument: ArgumentPlace, target: Tool, row: Accepted) -> AsyncIterator[str]:
        """What a tool says of values that do not exist, with "…" for the value."""
        current = next((current_value for _, current_value in _values_by_place([argument], row.real)), None)
        for number in range(_PROBES):
            rng = Random(f"{self._seed} {target.id} {argument.name} {number}")
            # One in the form of a value that the tool took, one in a form of its own.
            probe = _scrambled(current, rng) if number == 0 else drawn_value(argument.slot, rng)
            if probe is None or self._known_values.is_value(probe):
                continue
            real = {**row.real, argument.name: [probe] if argument.is_listed else probe}
            try:
                arguments = draw_arguments(target, rng, given=real).arguments
                await self._call(
                    target, arguments, self._reading if self._reads(target) else None, is_again=True
                )
            except UnfillableError:
                continue
            except Refusal as error:
                yield _template(str(error), probe)

    def _text_problem(self, fed: FedArgument, value: Any, target: Tool) -> str:
        """What is wrong with a whole text as a value: a server may take "Created a.txt" as a path."""
        schema = target.input_schema or {}
        parts = tuple(0 if part == EACH else part for part in fed.parts)
        kinds = kinds_of(schema_at(parts, schema), schema)
        if "array" in kinds and "string" not in kinds:
            kinds = kinds_of(schema_at((*parts, 0), schema), schema)
        words = frozenset(words_of(fed.name))
        for item in value if isinstance(value, list) and isinstance(fed.value, list) else [value]:
            if (
                "object" not in kinds
                and not self._known_values.is_value(item)
                and not is_plain_value(item, words)
            ):
                text = item if isinstance(item, str) else unescaped_json(item)
                return f"'{fed.name}' takes a value, and the result is a text: {text[:80]}"
        return ""


async def _answer(environment: Environment, tool: Tool, arguments: Arguments) -> CallResult | Refusal:
    """The result of a call, or its refusal as a value."""
    try:
        return await call_tool(environment, tool, arguments)
    except Refusal as error:
        return error


class _Shared(AsyncExitStack):
    """An environment for calls that only read; it is replaced after a failure."""

    def __init__(self, opened: OpenExecutor) -> None:
        super().__init__()
        self._opened = opened
        self._environment: Environment | None = None

    async def call(self, tool: Tool, arguments: Arguments) -> CallResult:
        """Call a tool."""
        async with self.environment() as environment:
            return await call_tool(environment, tool, arguments)

    @asynccontextmanager
    async def environment(self) -> AsyncIterator[Environment]:
        """The environment, for one call or several."""
        if self._environment is None:
            self._environment = await self.enter_async_context(self._opened.environment())
        try:
            yield self._environment
        except EnvironmentFailure:
            self._environment = None
            await self.aclose()
            raise


def _values_by_place(
    tool_arguments: Sequence[ArgumentPlace], real: Arguments
) -> Iterator[tuple[ArgumentPlace, Any]]:
    for argument in tool_arguments:
        value = real.get(argument.name)
        for item in value if isinstance(value, list) else [value]:
            if item is not None:
                yield argument, item


def _scrambled(value: Any, rng: Random) -> Any:
    """A value of the same form that does not exist: "BK-38" for "BK-71"; None for a flag or nothing."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if not isinstance(value, str):
        return value + rng.randrange(10**6, 10**7)
    alphabets = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
    mixed = (
        next((rng.choice(alphabet) for alphabet in alphabets if character in alphabet), character)
        for character in value
    )
    return "".join(mixed)


def _template(words: str, value: Any) -> str:
    """A refusal without the value that it may quote."""
    return words.replace(as_text(value), "…")


def _text(value: Any) -> str:
    return repr(sorted(value.items())) if isinstance(value, Mapping) else repr(value)

"""Calls the tools of a server to learn which values they accept, what they return and which links work."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from random import Random
from typing import Any

from toolassay.executors.executor import CallResult, Environment, EnvironmentFailure, OpenExecutor, Refusal
from toolassay.executors.references import Unresolvable, resolve_arguments
from toolassay.graph import Dependency
from toolassay.graph.derive.fields import verb_of
from toolassay.live_values.candidates import Known, Place, places_of
from toolassay.live_values.facts import facts_of
from toolassay.live_values.observed_schemas import schema_of_results
from toolassay.offline.fed_arguments import FedArgument, fed_argument
from toolassay.offline.own_tools.arguments import UnfillableError, draw_arguments
from toolassay.tools import Tool, ToolLibrary

MOST_CALLS = 1_500
"""Calls of a whole collection, trials of links included."""
_ROUNDS = 3  # what one reading tool returns, the next takes
_TRIES = 12  # calls of a tool in a round
_MOST_ROWS = 24  # accepted calls that are kept of a tool
_MOST_CHOICES = 30  # candidates among which a call chooses
_LINK_TRIES = 4
_KNOWN_SHARE = 0.9  # of the calls take a known value for a required argument
_OPTIONAL_SHARE = 0.3
_PROVEN_SHARE = 0.7  # of the calls take a value that some tool accepted
_MOST_REFUSALS = 2  # of a value by a tool
_FEWEST_TRIALS = 2  # failed ones that refute a link
# What a search says that finds nothing: "No matches found", "0 results"; not "No. 7".
_NOTHING = re.compile(r"\s*(?:no|0)\s+(?:\w+\s+){0,2}(?:found|match\w*|results?|changes?)\b.*", re.IGNORECASE)


@dataclass(frozen=True)
class Accepted:
    """A call that a tool accepted.

    Attributes:
        real: The values by which it was made, by place; a list for the items of a list.
        arguments: All arguments.
        result: What it returned.
    """

    real: Mapping[str, Any]
    arguments: Mapping[str, Any]
    result: CallResult


@dataclass
class Observation:
    """What was learnt of a server.

    Attributes:
        values: `{tool: {argument: [value, …]}}`: columns of accepted calls, null where a call has no value.
        schemas: Schemas of results of tools that declare none, by tool.
        refuted: Links that no trial got to work, each with the words of the last refusal.
        calls: Number of calls that were made.
        unusable: Tools of which no call was accepted, with the words of the last refusal.
    """

    values: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    schemas: dict[str, dict[str, Any]] = field(default_factory=dict)
    refuted: dict[tuple[str, str], str] = field(default_factory=dict)
    calls: int = 0
    unusable: dict[str, str] = field(default_factory=dict)


class Collector:
    """Collects values with an executor that is open.

    Tools that only read are called wherever the server is. The others, and those that a server does not mark,
    are called only on a copy that is thrown away, and only with consent.

    Args:
        opened: The executor.
        library: The tools.
        known: What is known before: the paths of the workspace.
        allow_writes: Consent to calling tools that are not marked read-only.
        seed: Random seed.
    """

    def __init__(
        self,
        opened: OpenExecutor,
        library: ToolLibrary,
        known: Known,
        *,
        allow_writes: bool,
        seed: int,
    ) -> None:
        self._opened, self._library, self._known = opened, library, known
        self._allow_writes, self._seed = allow_writes, seed
        self._accepted: dict[str, list[Accepted]] = {tool.id: [] for tool in library}
        # How often each value was accepted less how often it was refused: by tool ("" for all) and argument.
        self._credit: dict[tuple[str, str, str], int] = defaultdict(int)
        self.observation = Observation()
        may_call = [tool for tool in library if self._may_call(tool)]
        self._readers = [tool for tool in may_call if self._reads(tool)]
        self._writers = [tool for tool in may_call if tool not in self._readers]

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
                if turn == 0 or not self._accepted[tool.id]:
                    await self._try(tool, turn, None)
                advance()
        made = self.observation
        made.values = {name: columns for name in self._accepted if (columns := self._columns(name))}
        for tool in self._library:
            results = [one.result.value for one in self._accepted[tool.id]]
            structured = [value for value in results if isinstance(value, dict | list) and value]
            if tool.output_schema is None and structured and len(structured) == len(results):
                made.schemas[tool.id] = schema_of_results(structured)
        return made

    async def _try(self, tool: Tool, turn: int, shared: _Shared | None) -> None:
        """Call a tool several times, each time with other values."""
        places = places_of(tool)
        seen = {_text(one.real) for one in self._accepted[tool.id]}
        for number in range(_TRIES):
            if len(self._accepted[tool.id]) >= _MOST_ROWS or self.observation.calls >= MOST_CALLS:
                return
            rng = Random(f"{self._seed} {tool.id} {turn} {number}")
            real = self._chosen(tool, places, rng)
            if (places and real and _text(real) in seen) or (not places and self._accepted[tool.id]):
                continue
            try:
                drawn = draw_arguments(tool, rng, real=real)
            except UnfillableError:
                continue
            try:
                result = await self._call(tool, drawn.arguments, shared)
            except Refusal as error:
                self._count(tool, real, -1)
                if not self._accepted[tool.id]:
                    self.observation.unusable[tool.id] = str(error)
                continue
            if tool in self._readers:  # what a writer made is gone with its copy
                self._learn(tool, drawn.arguments, result)
            self._count(tool, real, 1)
            if not is_empty(result):
                seen.add(_text(real))
                self._accepted[tool.id].append(Accepted(real, drawn.arguments, result))
                self.observation.unusable.pop(tool.id, None)

    async def _call(self, tool: Tool, arguments: Mapping[str, Any], shared: _Shared | None) -> CallResult:
        self.observation.calls += 1
        if shared is not None:
            return await shared.call(tool, arguments)
        async with self._opened.environment() as environment:
            return await environment.call(tool, arguments)

    def _chosen(self, tool: Tool, places: Sequence[Place], rng: Random) -> dict[str, Any]:
        """Values for a call: of what is known, and of some optional arguments that take any value."""
        real: dict[str, Any] = {}
        for place in places:
            candidates = self._promising(tool, place, self._known.candidates(tool, place, rng), rng)
            if candidates and rng.random() < (_KNOWN_SHARE if place.is_required else _OPTIONAL_SHARE):
                count = rng.choice((1, 1, 2)) if place.is_listed and place.is_required else 1
                chosen = rng.sample(candidates, min(count, len(candidates)))
                real[place.name] = chosen if place.is_listed else chosen[0]
        if rng.random() < 0.4:
            real |= self._free(tool, places, rng)
        lists = [value for value in real.values() if isinstance(value, list)]
        shortest = min(map(len, lists), default=0)
        return {name: value[:shortest] if isinstance(value, list) else value for name, value in real.items()}

    def _promising(self, tool: Tool, place: Place, values: Sequence[Any], rng: Random) -> list[Any]:
        """The candidates that the tool has not refused, mostly those accepted under this name elsewhere."""
        left = [one for one in values if self._credit[tool.id, place.name, repr(one)] > -_MOST_REFUSALS]
        good = [one for one in left if self._credit["", place.name, repr(one)] > 0]
        if good and rng.random() < _PROVEN_SHARE:
            return good[:_MOST_CHOICES]
        first = left[: max(1, len(left) // 2)] if rng.random() < 0.5 else left
        return first[:_MOST_CHOICES]

    def _count(self, tool: Tool, real: Mapping[str, Any], change: int) -> None:
        """Remember that a call with these values was accepted or refused."""
        for name, value in real.items():
            for one in value if isinstance(value, list) else [value]:
                for owner in ("", tool.id):
                    self._credit[owner, name, repr(one)] += change

    def _free(self, tool: Tool, places: Sequence[Place], rng: Random) -> dict[str, Any]:
        """Optional numbers, flags and choices as the writer draws them."""
        simple = {
            place.name
            for place in places
            if not place.is_required
            and not place.is_listed
            and (place.slot.keywords.type != "string" or place.slot.is_closed)
        }
        try:
            drawn = draw_arguments(tool, rng).arguments
        except UnfillableError:
            return {}
        return {name: value for name, value in drawn.items() if name in simple}

    def _learn(self, tool: Tool, arguments: Mapping[str, Any], result: CallResult) -> None:
        self._known.add(facts_of(tool, arguments, result.value, result.text))
        columns = list(_columns_of_table(result.value))
        names = [value for value in arguments.values() if isinstance(value, str)]
        if columns and len(names) == 1:
            self._known.columns[names[0]] = columns

    def _columns(self, name: str) -> dict[str, list[Any]]:
        rows = [one.real for one in self._accepted[name]]
        names = dict.fromkeys(place for row in rows for place in row)
        return {place: [row.get(place) for row in rows] for place in names}

    async def try_links(
        self, links: Iterable[Dependency], library: ToolLibrary, advance: Callable[[], None] = lambda: None
    ) -> None:
        """Try each link with accepted calls of both tools; what no trial gets to work is refuted.

        Args:
            links: The links.
            library: The tools, with the observed schemas.
            advance: Called after each link.

        Raises:
            EnvironmentFailure: The server does not work.
        """
        for link in links:
            source, target = library[link.source], library[link.target]
            if (
                link.fields
                and self._accepted[source.id]
                and self._may_call(source)
                and self._may_call(target)
            ):
                failures: list[str] = []
                for number in range(_LINK_TRIES):
                    rng = Random(f"{self._seed} {source.id} {target.id} {number}")
                    problem = await self._try_link(link, source, target, rng)
                    if problem is None or self.observation.calls >= MOST_CALLS:
                        failures = []
                        break
                    failures += [problem] if problem else []
                if len(failures) >= _FEWEST_TRIALS:
                    self.observation.refuted[source.id, target.id] = failures[-1]
            advance()

    async def _try_link(self, link: Dependency, source: Tool, target: Tool, rng: Random) -> str | None:
        """Why a trial of a link failed, empty if it could not be made; None if it worked."""
        first = rng.choice(self._accepted[source.id])
        fed = [fed_argument(pair, 0, source, target) for pair in link.fields]
        rows = self._accepted[target.id]
        real = _without(rng.choice(rows).real if rows else {}, fed)
        shared = {
            pair.target: first.arguments[pair.source]
            for pair in link.shared
            if pair.source in first.arguments
        }
        try:
            drawn = draw_arguments(target, rng, fed=fed, real=real | shared)
        except UnfillableError:
            return ""
        self.observation.calls += 2
        async with self._opened.environment() as environment:
            try:
                result = await environment.call(source, first.arguments)
                arguments = resolve_arguments(drawn.arguments, {0: result}, target.input_schema)
                await environment.call(target, arguments)
            except (Refusal, Unresolvable) as error:
                return str(error)
        return None


class _Shared:
    """An environment for calls that only read; it is replaced after a failure, a few times."""

    _MOST_FAILURES = 5

    def __init__(self, opened: OpenExecutor) -> None:
        self._opened = opened
        self._stack = AsyncExitStack()
        self._environment: Environment | None = None
        self._failures = 0

    async def __aenter__(self) -> _Shared:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    async def call(self, tool: Tool, arguments: Mapping[str, Any]) -> CallResult:
        """Call a tool; a failure counts as a refusal, until there are too many."""
        if self._environment is None:
            self._environment = await self._stack.enter_async_context(self._opened.environment())
        try:
            return await self._environment.call(tool, arguments)
        except EnvironmentFailure as error:
            self._failures += 1
            self._environment = None
            await self._stack.aclose()
            self._stack = AsyncExitStack()
            if self._failures >= self._MOST_FAILURES:
                raise
            raise Refusal(str(error)) from None


def is_empty(result: CallResult) -> bool:
    """Whether a call found nothing.

    >>> is_empty(CallResult.of({"entities": []})), is_empty(CallResult.of("No matches found"))
    (True, True)
    >>> is_empty(CallResult.of(0))
    False
    """
    value = result.value
    if isinstance(value, dict) and len(value) == 1 and isinstance(only := next(iter(value.values())), str):
        value = only
    if isinstance(value, dict):
        return all(item in ([], {}, "", None) for item in value.values())
    return value in ([], "", None) or (isinstance(value, str) and _NOTHING.fullmatch(value) is not None)


def _columns_of_table(value: Any) -> Iterator[tuple[str, str]]:
    """Name and type of each column, if a result describes a table."""
    rows = value if isinstance(value, list) else []
    for row in rows:
        if isinstance(row, dict) and isinstance(row.get("name"), str) and isinstance(row.get("type"), str):
            yield row["name"], row["type"]


def _without(real: Mapping[str, Any], fed: Sequence[FedArgument]) -> dict[str, Any]:
    """Values without those of places that are fed."""
    places = {one.place for one in fed}
    return {
        name: value
        for name, value in real.items()
        if not any(name == place or name.startswith(f"{place}.") for place in places)
    }


def _text(value: Any) -> str:
    return repr(sorted(value.items())) if isinstance(value, Mapping) else repr(value)

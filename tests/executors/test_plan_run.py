"""Running plans: tries, what is repeated after a failure, and what a run records beside results."""

from __future__ import annotations

import asyncio
import random
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.plan_runs import WRITES, library_of, planned, run_with
from toolassay.executors.executor import (
    CallResult,
    Environment,
    EnvironmentFailure,
    OpenExecutor,
    Refusal,
    State,
)
from toolassay.executors.plan_run import (
    TRIES,
    ExecutionWork,
    PlannedItem,
    RunRules,
    run_plan,
    run_plans,
    with_mistake,
)
from toolassay.plans.execution_record import ExecutedCall
from toolassay.runs.journal import Journal
from toolassay.runs.runner import Loop
from toolassay.tools.library import Parameter, Tool

Answer = Callable[[str, Mapping[str, Any], int], Any]


class Shop(OpenExecutor):
    """A shelf in memory, with faults: `answer` is asked for each call and may raise."""

    def __init__(
        self, *, isolated: bool = True, answer: Answer | None = None, has_state: bool = True
    ) -> None:
        self.is_isolated, self.answer, self.has_state = isolated, answer, has_state
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.shelf: dict[str, Any] = {"oak": 1}
        self.open = 0
        self.environments = 0

    @asynccontextmanager
    async def environment(self) -> AsyncIterator[Environment]:
        self.environments += 1
        self.open += 1
        try:
            yield Shelf(self, dict(self.shelf) if self.is_isolated else self.shelf)
        finally:
            self.open -= 1

    def is_read_only(self, tool: Tool) -> bool:
        return tool.id == "read"

    def is_idempotent(self, tool: Tool) -> bool:
        return tool.id in ("read", "put")

    def missing(self, tool: Tool) -> str:
        return "" if tool.id in ("read", "put", "add") else f"no {tool.id}"


class Shelf:
    """An environment of the shop."""

    def __init__(self, shop: Shop, things: dict[str, Any]) -> None:
        self._shop, self._things = shop, things

    async def call(self, tool: Tool, arguments: Mapping[str, Any]) -> CallResult:
        self._shop.calls.append((tool.id, dict(arguments)))
        if self._shop.answer is not None:
            answer = self._shop.answer(tool.id, arguments, len(self._shop.calls))
            if asyncio.iscoroutine(answer):
                answer = await answer
            if answer is not None:
                return CallResult.of(answer)
        name = arguments.get("name")
        if not isinstance(name, str) or (tool.id == "read" and name not in self._things):
            raise Refusal(f"there is no {name}")
        if tool.id == "put":
            self._things[name] = arguments.get("value")
        elif tool.id == "add":
            self._things[name] = self._things.get(name, 0) + 1
        return CallResult.of({"name": name, "value": self._things[name]})

    async def state(self) -> State | None:
        return dict(self._things) if self._shop.has_state else None


def failing(*numbers: int, error: type[Exception] = EnvironmentFailure) -> Answer:
    """An answer that fails in the calls with these numbers, from 1."""

    def answer(tool: str, arguments: Mapping[str, Any], number: int) -> None:
        if number in numbers:
            raise error(f"call {number} hangs")

    return answer


READ, PUT, ADD = (("read", {"name": "oak"}), ("put", {"name": "elm", "value": 2}), ("add", {"name": "ash"}))


async def ran(shop: Shop, path: Path, *items: PlannedItem, rules: RunRules = WRITES, **more: Any) -> Any:
    """Run plans; the execution of the first one."""
    done = await run_with(shop, path / "journal.jsonl", items, rules=rules, **more)
    assert shop.open == 0
    return done[items[0].id]


async def test_alternatives_change_nothing_that_lasts(tmp_path: Path) -> None:
    writing, reading = planned("w", ADD), planned("r", READ)
    outcomes = {}
    for is_isolated in (True, False):
        shop = Shop(isolated=is_isolated)
        work = ExecutionWork(shop, "test", library_of([writing, reading]), WRITES).for_alternatives()
        with Journal(tmp_path / f"{is_isolated}.jsonl") as journal:
            done = [await run_plan(work, item, journal) for item in (writing, reading)]
        outcomes[is_isolated] = [execution.outcome for execution in done]
        assert shop.shelf == {"oak": 1}
    assert outcomes == {True: ["ran", "ran"], False: ["not_allowed", "ran"]}


# What a run records


@pytest.mark.parametrize("result", [{"error": "sold out"}, {"success": False}, "Error: sold out"])
async def test_a_result_that_reports_an_error_is_a_refused_call(result: Any, tmp_path: Path) -> None:
    shop = Shop(answer=lambda tool, arguments, number: result if number == 2 else None)
    done = await ran(shop, tmp_path, planned("r", READ, PUT, ADD))
    assert (done.outcome, [call.result is None for call in done.calls]) == ("failed", [False, True])
    assert done.calls[1].error in done.reason and str(done.calls[1].error) == CallResult.of(result).text


async def test_calls_results_answer_and_state_are_recorded(tmp_path: Path) -> None:
    item = planned("r", READ, ("put", {"name": "elm", "value": "<node-0>.value"}), ADD)
    done = await ran(Shop(), tmp_path, item)
    assert (done.outcome, done.executor, done.plan) == ("ran", "test", item.fingerprint)
    assert [(call.node, call.tool, call.result) for call in done.calls] == [
        (0, "read", {"name": "oak", "value": 1}),
        (1, "put", {"name": "elm", "value": 1}),
        (2, "add", {"name": "ash", "value": 1}),
    ]
    assert done.calls[1].arguments == {"name": "elm", "value": 1}
    assert done.answer == ({"name": "elm", "value": 1}, {"name": "ash", "value": 1})
    assert (done.state_before.places, done.state_after.places) == (1, 3)
    assert done.changes == {"ash": {"before": None, "after": 1}, "elm": {"before": None, "after": 1}}
    assert done.varies is done.wrong_call is None


async def test_an_unresolvable_reference_and_a_refusal_fail_the_plan(tmp_path: Path) -> None:
    unresolvable = planned("u", READ, ("add", {"name": "<node-0>.none"}), ADD)
    refused = planned("r", ADD, ("read", {"name": "yew"}), ADD)
    unparsed = PlannedItem("p", None, "calls depend on each other")
    shop = Shop()
    done = await run_with(shop, tmp_path / "journal.jsonl", [unresolvable, refused, unparsed])
    assert {name: (one.outcome, one.reason) for name, one in done.items()} == {
        "u": ("failed", "call 1 (add): the result of call 0 has no 'none'"),
        "r": ("failed", "call 1 (read): there is no yew"),
        "p": ("failed", "calls depend on each other"),
    }
    assert [call.tool for call in done["u"].calls] == ["read"]
    assert done["r"].changes == {"ash": {"before": None, "after": 1}} and done["r"].answer == ()
    assert len(shop.calls) == 3


async def test_missing_tools_and_missing_consent_call_nothing(tmp_path: Path) -> None:
    shop, items = Shop(), [planned(0, READ, ("dig", {})), planned(1, READ, PUT), planned(2, READ)]
    done = await run_with(shop, tmp_path / "journal.jsonl", items, rules=RunRules())
    assert [(one.outcome, one.reason) for one in done.values()] == [
        ("failed", "no dig"),
        ("not_allowed", "'put' is not marked read-only"),
        ("ran", ""),
    ]
    assert shop.calls == [READ]


# Failures


@pytest.mark.parametrize("isolated", [True, False])
async def test_a_plan_without_a_result_is_tried_again_in_a_new_environment(
    tmp_path: Path, isolated: bool
) -> None:
    item = planned("r", ADD, ("read", {"name": "ash"}), PUT)
    shop = Shop(isolated=isolated, answer=failing(2))
    done = await ran(shop, tmp_path, item)
    assert done.outcome == "ran"
    # A fresh copy needs all calls again; elsewhere a second `add` would change more.
    again = [ADD, ("read", {"name": "ash"}), PUT] if isolated else [("read", {"name": "ash"}), PUT]
    assert shop.calls == [ADD, ("read", {"name": "ash"}), *again]
    assert done.calls[1].result == {"name": "ash", "value": 1}
    assert shop.environments == 2


async def test_after_some_tries_there_is_no_result_and_the_next_start_goes_on(tmp_path: Path) -> None:
    shop = Shop(isolated=False, answer=failing(*range(2, 2 + TRIES)))
    item = planned("r", ADD, ("read", {"name": "ash"}))
    done = await ran(shop, tmp_path, item)
    assert (done.outcome, done.reason) == ("provider_error", f"call {1 + TRIES} hangs")
    assert [call.tool for call in done.calls] == ["add"]
    assert len(shop.calls) == 1 + TRIES
    again = await ran(shop, tmp_path, item)
    assert again.outcome == "ran"
    assert [call.result for call in again.calls] == [{"name": "ash", "value": 1}] * 2
    assert [tool for tool, _ in shop.calls].count("add") == 1
    # The end is final: nothing is called again.
    count = len(shop.calls)
    assert await ran(shop, tmp_path, item) == again
    assert len(shop.calls) == count


async def test_a_write_without_a_result_is_in_doubt_where_effects_last(tmp_path: Path) -> None:
    shop = Shop(isolated=False, answer=failing(2))
    item = planned("r", READ, ADD, READ)
    done = await ran(shop, tmp_path, item)
    assert done.outcome == "in_doubt"
    assert done.reason == "whether call 1 (add) took effect is unknown, and it is not marked idempotent"
    assert [call.tool for call in done.calls] == ["read"]
    assert (await ran(shop, tmp_path, item)).outcome == "in_doubt"
    assert shop.calls == [READ, ADD]

    # Another plan for the request is another plan.
    assert (await ran(shop, tmp_path, planned("r", ADD))).outcome == "ran"


async def test_a_server_that_is_gone_stops_the_run(tmp_path: Path) -> None:
    shop = Shop(answer=failing(*range(10_000)))
    items = [planned(number, READ) for number in range(40)]
    with Journal(tmp_path / "journal.jsonl") as journal:
        work, loop = ExecutionWork(shop, "test", library_of(items), WRITES), Loop(1)
        await run_plans(work, items, journal, loop)
    assert loop.summary.outcomes == {"provider_error": 8, "not run": 32}
    assert (loop.summary.stop or "").startswith("8 plans in a row have no result; the last: call ")


# Interrupts


async def test_a_run_that_is_cut_off_anywhere_repeats_no_write(tmp_path: Path) -> None:
    item = planned("r", READ, ADD, PUT)
    await ran(Shop(isolated=False), tmp_path, item)
    whole = (tmp_path / "journal.jsonl").read_bytes()
    lines = whole.splitlines(keepends=True)
    assert len(lines) == 7  # each call, its result, the end
    for length in sorted({len(b"".join(lines[:n])) + torn for n in range(8) for torn in (0, 40)}):
        (tmp_path / "journal.jsonl").write_bytes(whole[:length])
        complete = whole[:length].count(b"\n")
        shop = Shop(isolated=False)
        done = await ran(shop, tmp_path, item)
        # Calls 0 and 2 are idempotent: they are made again unless their result is known.
        wanted = {3: []}.get(complete, [READ, ADD, PUT][complete // 2 :])
        assert (done.outcome, shop.calls) == ("in_doubt" if complete == 3 else "ran", wanted)
        assert shop.environments == (complete not in (3, 7))


async def test_a_call_that_must_not_be_repeated_is_on_the_disk_before_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, synced = tmp_path / "journal.jsonl", [0]
    monkeypatch.setattr("os.fsync", lambda descriptor: synced.append(path.stat().st_size))

    def answer(tool: str, arguments: Mapping[str, Any], number: int) -> None:
        assert (synced[-1] == path.stat().st_size) == (tool == "add")

    assert (await ran(Shop(isolated=False, answer=answer), tmp_path, planned("r", READ, ADD, PUT))).calls
    synced[:] = [0]
    await run_with(Shop(answer=lambda *_: None), path, [planned("isolated", ADD)])
    assert synced == [0]


async def test_an_isolated_plan_that_was_cut_off_runs_again_from_its_first_call(tmp_path: Path) -> None:
    item = planned("r", ADD, PUT)
    await ran(Shop(), tmp_path, item)
    lines = (tmp_path / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "journal.jsonl").write_bytes(b"".join(lines[:3]))
    shop = Shop()
    assert (await ran(shop, tmp_path, item)).outcome == "ran"
    assert shop.calls == [ADD, PUT]


@pytest.mark.parametrize(("tool", "calls"), [(ADD, 1), (PUT, 2)])
async def test_ctrl_c_waits_for_a_call_that_must_not_be_repeated(
    tmp_path: Path, tool: tuple[str, dict[str, Any]], calls: int
) -> None:
    async def slow(number: int) -> None:
        if number == 1:
            signal.raise_signal(signal.SIGINT)
            await asyncio.sleep(0.05)

    shop = Shop(isolated=False, answer=lambda tool, arguments, number: slow(number))
    item = planned("r", tool, READ)
    with pytest.raises(KeyboardInterrupt):
        await ran(shop, tmp_path, item)
    assert shop.open == 0 and len(shop.calls) == 1  # no further call is made
    assert (await ran(shop, tmp_path, item)).outcome == "ran"
    assert [name for name, _ in shop.calls].count(tool[0]) == calls


async def test_an_error_of_our_own_ends_the_run_and_all_environments(tmp_path: Path) -> None:
    def answer(tool: str, arguments: Mapping[str, Any], number: int) -> Any:
        if number == 2:
            raise ZeroDivisionError
        return asyncio.sleep(30)

    shop = Shop(answer=answer)
    with pytest.raises(ZeroDivisionError):
        await run_with(shop, tmp_path / "journal.jsonl", [planned(1, READ), planned(2, READ)])
    assert shop.open == 0


# Wrong calls


async def wrong_calls(path: Path, seed: int, share: float = 1, **more: Any) -> dict[Any, ExecutedCall | None]:
    tools = [
        Tool(name, parameters=(Parameter("name", required=True), Parameter("value")), input_schema=schema)
        for name in ("read", "put", "add")
        for schema in [{"type": "object", "required": ["name"]}]
    ]
    items = [planned(number, READ, ("read", {"name": "<node-0>.name"}), PUT) for number in range(30)]
    rules = RunRules(allow_writes=True, wrong_calls=share, seed=seed)
    shop = Shop(**more)
    done = await run_with(shop, path / "journal.jsonl", items, rules=rules, tools=tools)
    assert {one.outcome for one in done.values()} == {"ran"}
    return {name: one.wrong_call for name, one in done.items()}


def plain(calls: Mapping[Any, ExecutedCall | None]) -> list[Any]:
    return [call and (call.node, call.arguments, call.error) for call in calls.values()]


async def test_wrong_calls_depend_on_the_seed_alone(tmp_path: Path) -> None:
    first = await wrong_calls(tmp_path / "a", 3)
    assert plain(first) == plain(await wrong_calls(tmp_path / "b", 3))
    assert plain(first) != plain(await wrong_calls(tmp_path / "c", 4))
    found = [call for call in first.values() if call]
    assert len(found) > 20
    for call in found:
        assert call.error and call.error.startswith("there is no ") and call.result is None
        assert call.arguments != {"name": "oak"}


@given(
    arguments=st.dictionaries(
        st.sampled_from("abc"),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False)
        | st.text()
        | st.lists(st.text()),
        min_size=1,
    ),
    seed=st.integers(),
)
def test_a_mistake_changes_one_argument(arguments: dict[str, Any], seed: int) -> None:
    tool = Tool(
        "t",
        parameters=tuple(Parameter(name, required=name == "a") for name in "abc"),
        input_schema={"type": "object", "required": ["a"]},
    )
    before = repr(arguments)
    changed = with_mistake(arguments, tool, random.Random(seed))
    assert repr(arguments) == before
    assert repr(with_mistake(arguments, tool, random.Random(seed))) == repr(changed)
    if changed is None:
        return
    missing = set(arguments) - set(changed)
    other = {name for name in changed if changed[name] != arguments[name]}
    assert missing <= {"a"}
    assert len(missing | other) == 1
    assert list(changed) == [name for name in arguments if name not in missing]


def remembering() -> Answer:
    """Results that count the calls of `add` in all plans."""
    added: list[str] = []

    def answer(tool: str, arguments: Mapping[str, Any], number: int) -> Any:
        added.extend(["ash"] if tool == "add" else [])
        return {"added": len(added)} if tool == "add" else None

    return answer


@pytest.mark.parametrize(
    ("isolated", "plans", "affected"),
    [
        (True, [[READ], [READ], [ADD], [ADD], [ADD, READ]], 0),
        (False, [[READ], [READ, READ]], 0),
        (False, [[READ], [ADD], [READ], [READ]], 2),
        # The copy is restored, and the shelf remembers: the same calls from the start give another result.
        (None, [[ADD], [READ], [ADD, READ], [READ], [ADD]], 2),
    ],
)
async def test_plans_that_see_what_others_left_are_counted(
    tmp_path: Path, isolated: bool | None, plans: list[Any], affected: int
) -> None:
    shop = Shop(isolated=isolated is True, answer=None if isolated is not None else remembering())
    shop.is_isolated, shop.is_shared = isolated is not False, isolated is not True
    items = [planned(number, *calls) for number, calls in enumerate(plans)]
    with Journal(tmp_path / "journal.jsonl") as journal:
        work = ExecutionWork(shop, "test", library_of(items), WRITES)
        await run_plans(work, items, journal, Loop(1))
    assert len(work.affected) == affected

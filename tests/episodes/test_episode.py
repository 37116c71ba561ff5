"""The one loop of agents, with a model that follows a script."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from tests.support.answering import Scripted, ask_of
from toolassay.episodes.call_formats import call_format
from toolassay.episodes.episode import EpisodeLimits, Trajectory, episode
from toolassay.models import ChatResponse, ModelError, ToolCall
from toolassay.runs.items import OVERFLOW

START = [{"role": "system", "content": "Help."}, {"role": "user", "content": "Do it."}]


def wants(*names: str, seconds: float = 1.0) -> ChatResponse:
    calls = tuple(ToolCall(f"c{place}", name, "{}") for place, name in enumerate(names))
    return ChatResponse("", "tool_calls", 10, 2, tool_calls=calls, seconds=seconds)


def followed(
    *says: ChatResponse | ModelError, limits: EpisodeLimits | None = None, results: bool = True
) -> tuple[Trajectory, Scripted]:
    model = Scripted(*says)

    async def carry(asked: Sequence[ToolCall]) -> list[str]:
        return [f"did {call.name}" for call in asked]

    made = asyncio.run(
        episode(
            START,
            [],
            ask_of(model),
            carry if results else None,
            limits or EpisodeLimits(),
            call_format("native"),
            {"temperature": 0},
            after_restart={"temperature": 1},
        )
    )
    return made, model


def test_an_episode_ends_with_a_final_answer_and_counts_what_it_used() -> None:
    made, model = followed(wants("a", "b"), wants("c"))
    assert [(call.name, call.result) for call in made.calls] == [(name, f"did {name}") for name in "abc"]
    assert (made.outcome, made.answer, made.steps, made.limit) == ("answered", "Done.", 3, None)
    assert (made.prompt_tokens, made.completion_tokens, made.seconds) == (20, 4, 2.0)
    roles = [one["role"] for one in model.asked[-1].messages[2:]]
    assert roles == ["assistant", "tool", "tool", "assistant", "tool"]


def test_calls_without_results_end_an_episode_with_the_first_answer() -> None:
    made, model = followed(wants("a", "b"), results=False)
    assert [call.name for call in made.calls] == ["a", "b"] and len(model.asked) == 1
    assert {call.result for call in made.calls} == {""} and made.outcome == "answered"


def test_a_context_overflow_keeps_the_calls() -> None:
    made, _ = followed(wants("a"), ModelError("too long", outcome=OVERFLOW))
    assert (made.outcome, made.problem, [call.name for call in made.calls]) == (OVERFLOW, "too long", ["a"])


def test_limits_are_named_and_the_time_left_is_sent() -> None:
    made, model = followed(*[wants("a")] * 9, limits=EpisodeLimits(steps=2))
    assert (made.limit, made.steps) == ("steps", 2)
    made, model = followed(*[wants("a", seconds=3.0)] * 9, limits=EpisodeLimits(seconds=5.0))
    assert (made.limit, [request.timeout for request in model.asked]) == ("time", [5.0, 2.0])


def test_only_an_episode_without_calls_starts_again() -> None:
    made, model = followed(ChatResponse("Sorry."), wants("a"), limits=EpisodeLimits(restarts=1))
    assert made.outcome == "answered" and [call.name for call in made.calls] == ["a"]
    assert [request.parameters["temperature"] for request in model.asked] == [0, 1, 1]
    assert len(model.asked[1].messages) == 2

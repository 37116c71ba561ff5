"""One conversation of an agent: it answers and gets the results of its calls, until done or at a limit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any, Literal

import msgspec

from toolassay.episodes.call_formats import AgentTool, CallFormat, Message
from toolassay.files.data_files import readable
from toolassay.models import ChatRequest, ChatResponse, ModelError, ToolCall
from toolassay.models.errors import TIME_LIMIT
from toolassay.models.wire_format import change_texts
from toolassay.runs.items import OVERFLOW, Ask

MOST_CALLS = 100
"""Maximum number of calls in one answer; further ones fail."""
_TOO_MANY = f"Error: not carried out: more than {MOST_CALLS} calls in one answer"

LONGEST_RESULT = 40_000
"""Maximum characters of one result in a conversation."""


def shown_result(text: str) -> str:
    """A result as an agent sees it; the end of a long one is cut off."""
    return text if len(text) <= LONGEST_RESULT else f"{text[:LONGEST_RESULT]} … (cut off; search for less)"


Carry = Callable[[Sequence[ToolCall]], Awaitable[Sequence[str]]]
"""Makes the calls of one answer, through `Ask`, which records each result; gives the results as text."""


class EpisodeLimits(msgspec.Struct, frozen=True):
    """Limits of an episode.

    Attributes:
        steps: maximum number of the model's answers.
        seconds: maximum sum of the answers' times, in seconds; tool calls do not count.
        restarts: how many times an episode that ends without any call is started again.
    """

    steps: int = 20
    seconds: float = 120.0
    restarts: int = 0


class MadeCall(msgspec.Struct, frozen=True):
    """A call as the model wrote it, its result as the model saw it, and the number of the answer."""

    name: str
    arguments: str
    result: str
    step: int = 0


class Trajectory(msgspec.Struct):
    """What happened in an episode.

    Attributes:
        messages: the conversation as recorded, answers of the model included.
        calls: the calls in the order in which they were made.
        outcome: answered, malformed, refused or "context overflow".
        answer: the final answer; the last one if it is no final answer.
        limit: the limit that ended it, if one did.
        problem: the message of the server about a context overflow.
        steps: number of answers.
        seconds: sum of their times.
        prompt_tokens: sum over the answers for which the server reported them.
        completion_tokens: likewise.
        is_cut_off: whether the last answer ended at a token limit.
    """

    messages: list[Message]
    calls: list[MadeCall] = []
    outcome: str = "answered"
    answer: str = ""
    limit: Literal["steps", "time"] | None = None
    problem: str = ""
    steps: int = 0
    seconds: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    is_cut_off: bool = False

    def ended(self, outcome: str, answer: str = "") -> Trajectory:
        """The same trajectory, with how it ended."""
        self.outcome = outcome
        self.answer = answer
        return self

    def count(self, response: ChatResponse) -> None:
        """Count an answer."""
        self.steps += 1
        self.seconds += response.seconds or 0.0
        self.prompt_tokens += response.prompt_tokens or 0
        self.completion_tokens += response.completion_tokens or 0
        self.is_cut_off = response.is_cut_off


async def episode(
    messages: Sequence[Message],
    tools: Sequence[AgentTool],
    ask: Ask,
    carry: Carry | None,
    limits: EpisodeLimits,
    form: CallFormat,
    parameters: Mapping[str, Any],
    *,
    after_restart: Mapping[str, Any] | None = None,
    task: Callable[[Sequence[str]], Any] = lambda results: None,
) -> Trajectory:
    """Let a model work on a request with tools.

    Args:
        messages: the system message and the request.
        tools: the tools that are offered.
        ask: gives the answers of the model.
        carry: makes calls; None ends the episode with the first answer, whose calls have no results.
        limits: of the episode.
        form: how calls are written.
        parameters: of the requests, besides the tools.
        after_restart: parameters of requests after a restart; the same request would get the same answer.
        task: the task for models without a server, from the results so far.

    Raises:
        ModelError: a request got no answer. A context overflow ends the episode with the calls made so far.
    """
    trajectory = Trajectory(list(messages))
    restarts = 0
    while trajectory.steps < limits.steps and trajectory.seconds < limits.seconds:
        sent = [form.sent(message) for message in trajectory.messages]
        request_parameters = {
            **parameters,
            **form.parameters(tools),
            **(after_restart or {} if restarts else {}),
        }
        work = task([call.result for call in trajectory.calls])
        request = ChatRequest(
            sent, request_parameters, limits.seconds - trajectory.seconds, work, role="agent"
        )
        try:
            # Neither files nor servers accept half of a surrogate pair.
            response = change_texts(await ask(request), readable)
        except ModelError as error:
            if error.outcome == OVERFLOW:
                trajectory.problem = str(error)
                return trajectory.ended(OVERFLOW)
            if error.kind != TIME_LIMIT:
                raise
            trajectory.seconds = limits.seconds  # the attempt used up the remaining time
            break
        trajectory.count(response)
        turn = form.read(response, trajectory.steps)
        trajectory.messages.append(turn.message)
        if response.refused:
            return trajectory.ended("refused", response.text)
        if turn.asked:
            results = [] if carry is None else list(await carry(turn.asked[:MOST_CALLS]))
            results += [_TOO_MANY if carry else ""] * (len(turn.asked) - len(results))
            trajectory.calls += [
                MadeCall(call.name, call.arguments, result, trajectory.steps)
                for call, result in zip(turn.asked, results, strict=True)
            ]
            if carry is None:
                return trajectory.ended("answered", response.text)
            trajectory.messages += form.observations(turn.asked, results)
        elif not trajectory.calls and restarts < limits.restarts:  # so no effect of a call has to be undone
            trajectory = Trajectory(list(messages))
            restarts = restarts + 1
        elif turn.final is None:
            return trajectory.ended("malformed", response.text)
        else:
            return trajectory.ended("answered", turn.final)
    trajectory.limit = "time" if trajectory.seconds >= limits.seconds else "steps"
    return trajectory.ended("answered")


def trajectory_of(messages: Sequence[Message], form: CallFormat) -> Trajectory:
    """The trajectory of a recorded conversation; its calls are read from the messages again.

    Args:
        messages: as recorded, answers of the model included.
        form: how calls are written.
    """
    trajectory = Trajectory(list(messages))
    for position, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        trajectory.steps += 1
        trajectory.answer = message["content"] or ""
        calls = tuple(ToolCall(call["id"], **call["function"]) for call in message.get("tool_calls", ()))
        turn = form.read(ChatResponse(trajectory.answer, tool_calls=calls), trajectory.steps)
        following_messages = takewhile(
            lambda following: following["role"] != "assistant", messages[position + 1 :]
        )
        results = [
            str(following["content"]).removeprefix("Observation: ") for following in following_messages
        ]
        results += [""] * (len(turn.asked) - len(results))  # of calls that a limit ended
        trajectory.calls += [
            MadeCall(call.name, call.arguments, result, trajectory.steps)
            for call, result in zip(turn.asked, results, strict=False)
        ]
    return trajectory


def training_messages(messages: Sequence[Message], form: CallFormat) -> list[Message]:
    """A conversation in the form of OpenAI, without what a server sent besides.

    `content` of a message with calls is an empty text, because templates render null as "None".
    """
    training = []
    for message in map(form.sent, messages):
        kept_message: Message = {"role": message["role"], "content": message.get("content") or ""}
        if "tool_call_id" in message:
            kept_message["tool_call_id"] = message["tool_call_id"]
        if calls := message.get("tool_calls"):
            functions = ({name: call["function"][name] for name in ("name", "arguments")} for call in calls)
            kept_message["tool_calls"] = [
                {"id": call["id"], "type": "function", "function": function}
                for call, function in zip(calls, functions, strict=True)
            ]
        training.append(kept_message)
    return training

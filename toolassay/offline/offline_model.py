"""`--llm offline`: one model that plays every role without a server, a key or a download."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from toolassay.errors import ToolassayError
from toolassay.files.data_files import unescaped_json
from toolassay.graph import ToolGraph
from toolassay.models import ChatRequest, ChatResponse, ModelOptions
from toolassay.offline.critic import answer, review
from toolassay.offline.model_tasks import (
    AgentTask,
    BackInstructTask,
    ChoiceTask,
    CritiqueTask,
    OfflineTask,
    PlanTask,
    ReformatTask,
)

if TYPE_CHECKING:
    from toolassay.offline.planner.planner import Planner


_KEPT = 4  # planners in memory, one per tool graph


class OfflineModel:
    """Back-instructor, critic, planner, agent and chooser, whose answers are parsed as those of a server.

    Its answers depend only on `ChatRequest.task`.
    """

    def __init__(self, name: str = "offline") -> None:
        self.name = name
        self._planner_of = lru_cache(_KEPT)(_planner)

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """Do the task of the request.

        Raises:
            ToolassayError: the request has another task.
        """
        task = request.task
        if isinstance(task, AgentTask):
            from toolassay.offline.agent.agent import next_turn

            return next_turn(task)
        if isinstance(task, ChoiceTask):
            from toolassay.offline.chooser import choose

            return choose(task)
        if isinstance(task, BackInstructTask):
            try:
                return ChatResponse(self._back_instruct(task))
            except ToolassayError as error:  # no valid arguments: refused rather than an invalid gold plan
                return ChatResponse(str(error), "content_filter", refused=True)
        if isinstance(task, PlanTask):
            plan = self._planner_of(task.graph).plan(task.request).to_json()
            return ChatResponse(unescaped_json(plan))
        if isinstance(task, CritiqueTask):
            return ChatResponse(answer(task))
        if isinstance(task, ReformatTask):
            return ChatResponse(task.text)
        if isinstance(task, OfflineTask):
            return ChatResponse(task.offline_answer())
        raise ToolassayError(
            f"the offline model cannot do {type(task).__name__}", fix="name a served model with --llm"
        )

    async def close(self) -> None:
        """Do nothing: there is no connection."""

    def _back_instruct(self, task: BackInstructTask) -> str:
        from toolassay.offline.writer.instruction import write_instruction

        instruction = write_instruction(
            task.sample, task.library, task.dependency_type, task.attempt, task.values
        )
        if task.check:
            request = instruction["user_request"]
            critique_task = CritiqueTask(
                task.sample, request, instruction, task.library, task.dependency_type
            )
            instruction = {**instruction, "check_by_teacher": review(critique_task)}
        return unescaped_json(instruction)


def _planner(graph: ToolGraph) -> Planner:
    from toolassay.offline.planner.planner import Planner

    return Planner(graph)


def create(name: str, options: ModelOptions) -> OfflineModel:
    """The offline model. It ignores the options, which are about servers."""
    return OfflineModel(name)

"""Back-Instruct prompts of schema graphs: what is rendered is read back, the fields that flow included."""

from __future__ import annotations

from typing import get_args

import pytest

from tests.support.bench_bookings import GRAPH, LIBRARY, PLANS
from toolassay.backinstruct.prompt import BackInstructPrompt
from toolassay.gates.critic import critic_prompt
from toolassay.gates.gate import Background
from toolassay.graph import FieldPair, Link
from toolassay.offline.model_tasks import BackInstructTask, CritiqueTask
from toolassay.plans.gold import Gold
from toolassay.prompts.templates import Wording
from toolassay.records.dataset import Sample
from toolassay.sampling import Sampler
from toolassay.serving.offline_answers import PromptReader


@pytest.mark.parametrize("wording", get_args(Wording))
def test_a_sample_is_read_back_with_the_fields_that_flow(wording: Wording) -> None:
    conditions = {("find_benches", "book_bench"): "only if it is free"}
    prompt = BackInstructPrompt(LIBRARY, "schema", wording=wording, conditions=conditions)
    sampler = Sampler(GRAPH, 3)
    samples = [sampler.sample(index) for index in range(30)]
    assert any(len(sample.fields) > 1 for sample in samples)
    for sample in samples:
        task = PromptReader([GRAPH]).task(prompt.render(sample))
        assert isinstance(task, BackInstructTask)
        assert (task.sample, task.dependency_type) == (sample, "schema")


def test_a_whole_result_and_a_link_without_fields_are_read_back() -> None:
    nodes = ("find_benches", "book_bench", "close_day")
    links = (Link("find_benches", "book_bench", "bench_id"), Link("book_bench", "close_day", ""))
    sample = Sample(0, 0, "chain", nodes, links, ((FieldPair("", "bench_id"),), ()))
    task = PromptReader([GRAPH]).task(BackInstructPrompt(LIBRARY, "schema").render(sample))
    assert isinstance(task, BackInstructTask) and task.sample == sample


def test_a_critic_learns_the_kind_from_the_references() -> None:
    for number, plan in enumerate(PLANS.values()):
        gold = Gold.of({"id": number, "user_request": "Go.", **plan})
        task = PromptReader().task(critic_prompt(gold, Background(LIBRARY, "schema")))
        assert isinstance(task, CritiqueTask)
        assert task.dependency_type == ("schema" if number else "temporal")

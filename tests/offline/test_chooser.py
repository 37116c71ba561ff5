"""The retrieval baseline."""

from __future__ import annotations

import json

from tests.support.builders import question
from toolassay.benchmarks.classic.agents.prompt import task_of
from toolassay.offline.chooser import choose, nearest
from toolassay.offline.model_tasks import ChoiceTask


def task(*turns: str, as_call: bool = False) -> ChoiceTask:
    asked = question(*turns)
    return task_of(asked, [(w.name.replace(" ", "_"), w) for w in asked.candidates], "none", as_call=as_call)


def test_the_last_message_counts_most_and_earlier_ones_where_it_says_nothing() -> None:
    assert nearest(task("where is my parcel", "bot: Here.", "I want to return goods")) == "Return_Goods"
    assert nearest(task("where is my parcel", "bot: Shall I look?", "yes")) == "Track_Parcel"
    assert nearest(task("parcels", "bot: Hello!")) == "Track_Parcel"


def test_without_a_word_in_common_none_is_chosen() -> None:
    assert nearest(task("what will the weather on Mars be like tomorrow, maybe rain?")) == "none"
    assert nearest(task("!!!")) == "none"
    assert nearest(ChoiceTask((("user", "x"),), (), "none")) == "none"


def test_it_answers_in_both_forms_and_always_alike() -> None:
    written, called = choose(task("track it")), choose(task("track it", as_call=True))
    assert json.loads(written.text) == {"workflow": "Track_Parcel"}
    assert [call.name for call in called.tool_calls] == ["Track_Parcel"]
    assert choose(task("track it")) == written

"""Exported chats go through chat templates unedited: rendered as transformers does, and by it.

The templates are written after the rules of well-known families: who may speak when, how many calls a turn
may have, what a call's id and its arguments look like.
"""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from jinja2 import Template, TemplateError
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from tests.support.executions import refused_call, results_of
from tests.support.gold_samples import RESOURCE, TEMPORAL, label, plans, some_labels
from toolassay.exporters.executed_results import PlanResults
from toolassay.exporters.export_format import Chats, ChatStyle
from toolassay.exporters.openai_chats import FORMAT
from toolassay.plans.call_plan import CallPlan, call_plan_of
from toolassay.plans.gold import Gold

TEMPLATES = Path(__file__).parent / "templates"
NAMES = ("hermes", "llama", "mistral")
CHATS = Chats(TEMPORAL, "temporal")


def line_of(
    plan: CallPlan, chats: Chats = CHATS, results: PlanResults | None = None, **style: Any
) -> dict[str, Any]:
    line: dict[str, Any] = msgspec.to_builtins(
        FORMAT.line(plan, replace(chats, style=ChatStyle(**style)), results)
    )
    return line


@functools.cache
def template_of(name: str) -> Template:
    """A template, compiled as `transformers` does."""

    def raise_exception(message: str) -> None:
        raise TemplateError(message)

    def tojson(value: Any, ensure_ascii: bool = False, indent: int | None = None) -> str:
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols]
    )
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = datetime.now().strftime
    return environment.from_string((TEMPLATES / f"{name}.jinja").read_text(encoding="utf-8"))


def rendered(name: str, line: dict[str, Any]) -> str:
    return template_of(name).render(
        messages=line["messages"], tools=line["tools"], bos_token="<s>", eos_token="</s>"
    )


@pytest.mark.parametrize("name", NAMES)
@given(plan=plans())
@settings(max_examples=25)
def test_arguments_as_objects_go_through_every_template(name: str, plan: CallPlan) -> None:
    for style in ({}, {"system": "Help."}, {"closing": None}):
        text = rendered(name, line_of(plan, as_objects=True, **style))
        assert "None" not in text.replace(plan.request, "") or "None" in json.dumps(line_of(plan))
        for call in plan.calls:
            assert f'"name": "{call.tool}"' in text


def test_calls_stand_in_the_text_as_the_model_is_to_write_them() -> None:
    plan = call_plan_of(
        Gold.of(label(1, [("画", ['a "cat" <é>']), ("Edit_Image", ["<node-0>"])])), RESOURCE, "resource"
    )
    chats = Chats(RESOURCE, "resource")
    wanted = '{"name": "tool", "arguments": {"text": "a \\"cat\\" <é>"}}'

    for as_objects in (False, True):
        assert wanted in rendered("hermes", line_of(plan, chats, as_objects=as_objects))
    assert wanted[:-1] in rendered("mistral", line_of(plan, chats, as_objects=True))
    assert wanted[:-1] not in rendered("mistral", line_of(plan, chats)), "a text is quoted once more"


@pytest.mark.parametrize("name", NAMES)
def test_transformers_renders_and_tokenizes_them(name: str) -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is not installed (extra: bert)")
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed (extra: bert)")
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"<unk>": 0, "<s>": 1, "</s>": 2}, "<unk>"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="<unk>", bos_token="<s>", eos_token="</s>"
    )
    tokenizer.chat_template = (TEMPLATES / f"{name}.jinja").read_text(encoding="utf-8")
    chats = Chats(RESOURCE, "resource")
    every = [call_plan_of(Gold.of(one), RESOURCE, "resource") for one in some_labels()]
    lines = [line_of(plan, chats, as_objects=True) for plan in every]
    for plan in every:
        results = refused_call(results_of(plan, ['{"file": "a.png"}'] * plan.size), plan.size - 1)
        lines.append(line_of(plan, chats, results, as_objects=True, closing="$results"))
    for line in lines:
        given_to = {"tools": line["tools"], "tokenize": False}

        text = tokenizer.apply_chat_template(line["messages"], **given_to)
        assert text == rendered(name, line)
        assert tokenizer.apply_chat_template(line["messages"], tools=line["tools"])["input_ids"]

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurements import answer_parsing as benchmark
from toolassay.models.json_answers import ECHO, ParsedAnswer, read_answer, without_reasoning

KEYS = ("task_steps", "task_nodes", "task_links")
PLAN: dict[str, Any] = {
    "task_steps": ["Step 1: Call Reader", 'Step 2: say "it\'s {done}" // no comment, ```no fence```'],
    "task_nodes": [
        {"task": "Reader", "arguments": ["C:\\temp\\new", ""]},
        {"task": "Speak_er", "arguments": ["<node-0>", "café\n“x”, y"]},
    ],
    "task_links": [{"source": "Reader", "target": "Speak_er"}],
}
TEXT = json.dumps(PLAN)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def read(text: str, finish_reason: str | None = None) -> ParsedAnswer:
    return read_answer(text, keys=KEYS, finish_reason=finish_reason)


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{json.dumps(PLAN, indent=2)}\n```",
        f'The plan {{of 2 steps}}, in "JSON":\n{TEXT}\nAsk {{me}} for more, it\'s easy.',
        f"<think>\nMaybe {TEXT[:70]} … no.\n</think>\n{TEXT}",
        f'So the plan is {{"task_steps": []}}.\n</think>\n\n{TEXT}',
        f"<|channel|>analysis<|message|>{TEXT[:90]}<|end|><|start|>assistant<|channel|>final<|message|>{TEXT}",
        json.dumps([PLAN]),
        json.dumps(TEXT),
        json.dumps({"name": "plan", "arguments": TEXT}),
        f"\ufeff  {TEXT}\r\n",
        f'{{"task_steps": ["a first draft"]}}\n{TEXT}\n{{"task_steps": []}}',
        TEXT[1:],
    ],
)
def test_json_is_found_and_not_altered(text: str) -> None:
    assert read(text) == ParsedAnswer(PLAN, False, False, None)


@pytest.mark.parametrize(
    "text",
    [
        str(PLAN),
        f"plan = {PLAN}",
        TEXT.replace("_", "\\_"),
        json.dumps(PLAN, indent=1).replace("]\n", "], // the end of it, that's {all}\n"),
        json.dumps(PLAN, indent=1).replace('""', '"", # nothing\n/* at {all} */'),
        re.sub(r"(?<=[\w\"}\]])\n(?=\s*[}\]])", ",\n", json.dumps(PLAN, indent=1)),
    ],
)
def test_mistakes_are_repaired_without_loss(text: str) -> None:
    assert read(text) == ParsedAnswer(PLAN, False, True, None)


def test_typographic_quotes_and_foreign_literals() -> None:
    text = '{“task_steps”: [“one, “two” and three”, “”, "4"], “task_nodes”: [True, None, False, “True”,]}'
    value = {"task_steps": ["one, “two” and three", "", "4"], "task_nodes": [True, None, False, "True"]}
    assert read(text) == ParsedAnswer(value, False, True, None)


def test_a_missing_inner_bracket_is_repaired_and_not_called_a_cut() -> None:
    text = '{"task_steps": ["a"], "task_nodes": [{"task": "A", "arguments": ["x"}], "task_links": []}'
    answer = read(text)
    assert answer.value == {
        "task_steps": ["a"],
        "task_nodes": [{"task": "A", "arguments": ["x"]}],
        "task_links": [],
    }
    assert (answer.truncated, answer.repaired) == (False, True)


@pytest.mark.parametrize("before", ["", "```json\n", "A plan:\n", "<think>short</think>"])
def test_every_cut_is_flagged(before: str) -> None:
    text = json.dumps(PLAN)
    for end in range(1, len(text)):
        answer = read(before + text[:end])
        assert answer.truncated, text[:end]
        assert answer.problem is not None


def test_lost_last_bracket_before_more_text_is_flagged() -> None:
    for text in (f"```json\n{TEXT[:-1]}\n```\nHope {{it}} helps!", f"{TEXT[:-1]}\nHope {{it}} helps!"):
        answer = read(text)
        assert answer.value == PLAN
        assert answer.truncated


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS"])
def test_spent_token_limit_is_flagged_though_the_object_looks_whole(reason: str) -> None:
    assert read(TEXT, reason) == ParsedAnswer(PLAN, True, False, "the answer is cut off")
    assert read("Well,", reason).truncated


def test_reasoning_without_an_end_is_no_answer() -> None:
    answer = read(f"<think>\nFirst: {TEXT}")
    assert answer.value is None
    assert answer.truncated


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        '"hi"',
        "[]",
        "{}",
        "I can't do that.",
        '{"a": {"b": 1}}',
    ],
)
def test_nothing_to_find(text: str) -> None:
    answer = read(text)
    assert (answer.value, answer.truncated, answer.repaired) == (None, False, False)
    assert answer.problem


DRAFT = json.dumps({**PLAN, "task_nodes": [{"task": "Draft", "arguments": []}]})


@pytest.mark.parametrize(
    "text",
    [
        f"{DRAFT}\n{TEXT}",
        f"First: ```json\n{DRAFT}\n```\nNo, better:\n```json\n{TEXT}\n```\nThat is all.",
        f"{TEXT}\nA note: {{'task_steps': ['none']}}",
        f"{DRAFT[: DRAFT.index(']')]}\n\nAgain.\n{TEXT}",
        f"[{TEXT}, {DRAFT}]",
    ],
)
def test_the_last_complete_object_that_fits_counts(text: str) -> None:
    answer = read(text)
    assert (answer.value, answer.problem) == (PLAN, None)


def test_an_incomplete_object_after_a_complete_one_counts_where_the_server_says_that_it_cut() -> None:
    assert read(f"{DRAFT}\n{TEXT[:-40]}", "length").problem == "the answer is cut off"


def test_required_keys_decide_what_fits() -> None:
    final = {"task_steps": ["a"], "task_nodes": []}
    text = f"{TEXT}\n{json.dumps(final)}\n" + '{"task_nodes": []}'
    assert read(text).value == PLAN
    assert read_answer(text, keys=KEYS, required=KEYS[:2]).value == final


@pytest.mark.parametrize("end", ["", "}", "\n```"])
def test_what_is_nested_never_replaces_what_it_is_in(end: str) -> None:
    inner: dict[str, list[str]] = {key: [] for key in KEYS}
    outer = {"task_steps": ["a"], "task_nodes": [{"task": "Reader", "arguments": [inner]}]}
    text = json.dumps(outer)
    assert read_answer(text, keys=KEYS, required=KEYS[:2]).value == outer
    assert read_answer(f"So: {text}", keys=KEYS, required=KEYS[:2]).value == outer
    cut = read_answer(f"So: {text[:-3]}{end}", keys=KEYS, required=KEYS[:2])
    assert cut.value == outer and (cut.truncated or end == "}")


def test_a_form_that_is_repeated_is_no_answer() -> None:
    form = {"a": ["what step 1 does", "…"], "b": "…"}
    for text in (
        '{"a": ["what step 1 does"], "b": "..."}',
        '```\n{"b": "…", "a": ["what step 1 does", "..."]}',
    ):
        assert read_answer(text, keys="ab", forms=[form]) == ParsedAnswer(None, False, False, ECHO)
        assert read_answer(f'{{"a": 1, "b": 2}}\n{text}', keys="ab", forms=[form]).value == {"a": 1, "b": 2}
    other = '{"a": ["what step 1 does", "run"], "b": "…"}'
    assert read_answer(other, keys="ab", forms=[form]).problem is None


@pytest.mark.parametrize(
    "text",
    [
        f"<think>{TEXT}</think>I cannot do that.",
        f"<THINKING>\n```json\n{TEXT}\n```\n</THINKING>",
        f"I use {{braces}}. <think>{TEXT}",
        f"<think>a <think>b</think> {TEXT}\n</think>\nNo.",
        f"<reasoning>{TEXT}</reasoning>\n<analysis>\n{TEXT}",
    ],
)
def test_what_is_only_thought_is_no_answer(text: str) -> None:
    assert read(text).value is None


_noise = st.lists(
    st.sampled_from(
        ["So, ", "{this} ", "it's ", "\n", "a: b, ", "# Plan\n", '"quoted" ', "<b>", "1. ", "[x] "]
    ),
    max_size=6,
).map("".join)
_plans = st.fixed_dictionaries({key: st.lists(st.text(max_size=9), max_size=3) for key in KEYS})
_wrapped = st.sampled_from(["{}", "```json\n{}\n```", "```JSON\n{}\n```", "```{}```", "```\n{}", "\n{}\n"])


def written(wrapping: str, plan: dict[str, Any]) -> str:
    return wrapping.replace("{}", json.dumps(plan, ensure_ascii=False))


@given(_noise, _plans, _wrapped, _noise, _plans, _wrapped)
def test_the_answer_is_found_behind_any_thoughts(
    before: str, draft: dict[str, Any], one: str, between: str, plan: dict[str, Any], other: str
) -> None:
    thought = f"<think>{before}{written(one, draft)}{before}\n</think>\n"
    answer = read(f"{thought}{between}\n{written(other, plan)}")
    assert (answer.value, answer.problem) == (plan, None)
    assert read(f"{thought.removeprefix('<think>')}{between}\n{written(other, plan)}").value == plan


@given(_noise, _plans, _wrapped, _noise, st.sampled_from(["<think>", ""]), st.sampled_from(["\n", "", " "]))
def test_a_thought_is_never_found(
    before: str, draft: dict[str, Any], wrapped: str, after: str, opening: str, end: str
) -> None:
    thought = f"{opening}{before}{written(wrapped, draft)}{before}"
    assert read(f"{thought}</think>{end}{after}").value is None
    assert not opening or read(thought).value is None
    assert without_reasoning(f"{thought}</think>\n{after}") == (after.strip(), False)


def test_tags_inside_strings_are_kept() -> None:
    value = {"task_steps": ["close the </think> tag, open <think>"], "task_nodes": []}
    assert read(f"Here you are: {json.dumps(value)} Done.").value == value


def test_nothing_is_executed(tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    read(f"{{'task_steps': __import__('pathlib').Path({str(witness)!r}).touch()}}")
    assert not witness.exists()


@given(st.dictionaries(st.sampled_from(KEYS), json_values, min_size=1))
def test_valid_json_is_exact(value: dict[str, Any]) -> None:
    assert read(json.dumps(value)) == ParsedAnswer(value, False, False, None)


_PIECES = st.sampled_from(
    [*"{}[]()\"'“”\\:,#/* \n", "//", "```", "<think>", "</think>", '"task_nodes"', "\ud800", "True"]
)


@settings(max_examples=100)
@given(st.lists(_PIECES, max_size=60), st.sampled_from(["", '{"task_nodes": [', TEXT[:-2]]))
def test_nothing_raises_and_a_problem_is_always_named(pieces: list[str], before: str) -> None:
    answer = read(before + "".join(pieces))
    assert (answer.problem is None) == (answer.value is not None and not answer.truncated)
    json.dumps(answer.value, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "piece",
    [
        *("{", "[", '{"a":', '{"task_nodes":', '{"task_nodes":[', '"', '\\"', "{'", "<think>", "/*"),
        *("{<think></think>", "{'a': </think> x", '{"task_nodes": 1, ', '{"task_nodes": {}, "task_steps": ['),
    ],
)
@pytest.mark.parametrize("before", ["", '{"task_nodes": '])
def test_hostile_texts_end(piece: str, before: str) -> None:
    answer = read(before + piece * (200_000 // len(piece)))
    assert answer.problem


def test_real_predictions_survive_nineteen_corruptions(reference: Path) -> None:
    plans = benchmark.sampled(reference, 40, 1)
    scores = {kind: benchmark.score(benchmark.by_toolassay, kind, plans) for kind in benchmark.CORRUPTIONS}
    answers = sum(score.answers for score in scores.values())
    assert len(scores) == 19
    assert sum(score.exact for score in scores.values()) >= 0.94 * answers
    assert sum(score.nodes_and_links for score in scores.values()) >= 0.94 * answers
    for kind, score in scores.items():
        assert score.flagged == (score.answers if kind in benchmark.CUT else 0), kind

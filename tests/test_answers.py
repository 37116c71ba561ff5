from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolassay.answers import Answer, read_answer

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


def read(text: str, finish_reason: str | None = None) -> Answer:
    return read_answer(text, keys=KEYS, finish_reason=finish_reason)


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        json.dumps(PLAN, indent=2, ensure_ascii=False),
        f"```json\n{json.dumps(PLAN, indent=2)}\n```",
        f'The plan {{of 2 steps}}, in "JSON":\n{TEXT}\nAsk {{me}} for more, it\'s easy.',
        f"<think>\nMaybe {TEXT[:70]} … no.\n</think>\n{TEXT}",
        f'So the plan is {{"task_steps": []}}.\n</think>\n\n{TEXT}',
        f"[THINK]{{[/THINK]{TEXT}",
        f"<|channel|>analysis<|message|>{TEXT[:90]}<|end|><|start|>assistant<|channel|>final<|message|>{TEXT}",
        json.dumps([PLAN]),
        json.dumps(TEXT),
        f"Here: {json.dumps(TEXT)}",
        json.dumps({"name": "plan", "arguments": TEXT}),
        json.dumps({"id": 1, "result": PLAN}),
        f"\ufeff  {TEXT}\r\n",
        f'{{"task_steps": ["a first draft"]}}\n{TEXT}\n{{"task_steps": []}}',
        TEXT[1:],
    ],
)
def test_json_is_found_and_not_altered(text: str) -> None:
    assert read(text) == Answer(PLAN, False, False, None)


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
def test_mistakes_are_mended_without_loss(text: str) -> None:
    assert read(text) == Answer(PLAN, False, True, None)


def test_typographic_quotes_and_foreign_literals() -> None:
    text = '{“task_steps”: [“one, “two” and three”, “”, "4"], “task_nodes”: [True, None, False, “True”,]}'
    value = {"task_steps": ["one, “two” and three", "", "4"], "task_nodes": [True, None, False, "True"]}
    assert read(text) == Answer(value, False, True, None)


def test_line_ends_in_strings() -> None:
    assert read('{"task_steps": ["two\r\nlines"]}').value == {"task_steps": ["two\r\nlines"]}


def test_single_quotes_around_apostrophes() -> None:
    text = "{'task_steps': ['it's', 'say \"x\"'], 'task_nodes': null}"
    assert read(text).value == {"task_steps": ["it's", 'say "x"'], "task_nodes": None}


def test_bracket_missing_within_is_mended_and_not_called_a_cut() -> None:
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


def test_cut_keeps_what_had_arrived() -> None:
    answer = read(TEXT[: TEXT.index('"task_links"')])
    assert answer.value == {key: PLAN[key] for key in KEYS[:2]}


def test_lost_last_bracket_before_more_text_is_flagged() -> None:
    for text in (f"```json\n{TEXT[:-1]}\n```\nHope {{it}} helps!", f"{TEXT[:-1]}\nHope {{it}} helps!"):
        answer = read(text)
        assert answer.value == PLAN
        assert answer.truncated


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS"])
def test_spent_token_limit_is_flagged_though_the_object_looks_whole(reason: str) -> None:
    assert read(TEXT, reason) == Answer(PLAN, True, False, "the answer is cut off")
    assert read("Well,", reason).truncated


def test_reasoning_without_an_end_is_no_answer() -> None:
    answer = read(f"<think>\nFirst: {TEXT}")
    assert answer.value is None
    assert answer.truncated


@pytest.mark.parametrize(
    "text", ["", " \n", "null", "42", '"hi"', "[]", "{}", "I can't do that.", '{"a": {"b": 1}}']
)
def test_nothing_to_find(text: str) -> None:
    answer = read(text)
    assert (answer.value, answer.truncated, answer.repaired) == (None, False, False)
    assert answer.problem


def test_tags_inside_strings_are_kept() -> None:
    value = {"task_steps": ["close the </think> tag, open <think>"], "task_nodes": []}
    assert read(f"Here you are: {json.dumps(value)} Done.").value == value


def test_half_a_surrogate_pair_is_replaced_so_that_the_value_can_be_written() -> None:
    answer = read('{"task_steps": ["\\ud83d\\ude00 \\ud83d"]}')
    assert answer.value == {"task_steps": ["😀 \ufffd"]}
    assert answer.repaired


def test_nothing_is_executed(tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    read(f"{{'task_steps': __import__('pathlib').Path({str(witness)!r}).touch()}}")
    assert not witness.exists()


@given(st.dictionaries(st.sampled_from(KEYS), json_values, min_size=1))
def test_valid_json_is_exact(value: dict[str, Any]) -> None:
    assert read(json.dumps(value)) == Answer(value, False, False, None)


@given(st.dictionaries(st.sampled_from(KEYS), st.lists(st.text()), min_size=1))
def test_valid_json_in_a_fence_is_exact(value: dict[str, Any]) -> None:
    answer = read(f"Here:\n```json\n{json.dumps(value, ensure_ascii=False)}\n```")
    assert answer == Answer(value, False, False, None)


_PIECES = st.sampled_from(
    [*"{}[]()\"'“”\\:,#/* \n", "//", "```", "<think>", "</think>", '"task_nodes"', "\ud800", "True"]
)


@settings(max_examples=200)
@given(st.lists(_PIECES, max_size=60), st.sampled_from(["", '{"task_nodes": [', TEXT[:-2]]))
def test_nothing_raises_and_a_problem_is_always_named(pieces: list[str], before: str) -> None:
    answer = read(before + "".join(pieces))
    assert (answer.problem is None) == (answer.value is not None and not answer.truncated)
    json.dumps(answer.value, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "piece", ["{", "[", '{"a":', '{"task_nodes":', '{"task_nodes":[', '"', '\\"', "{'", "<think>", "/*"]
)
@pytest.mark.parametrize("before", ["", '{"task_nodes": '])
@pytest.mark.parametrize("size", [5_000, 1_000_000])
def test_hostile_texts_end(piece: str, before: str, size: int) -> None:
    answer = read(before + piece * (size // len(piece)))
    assert answer.problem


def _benchmark(root: Path) -> ModuleType:
    path = root / "benchmarks" / "answer_parsing.py"
    spec = importlib.util.spec_from_file_location("answer_parsing", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["answer_parsing"] = module
    spec.loader.exec_module(module)
    return module


def test_real_predictions_survive_nineteen_corruptions(reference: Path, root: Path) -> None:
    benchmark = _benchmark(root)
    plans = benchmark.sampled(reference, 40, 1)
    scores = {kind: benchmark.score(benchmark.by_toolassay, kind, plans) for kind in benchmark.CORRUPTIONS}
    answers = sum(score.answers for score in scores.values())
    assert len(scores) == 19
    assert sum(score.exact for score in scores.values()) >= 0.94 * answers
    assert sum(score.nodes_and_links for score in scores.values()) >= 0.94 * answers
    for kind, score in scores.items():
        assert score.flagged == (score.answers if kind in benchmark.CUT else 0), kind

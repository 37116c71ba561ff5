"""Errors count, nothing is removed, and stable means that the same message gets the same answer."""

from __future__ import annotations

import json
from random import Random
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.shop_chats import RIGHT, answers, chats, rows
from toolassay.benchmarks.classic.data import ClassicData
from toolassay.benchmarks.classic.evaluation import ClassicScores, score_rows
from toolassay.benchmarks.classic.scoring.strict import by_message, message_outcomes
from toolassay.runs.outcomes import EXCLUDED

COAT, HELLO, MILK = ("c2", 0), ("c3", 0), ("c4", 0)
OUTCOMES = ("answered", "malformed", "refused", "context overflow", "provider error", "not run")


ENDS = st.fixed_dictionaries(
    dict.fromkeys(RIGHT, st.tuples(st.sampled_from(["return", "milk", None]), st.sampled_from(OUTCOMES)))
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> ClassicData:
    return chats(tmp_path_factory.mktemp("chats"))


def scored(data: ClassicData, values: list[dict[str, Any]]) -> ClassicScores:
    return score_rows(rows(values), data)


def with_outcome(values: list[dict[str, Any]], place: tuple[str, int], **more: Any) -> list[dict[str, Any]]:
    return [
        {**value, **more} if (value["conversation_uuid"], value["request_idx"]) == place else value
        for value in values
    ]


def test_right_answers_are_right_in_every_number(data: ClassicData) -> None:
    strict = scored(data, answers()).strict
    accuracy = strict["accuracy"]["domain:all"]
    lowest = {"conversations": 0.5101, "by_workflow": 0.5101}
    for name in ("messages", "conversations", "by_domain", "by_workflow"):
        assert accuracy[name] == {"value": 1.0, "low": lowest.get(name, 0.5655), "high": 1.0}
    assert accuracy["macro_f1"] == accuracy["none"]["f1"] == strict["coverage"] == 1.0
    assert (strict["n_rows"], strict["n_right"], strict["trials"]) == (5, 5, 1)
    assert strict["workflows"]["milk"]["name"] == "Order Milk"


@pytest.mark.parametrize("outcome", OUTCOMES[1:4])
def test_an_error_is_never_right_where_none_is_and_compat_counts_it_as_published(
    data: ClassicData, outcome: str
) -> None:
    found = scored(data, with_outcome(answers(), HELLO, outcome=outcome, error="x"))
    assert found.strict["accuracy"]["domain:all"]["messages"]["value"] == 0.8
    assert found.compat["accuracy"]["domain:all"]["row_pass@1"] == 1.0
    assert found.strict["accuracy"]["domain:all"]["none"]["recall"] == 0.0
    assert found.strict["outcomes"] == {"answered": 4, outcome: 1}
    assert found.strict["coverage"] == 1.0


@pytest.mark.parametrize("outcome", sorted({*OUTCOMES} & EXCLUDED))
def test_what_the_agent_had_no_part_in_is_excluded(data: ClassicData, outcome: str) -> None:
    found = scored(data, with_outcome(answers({COAT: "track"}), HELLO, outcome=outcome, error="x"))
    assert found.strict["accuracy"]["domain:all"]["messages"]["value"] == 0.75
    assert found.compat["accuracy"]["domain:all"]["row_pass@1"] == 0.75
    assert found.strict["accuracy"]["domain:all"]["none"]["wanted"] == 0
    assert found.strict["outcomes"] == {"answered": 4, outcome: 1}
    assert found.strict["coverage"] == 0.8 and found.strict["partial"]
    (item,) = (item for item in found.items if item.outcome == outcome)
    assert set(item.scores.values()) == {None}


def test_a_conversation_with_an_unasked_message_is_neither_right_nor_wrong(data: ClassicData) -> None:
    values = with_outcome(answers({COAT: "track"}), COAT, outcome="provider error", error="x")
    whole = scored(data, answers({COAT: "track"})).strict["accuracy"]["domain:all"]["conversations"]
    cut = scored(data, values).strict["accuracy"]["domain:all"]["conversations"]
    assert (whole["value"], cut["value"]) == (0.75, 1.0)


@pytest.mark.parametrize("name", ["milk", "no such", ""])
def test_a_name_that_was_not_offered_is_malformed(data: ClassicData, name: str) -> None:
    found = scored(data, answers({HELLO: name}))
    assert found.strict["outcomes"] == {"answered": 4, "malformed": 1}
    assert found.strict["accuracy"]["domain:all"]["messages"]["value"] == 0.8


def test_a_message_without_any_row_is_missing_and_not_right(data: ClassicData) -> None:
    found = scored(data, [*answers()[:3], *answers(trial=1)[:3]])
    assert found.strict["outcomes"] == {"answered": 3, "missing": 2}
    assert found.strict["accuracy"]["domain:all"]["messages"]["value"] == 0.6
    assert "2 messages have no row" in found.strict["notes"]["accuracy"]
    last = found.items[-1]
    assert (last.id, last.outcome, last.scores["correct"]) == ("c4--0", "missing", 0.0)


def test_a_trial_that_did_not_ask_a_message_is_no_run_of_it(data: ClassicData) -> None:
    found = scored(data, [*answers(), *answers(trial=1)[:3]])
    assert found.strict["outcomes"] == {"answered": 5}
    assert found.strict["accuracy"]["domain:all"]["messages"]["value"] == 1.0
    last = found.items[-1]
    assert last.trials is not None
    assert ([one.trial for one in last.trials], last.scores["agreement"]) == ([0], None)


@pytest.mark.parametrize("outcome", sorted(EXCLUDED & set(OUTCOMES)))
def test_an_item_weighs_one_however_often_it_was_run(data: ClassicData, outcome: str) -> None:
    failed = with_outcome(answers(trial=1), HELLO, outcome=outcome)
    wrong = with_outcome(answers({COAT: "track"}, trial=2), HELLO, outcome=outcome)
    found = scored(data, [*answers({HELLO: "return"}), *failed, *wrong])
    # Its only run is wrong, another message is wrong in one of three.
    accuracy = found.strict["accuracy"]["domain:all"]["messages"]
    assert accuracy["value"] == pytest.approx((3 + 2 / 3 + 0) / 5)


def test_means_by_domain_and_workflow_count_each_the_same(data: ClassicData) -> None:
    accuracy = scored(data, answers({MILK: None})).strict["accuracy"]
    assert accuracy["domain:all"]["messages"]["value"] == pytest.approx(4 / 5)
    assert accuracy["domain:all"]["by_domain"]["value"] == pytest.approx((1 + 0) / 2)
    assert accuracy["domain:all"]["by_workflow"]["value"] == pytest.approx((1 + 1 + 0) / 3)
    assert accuracy["domain:farm"]["messages"]["value"] == 0.0
    assert accuracy["domain:all"]["messages"]["low"] < 0.8


def test_none_as_a_choice_and_the_wrong_ones(data: ClassicData) -> None:
    none = scored(data, answers({HELLO: "track", MILK: None, COAT: "track"})).strict["accuracy"][
        "domain:all"
    ]["none"]
    assert (none["wanted"], none["chosen"], none["precision"], none["recall"], none["f1"]) == (1, 1, 0, 0, 0)
    assert (none["false_starts"], none["false_start_share"]) == (1, 1.0)
    assert (none["missed_starts"], none["missed_start_share"]) == (1, 0.25)
    assert (none["wrong_starts"], none["wrong_start_share"]) == (1, 0.25)


def test_each_workflow_and_what_was_taken_for_what(data: ClassicData) -> None:
    # The second turn of c1 wants "track", and "return" is accepted as well.
    strict = scored(data, answers({("c1", 1): "return", COAT: "track"})).strict
    table = strict["workflows"]
    assert table["return"] | {"name": "", "domain": ""} == {
        "name": "",
        "domain": "",
        "support": 2,
        "chosen": 2,
        "precision": 1.0,
        "recall": 0.5,
        "f1": pytest.approx(2 / 3),
        "phrasings": 2,
        "always_right": 1,
        "spread": 0.5,
    }
    assert (table["track"]["precision"], table["track"]["recall"], table["track"]["support"]) == (0.0, 1.0, 1)
    cells = {(cell["wanted"], cell["chosen"]): (cell["count"], cell["right"]) for cell in strict["confusion"]}
    assert cells == {
        ("return", "return"): (1, True),
        ("track", "return"): (1, True),
        ("return", "track"): (1, False),
        (None, None): (1, True),
        ("milk", "milk"): (1, True),
    }


def test_every_time_counts(data: ClassicData) -> None:
    values = with_outcome(answers(time_to_first_token=0.5), COAT, time_to_pred=300.0)
    values = with_outcome(
        values, MILK, outcome="provider error", error="no answer within 300 s", time_to_pred=None
    )
    latency = scored(data, values).strict["latency"]["domain:all"]
    assert (latency["timed"], latency["p50"], latency["p99"], latency["mean"]) == (4, 1.0, 300.0, 75.75)
    assert (latency["over_60_s"], latency["timeouts"], latency["failures"]) == (1, 1, 1)
    assert (latency["first_token_p50"], latency["failure_share"]) == (0.5, 0.2)
    untimed = scored(data, answers(time_to_pred=None)).strict
    assert untimed["latency"]["domain:all"]["p50"] is None
    assert untimed["notes"]["latency"] == "no row says how long it took"


def test_cost_of_a_message_a_success_and_a_conversation(data: ClassicData) -> None:
    cost = scored(data, answers({MILK: None, COAT: "track"})).strict["cost"]["domain:all"]
    assert cost["usd"] == pytest.approx(0.01)
    assert cost["usd_per_1000_messages"] == pytest.approx(2.0)
    assert cost["usd_per_solved_message"] == pytest.approx(0.01 / 3)
    assert cost["usd_per_conversation"] == pytest.approx(0.01 / 4)
    assert (cost["prompt_tokens"], cost["completion_tokens"]) == (500, 50)
    free = scored(data, answers(cost=None)).strict
    assert free["cost"]["domain:all"]["usd"] is None and "cost" in free["notes"]
    assert free["cost"]["domain:all"]["messages_of_unknown_cost"] == 5


def test_repeats_agree_in_answers_and_in_correctness(data: ClassicData) -> None:
    # Twice the same wrong answer agrees; two different wrong ones agree in being wrong only.
    first, second = (
        {COAT: "track", HELLO: "track", MILK: "milk"},
        {COAT: "track", HELLO: "return", MILK: None},
    )
    strict = scored(data, [*answers(first), *answers(second, 1)]).strict
    stability = strict["stability"]["domain:all"]
    assert stability["answer_agreement"]["value"] == pytest.approx(3 / 5)
    assert stability["pairwise_agreement"]["value"] == pytest.approx(3 / 5)
    assert stability["correctness_agreement"]["value"] == pytest.approx(4 / 5)
    assert stability["messages"]["pass@k"]["2"]["value"] == pytest.approx(3 / 5)
    assert stability["messages"]["pass^k"]["2"]["value"] == pytest.approx(2 / 5)
    assert stability["conversations"]["pass^k"]["2"]["value"] == pytest.approx(1 / 4)
    assert stability["trials"] == 2 and "stability" not in strict["notes"]


def test_a_trial_that_was_not_run_is_no_answer_that_differs(data: ClassicData) -> None:
    second = [row for row in answers(trial=1) if row["conversation_uuid"] == HELLO[0]]
    stability = scored(data, [*answers(), *second]).strict["stability"]["domain:all"]
    for name in ("answer_agreement", "pairwise_agreement", "correctness_agreement"):
        assert stability[name]["value"] == 1.0
    messages, conversations = stability["messages"], stability["conversations"]
    assert stability["trials"] == 2 and messages["pass^k"]["2"]["value"] == 1.0
    assert messages["tasks"] == {"1": 5, "2": len(second)} and conversations["tasks"] == {"1": 4, "2": 1}
    apart = [*answers()[:2], *answers(trial=1)[2:]]
    stability = scored(data, apart).strict["stability"]["domain:all"]
    assert stability["answer_agreement"]["value"] is None and list(stability["messages"]["tasks"]) == ["1"]


def test_another_order_of_the_candidates_is_compared_and_not_scored(data: ClassicData) -> None:
    other = answers({COAT: "track"}, order="7")
    for values, more in ((answers(order="3"), other), ([*answers(order="3"), *other], [])):
        found = score_rows(rows(values), data, others=rows(more))
        assert found.compat["n_rows"] == found.strict["n_rows"] == 5
        assert found.strict["accuracy"]["domain:all"]["messages"]["value"] == 1.0
        assert found.strict["stability"]["domain:all"]["order"] == {
            "orders": ["3", "7"],
            "pairs": 5,
            "answer_agreement": 0.8,
            "correctness_agreement": 0.8,
            "right_in_both": 0.8,
        }
        assert found.strict["stability"]["domain:farm"]["order"]["answer_agreement"] == 1.0
    same = score_rows(rows(answers(order="7")), data, others=rows(other))
    assert same.strict["stability"]["domain:all"]["order"] is None


def test_labels_are_those_that_the_data_have_now(data: ClassicData) -> None:
    values = [{**value, "y_workflow_uuids": ["track"]} for value in answers()]
    found = scored(data, values)
    assert found.strict["accuracy"]["domain:all"]["messages"]["value"] == 1.0
    assert found.compat["accuracy"]["domain:all"]["row_pass@1"] == 1.0
    assert found.strict["notes"]["labels"].startswith("5 rows have other labels")
    assert found.compat["notes"]["labels"] == found.strict["notes"]["labels"]


@settings(max_examples=15)
@given(st.lists(ENDS, min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(data: ClassicData, trials: list[Any], dice: Random) -> None:
    values = []
    for trial, chosen in enumerate(trials):
        for place, (prediction, outcome) in chosen.items():
            (row,) = (
                row
                for row in answers({place: prediction}, trial)
                if (row["conversation_uuid"], row["request_idx"]) == place
            )
            values.append({**row, "outcome": outcome})
    first = scored(data, values)
    dice.shuffle(values)
    again = scored(data, values)
    assert json.dumps(again.strict) == json.dumps(first.strict)
    assert again.items == first.items
    counted = [one for one in message_outcomes(rows(values), data) if one.outcome not in EXCLUDED]
    shares = [fmean(one.right for one in unit) for unit in by_message(counted)]
    share = fmean(shares) if shares else None
    assert first.strict["accuracy"]["domain:all"]["messages"]["value"] == pytest.approx(share)
    assert sum(cell["count"] for cell in first.strict["confusion"]) == len(counted)

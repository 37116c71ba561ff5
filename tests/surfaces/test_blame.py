"""Which tools a change comes from."""

from __future__ import annotations

from toolassay.evaluation.item_detail import DrawnArgument, DrawnCall, DrawnPlan, ItemAnswer
from toolassay.surfaces.blame import RunMistakes, blame


def answer(gold: list[DrawnCall], predicted: list[DrawnCall]) -> ItemAnswer:
    return ItemAnswer(DrawnPlan(gold, ()), DrawnPlan(predicted, ()))


def test_the_mistakes_of_a_run_in_old_names() -> None:
    found = RunMistakes.of(
        answer(
            [DrawnCall("find", [DrawnArgument("q", 1, "missing")], "right"), DrawnCall("buy", [], "missing")],
            [DrawnCall("find", [DrawnArgument("q", 2, "wrong")], "right"), DrawnCall("sell", [], "extra")],
        ),
        {"find": "search"},
    )
    assert found.tools == {"search", "buy", "sell"}
    assert found.pairs == {("buy", "sell")}
    assert found.arguments == {("search", "q")}
    assert RunMistakes.of(ItemAnswer(None, None), {}) == RunMistakes()


def test_changed_tools_come_first_and_intervals_hold_together() -> None:
    confused = RunMistakes(frozenset({"buy", "sell"}), frozenset({("buy", "sell")}))
    before = {str(number): [RunMistakes(), RunMistakes()] for number in range(40)}
    after = {**before, **{str(number): [confused, RunMistakes()] for number in range(20)}}
    found = blame(before, after, ["buy"])
    assert [row.what for row in found.tools] == [("buy",), ("sell",)]
    (first, _), (pair,) = found.tools, found.pairs
    assert (first.changed, first.before, first.after, first.difference) == (True, 0, 0.25, 0.25)
    assert 0 < first.low < 0.25 < first.high < 0.5
    assert pair.what == ("buy", "sell") and pair.difference == 0.25
    many = {**after, "40": [RunMistakes(frozenset(f"tool {number}" for number in range(50)))]}
    wider = blame({**before, "40": [RunMistakes()]}, many, ["buy"]).tools[0]
    assert wider.high - wider.low > first.high - first.low
    assert [row.what for row in blame(after, before, ["buy"]).tools] == [("buy",), ("sell",)]
    improved = {**before, "0": [RunMistakes(frozenset({"sell"}))]}
    assert blame(after, improved, ["buy"]).tools[0].what == ("sell",), "the changed tool has improved more"
    assert blame({}, {}, []).tools == ()

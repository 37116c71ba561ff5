from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toolassay.backinstruct.critics import rule_critic, same_tool

SAMPLED = st.lists(st.sampled_from(["Text Search", "Image", "b"]), max_size=5)
WRITTEN = st.lists(st.sampled_from(["Text Search", "text_search", "IMAGE", "b", "c"]), max_size=5)


@given(SAMPLED, WRITTEN)
def test_the_rule_critic_compares_nodes_as_multisets(sampled: list[str], written: list[str]) -> None:
    same = sorted(map(same_tool, sampled)) == sorted(map(same_tool, written))
    assert rule_critic(sampled, [], written, []).node is same


def test_a_link_the_other_way_round_is_another_link() -> None:
    assert not rule_critic(["a", "b"], [("a", "b")], ["a", "b"], [("b", "a")]).link
    assert rule_critic(["a", "b"], [("a", "b")], ["b", "a"], [("a", "b")]).both


def test_names_that_differ_only_in_spelling_are_reported_apart_where_both_were_sampled() -> None:
    both = ["get_text", "get text"]
    assert rule_critic(both, [("get_text", "get text")], both, [("get_text", "get text")]).both
    assert not rule_critic(both, [], ["get_text", "get_text"], []).node
    assert not rule_critic(both, [("get_text", "get text")], both, [("get text", "get_text")]).link
    assert not rule_critic(both, [], ["get_text", "Get Text"], []).node

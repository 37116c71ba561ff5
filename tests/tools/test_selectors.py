"""Selectors in references: what is one, its spellings, and what stays an ordinary text."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.plans.normalised_plan import normal_references
from toolassay.prompts.templates import package_template
from toolassay.tools.output_paths import (
    EACH,
    FOR_EACH,
    Reference,
    Selector,
    Step,
    parse_path,
    parse_reference,
    reference_text,
    schema_path,
)

names = st.text(st.characters(exclude_categories=["Z", "C"], exclude_characters=".[]'\"<>="), min_size=1)
fields = st.lists(names, min_size=1, max_size=3).map(".".join)
scalars = (
    st.none() | st.booleans() | st.integers(-(10**17), 10**17) | st.floats(-1e99, 1e99) | st.text(max_size=20)
).filter(lambda value: not isinstance(value, float) or value == 0 or abs(value) > 1e-99)
selectors = (
    st.just(FOR_EACH)
    | st.builds(Selector, st.just("is"), fields, scalars, st.just(False))
    | st.builds(Selector, st.sampled_from(["max", "min"]), fields, st.none(), st.booleans())
)
steps: st.SearchStrategy[list[Step]] = st.lists(
    names.filter(lambda name: not name.isdecimal()) | st.integers(0, 10**9 - 1) | st.just(EACH) | selectors,
    max_size=5,
)


@given(steps, st.integers(0, 99))
def test_a_reference_is_read_as_it_is_written(path: list[Step], node: int) -> None:
    reference = Reference(node, tuple(path))
    text = reference_text(reference)
    assert parse_reference(text) == reference
    assert reference_text(parse_reference(text) or Reference(0)) == text


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ('[name="Board meeting"]', Selector("is", "name", "Board meeting")),
        ("[name = 'Board meeting']", Selector("is", "name", "Board meeting")),
        (r'[name="a \"b\"] \u00e9"]', Selector("is", "name", 'a "b"] é')),
        ("[owner.age=-7.5]", Selector("is", "owner.age", -7.5)),
        ("[is_open=true]", Selector("is", "is_open", True)),
        ("[note=null]", Selector("is", "note")),
        ("[each=1]", Selector("is", "each", 1)),
        ("[max =1]", Selector("is", "max", 1)),
        ("[max  due_on]", Selector("max", "due_on")),
        ("[min price  first]", Selector("min", "price", first=True)),
        ("[max first]", Selector("max", "first")),
        ("[each]", FOR_EACH),
    ],
)
def test_spellings_of_a_selector(text: str, step: Selector) -> None:
    reference = parse_reference(f"<node-0>.items{text}.id")
    assert reference == Reference(0, ("items", step, "id"))
    assert type(reference.path[1].value) is type(step.value)  # type: ignore[union-attr]
    assert normal_references(f"<node-0>.items{text}") == f"<node-0>.items{step.text}"


@pytest.mark.parametrize(
    "text",
    [
        *(
            "[name=Ann]",
            "[name=007]",
            "[name=]",
            '[="a"]',
            "[max]",
            "[max a b]",
            "[max a=1]",
            "[first]",
            "[EACH]",
        ),
        *(
            '[name="a]',
            r'[name="\x"]',
            r'[name="\ud800"]',
            "[a b=1]",
            "[items[0]=1]",
            "[name=[1]]",
            "[max 'a b']",
        ),
    ],
)
def test_what_is_no_selector_makes_no_reference(text: str) -> None:
    assert parse_reference(f"<node-0>.items{text}.id") is None


def test_published_forms_have_their_meaning() -> None:
    assert parse_reference("<node-0>['a=\"b\"'].x") == Reference(0, ('a="b"', "x"))
    assert parse_reference("<node-0>['a'='b']") == Reference(0, ("a'='b",))
    assert parse_reference("<node-0>.each.max.a=1[*]") == Reference(0, ("each", "max", "a=1", EACH))
    assert parse_path("results[each].id[max x]") == ("results", "id")


def test_a_value_that_looks_like_a_reference_is_written_as_none() -> None:
    text = normal_references('<node-0>[note="see <node-1>"].id')
    assert "<node-1>" not in text
    assert parse_reference(text) == Reference(0, (Selector("is", "note", "see <node-1>"), "id"))


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('<node-0>.a[b="c"].d', ("a", 0, "d")),
        ('<node-0>.a[b="c"]', ("a", 0)),
        ('<node-0>.a[b="c"][e=1][*].d', ("a", EACH, "d")),
        ('<node-0>.a[b="c"][2].d', ("a", 2, "d")),
        ('<node-0>.a[b="c"][min f][each]', ("a", 0, 0)),
    ],
)
def test_a_schema_has_an_item_where_a_selector_chooses(text: str, path: tuple[Step, ...]) -> None:
    reference = parse_reference(text)
    assert reference is not None and schema_path(reference.path) == path


@pytest.mark.parametrize("part", ['[a="', "[a=1]", "[max a", "['", "[a.", '[a="\\'])
def test_a_long_wrong_text_is_read_in_linear_time(part: str) -> None:
    began = time.perf_counter()
    assert parse_reference(f"<node-0>{part * 5_000}!") is None
    assert time.perf_counter() - began < 2


@pytest.mark.parametrize("name", ["schema", "example_schema", "ask_calls"])
def test_prompts_show_the_grammar_that_is_read(name: str) -> None:
    examples = re.findall(r"<node-0>\.\w+(?:\[[^\]]+\])+\.id", package_template("benchmarks/taskbench", name))
    references = [parse_reference(example) for example in examples]
    assert None not in references
    kinds = {step.kind for ref in references if ref for step in ref.path if isinstance(step, Selector)}
    assert kinds >= {"is", "max", "each"}

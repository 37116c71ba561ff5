from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.metrics.significance import holm

P_VALUES = st.lists(st.none() | st.floats(0.0001, 1), max_size=12)


def test_the_textbook_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([None, 0.2]) == [None, 0.2]


@given(P_VALUES)
def test_adjusted_values_keep_the_order_and_are_never_smaller(p_values: list[float | None]) -> None:
    adjusted = holm(p_values)
    assert [p is None for p in adjusted] == [p is None for p in p_values]
    pairs = [(p, q) for p, q in zip(p_values, adjusted, strict=True) if p is not None and q is not None]
    assert all(p <= q <= 1 for p, q in pairs)
    in_order = [q for _, q in sorted(pairs)]
    assert in_order == sorted(in_order)


@given(P_VALUES)
def test_it_lies_between_no_correction_and_that_of_bonferroni(p_values: list[float | None]) -> None:
    known = [p for p in p_values if p is not None]
    for p, q in zip(p_values, holm(p_values), strict=True):
        if p is not None and q is not None:
            assert q <= min(1, p * len(known)) + 1e-12


def test_a_larger_value_is_never_less_than_one_before_it() -> None:
    assert holm([0.02, 0.021, 0.9]) == pytest.approx([0.06, 0.06, 0.9])
    assert holm([0.5, 0.6]) == [1.0, 1.0]
    assert holm([0.25, None, 0.25, 0.25]) == [0.75, None, 0.75, 0.75]

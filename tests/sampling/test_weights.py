from __future__ import annotations

import random

import pytest

from toolgraph.errors import UsageError
from toolgraph.sampling import SHAPE_WEIGHTS, SIZE_WEIGHTS, parse_weights
from toolgraph.sampling.weights import draw, shape_weights, size_weights


def test_the_published_weights() -> None:
    assert dict(SHAPE_WEIGHTS) == {"single": 3, "chain": 7, "dag": 8}
    assert sum(SIZE_WEIGHTS.values()) == pytest.approx(1.025)


def test_parse_weights() -> None:
    assert parse_weights("2=0.5, 3 = 1", flag="--size_weights") == {"2": 0.5, "3": 1.0}


@pytest.mark.parametrize(
    "text", ["", "single", "single=x", "single=-1", "single=0", "a=nan", "a=inf", "a=1,a=2"]
)
def test_malformed_weights(text: str) -> None:
    with pytest.raises(UsageError, match="--shape_weights"):
        parse_weights(text, flag="--shape_weights")


@pytest.mark.parametrize("weights", [{}, {"tree": 1}, {"dag": 0}, {"dag": -1.0, "chain": 2.0}])
def test_malformed_shape_weights(weights: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        shape_weights(weights)


@pytest.mark.parametrize("weights", [{}, {"x": 1}, {"0": 1}, {"-2": 1}, {"2.5": 1}, {3: -1.0, 4: 2.0}])
def test_malformed_size_weights(weights: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        size_weights(weights)


def test_weights_of_zero_are_left_out() -> None:
    assert shape_weights({"dag": 2, "single": 0}) == {"dag": 2}
    assert size_weights({"4": 1, "5": 0}) == {4: 1}


def test_draw_follows_the_weights() -> None:
    chance = random.Random(0)
    drawn = [draw(chance, {"a": 3, "b": 1}) for _ in range(4_000)]

    assert 0.72 < drawn.count("a") / 4_000 < 0.78

from __future__ import annotations

import random
from typing import Any

import pytest

from toolassay.errors import UsageError
from toolassay.records.dataset import Shape
from toolassay.sampling import SHAPE_WEIGHTS, SIZE_WEIGHTS, parse_weights, wanted
from toolassay.sampling.search import draw, shape_weights, size_weights


def test_the_published_weights() -> None:
    assert dict(SHAPE_WEIGHTS) == {"single": 3, "chain": 7, "dag": 8}
    assert sum(SIZE_WEIGHTS.values()) == pytest.approx(1.025)


def test_parse_weights() -> None:
    assert parse_weights("2=0.5, 3 = 1", flag="--size_weights") == {"2": 0.5, "3": 1.0}


@pytest.mark.parametrize("text", ["", "single=x", "single=-1", "a=nan", "a=inf", "a=1,a=2"])
def test_malformed_weights(text: str) -> None:
    with pytest.raises(UsageError, match="--shape_weights"):
        parse_weights(text, flag="--shape_weights")


@pytest.mark.parametrize(
    ("read", "weights"),
    [
        *((shape_weights, one) for one in ({}, {"tree": 1}, {"dag": 0}, {"dag": -1.0, "chain": 2.0})),
        *((size_weights, one) for one in ({}, {"x": 1}, {"0": 1}, {"2.5": 1}, {3: -1.0, 4: 2.0})),
    ],
)
def test_malformed_weights_of_shapes_and_sizes(read: Any, weights: dict[Any, float]) -> None:
    with pytest.raises(UsageError):
        read(weights)


def test_weights_of_zero_are_left_out() -> None:
    assert shape_weights({"dag": 2, "single": 0}) == {"dag": 2}
    assert size_weights({"4": 1, "5": 0}) == {4: 1}


def test_draw_follows_the_weights() -> None:
    chance = random.Random(0)
    drawn = [draw(chance, {"a": 3, "b": 1}) for _ in range(4_000)]

    assert 0.72 < drawn.count("a") / 4_000 < 0.78


@pytest.mark.parametrize(
    ("method", "tools", "shapes"),
    [
        (None, None, {"single": 3, "chain": 7, "dag": 8}),
        (None, 1, {"single": 3, "chain": 7, "dag": 8}),
        (None, 2, {"chain": 7, "dag": 8}),
        ("single", 1, {"single": 1}),
        ("dag", 2, {"dag": 1}),
    ],
)
def test_wanted(method: Shape | None, tools: int | None, shapes: dict[str, float]) -> None:
    sizes = SIZE_WEIGHTS if tools is None else {tools: 1}

    assert wanted(method, tools) == {"shapes": shapes, "sizes": sizes}


def test_wanted_weights_of_the_user() -> None:
    assert wanted(None, None, {"dag": 2}, {"4": 1}) == {"shapes": {"dag": 2}, "sizes": {"4": 1}}
    assert wanted(None, 5, {"dag": 2, "single": 1}, {"4": 1}) == {"shapes": {"dag": 2}, "sizes": {5: 1}}
    for method, shapes in (("single", None), (None, {"single": 1}), (None, {"single": 1, "dag": 0})):
        with pytest.raises(UsageError, match="a single of 2 tools: a single has exactly 1 tool"):
            wanted(method, 2, shapes)  # type: ignore[arg-type]

"""Nodes in layers."""

from __future__ import annotations

import random

from toolassay.review.drawing import arrange, layers_of


def test_lines_lead_down_and_no_layer_is_empty_whatever_the_circles() -> None:
    random.seed(7)
    for _ in range(300):
        count = random.randint(1, 12)
        lines = [(random.randrange(count), random.randrange(count)) for _ in range(random.randint(0, 25))]
        layers = layers_of(range(count), lines)
        assert set(layers.values()) == set(range(max(layers.values()) + 1))
        assert len(arrange(range(count), lines).nodes) == count
        order = random.sample(range(count), count)
        down = [(order[one], order[other]) for one, other in lines if one < other]
        layers = layers_of(range(count), down)
        assert all(layers[one] < layers[other] for one, other in down)

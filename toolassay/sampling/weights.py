"""The weights with which shapes and sizes are drawn: the published ones, or the user's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import TypedDict, TypeVar

from toolassay.dataset import SHAPES, Shape
from toolassay.errors import UsageError

Choice = TypeVar("Choice")

SHAPE_WEIGHTS: Mapping[Shape, float] = {"single": 3, "chain": 7, "dag": 8}
"""Published weights of the shapes (Shen et al., 2024, section 3.2)."""
SIZE_WEIGHTS: Mapping[int, float] = {
    2: 0.1, 3: 0.2, 4: 0.3, 5: 0.2, 6: 0.1, 7: 0.05, 8: 0.025, 9: 0.025, 10: 0.025,
}  # fmt: skip
"""Published weights of the numbers of tools (Shen et al., 2024); their sum is 1.025, only ratios count."""

SMALLEST: Mapping[Shape, int] = {"single": 1, "chain": 2, "dag": 3}
"""Minimum number of tools of each shape."""


def parse_weights(text: str, *, flag: str) -> dict[str, float]:
    """Parse weights of the form `name=weight,name=weight`.

    Args:
        text: The weights.
        flag: The option they come from, for messages.

    Raises:
        UsageError: The text is malformed, a name occurs twice, a weight is negative, or all are zero.

    >>> parse_weights("single=3,chain=0", flag="--shape_weights")
    {'single': 3.0, 'chain': 0.0}
    """
    weights: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = part.partition("=")
        if name.strip() in weights:
            raise UsageError(f"{flag}: '{name.strip()}' is given twice", fix="give every weight once")
        try:
            weights[name.strip()] = float(number)
        except ValueError:
            raise UsageError(f"{flag}: '{part}' is not name=weight", fix=_hint(flag)) from None
    _check(weights, flag)
    return weights


def _check(weights: Mapping[str, float], flag: str) -> None:
    if not all(0 <= weight < float("inf") for weight in weights.values()) or not any(weights.values()):
        raise UsageError(f"{flag}: weights must be 0 or more, and not all 0", fix=_hint(flag))


def _hint(flag: str) -> str:
    return "write e.g. 3=0.5,4=0.5" if "size" in flag else "write e.g. single=3,chain=7"


class SampleWeights(TypedDict):
    """The weights of a `Sampler`, as keyword arguments."""

    shapes: Mapping[str, float]
    sizes: Mapping[str, float] | Mapping[int, float]


def wanted(
    method: Shape | None,
    tools: int | None,
    shapes: Mapping[str, float] | None = None,
    sizes: Mapping[str, float] | Mapping[int, float] | None = None,
) -> SampleWeights:
    """The sampler weights for the options of a command.

    Args:
        method: The only shape, which overrides `shapes`; None draws shapes by weight.
        tools: The only number of tools, which overrides `sizes`; None draws sizes by weight. Unless it is 1,
            singles are dropped; the sampler drops shapes that need more tools.
        shapes: Weights of shapes [default: the published ones].
        sizes: Weights of numbers of tools [default: the published ones].

    Raises:
        UsageError: Only singles are requested, with several tools.

    >>> wanted(None, 4)
    {'shapes': {'chain': 7, 'dag': 8}, 'sizes': {4: 1}}
    >>> wanted("dag", None, sizes={"5": 1})
    {'shapes': {'dag': 1}, 'sizes': {'5': 1}}
    """
    weights = {str(name): weight for name, weight in (shapes or SHAPE_WEIGHTS).items()}
    if method is not None:
        weights = {method: 1}
    if tools is None:
        return {"shapes": weights, "sizes": sizes or SIZE_WEIGHTS}
    if tools != 1 and weights.pop("single", 0) and not any(weights.values()):
        raise UsageError(f"a single of {tools} tools: {smallest('single')}")
    return {"shapes": weights, "sizes": {tools: 1}}


def smallest(shape: Shape) -> str:
    """The minimum number of tools of a shape, as a sentence."""
    only = "exactly" if shape == "single" else "at least"
    return f"a {shape} has {only} {count_of_tools(SMALLEST[shape])}"


def count_of_tools(number: int) -> str:
    """A number of tools as a phrase: "1 tool", "3 tools"."""
    return "1 tool" if number == 1 else f"{number} tools"


def shape_weights(weights: Mapping[str, float] | Mapping[Shape, float]) -> dict[Shape, float]:
    """Check weights by shape name; drops zero weights.

    Raises:
        UsageError: A shape is unknown, a weight is negative, or all are zero.
    """
    given = {str(name): weight for name, weight in weights.items()}
    _check(given, "shape weights")
    unknown = [name for name in given if name not in SHAPES]
    if unknown:
        raise UsageError(f"unknown shape '{unknown[0]}'", fix=f"use {', '.join(SHAPES)}")
    return {shape: given[shape] for shape in SHAPES if given.get(shape)}


def size_weights(weights: Mapping[str, float] | Mapping[int, float]) -> dict[int, float]:
    """Check weights by number of tools; drops zero weights.

    Raises:
        UsageError: A size is not a whole number of 1 or more, a weight is negative, or all are zero.
    """
    sizes: dict[int, float] = {}
    _check({str(name): weight for name, weight in weights.items()}, "size weights")
    for name, weight in weights.items():
        if not str(name).isdecimal() or int(name) < 1:
            raise UsageError(f"'{name}' is not a number of tools", fix="use whole numbers of 1 or more")
        if weight:
            sizes[int(name)] = weight
    return sizes


def draw(rng: Random, weights: Mapping[Choice, float]) -> Choice:
    """Draw one key with probability proportional to its weight."""
    names: Sequence[Choice] = list(weights)
    return rng.choices(names, list(weights.values()))[0]

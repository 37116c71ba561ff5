import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from toolassay.report.circular_layout import arrange
from toolassay.report.style import given_type
from toolassay.tools import Tool, ToolLibrary

KINDS = st.lists(st.sampled_from(["text", "image", "audio", "table"]), max_size=2).map(tuple)
LIBRARIES = st.lists(st.tuples(KINDS, KINDS), min_size=1, max_size=30).map(
    lambda rows: ToolLibrary([Tool(f"tool {n}", "", *row) for n, row in enumerate(rows)])
)


@given(LIBRARIES, st.integers(1, 3))
def test_every_tool_has_a_place_of_its_own(library: ToolLibrary, rings: int) -> None:
    circle = arrange(library, rings=rings)
    assert sorted(circle.places) == sorted(library.ids)
    points = {(round(p.angle, 6), p.ring) for p in circle.places.values()}
    assert len(points) == len(library)


@given(LIBRARIES)
def test_tools_that_give_the_same_type_stand_side_by_side(library: ToolLibrary) -> None:
    circle = arrange(library)
    turns = {name: (math.pi / 2 - place.angle + 1e-6) % math.tau for name, place in circle.places.items()}
    clockwise = sorted(library, key=lambda tool: turns[tool.id])
    groups = [given_type(tool) for tool in clockwise]
    changes = sum(a != b for a, b in pairwise(groups))
    assert changes == len(set(groups)) - 1


def test_nothing_depends_on_the_hash_seed() -> None:
    library = ToolLibrary([Tool(f"t{n}", "", (f"k{n % 3}",), (f"k{n % 5}",)) for n in range(20)])
    assert list(arrange(library).places)[:5] == ["t0", "t15", "t10", "t5", "t6"]

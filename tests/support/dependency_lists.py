"""Random links of a schema graph, at most one for each pair."""

from __future__ import annotations

from hypothesis import strategies as st

from toolassay.graph import Dependency, FieldPair

TOOLS = ("a", "b", "c", "d")
PATHS = ("", "id", "items[].id", "name")
ARGUMENTS = ("x", "y", "x.id", "z")


def field_pairs() -> st.SearchStrategy[tuple[FieldPair, ...]]:
    pair = st.builds(FieldPair, st.sampled_from(PATHS), st.sampled_from(ARGUMENTS))
    return st.lists(pair, max_size=3, unique_by=lambda one: one.target).map(tuple)


@st.composite
def dependency_lists(draw: st.DrawFn) -> list[Dependency]:
    pairs = draw(
        st.lists(
            st.tuples(st.sampled_from(TOOLS), st.sampled_from(TOOLS)).filter(lambda pair: pair[0] != pair[1]),
            unique=True,
            max_size=6,
        )
    )
    return [_link(draw, source, target) for source, target in pairs]


def _link(draw: st.DrawFn, source: str, target: str) -> Dependency:
    fields = draw(field_pairs())
    return Dependency(
        source,
        target,
        fields[0].target if fields else "order",
        draw(st.integers(0, 100)) / 100,
        fields,
        tuple(draw(st.lists(st.sampled_from(["named alike", "3 of 3"]), max_size=2, unique=True))),
        "dependency" if fields else "observed",
        draw(st.sampled_from(["schema", "description", "trace"])),
        draw(st.integers(0, 9)),
    )

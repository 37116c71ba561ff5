"""Any sequence of calls leaves records that fit together, and a refused call changes nothing."""

from __future__ import annotations

from pathlib import Path
from random import Random

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from toolassay.argument_values.drawn_values import UnfillableError
from toolassay.records.data_folder import DataFolder
from toolassay.worlds.calls import WorldCalls
from toolassay.worlds.checks import arguments_of, fitting_arguments, with_value
from toolassay.worlds.operations import RefusedError, WorldState
from toolassay.worlds.templates import value_of
from toolassay.worlds.world import flaws, read_world

FOLDER = DataFolder(Path(__file__).resolve().parents[2] / "data_allotment")
VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("M-104")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10**6), st.booleans(), VALUES), min_size=1, max_size=12))
def test_calls_keep_references_and_keys(steps: list[tuple[int, bool, object]]) -> None:
    world = read_world(FOLDER.path)
    assert world is not None
    library = FOLDER.library()
    calls, state = WorldCalls(world, library), WorldState(world)
    for seed, is_wrong, value in steps:
        rng = Random(seed)
        tool = library[rng.choice(library.ids)]
        try:
            arguments = fitting_arguments(calls, tool, rng, state)
        except UnfillableError:
            continue
        paths = [path for path in arguments_of(world.tools[tool.id]) if path]
        if is_wrong and paths:
            arguments = with_value(arguments, rng.choice(paths), value)
        before = dict(state.places())
        try:
            calls.call(state, tool, arguments)
        except RefusedError as error:
            assert state.places() == before and str(error)
    left = msgspec.structs.replace(world, records=state.records, settings=state.settings)
    assert [*flaws(left)] == []


def test_a_world_starts_anew_for_each_plan() -> None:
    world = read_world(FOLDER.path)
    assert world is not None
    first = WorldState(world)
    first.carry_out(world.tools["end_tenancy"], {"plot_id": "P-01"})
    plot = WorldState(world).records["plot"][0]
    assert (plot["plot_id"], plot["state"]) == ("P-01", "let")
    assert value_of(first.records, "plot[0].state") == "resting"

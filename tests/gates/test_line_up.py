from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.checking import YES, background, gold
from toolassay.errors import UsageError
from toolassay.gates.gate_pipeline import SampleContext, gate_pipeline, inspect, select_gates
from toolassay.gates.second_opinion_gate import SecondOpinionGate


def test_ids_come_first_and_models_last(tmp_path: Path) -> None:
    known = background(tmp_path)
    names = [gate.name for gate in gate_pipeline(known)]
    assert (names[0], names[-1]) == ("id", "llm critic")
    assert len(set(names)) == len(names)
    opinion = SecondOpinionGate((), known)
    assert [gate.name for gate in gate_pipeline(known, SampleContext(second_opinion=opinion))] == [
        *names,
        "second opinion",
    ]


def test_a_sound_sample_passes_all_alone(tmp_path: Path) -> None:
    inspection = next(inspect([gold(check_by_teacher=YES)], gate_pipeline(background(tmp_path))))
    assert (inspection.level, inspection.held_back_by) == ("pass", None)


def test_gates_are_chosen_by_name(tmp_path: Path) -> None:
    gates = gate_pipeline(background(tmp_path))
    assert [gate.name for gate in select_gates(gates, ["LLM_critic", "id"])] == ["id", "llm critic"]
    assert [gate.name for gate in select_gates(gates, ["llm critic", "id"], ["id"])] == ["llm critic"]
    with pytest.raises(UsageError, match=r"there is no gate 'schemer'.*choose from id, "):
        select_gates(gates, without=["schemer"])
    with pytest.raises(UsageError, match="no gate is selected"):
        select_gates(gates, ["id"], ["id"])

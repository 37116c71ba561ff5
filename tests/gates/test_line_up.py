from __future__ import annotations

from pathlib import Path

import pytest
from checking import YES, background, gold

from toolassay.errors import UsageError
from toolassay.gates.inspection import inspect
from toolassay.gates.line_up import Known, chosen, line_up
from toolassay.gates.second_opinion import SecondOpinionGate


def test_ids_come_first_and_models_last(tmp_path: Path) -> None:
    known = background(tmp_path)
    names = [gate.name for gate in line_up(known)]
    assert (names[0], names[-1]) == ("id", "llm critic")
    assert len(set(names)) == len(names)
    opinion = SecondOpinionGate((), known)
    assert [gate.name for gate in line_up(known, Known(second_opinion=opinion))] == [*names, "second opinion"]


def test_a_sound_sample_passes_all_alone(tmp_path: Path) -> None:
    inspection = inspect(gold(check_by_teacher=YES), line_up(background(tmp_path)))
    assert (inspection.level, inspection.held_back_by) == ("pass", None)


def test_gates_are_chosen_by_name(tmp_path: Path) -> None:
    gates = line_up(background(tmp_path))
    assert [gate.name for gate in chosen(gates, ["LLM_critic", "id"])] == ["id", "llm critic"]
    assert [gate.name for gate in chosen(gates, ["llm critic", "id"], ["id"])] == ["llm critic"]
    with pytest.raises(UsageError, match=r"there is no gate 'schemer'.*choose from id, "):
        chosen(gates, without=["schemer"])
    with pytest.raises(UsageError, match="no gate is left"):
        chosen(gates, ["id"], ["id"])

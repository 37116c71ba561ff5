"""A run of an agent on a server that lives on, killed 40 times."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.agent_killing import kill_agents
from tests.support.builders import running_server


@pytest.mark.slow
def test_a_killed_agent_repeats_nothing_and_is_not_scored_by_what_is_in_doubt(tmp_path: Path) -> None:
    with running_server() as model:
        survived = kill_agents(tmp_path, model, kills=40, requests=150, seed=2)
    assert survived.killed == 40
    assert survived.added_twice == survived.paid_twice == survived.scored_in_doubt == survived.incomplete == 0
    assert survived.in_doubt > 0
    assert survived.answered + survived.in_doubt == 150
    assert survived.exit_code == 3

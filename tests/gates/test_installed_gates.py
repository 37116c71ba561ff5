"""A gate that another package installs, from its wheel to `gates.jsonl`; its turn is in `tests/writing`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import labelled_folder
from tests.support.checking import background, label
from tests.support.running import inside, lines_of
from tests.support.wheels import installed
from toolassay.errors import UsageError
from toolassay.gates import RULES, installed_gates
from toolassay.gates.gate import Finding, RuleGate
from toolassay.gates.gate_pipeline import GateRecipe, SampleContext, rule_gates
from toolassay.plans.gold import Gold

PACKAGE = Path("tests") / "packages" / "brevity_gate"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    return installed(root / PACKAGE, tmp_path_factory.mktemp("site"))


def test_it_checks_after_the_built_in_rules(
    tmp_path: Path, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert installed_gates() == ()
    assert [gate.name for gate in rule_gates(background(tmp_path))] == [*RULES]
    monkeypatch.syspath_prepend(str(package))
    assert [gate.name for gate in rule_gates(background(tmp_path))] == [*RULES, "brevity"]
    long = label(1)["user_request"] + " Take your time." * 10
    folder = labelled_folder(tmp_path / "set", [label(0), label(1, user_request=long)])
    out = tmp_path / "checked"
    assert inside("check", "--data_dir", folder, "--out", out, "--engine", "local:2").code == 0
    short_line, long_line = lines_of(out / "gates.jsonl")
    assert (short_line["gates"]["brevity"], long_line["gates"]["brevity"]) == ("pass", "quarantine")
    assert long_line["level"] == "quarantine"
    settings = json.loads((out / "funnel.json").read_text())["settings"]
    assert settings["gates"][: len(RULES) + 3] == ["id", *RULES, "brevity", "duplicate"]
    assert inside("check", "--data_dir", folder, "--out", out, "--gates", "brevity").code == 0


def test_help_lists_it_with_what_it_does(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = " ".join(inside("check", "--help").out.split())
    assert f"{RULES[-1]}, execution (after `toolassay execute`)" in before
    monkeypatch.syspath_prepend(str(package))
    after = " ".join(inside("check", "--help").out.split())
    assert f"{RULES[-1]}, brevity (Holds back requests of more than 40 words), execution" in after


def test_a_process_without_a_selected_gate_refuses_the_work(tmp_path: Path) -> None:
    gates = GateRecipe(background(tmp_path), ("schema", "brevity")).build()
    with pytest.raises(UsageError, match="no gate 'brevity'"):
        gates(SampleContext())


@pytest.mark.parametrize(
    ("declared", "missing"),
    [
        ({"judges": frozenset({"plan"}), "goes_to": "plan"}, "'name'"),
        ({"name": "odd", "goes_to": "plan"}, "'judges'"),
        ({"name": "odd", "judges": frozenset({"plan"})}, "'goes_to'"),
        ({"name": "Odd_One", "judges": frozenset({"plan"}), "goes_to": "plan"}, "lower case"),
        ({"name": "odd", "judges": frozenset({"words"}), "goes_to": "plan"}, "request, plan, values"),
        ({"name": "odd", "judges": frozenset({"plan"}), "goes_to": "words"}, "plan, or request"),
        ({"name": "odd", "judges": frozenset({"plan"}), "goes_to": "request"}, "if it is judged"),
    ],
)
def test_a_gate_without_a_valid_declaration_is_refused(declared: dict[str, Any], missing: str) -> None:
    def check(self: RuleGate, gold: Gold) -> list[Finding]:
        return []

    with pytest.raises(TypeError, match=missing):
        type("OddGate", (RuleGate,), {**declared, "check": check})


def test_the_documentation_shows_this_very_gate(root: Path) -> None:
    page = (root / "docs" / "gates.md").read_text(encoding="utf-8")
    source = root / PACKAGE / "brevity_gate.py"
    assert page.split("```python\n")[1].split("```")[0] == source.read_text(encoding="utf-8")

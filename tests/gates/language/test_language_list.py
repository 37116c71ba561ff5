"""The list of rules in the documentation is that of the code."""

from __future__ import annotations

from pathlib import Path

from toolassay.gates.language.language_rules import RULES

PAGE = Path(__file__).resolve().parents[3] / "docs" / "gates-explained.md"


def test_every_rule_is_listed_with_what_it_finds() -> None:
    section = PAGE.read_text(encoding="utf-8").partition("## Language\n")[2].partition("\n## ")[0]
    rows = [line.split(" | ")[:2] for line in section.splitlines() if line.startswith("| ")][2:]
    listed = [(name.removeprefix("| ").removesuffix(" (reject)"), finds) for name, finds in rows]
    assert listed == [(rule.name, rule.finds) for rule in RULES]

"""Gates decide whether a gold plan can be released. Each checks one property and reports why it fails.

Here: the names of the built-in gates, and the gates of installed packages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolassay.extras import installed_entry_points, installed_extensions

if TYPE_CHECKING:
    from toolassay.gates.gate import RuleGate

GROUP = "toolassay.gates"
RULES = ("schema", "graph", "wiring", "plan", "grounding", "leak", "language")
"""The built-in gates that need only the label and its tools."""
FURTHER = {
    "execution": "after `toolassay execute`",
    "controls": "after it, for samples with facts",
    "duplicate": "",
    "contamination": "needs --against",
    "llm critic": "",
    "second opinion": "needs --solver",
}
"""The gates that follow, and what they need."""


def installed_gates() -> tuple[type[RuleGate], ...]:
    """The gates of installed packages, by name. Without any, nothing is imported.

    Raises:
        UsageError: One cannot be loaded, is no `RuleGate`, or has the name of another.
    """
    if not installed_entry_points(GROUP):
        return ()
    from toolassay.gates.gate import RuleGate

    built_in: list[Any] = []  # an abstract class cannot be the type of the extensions
    names = ("id", *RULES, *FURTHER)
    return installed_extensions(GROUP, RuleGate, "gate", built_in, taken=names, as_classes=True)


def gate_list() -> str:
    """The gates in order, as `--gates` takes them, each installed one with what it does."""
    installed = {gate.name: (gate.__doc__ or "").partition("\n")[0].rstrip(".") for gate in installed_gates()}
    described = dict.fromkeys(("id", *RULES), "") | installed | FURTHER
    return ", ".join(
        name.replace(" ", "_") + (f" ({description})" if description else "")
        for name, description in described.items()
    )

"""A gate that holds back long requests."""

from __future__ import annotations

from toolassay.gates.gate import Finding, RuleGate
from toolassay.plans.gold import Gold

MOST_WORDS = 40


class BrevityGate(RuleGate):
    """Holds back requests of more than 40 words."""

    name = "brevity"
    judges = frozenset({"request"})
    goes_to = "request"

    def check(self, gold: Gold) -> list[Finding]:
        """One finding if the request is long."""
        words = len(gold.request.split())
        if words <= MOST_WORDS:
            return []
        reason = f"the request has {words} words; write at most {MOST_WORDS}"
        return [Finding(self.name, "quarantine", reason, "user_request")]

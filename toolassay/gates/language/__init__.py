"""The gate "language": is the request sound English?"""

from toolassay.gates.language.gate import LanguageGate, language_findings

__all__ = ["LanguageGate", "language_findings"]

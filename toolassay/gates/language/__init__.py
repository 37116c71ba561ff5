"""Is a request sound English? `language_findings` checks a text, `LanguageGate` the samples of a data set."""

from toolassay.gates.language.language_gate import LanguageFinding, LanguageGate, language_findings

__all__ = ["LanguageFinding", "LanguageGate", "language_findings"]

"""Patterns that Presidio has none for, or too greedy ones.

Presidio compares without regard to case; `(?-i:…)` heeds it again.
"""

from __future__ import annotations

_WORD = r"(?-i:\p{Lu}[\p{L}'’-]+)"
_NAME = rf"{_WORD}(?: (?-i:\p{{Lu}}\.))?(?: {_WORD}){{0,2}}"

OWN_PATTERNS: tuple[tuple[str, str], ...] = (
    # Presidio's recogniser asks the network for a list of domains, and takes minutes for some long texts.
    ("EMAIL", r"(?<![\w.+%-])[\w+%-][\w.+%'-]*@\w[\w-]*(?:\.\w[\w-]*)+"),
    ("EMAIL", r"(?<![\w.+%-])[\w+%-][\w.+%'-]*\s?[\[(]\s?at\s?[\])]\s?\w[\w-]*(?:\.\w[\w-]*)+"),
    # Presidio's takes any word with a dot in it for an address, if its end is one of a thousand.
    ("URL", r"\b(?:https?://|www\.)[^\s<>\"']*[^\s<>\"'.,;:!?)\]]"),
    (
        "URL",
        r"(?<![\w.-])(?:[a-z0-9-]+\.)+(?:com|org|net|edu|gov|io|co|uk|de|fr|example)\b"
        r"(?:/[^\s<>\"']*[^\s<>\"'.,;:!?)\]])?",
    ),
    # Somebody who says who he is.
    ("PERSON", rf"(?<=\b(?:my name is|my name's|i am called|name:) ){_NAME}"),
    ("PERSON", rf"(?<=\b(?:mr|mrs|ms|dr|prof)\.? ){_NAME}"),
    (
        "DATE_OF_BIRTH",
        r"(?<=\b(?:born(?: on)?|birthday(?: is)?|date of birth(?: is)?|dob)[: ] ?)"
        r"\d{1,4}[-/. ]\d{1,2}[-/. ]\d{1,4}",
    ),
)

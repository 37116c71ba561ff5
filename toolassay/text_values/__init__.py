"""Dates, times, durations, numbers and money in English text.

`find_*` yields matches with their values, `*_in` returns a set of values. Both take text that `plain` and
`with_digits` have brought into one spelling, unless they say otherwise. `parse_*` reads a whole text and
raises ValueError on any other form. `may_be_*` is lenient: only what cannot be such a value fails.

Formats that must behave as published have their own parsers, in the folder of their benchmark.
"""

"""JUnit files, which build servers read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree import ElementTree

from toolassay.console.tables import printable

Case = tuple[str, str, str]
"""Name, status ("pass", "fail", else undecided) and message."""


def junit_file(title: str, suites: Iterable[tuple[str, Sequence[Case]]]) -> str:
    """A JUnit file; an undecided case is a skipped one, so that a build can tell it from a failure.

    Args:
        title: What made it.
        suites: The cases by suite; a suite without cases is left out.
    """
    root = ElementTree.Element("testsuites", name=title)
    for name, cases in suites:
        if cases:
            statuses = [status for _, status, _ in cases]
            skipped = sum(status not in ("pass", "fail") for status in statuses)
            counts = {"tests": len(cases), "failures": statuses.count("fail"), "skipped": skipped}
            facts = {"name": printable(name), **{key: str(count) for key, count in counts.items()}}
            suite = ElementTree.SubElement(root, "testsuite", facts)
            for rule, status, text in cases:
                case = ElementTree.SubElement(
                    suite, "testcase", classname=printable(name), name=printable(rule)
                )
                if status != "pass":
                    result = "failure" if status == "fail" else "skipped"
                    ElementTree.SubElement(case, result, message=printable(text))
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'

"""The offline critic: a strict teacher who checks what rules can check, and says so in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from toolgraph.offline.tasks import CritiqueTask
from toolgraph.tools import Tool


def review(task: CritiqueTask) -> str:
    """A review, step by step, ending with "Executable: yes|no" and "Correct: yes|no".

    Executable: every tool exists and gets as many inputs as it declares, each of them a text of the
    request, a file named in it, or the output of another tool of the plan. Correct: nodes and links are
    those of the sample.
    """
    graph = task.instruction.get("invoking_graph", {})
    nodes = [node for node in graph.get("nodes", []) if isinstance(node, dict)]
    names = [str(node.get("id")) for node in nodes]
    lines, executable = [], True
    for number, node in enumerate(nodes, start=1):
        faults = list(_faults(task, node, names))
        executable = executable and not faults
        lines.append(f"Step {number}, {node.get('id')}: {'; '.join(faults) or 'its inputs are at hand'}.")
    links = {
        (link.get("source"), link.get("target")) for link in graph.get("links", []) if isinstance(link, dict)
    }
    correct = Counter(names) == Counter(task.sample.nodes) and links == {
        (link.source, link.target) for link in task.sample.links
    }
    lines.append(
        "Nodes and links are the given ones." if correct else "Nodes or links differ from the given ones."
    )
    return "\n".join([*lines, f"Executable: {_word(executable)}", f"Correct: {_word(correct)}"])


def _faults(task: CritiqueTask, node: dict[str, Any], names: list[str]) -> Iterator[str]:
    name = node.get("id")
    if name not in task.library:
        yield "there is no such tool"
        return
    tool: Tool = task.library[str(name)]
    if task.dependency_type == "resource":
        inputs = node.get("input", [])
        if len(inputs) != len(tool.inputs):
            yield f"{len(inputs)} inputs given, {len(tool.inputs)} declared"
        values = [value for value in inputs if value not in names]
    else:
        arguments = [item for item in node.get("arguments", []) if isinstance(item, dict)]
        missing = {parameter.name for parameter in tool.parameters} - {item.get("name") for item in arguments}
        if missing:
            yield f"no value for {', '.join(sorted(missing))}"
        values = [item.get("value") for item in arguments if item.get("value") not in names]
    for value in values:
        if str(value) not in task.request:
            yield f"'{value}' is nowhere in the request"


def _word(judgement: bool) -> str:
    return "yes" if judgement else "no"

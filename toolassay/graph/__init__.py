"""The tool graph: which tool's output can be the input of which tool, or which tool can follow which."""

from toolassay.graph.dependencies import Dependency, DependencyLinks, strongest
from toolassay.graph.links import FieldPair
from toolassay.graph.tool_graph import (
    DEFAULT_MAX_LINKS,
    DependencyType,
    Link,
    ToolFilesDiffer,
    ToolGraph,
    agreed_tools,
    check_dependency_type,
    tools_agree,
)

__all__ = [
    "DEFAULT_MAX_LINKS",
    "Dependency",
    "DependencyLinks",
    "DependencyType",
    "FieldPair",
    "Link",
    "ToolFilesDiffer",
    "ToolGraph",
    "agreed_tools",
    "check_dependency_type",
    "strongest",
    "tools_agree",
]

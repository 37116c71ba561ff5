"""Options of the built-in executors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from toolassay.declarations import Option

_Workspace = Annotated[
    str,
    Option(
        "mcp, python: folder to copy for each plan; {workspace} in the command, and /workspace in arguments "
        "and results, stand for the copy.",
        metavar="FOLDER",
    ),
]
_Fresh = Annotated[
    Literal["plan", "worker"],
    Option(
        "mcp, python: 'plan' starts a new process on a new copy for each plan, without --workspace after "
        "each "
        "plan that writes; 'worker' one process for many plans, whose copy is restored before each.",
    ),
]


@dataclass(frozen=True)
class McpExecution:
    """Options of the executor mcp."""

    section = "Executors"

    server: Annotated[
        str,
        Option(
            "mcp: command line that starts the server, or its http(s) address.",
            metavar="COMMAND|URL",
            common=True,
        ),
    ] = ""
    mcp_config: Annotated[str, Option("mcp: configuration file with mcpServers.", metavar="FILE")] = ""
    header: Annotated[Sequence[str], Option("mcp: header for an address.", metavar="'NAME: VALUE'")] = field(
        default=(), repr=False
    )
    workspace: _Workspace = ""
    fresh: _Fresh = "plan"


@dataclass(frozen=True)
class PythonExecution:
    """Options of the executor python."""

    section = "Executors"

    functions: Annotated[
        str,
        Option(
            "python: module or file with the functions; needs --allow_tools.",
            metavar="MODULE|FILE",
            common=True,
        ),
    ] = ""
    pass_env: Annotated[
        Sequence[str], Option("python: variable of the environment that the functions see.", metavar="NAME")
    ] = ()
    workspace: _Workspace = ""
    fresh: _Fresh = "plan"

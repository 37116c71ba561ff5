"""Engines: where shards of CPU-bound work run."""

from __future__ import annotations

import re
from typing import Annotated

from toolassay.declarations import Option
from toolassay.engines.engine import Engine, OneProcess, ShardTask
from toolassay.errors import UsageError, install

__all__ = ["Engine", "EngineName", "OneProcess", "ShardTask", "check_engine", "open_engine"]

# Matches "local:4", "dask://host:8786" and "dask://10.0.0.7:8786?files=s3://bucket/work"; must not match
# "local" or "dask:host".
_ENGINE = re.compile(
    r"local:(?P<workers>[0-9]{1,4})"
    r"|dask://(?P<host>[^\s/@:?]+):(?P<port>[0-9]{1,5})/?(?:\?files=(?P<files>[a-z0-9+.-]+://.+))?"
)


def check_engine(text: str) -> re.Match[str]:
    """Check the form of `--engine` before anything is read or started.

    Raises:
        UsageError: it is not `local:N`, `dask://HOST:PORT` or `dask://HOST:PORT?files=URL`.

    >>> check_engine("local:2")["workers"]
    '2'
    """
    match = _ENGINE.fullmatch(text)
    if match is None or (match["workers"] and int(match["workers"]) == 0):
        raise UsageError(
            f"--engine '{text}' is no engine",
            fix="write local:N for N processes, dask://HOST:PORT, or dask://HOST:PORT?files=URL",
        )
    return match


def _checked(text: str) -> str:
    check_engine(text)
    return text


EngineName = Annotated[
    str | None,
    Option(
        "Where the work is done: N processes of this machine, or the workers of a Dask cluster. The output "
        "is the same. dask://HOST:PORT?files=s3://BUCKET/FOLDER sends the data to the workers.",
        metavar="local:N|dask://HOST:PORT",
        read=_checked,
    ),
]
"""`--engine`."""


def open_engine(text: str | None) -> Engine:
    """The engine of `--engine`; this process for None.

    Raises:
        UsageError: it is unknown, its package is missing, no scheduler answers, or the storage cannot be
            opened.
    """
    if text is None:
        return OneProcess()
    match = check_engine(text)
    if match["workers"]:
        from toolassay.engines.processes import Processes

        return Processes(int(match["workers"]))
    try:
        from toolassay.engines.dask_cluster import DaskCluster
    except ImportError as error:
        raise UsageError("--engine dask:// needs the package distributed", fix=install("dask")) from error
    return DaskCluster(match["host"], int(match["port"]), match["files"])

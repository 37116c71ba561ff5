"""The page of a tool graph: one `graph_desc.html` that opens from disk and asks the network for nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from toolassay.files import write_text
from toolassay.graph import ToolGraph
from toolassay.report.page_data import page_data


def write_graph_page(graph: ToolGraph, path: Path) -> Path:
    """Write the page of a tool graph: pan, zoom, search, and every tool's description and neighbours.

    The same graph gives the same bytes. The page holds the graph library (Cytoscape.js, MIT) and the data;
    its content security policy lets it connect to nothing and run nothing but its own two scripts.

    Args:
        graph: the tool graph.
        path: the file to write; its folder is made if missing.

    Returns:
        The file.

    Raises:
        UsageError: too many tools or links for a page.
        ToolassayError: the file cannot be written.
    """
    style, script = _resource("pages", "graph_page.css"), _resource("pages", "graph_page.js")
    library = _resource("vendor", "cytoscape.min.js")
    page = Template(_resource("pages", "graph_page.html")).substitute(
        policy=content_policy(scripts=[library, script], styles=[style]),
        style=style,
        library=library,
        script=script,
        data=json_for_script(page_data(graph)),
    )
    write_text(path, page)
    return path


def _resource(folder: str, name: str) -> str:
    return files("toolassay.report").joinpath(folder, name).read_text(encoding="utf-8")


def json_for_script(value: Any) -> str:
    r"""A JSON value that is safe inside a `<script>` element, whatever texts it holds.

    Every `<` is escaped, so neither `</script>` nor `<!--` can occur; everything outside ASCII is
    escaped too, U+2028 and lone surrogates included.

    >>> json_for_script("</script>")
    '"\\u003c/script>"'
    """
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")


def content_policy(*, scripts: list[str], styles: list[str]) -> str:
    """A content security policy that allows these inline scripts and styles (by hash) and nothing else."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(map(_hash, scripts))}",
            f"style-src {' '.join(map(_hash, styles))}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"

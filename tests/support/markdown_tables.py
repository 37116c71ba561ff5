"""Markdown tables, read as a reader of Markdown does."""

from __future__ import annotations

from markdown_it import MarkdownIt


def markdown_cells(markdown: str) -> list[list[str]]:
    """The cells of a table as a Markdown reader shows them."""
    rows: list[list[str]] = []
    for token in MarkdownIt("commonmark").enable("table").parse(markdown):
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows and token.level >= 4:
            rows[-1].append("".join(child.content for child in token.children or []))
    return rows

"""Requests that need several domains."""

from __future__ import annotations

from toolassay.benchmarks.workbench.generate.templates.multi_domain import figures, leads, meetings, messages

TEMPLATES = (*meetings.TEMPLATES, *messages.TEMPLATES, *figures.TEMPLATES, *leads.TEMPLATES)

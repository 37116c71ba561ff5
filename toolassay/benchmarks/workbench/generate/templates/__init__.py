"""The 69 templates of requests, by group."""

from __future__ import annotations

from collections.abc import Mapping

from toolassay.benchmarks.workbench.generate.templates import (
    analytics,
    calendar,
    customers,
    email,
    multi_domain,
    project_management,
)
from toolassay.benchmarks.workbench.generate.templates.template import TASKS, FilledTemplate, Mix, Template

__all__ = ["GROUPS", "TASKS", "FilledTemplate", "Mix", "Template"]


GROUPS: Mapping[str, tuple[Template, ...]] = {
    "analytics": analytics.TEMPLATES,
    "calendar": calendar.TEMPLATES,
    "customer_relationship_manager": customers.TEMPLATES,
    "email": email.TEMPLATES,
    "project_management": project_management.TEMPLATES,
    "multi_domain": multi_domain.TEMPLATES,
}
"""The templates of each published group."""

"""The checks that prove the generated ground truth: each parses a request's text and looks up in SQL
which rows should be deleted, added or changed.

The ground-truth calls come from `templates/`, which knows how a request was made. A check knows only the text
of the request and the database. Both must agree.
"""

from __future__ import annotations

from collections.abc import Mapping

from toolassay.benchmarks.workbench.generate.checks import (
    analytics,
    calendar,
    customers,
    email,
    multi_domain,
    project_management,
)
from toolassay.benchmarks.workbench.generate.checks.expected import Check, ExpectedChanges
from toolassay.benchmarks.workbench.generate.checks.lookups import gaps_of

__all__ = ["CHECKS", "Check", "ExpectedChanges", "gaps_of"]


CHECKS: Mapping[str, Check] = {
    f"{group}.{name}": check
    for group, checks in {
        "analytics": analytics.CHECKS,
        "calendar": calendar.CHECKS,
        "customers": customers.CHECKS,
        "email": email.CHECKS,
        "project_management": project_management.CHECKS,
        "multi_domain": multi_domain.CHECKS,
    }.items()
    for name, check in checks.items()
}
"""The check of each template, by template name."""

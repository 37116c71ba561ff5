"""What each kind of request asks for, read from its text and looked up in SQL.

The ground-truth calls come from `templates/`, which knows how a request was made. A check knows only the text
of the request and the database, and says which rows have to go, come and change. Both must agree.
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
"""The check of each template, by the template's name."""

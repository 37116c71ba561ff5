"""Tools for the visits to the company's web site and for plots of them.

Replies and side effects are those of the published program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from toolassay.benchmarks.workbench.records import Record, Records
from toolassay.benchmarks.workbench.sandbox import PLOTS, VISITS, Sandbox
from toolassay.benchmarks.workbench.tools.tool import ToolArgument, ToolFailure, optional, required, tool

DOMAIN = "analytics"
VALUES = (
    "total_visits",
    "session_duration_seconds",
    "user_engaged",
    "visits_direct",
    "visits_referral",
    "visits_search_engine",
    "visits_social_media",
)
PLOT_TYPES = ("bar", "line", "scatter", "histogram")
SOURCES = ("direct", "referral", "search engine", "social media")


class _Period(TypedDict):
    time_min: ToolArgument
    time_max: ToolArgument


_PERIOD: _Period = {
    "time_min": optional("The first day that counts: YYYY-MM-DD."),
    "time_max": optional("The last day that counts: YYYY-MM-DD."),
}


@tool(
    DOMAIN,
    "Plot a figure over time. Returns the path of the picture.",
    changes_state=True,
    time_min=required("The first day: YYYY-MM-DD."),
    time_max=required("The last day: YYYY-MM-DD."),
    value_to_plot=required("What is plotted.", *VALUES),
    plot_type=required("How it is drawn.", *PLOT_TYPES),
)
def create_plot(sandbox: Sandbox, **given: Any) -> Any:
    """Record the path of a plot. No picture is drawn: the judges compare the paths."""
    first, last, value, kind = map(given.get, ("time_min", "time_max", "value_to_plot", "plot_type"))
    if not first:
        return "Start date not provided."
    if not last:
        return "End date not provided."
    if value not in VALUES:
        return sandbox.edition.replies["value"]
    if kind not in PLOT_TYPES:
        return sandbox.edition.replies["plot"]
    path = f"plots/{first}_{last}_{value}_{kind}.png"
    plots = Records(sandbox, PLOTS)
    plots.append({"file_path": path}, label=len(plots))
    return path


@tool(DOMAIN, "Count the visits of each day.", **_PERIOD)
def total_visits_count(sandbox: Sandbox, time_min: Any = None, time_max: Any = None) -> dict[str, int]:
    """Days without visits are not in the result."""
    return _by_day(sandbox, "count(*)", time_min, time_max)


@tool(DOMAIN, "Count each day's visits in which the visitor was engaged.", **_PERIOD)
def engaged_users_count(sandbox: Sandbox, time_min: Any = None, time_max: Any = None) -> dict[str, int]:
    """Days without visits are not in the result."""
    return _by_day(sandbox, "sum(user_engaged)", time_min, time_max)


@tool(
    DOMAIN,
    "Count each day's visits that came from one source.",
    **_PERIOD,
    traffic_source=optional("Where visitors came from; all sources if left out.", *SOURCES),
)
def traffic_source_count(
    sandbox: Sandbox, time_min: Any = None, time_max: Any = None, traffic_source: Any = None
) -> dict[str, int]:
    """Days without visits are not in the result; days without visits from the source count 0."""
    if not traffic_source:
        return _by_day(sandbox, "count(*)", time_min, time_max)
    return _by_day(sandbox, "sum(traffic_source = ?)", time_min, time_max, traffic_source)


@tool(DOMAIN, "Average over each day's visits how many seconds they lasted.", **_PERIOD)
def get_average_session_duration(
    sandbox: Sandbox, time_min: Any = None, time_max: Any = None
) -> dict[str, float]:
    """Mean duration in seconds by day. A call without bounds turns the stored durations into floats, as
    in the program of 2024.
    """
    if not time_min and not time_max and sandbox.edition.converts_durations:
        sandbox.write(
            VISITS.name,
            "UPDATE visits SET session_duration_seconds = CAST(session_duration_seconds AS REAL)",
        )
    return _by_day(sandbox, "avg(CAST(session_duration_seconds AS REAL))", time_min, time_max)


@tool(
    DOMAIN,
    "Look up the visits of one visitor.",
    visitor_id=required("Id of the visitor, 4 digits."),
)
def get_visitor_information_by_id(sandbox: Sandbox, visitor_id: Any = None) -> Any:
    """All visits of the visitor."""
    if not visitor_id:
        return "Visitor ID not provided."
    visits = Records(sandbox, VISITS).derived(_by_visitor).get(visitor_id, ())
    return [
        {**visit, "user_engaged": bool(visit["user_engaged"])} for visit in visits
    ] or "Visitor not found."


def _by_visitor(visits: Sequence[Record]) -> dict[Any, list[Record]]:
    found: dict[Any, list[Record]] = {}
    for visit in visits:
        found.setdefault(visit["visitor_id"], []).append(visit)
    return found


def _by_day(sandbox: Sandbox, value: str, time_min: Any, time_max: Any, *parameters: Any) -> dict[str, Any]:
    """One aggregate per day, in order. `value` is an SQL expression; days are compared as text."""
    conditions = []
    for sign, bound in ((">=", time_min), ("<=", time_max)):
        if not bound:
            continue
        if not isinstance(bound, str):
            raise ToolFailure(f"a day is text, not {type(bound).__name__}; write YYYY-MM-DD")
        conditions.append(f"date_of_visit {sign} ?")
        parameters += (bound,)
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    day = "date_of_visit"
    query = f"SELECT {day}, {value} FROM visits {where} GROUP BY {day} ORDER BY {day}"
    return dict(sandbox.connection.execute(query, parameters))

"""Tools for the visits to the company's web site and for plots of them.

Replies and side effects are those of the published program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolassay.benchmarks.workbench.records import Record, Records
from toolassay.benchmarks.workbench.sandbox import PLOTS, VISITS, Sandbox
from toolassay.benchmarks.workbench.tools.tool import ToolFailure, tool

DOMAIN = "analytics"


@tool(DOMAIN)
def create_plot(sandbox: Sandbox, **given: Any) -> Any:
    """Record the path of a plot. No picture is drawn: the judges compare the paths."""
    first, last, value, kind = map(given.get, ("time_min", "time_max", "value_to_plot", "plot_type"))
    if not first:
        return "Start date not provided."
    if not last:
        return "End date not provided."
    if not create_plot.allows("value_to_plot", value):
        return sandbox.edition.replies["value"]
    if not create_plot.allows("plot_type", kind):
        return sandbox.edition.replies["plot"]
    path = f"plots/{first}_{last}_{value}_{kind}.png"
    plots = Records(sandbox, PLOTS)
    plots.append({"file_path": path}, label=len(plots))
    return path


@tool(DOMAIN)
def total_visits_count(sandbox: Sandbox, time_min: Any = None, time_max: Any = None) -> dict[str, int]:
    """Days without visits are not in the result."""
    return _by_day(sandbox, "count(*)", time_min, time_max)


@tool(DOMAIN)
def engaged_users_count(sandbox: Sandbox, time_min: Any = None, time_max: Any = None) -> dict[str, int]:
    """Days without visits are not in the result."""
    return _by_day(sandbox, "sum(user_engaged)", time_min, time_max)


@tool(DOMAIN)
def traffic_source_count(
    sandbox: Sandbox, time_min: Any = None, time_max: Any = None, traffic_source: Any = None
) -> dict[str, int]:
    """Days without visits are not in the result; days without visits from the source count 0."""
    if not traffic_source:
        return _by_day(sandbox, "count(*)", time_min, time_max)
    return _by_day(sandbox, "sum(traffic_source = ?)", time_min, time_max, traffic_source)


@tool(DOMAIN)
def get_average_session_duration(
    sandbox: Sandbox, time_min: Any = None, time_max: Any = None
) -> dict[str, float]:
    """Mean duration in seconds by day. A call without bounds turns the stored durations into floats, as
    in the program of 2024.
    """
    if not time_min and not time_max and sandbox.edition.converts_durations:
        sandbox.connection.execute(
            "UPDATE visits SET session_duration_seconds = CAST(session_duration_seconds AS REAL)"
        )
    return _by_day(sandbox, "avg(CAST(session_duration_seconds AS REAL))", time_min, time_max)


@tool(DOMAIN)
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

"""The five tables, drawn from a seed."""

from __future__ import annotations

from toolassay.benchmarks.workbench.generate.tables.calendar import calendar
from toolassay.benchmarks.workbench.generate.tables.customers import customers
from toolassay.benchmarks.workbench.generate.tables.emails import emails
from toolassay.benchmarks.workbench.generate.tables.tasks import tasks
from toolassay.benchmarks.workbench.generate.tables.visits import visits
from toolassay.benchmarks.workbench.generate.world import World


def world(seed: int) -> World:
    """The tables of a seed; each has a random stream of its own.

    >>> [len(table) for table in (world(1).calendar, world(1).email, world(1).analytics)]
    [300, 500, 1000]
    """
    project_tasks = tasks(seed)
    return World(
        calendar=calendar(seed),
        email=emails(seed, [str(task["task_name"]) for task in project_tasks]),
        analytics=visits(seed),
        project_management=project_tasks,
        customer_relationship_manager=customers(seed),
    )

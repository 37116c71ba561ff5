"""Tools for the project boards. Replies and side effects are those of the published program."""

from __future__ import annotations

from typing import Any

from toolassay.benchmarks.workbench.records import Records
from toolassay.benchmarks.workbench.sandbox import TASKS, Sandbox
from toolassay.benchmarks.workbench.tools.tool import Search, look_up, remove_rows, tool

DOMAIN = "project_management"
_AT_MOST = 200
_WRONG_ASSIGNEE = "Assignee email not valid. Please choose from the list of team members."


@tool(DOMAIN)
def create_task(sandbox: Sandbox, **given: Any) -> str:
    """All tasks are relabelled, as in the published program."""
    if not all(map(given.get, TASKS.columns[1:])):
        return "Missing task details."
    tasks = Records(sandbox, TASKS)
    given["assigned_to_email"] = given["assigned_to_email"].lower()
    for field in ("assigned_to_email", "list_name", "board"):
        if wrong := _wrong(tasks, field, given[field]):
            return wrong
    task_id = f"{tasks.next_id():08d}"
    tasks.append({"task_id": task_id, **given}, label=len(tasks))
    tasks.renumber()
    return task_id


@tool(DOMAIN)
def delete_task(sandbox: Sandbox, task_id: Any = None) -> str:
    """Deletes every task with this id."""
    return remove_rows(sandbox, TASKS, "Task", task_id)


@tool(DOMAIN)
def update_task(sandbox: Sandbox, task_id: Any = None, field: Any = None, new_value: Any = None) -> str:
    """The value is checked before the task is looked up."""
    if not task_id or not field or not new_value:
        return "Task ID, field, or new value not provided."
    tasks = Records(sandbox, TASKS)
    if field == "assigned_to_email":
        new_value = new_value.lower()
    if wrong := _wrong(tasks, field, new_value):
        return wrong
    if tasks.first(task_id) is None:
        return "Task not found."
    if field not in TASKS.columns:
        return "Field not valid."
    tasks.change(task_id, field, new_value)
    return "Task updated successfully."


@tool(DOMAIN)
def get_task_information_by_id(sandbox: Sandbox, task_id: Any = None, field: Any = None) -> Any:
    return look_up(sandbox, TASKS, "Task", task_id, field)


@tool(DOMAIN)
def search_tasks(sandbox: Sandbox, **given: Any) -> Any:
    """All matches, or the first 200, in table order."""
    if not any(given.values()):
        return "No search parameters provided."
    literal = sandbox.edition.is_literal
    search, found = Search(literal=literal, case=literal), list(Records(sandbox, TASKS).all())
    for column in TASKS.columns[1:]:
        if pattern := given.get(column):
            found = search.contains(found, pattern, column)
    return [dict(task) for task in found[: _AT_MOST if literal else None]]


def _wrong(tasks: Records, field: Any, value: Any) -> str:
    """The error message for a field's value; empty if the value is valid."""
    if field == "assigned_to_email" and value not in {task[field] for task in tasks.all()}:
        return _WRONG_ASSIGNEE
    if field in ("list_name", "board") and not create_task.allows(field, value):
        noun, choices = field.removesuffix("_name").capitalize(), create_task.arguments[field].choices
        return f"{noun} not valid. Please choose from: {', '.join(map(repr, choices))}."
    return ""

"""Tools for the project boards. Replies and side effects are those of the published program."""

from __future__ import annotations

from typing import Any

from toolassay.benchmarks.workbench.records import Records
from toolassay.benchmarks.workbench.sandbox import TASKS, Sandbox
from toolassay.benchmarks.workbench.tools.tool import Search, look_up, optional, remove_rows, required, tool

DOMAIN = "project_management"
LISTS = ("Backlog", "In Progress", "In Review", "Completed")
BOARDS = ("Back end", "Front end", "Design")
_AT_MOST = 200
_FIELDS = "task_name, assigned_to_email, list_name, due_date or board"
_WRONG_ASSIGNEE = "Assignee email not valid. Please choose from the list of team members."
_WRONG_LIST = "List not valid. Please choose from: 'Backlog', 'In Progress', 'In Review', 'Completed'."
_WRONG_BOARD = "Board not valid. Please choose from: 'Back end', 'Front end', 'Design'."


@tool(
    DOMAIN,
    "Put a new task on a board. Returns its id.",
    changes_state=True,
    task_name=required("What is to be done."),
    assigned_to_email=required("E-mail address of the team member who is to do it."),
    list_name=required("How far it is.", *LISTS),
    due_date=required("By when: YYYY-MM-DD."),
    board=required("Which board.", *BOARDS),
)
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


@tool(
    DOMAIN,
    "Remove a task from its board.",
    changes_state=True,
    task_id=required("Id of the task, 8 digits."),
)
def delete_task(sandbox: Sandbox, task_id: Any = None) -> str:
    """Deletes every task with this id."""
    return remove_rows(sandbox, TASKS, "Task", task_id)


@tool(
    DOMAIN,
    "Change one detail of a task.",
    changes_state=True,
    task_id=required("Id of the task, 8 digits."),
    field=required(f"Which detail: {_FIELDS}."),
    new_value=required("What it is to be from now on."),
)
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


@tool(
    DOMAIN,
    "Look up one detail of a task.",
    task_id=required("Id of the task, 8 digits."),
    field=required(f"Which detail: {_FIELDS}."),
)
def get_task_information_by_id(sandbox: Sandbox, task_id: Any = None, field: Any = None) -> Any:
    return look_up(sandbox, TASKS, "Task", task_id, field)


@tool(
    DOMAIN,
    "Find tasks: all that fit everything that is given.",
    task_name=optional("What the task's name contains."),
    assigned_to_email=optional("What the address of the team member contains."),
    list_name=optional("What the list's name contains."),
    due_date=optional("What the due date contains, e.g. 2023-12-01."),
    board=optional("What the board's name contains."),
)
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
    if field == "list_name" and value not in LISTS:
        return _WRONG_LIST
    if field == "board" and value not in BOARDS:
        return _WRONG_BOARD
    return ""

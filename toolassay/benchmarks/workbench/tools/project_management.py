"""Tools for the project boards. Replies and side effects are those of the published program."""

from __future__ import annotations

from typing import Any

from toolassay.benchmarks.workbench.records import Records
from toolassay.benchmarks.workbench.sandbox import TASKS, Sandbox
from toolassay.benchmarks.workbench.tools.tool import Search, optional, required, tool

DOMAIN = "project_management"
LISTS = ("Backlog", "In Progress", "In Review", "Completed")
BOARDS = ("Back end", "Front end", "Design")
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
def create_task(
    sandbox: Sandbox,
    task_name: Any = None,
    assigned_to_email: Any = None,
    list_name: Any = None,
    due_date: Any = None,
    board: Any = None,
) -> str:
    """All tasks are relabelled, as in the published program."""
    if not all((task_name, assigned_to_email, list_name, due_date, board)):
        return "Missing task details."
    tasks = Records(sandbox, TASKS)
    assignee = assigned_to_email.lower()
    if wrong := (
        _wrong(tasks, "assigned_to_email", assignee)
        or _wrong(tasks, "list_name", list_name)
        or _wrong(tasks, "board", board)
    ):
        return wrong
    task_id = f"{tasks.next_id():08d}"
    cells = (task_id, task_name, assignee, list_name, due_date, board)
    tasks.append(dict(zip(TASKS.columns, cells, strict=True)), label=len(tasks))
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
    if not task_id:
        return "Task ID not provided."
    if not Records(sandbox, TASKS).remove(task_id):
        return "Task not found."
    return "Task deleted successfully."


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
    if not task_id:
        return "Task ID not provided."
    if not field:
        return "Field not provided."
    task = Records(sandbox, TASKS).first(task_id)
    if task is None:
        return "Task not found."
    return {field: task[field]} if field in task else "Field not found."


@tool(
    DOMAIN,
    "Find tasks: all that fit everything that is given.",
    task_name=optional("What the task's name contains."),
    assigned_to_email=optional("What the address of the team member contains."),
    list_name=optional("What the list's name contains."),
    due_date=optional("What the due date contains, e.g. 2023-12-01."),
    board=optional("What the board's name contains."),
)
def search_tasks(
    sandbox: Sandbox,
    task_name: Any = None,
    assigned_to_email: Any = None,
    list_name: Any = None,
    due_date: Any = None,
    board: Any = None,
) -> Any:
    """All matches, in table order."""
    wanted = dict(
        zip(TASKS.columns[1:], (task_name, assigned_to_email, list_name, due_date, board), strict=True)
    )
    if not any(wanted.values()):
        return "No search parameters provided."
    search, found = Search(), list(Records(sandbox, TASKS).all())
    for column, pattern in wanted.items():
        if pattern:
            found = search.contains(found, pattern, column)
    return [dict(task) for task in found]


TOOLS = (create_task, delete_task, update_task, get_task_information_by_id, search_tasks)


def _wrong(tasks: Records, field: Any, value: Any) -> str:
    """The error message for a field's value; empty if the value is valid."""
    if field == "assigned_to_email" and value not in tasks.values("assigned_to_email"):
        return _WRONG_ASSIGNEE
    if field == "list_name" and value not in LISTS:
        return _WRONG_LIST
    if field == "board" and value not in BOARDS:
        return _WRONG_BOARD
    return ""

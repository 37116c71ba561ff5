"""The tools of e-mail, and of the directory of addresses."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from datetime import date
from typing import Any

from toolassay.benchmarks.workbench.records import Moment, Record, Records
from toolassay.benchmarks.workbench.sandbox import DIRECTORY, EMAILS, Sandbox
from toolassay.benchmarks.workbench.tools.tool import (
    Search,
    ToolFailure,
    look_up,
    parse_moment,
    remove_rows,
    tool,
)

DOMAIN = "email"
_AT_MOST = 5


@tool(DOMAIN)
def send_email(sandbox: Sandbox, recipient: Any = None, subject: Any = None, body: Any = None) -> str:
    """The e-mail is added to the outbox with the sandbox's current time."""
    if not recipient or not subject or not body:
        return "Recipient, subject, or body not provided."
    if not _is_address(recipient):
        return "Invalid recipient email address."
    _send(sandbox, recipient.lower(), subject, body)
    return "Email sent successfully."


@tool(DOMAIN)
def delete_email(sandbox: Sandbox, email_id: Any = None) -> str:
    """Deletes every e-mail with this id."""
    return remove_rows(sandbox, EMAILS, "Email", email_id)


@tool(DOMAIN)
def forward_email(sandbox: Sandbox, email_id: Any = None, recipient: Any = None) -> str:
    """Sends the same body with `FW: ` before the subject."""
    if not email_id or not recipient:
        return "Email ID or recipient not provided."
    mail = Records(sandbox, EMAILS).first(email_id)
    if mail is None:
        return "Email not found."
    if not _is_address(recipient):
        return "Invalid recipient email address."
    _send(sandbox, recipient.lower(), f"FW: {mail['subject']}", mail["body"])
    return "Email forwarded successfully."


@tool(DOMAIN)
def reply_email(sandbox: Sandbox, email_id: Any = None, body: Any = None) -> str:
    """The subject stays unchanged (no `Re: `), as in the published program."""
    if not email_id or not body:
        return "Email ID or body not provided."
    mail = Records(sandbox, EMAILS).first(email_id)
    if mail is None:
        return "Email not found."
    _send(sandbox, mail["sender/recipient"].lower(), mail["subject"], body)
    return "Email replied successfully."


@tool(DOMAIN)
def get_email_information_by_id(sandbox: Sandbox, email_id: Any = None, field: Any = None) -> Any:
    return look_up(sandbox, EMAILS, "Email", email_id, field)


@tool(DOMAIN)
def search_emails(sandbox: Sandbox, query: Any = "", date_min: Any = None, date_max: Any = None) -> Any:
    """The first 5 matches, newest first.

    Raises:
        ToolFailure: both original mail and mail sent during the task match. The program of 2024 fails there
            because it cannot sort texts and timestamps together.
    """
    words = query.lower().split()
    mails = Records(sandbox, EMAILS)
    rows, texts = mails.all(), mails.derived(_texts)
    places: Sequence[int] = range(len(rows))
    for word in words:
        places = [place for place in places if word in texts[place]]
    found = [rows[place] for place in places]
    edition = sandbox.edition
    if not edition.appends_mail and len({isinstance(mail["sent_datetime"], Moment) for mail in found}) > 1:
        raise ToolFailure("cannot order mail that was there and mail sent since: search for fewer e-mails")
    found.sort(key=lambda mail: mail["sent_datetime"], reverse=True)
    for bound, keeps in ((date_min, operator.ge), (date_max, operator.le)):
        if bound and (found or edition.appends_mail):
            day = _day(sandbox, bound)
            found = [mail for mail in found if keeps(_day(sandbox, mail["sent_datetime"]), day)]
    return [dict(mail) for mail in found[:_AT_MOST]] or edition.replies["mail"]


def _day(sandbox: Sandbox, text: Any) -> date:
    found = parse_moment(text, sandbox.now)
    if found is None:
        raise ToolFailure(f"not a day: {text!r}; write YYYY-MM-DD")
    return found.date()


def _is_address(text: Any) -> bool:
    return "@" in text and "." in text


def _texts(mails: Sequence[Record]) -> list[str]:
    """The text of each mail that is searched, without case."""
    return [f"{mail['subject']} {mail['body']} {mail['sender/recipient']}".lower() for mail in mails]


def _send(sandbox: Sandbox, recipient: Any, subject: Any, body: Any) -> None:
    mails = Records(sandbox, EMAILS)
    number = f"{mails.next_id():0{8 if sandbox.edition.appends_mail else 1}d}"
    cells = (number, "outbox", recipient, subject, f"{sandbox.now:%Y-%m-%d %H:%M:%S}", body)
    row = dict(zip(EMAILS.columns, cells, strict=True)) | {"moment": 1}
    if sandbox.edition.appends_mail or not sandbox.overwrites:
        mails.append(row, mails.next_label())
    # The published program uses the number of rows as the new label. After a deletion another row may have
    # that label, and is then overwritten.
    elif not mails.overwrite(row, len(mails)):
        mails.append(row, len(mails))


DIRECTORY_DOMAIN = "company_directory"


@tool(DIRECTORY_DOMAIN)
def find_email_address(sandbox: Sandbox, name: Any = "") -> Any:
    """All addresses that contain the name."""
    if name == "":
        return "Name not provided."
    rows, edition = Records(sandbox, DIRECTORY).all(), sandbox.edition
    found = Search(literal=edition.is_literal).contains(rows, name.lower(), "email_address")
    return [row["email_address"] for row in found] or edition.replies["address"]

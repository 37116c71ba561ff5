"""The five tables: as many rows as published, by the published rules."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, timedelta
from itertools import pairwise

import pytest

from toolassay.benchmarks.workbench.generate.company import (
    BOARDS,
    NOW,
    PEOPLE,
    PROJECT,
    SALES,
    TODAY,
    Row,
    Tables,
    address,
    draw_tables,
    texts,
)
from toolassay.benchmarks.workbench.generate.draft import between


@pytest.fixture(scope="module", params=[0, 4])
def company(request: pytest.FixtureRequest) -> Tables:
    return draw_tables(request.param)


def cells(rows: list[Row], column: str) -> list[str]:
    return [str(row[column]) for row in rows]


def test_sizes(company: Tables) -> None:
    tables = (
        company.calendar,
        company.email,
        company.analytics,
        company.project_management,
        company.customer_relationship_manager,
    )
    assert [len(table) for table in tables] == [300, 500, 1000, 300, 200]


def test_ids_are_eight_digits_and_no_order(company: Tables) -> None:
    for table in (company.calendar, company.email, company.project_management):
        ids = [str(next(iter(row.values()))) for row in table]
        assert sorted(ids) == [f"{number:08}" for number in range(len(ids))]
        assert ids != sorted(ids)


def test_meetings(company: Tables) -> None:
    events = [
        (datetime.fromisoformat(str(e["event_start"])), timedelta(minutes=int(str(e["duration"]))), e)
        for e in company.calendar
    ]
    assert [start for start, _, _ in events] == sorted(start for start, _, _ in events)
    assert all(date(2023, 8, 1) <= start.date() <= date(2023, 12, 21) for start, _, _ in events)
    assert all(start.weekday() < 5 and start.minute in (0, 30) for start, _, _ in events)
    assert all("09:00" <= f"{start:%H:%M}" <= "15:30" for start, _, _ in events)
    assert {length for _, length, _ in events} == {timedelta(minutes=m) for m in (30, 60, 90, 120)}
    assert all(start + length <= following for (start, length, _), (following, _, _) in pairwise(events))
    assert len({(start.date(), e["event_name"]) for start, _, e in events}) == 300
    assert {e["participant_email"] for _, _, e in events} == set(map(address, PEOPLE))


def test_mail_came_before_now_and_a_subject_once_a_day(company: Tables) -> None:
    mails = list(company.email)
    times = cells(mails, "sent_datetime")
    assert times == sorted(set(times)) and times[0] >= "2023-10-01" and times[-1] < str(NOW)
    assert set(cells(mails, "inbox/outbox")) == {"inbox"}
    assert len({(m["subject"], str(m["sent_datetime"])[:10]) for m in mails}) == 500
    assert len(set(cells(mails, "body"))) == 500
    assert not any("\n" in body or '"' in body for body in cells(mails, "body"))
    assert all(body.split("\\n")[-1] in PEOPLE for body in cells(mails, "body"))


def test_visits(company: Tables) -> None:
    days = Counter(str(visit["date_of_visit"]) for visit in company.analytics)
    assert (len(days), min(days), max(days)) == (90, "2023-09-01", "2023-11-29")
    assert min(days.values()) >= 2  # no day without a figure
    for visit in company.analytics:
        engaged = int(str(visit["session_duration_seconds"])) > 10 and int(str(visit["page_views"])) > 1
        assert visit["user_engaged"] == str(engaged)
        assert visit["traffic_source"] in ("direct", "referral", "search engine", "social media")
        assert len(str(visit["visitor_id"])) == 4


def test_tasks(company: Tables) -> None:
    tasks = list(company.project_management)
    due = cells(tasks, "due_date")
    assert due == sorted(due) and due[0] >= "2023-11-27" and due[-1] <= "2023-12-13"
    assert Counter(cells(tasks, "board")) == dict.fromkeys(BOARDS, 100)
    assert len(set(cells(tasks, "task_name"))) == 300
    team = {address(person): board for board, people in BOARDS.items() for person in people}
    assert all(team[str(task["assigned_to_email"])] == task["board"] for task in tasks)
    overdue = [t for t in tasks if str(t["due_date"]) < "2023-11-30" and t["list_name"] != "Completed"]
    late = {task["assigned_to_email"] for task in overdue}
    assert len(PROJECT) - len(late) >= 5  # a third of the team is on time


def test_customers(company: Tables) -> None:
    customers = list(company.customer_relationship_manager)
    contacts = cells(customers, "last_contact_date")
    assert contacts == sorted(contacts, reverse=True)
    assert contacts[-1] >= "2023-10-01" and contacts[0] < "2023-11-30"
    assert len(set(cells(customers, "customer_name"))) == 200
    assert sum(customer["customer_phone"] is None for customer in customers) == 100
    assert sum(customer["notes"] is None for customer in customers) == 44
    assert set(cells(customers, "assigned_to_email")) == set(map(address, SALES))
    assert all(str(c["last_contact_date"]) < str(c["follow_up_by"]) for c in customers)


def test_no_name_can_be_taken_for_another(company: Tables) -> None:
    """The tools look for parts of names."""
    addresses = [address(person) for person in PEOPLE]
    for person in PEOPLE:
        assert [email for email in addresses if person.lower() in email] == [address(person)]
    subjects = sorted(set(cells(list(company.email), "subject")))
    tasks = cells(list(company.project_management), "task_name")
    for names in (texts("events")["held"], subjects, tasks):
        assert not [
            (one, other) for one in names for other in names if one != other and one.lower() in other.lower()
        ]
    customers = {str(c["customer_name"]) for c in company.customer_relationship_manager}
    assert not customers & set(texts("customers")["new_names"])
    assert not {name.split()[0] for name in customers} & set(PEOPLE)


def test_a_period_holds_its_first_and_last_day() -> None:
    values = {TODAY - timedelta(days=ago): float(ago) for ago in (4, 3, 2, 1, 0)}
    first, last = TODAY - timedelta(days=3), TODAY - timedelta(days=2)
    assert between(values, first) == [3, 2, 1]
    assert between(values, first, last) == [3, 2]

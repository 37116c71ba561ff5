"""The five tables: as many rows as published, by the published rules."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from itertools import pairwise

import pytest

from toolassay.benchmarks.workbench.generate.company import (
    PEOPLE,
    Row,
    Tables,
    address,
    draw_tables,
    texts,
)


@pytest.fixture(scope="module", params=[0, 4])
def company(request: pytest.FixtureRequest) -> Tables:
    return draw_tables(request.param)


def cells(rows: list[Row], column: str) -> list[str]:
    return [str(row[column]) for row in rows]


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

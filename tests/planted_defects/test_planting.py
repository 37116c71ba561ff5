"""Planting: seeded, one defect a sample, each shown to be one."""

from __future__ import annotations

import copy
import random
from functools import cache
from pathlib import Path

import pytest

from measurements.planted_defects.forms import KINDS, Form, World
from measurements.planted_defects.kinds import FORMS
from measurements.planted_defects.kinds.duplicate_request import KIND as DUPLICATE
from measurements.planted_defects.planting import plant
from measurements.planted_defects.samples import DataSet, read_data_set
from measurements.planted_defects.verifying import is_defective

ROOT = Path(__file__).resolve().parents[2]
HELD_BACK = ROOT / "measurements" / "held_back"


@cache
def data_set(name: str) -> DataSet:
    return read_data_set(ROOT / name if name.startswith("data_") else HELD_BACK / name)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.kind}: {form.name}")
def test_every_form_can_be_planted(form: Form) -> None:
    planted = 0
    for name in ("media", "errands", "office", "data_multimedia"):
        world = World(data_set(name), ["Sentence Similarity", "book_flight"], random.Random(1))
        for original in world.data.records:
            record = copy.deepcopy(original)
            change = form.plant(record, world)
            if change is None:
                assert record == original
            else:
                planted += is_defective(form, original, record, world.data)
    assert planted


@pytest.mark.parametrize("name", ["office", "errands", "errands_hub", "media"])
def test_planting_is_seeded_and_gives_one_defect_a_sample(name: str) -> None:
    data = data_set(name)
    records, key = plant(data, 3, strange_tools=["book_flight"])
    assert (records, key) == plant(data, 3, strange_tools=["book_flight"])
    assert plant(data, 4).key != key
    assert 0.15 < len(key) / len(records) <= 0.25
    originals = {record["id"]: record for record in data.records}
    planted = {line.id: line for line in key}
    assert len(planted) == len(key)
    for record in records:
        if record["id"] not in planted:
            assert record == originals[record["id"]]
        elif planted[record["id"]].kind != DUPLICATE:
            assert record != originals[record["id"]]


def test_what_changes_nothing_is_no_defect() -> None:
    data = data_set("media")
    forms = {form.kind: form for form in FORMS}
    for kind in set(KINDS) - {DUPLICATE}:
        assert not any(is_defective(forms[kind], record, record, data) for record in data.records), kind


def test_a_changed_value_that_stands_in_the_request_is_no_defect() -> None:
    data = data_set("office")
    original = next(r for r in data.records if "portugal" in r["user_request"].casefold())
    record = copy.deepcopy(original)
    record["task_nodes"][0]["arguments"][1] = "The whole list"
    form = next(form for form in FORMS if form.kind == "value not in the request")
    assert not is_defective(form, original, record, data)

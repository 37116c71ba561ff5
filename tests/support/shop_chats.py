"""A small made-up folder of chats, and answers to it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from toolassay.benchmarks.classic.data import ClassicData, read_data
from toolassay.benchmarks.classic.scoring.prediction_rows import PredictionRow, row_of

TABLES = {
    "domains.csv": "domain_uuid,domain_name\nshop,Shop\nfarm,Farm\n",
    "workflows.csv": (
        "workflow_uuid,name,description,domain_uuid\n"
        "return,Return Goods,,shop\ntrack,Track Parcel,,shop\nmilk,Order Milk,,farm\n"
    ),
    "messages.csv": (
        "conversation_uuid,request_content,response_content,true_workflow_uuid,"
        "true_workflow_uuid_2,request_idx,domain_uuid\n"
        "c1,these shoes are too small,Shall I book a return?,return,,0,shop\n"
        "c1,and where is the other pair?,It is on its way.,track,return,1,shop\n"
        "c2,my coat does not fit,,return,,0,shop\n"
        "c3,hello,Hi!,,,0,shop\n"
        "c4,two litres please,,milk,,0,farm\n"
    ),
}
RIGHT = {("c1", 0): "return", ("c1", 1): "track", ("c2", 0): "return", ("c3", 0): None, ("c4", 0): "milk"}


def chats(folder: Path) -> ClassicData:
    """Write the tables, and read them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in TABLES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return read_data(folder)


def answer(place: tuple[str, int], prediction: Any, trial: int = 0, **more: Any) -> dict[str, Any]:
    """A row as it stands in a prediction file."""
    labels = {("c1", 1): ["track", "return"], ("c3", 0): []}.get(place, [RIGHT[place]])
    return {
        "conversation_uuid": place[0],
        "request_idx": place[1],
        "trial_idx": trial,
        "domain_uuid": "farm" if place[0] == "c4" else "shop",
        "y_workflow_uuids": labels,
        "pred_workflow_uuid": prediction,
        "time_to_pred": 1.0,
        "tokens_input": 100,
        "tokens_output": 10,
        "cost": 0.002,
        **more,
    }


def answers(
    changed: Mapping[tuple[str, int], Any] | None = None, trial: int = 0, **more: Any
) -> list[dict[str, Any]]:
    """A right row for each message, but for the predictions that are given."""
    return [answer(place, (changed or {}).get(place, right), trial, **more) for place, right in RIGHT.items()]


def rows(values: Iterable[Mapping[str, Any]]) -> list[PredictionRow]:
    """The same, as they are read."""
    return [row_of(value) for value in values]


def write_array(path: Path, values: Iterable[Mapping[str, Any]]) -> Path:
    """A prediction file that is a JSON array, a row a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[\n" + ",\n".join(json.dumps(value) for value in values) + "\n]\n", encoding="utf-8")
    return path

"""The split stage."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.support.gold_samples import label, some_labels, write_folder
from tests.support.running import inside, process
from toolassay import split
from toolassay.errors import UsageError
from toolassay.plans.gold import Gold
from toolassay.records.dataset import SPLITS
from toolassay.variety.splits import Member

DATA = "data_dailylifeapis"


def copied(root: Path, to: Path, count: int = 300) -> Path:
    lines = (root / DATA / "data.json").read_text(encoding="utf-8").splitlines(keepends=True)[:count]
    random.Random(1).shuffle(lines)
    to.mkdir()
    (to / "data.json").write_text("".join(lines), encoding="utf-8")
    return to


def test_the_splits_of_bundled_data_share_no_subgraph_and_no_request(root: Path, tmp_path: Path) -> None:
    folder = copied(root, tmp_path / "data")
    result = split(folder)
    value = json.loads((folder / "split_ids.json").read_text())
    split_of = {name: one for one in SPLITS for ids in value[f"{one}_ids"].values() for name in ids}
    labels = [json.loads(line) for line in (folder / "data.json").read_text().splitlines()]

    assert split_of.keys() == {one["id"] for one in labels}
    keys: dict[str, str] = {}
    for one in labels:
        for key in Member.of(Gold.of(one)).keys:
            assert keys.setdefault(key, split_of[one["id"]]) == split_of[one["id"]]
    assert abs(sum(found["train"] for found in result.counts().values()) - 240) <= 3


def test_neither_the_order_of_the_file_nor_the_hash_seed_counts(root: Path, tmp_path: Path) -> None:
    folder = copied(root, tmp_path / "data")
    first = split(root / DATA, out=tmp_path / "a.json")
    second = process("split", "--data_dir", folder, "--out", tmp_path / "b.json", cwd=tmp_path)

    assert second.code == 0
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    other = split(folder, seed=1, out=tmp_path / "c.json")
    assert other.groups == first.groups
    assert other.splits != first.splits
    assert not (folder / "split_ids.json").exists()


def test_the_table_and_what_could_not_be_held(tmp_path: Path) -> None:
    labels = [label(n, [("画", [f"{n}"])]) for n in range(30)] + [label(30, [("Fetch", ["x"])])]
    labels += [label(31 + n, [("Fetch", ["x"]), ("Edit_Image", ["<node-0>"])]) for n in range(1)]
    done = inside("split", "--data_dir", write_folder(tmp_path / "d", labels))

    assert done.code == 0
    assert "| single of 1 | 31 | 2 | 30 (96.8%) | 0 (0.0%) | 1 (3.2%) |" in done.out.replace(
        "1 (3.2%) | 0 (0.0%)", "0 (0.0%) | 1 (3.2%)"
    )
    assert "| all | 32 | 3 |" in done.out
    assert "single of 1 by 5.2 of 31 samples" in done.err and "chain of 2 (1 sample, 1 group;" in done.err


def test_the_command(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "d", some_labels())
    settings = "--train 1 --dev 0 --test 1 --hold-out-tools Answer,Fetch --seed 3"
    done = inside("split", "--data_dir", folder, *settings.split())

    assert done.code == 0
    assert done.out.splitlines()[-1] == str(folder / "split_ids.json")
    value = json.loads((folder / "split_ids.json").read_text())
    assert (value["seed"], value["shares"]) == (3, {"train": 0.5, "dev": 0.0, "test": 0.5})
    assert value["test_ids"] == {"single": [], "chain": ["1", "2"], "dag": ["3"]}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"train": 0, "dev": 0, "test": 0}, "the shares are not valid"),
        ({"threshold": 2}, "--threshold 2 is not between 0.2 and 1"),
        ({"hold_out_tools": ["Nobody"]}, "no sample uses the tool 'Nobody'"),
        ({"hold_out_tools": ["Fetch"], "test": 0}, "tools are held out for the test split"),
    ],
)
def test_bad_settings(settings: dict[str, object], message: str, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "d", some_labels())

    with pytest.raises(UsageError, match=message):
        split(folder, **settings)  # type: ignore[arg-type]
    assert not (folder / "split_ids.json").exists()


def test_a_model_is_asked_and_scored_on_a_split(root: Path, tmp_path: Path) -> None:
    folder = copied(root, tmp_path / "data", 40)
    (folder / "user_requests.json").write_bytes((folder / "data.json").read_bytes())
    for name in ("tool_desc.json", "benchmark.json"):
        (folder / name).write_bytes((root / DATA / name).read_bytes())
    split(folder)
    chosen = f"{folder / 'split_ids.json'}:test"
    asked = inside("infer", "--data_dir", folder, "--llm", "offline", "--ids", chosen)
    common = ["--data_dir", str(folder), "--llm", "offline", "-m", "f1"]
    scored = inside("evaluate", *common, "--alignment", "test", "--min_coverage", "1")

    assert asked.code == 0
    assert scored.code == 0, "all of the split is answered"
    assert inside("evaluate", *common, "--min_coverage", "0.9").code == 3
    assert len((folder / "predictions" / "offline.json").read_text().splitlines()) == 4
    unknown = inside("infer", "--data_dir", folder, "--llm", "offline", "--ids", f"{chosen}s")
    assert unknown.code == 2
    assert "has no 'tests_ids'. Fix: check the name after the colon in --ids" in unknown.error

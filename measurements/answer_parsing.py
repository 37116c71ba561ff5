"""How much of a plan survives what models do to JSON: 19 corruptions of real predictions, four readers.

    python -m measurements.answer_parsing --reference FOLDER [--sample 498] [--seed 0]

FOLDER (or the environment variable TOOLASSAY_REFERENCE) holds `gnn4taskplan/prediction/*/*.json`. For
each corruption and reader two shares are printed: answers read exactly, and answers whose nodes and
links are right. What was cut off cannot be read exactly; the share flagged as truncated says whether the
reader knows.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from json_repair import repair_json

from toolassay.models.json_answers import read_answer

Plan = dict[str, Any]
Corruption = Callable[[Plan, random.Random], str]
Reader = Callable[[str], Any]

KEYS = ("task_steps", "task_nodes", "task_links")
# What a corruption takes away for good: an answer with such a hurt has to be flagged.
CUT = ("truncated tail", "missing closing bracket")


class Score(NamedTuple):
    """Counts of answers read by one reader."""

    answers: int
    exact: int
    nodes_and_links: int
    flagged: int


def compact(plan: Plan, _: random.Random) -> str:
    return json.dumps(plan, separators=(",", ":"))


def fence(plan: Plan, _: random.Random) -> str:
    return f"```json\n{json.dumps(plan, indent=2)}\n```"


def fence_with_prose(plan: Plan, _: random.Random) -> str:
    return f"Here is the plan you asked for:\n\n```\n{json.dumps(plan)}\n```\n\nTell me if it's of use!"


def prose_with_braces(plan: Plan, _: random.Random) -> str:
    return f"I fill the form {{task, steps}} and the set {{1, 2}}:\n{json.dumps(plan)}\nDone {{:-}}."


def reasoning(plan: Plan, _: random.Random) -> str:
    draft = json.dumps({**plan, "task_nodes": [], "task_links": []})
    return f"<think>\nIs it {draft}? No, that's not it.\n</think>\n\n{json.dumps(plan)}"


def reasoning_begun_in_prompt(plan: Plan, _: random.Random) -> str:
    return f'The user wants a {{"task_nodes": []}} plan.\n</think>\n{json.dumps(plan)}'


def trailing_commas(plan: Plan, _: random.Random) -> str:
    return re.sub(r"(?<=[\"}\]])\n(\s*[}\]])", r",\n\1", json.dumps(plan, indent=1))


def single_quotes(plan: Plan, _: random.Random) -> str:
    return str(plan)


def python_literals(plan: Plan, _: random.Random) -> str:
    return "result = " + str({**plan, "complete": True, "error": None})


def markdown_escapes(plan: Plan, _: random.Random) -> str:
    return json.dumps(plan).replace("_", r"\_")


def comments(plan: Plan, _: random.Random) -> str:
    lines = json.dumps(plan, indent=1).split("\n")
    lines[1] += " // the steps, that's all {of them}"
    lines[-2] += " /* no more */"
    return "\n".join(lines)


def smart_quotes(plan: Plan, _: random.Random) -> str:
    quoted = re.compile(r'"((?:[^"\\]|\\.)*)"')
    return quoted.sub(r"“\1”", json.dumps(plan, ensure_ascii=False))


def list_wrapped(plan: Plan, _: random.Random) -> str:
    return f"The result:\n{json.dumps([plan])}"


def doubled_encoding(plan: Plan, _: random.Random) -> str:
    return json.dumps(json.dumps(plan))


def line_ends_in_strings(plan: Plan, _: random.Random) -> str:
    return (
        json.dumps({"note": "LINE", **plan}, indent=1).replace("LINE", "two\r\nlines").replace(",\n", ",\r\n")
    )


def two_objects(plan: Plan, _: random.Random) -> str:
    return f'{{"thought": "a {{draft}} first"}}\n{json.dumps(plan)}\n{json.dumps({"task_steps": []})}'


def byte_order_mark(plan: Plan, _: random.Random) -> str:
    return "\ufeff" + json.dumps(plan) + "\nThat is all."


def missing_closing_bracket(plan: Plan, chance: random.Random) -> str:
    return json.dumps(plan)[: -chance.choice((1, 2))]


def truncated_tail(plan: Plan, chance: random.Random) -> str:
    text = json.dumps(plan)
    return text[: chance.randint(len(text) // 3, len(text) - 3)]


CORRUPTIONS: dict[str, Corruption] = {
    "compact": compact,
    "fence": fence,
    "fence with prose": fence_with_prose,
    "prose with braces": prose_with_braces,
    "reasoning block": reasoning,
    "reasoning begun in prompt": reasoning_begun_in_prompt,
    "trailing commas": trailing_commas,
    "single quotes": single_quotes,
    "Python literals": python_literals,
    "Markdown escapes": markdown_escapes,
    "comments": comments,
    "smart quotes": smart_quotes,
    "list wrapped": list_wrapped,
    "doubled encoding": doubled_encoding,
    "line ends in strings": line_ends_in_strings,
    "two objects": two_objects,
    "byte order mark": byte_order_mark,
    "missing closing bracket": missing_closing_bracket,
    "truncated tail": truncated_tail,
}


def by_json(text: str) -> Any:
    return json.loads(text)


def by_outer_braces(text: str) -> Any:
    return json.loads(text[text.index("{") : text.rindex("}") + 1])


def by_json_repair(text: str) -> Any:
    return repair_json(text, return_objects=True)


def by_toolassay(text: str) -> Any:
    return read_answer(text, keys=KEYS).value


READERS: dict[str, Reader] = {
    "json.loads": by_json,
    "first { to last }": by_outer_braces,
    "json_repair": by_json_repair,
    "toolassay": by_toolassay,
}


def predictions(reference: Path) -> Iterator[Plan]:
    """The plans of the published predictions, file by file, without the labels around them."""
    for path in sorted((reference / "gnn4taskplan" / "prediction").glob("*/*.json")):
        if path.name == "split_ids.json":
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            yield {key: record[key] for key in KEYS}


def sampled(reference: Path, size: int, seed: int) -> list[Plan]:
    """A seeded sample of the predictions, at most `size`."""
    plans = list(predictions(reference))
    return random.Random(f"{seed}").sample(plans, min(size, len(plans)))


def score(reader: Reader, kind: str, plans: list[Plan], seed: int = 0) -> Score:
    """How one reader fares with one corruption of all plans."""
    exact = alike = flagged = 0
    for index, plan in enumerate(plans):
        text = CORRUPTIONS[kind](plan, random.Random(f"{seed}:{kind}:{index}"))
        try:
            value = reader(text)
        except ValueError:
            value = None
        if isinstance(value, dict):
            exact += all(value.get(key) == plan[key] for key in KEYS)
            alike += all(value.get(key) == plan[key] for key in KEYS[1:])
        flagged += read_answer(text, keys=KEYS).truncated
    return Score(len(plans), exact, alike, flagged)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--reference", type=Path, default=os.environ.get("TOOLASSAY_REFERENCE"))
    parser.add_argument("--sample", type=int, default=498, help="predictions (default: 498)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.reference is None:
        parser.error("give --reference FOLDER or set TOOLASSAY_REFERENCE")
    plans = sampled(Path(options.reference), options.sample, options.seed)
    if not plans:
        parser.error(f"no predictions under {options.reference}/gnn4taskplan/prediction")
    print(f"{len(plans)} plans; exact / nodes and links right, in %; flagged = read as truncated, in %")
    print(f"{'':26}" + "".join(f"{name:>19}" for name in READERS) + f"{'flagged':>9}")
    totals = {name: [0, 0] for name in READERS}
    started = time.perf_counter()
    for kind in CORRUPTIONS:
        cells, flagged = "", 0
        for name, reader in READERS.items():
            result = score(reader, kind, plans, options.seed)
            totals[name][0] += result.exact
            totals[name][1] += result.nodes_and_links
            flagged = result.flagged
            cells += f"{_pair(result.exact, result.nodes_and_links, len(plans)):>19}"
        print(f"{kind:26}{cells}{100 * flagged / len(plans):9.1f}", flush=True)
    answers = len(plans) * len(CORRUPTIONS)
    print(
        f"{'all':26}" + "".join(f"{_pair(totals[name][0], totals[name][1], answers):>19}" for name in READERS)
    )
    print(f"{time.perf_counter() - started:.0f} s for all readers")


def _pair(exact: int, alike: int, answers: int) -> str:
    return f"{100 * exact / answers:.1f} / {100 * alike / answers:.1f}"


if __name__ == "__main__":
    main()

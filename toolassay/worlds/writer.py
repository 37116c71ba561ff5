"""A model writes a world: the records, then what each tool does. What running it shows goes back to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

import msgspec

from toolassay.files.data_files import short_json, unescaped_json
from toolassay.prompts.signatures import signature
from toolassay.prompts.templates import package_template
from toolassay.runs.questions import ModelQuestion, asked
from toolassay.runs.settings import RunSettings
from toolassay.tools.library import Tool, ToolLibrary
from toolassay.worlds.calls import schema_of_arguments
from toolassay.worlds.checks import without, world_flaws
from toolassay.worlds.world import AnyOperation, Flaw, Record, Thing, Uncovered, World, flaws

FOLDER = "world"
"""Folder of the runs, below the data folder."""
TOOLS_TOGETHER = 10
"""Tools of one request."""
_ROUNDS = 2  # of corrections
_MOST_RECORDS = 12  # of a thing that are asked for
_SHOWN = 3  # records of a thing in a prompt
_MOST_OF_RECORD = 600  # characters
_MOST_OF_TOOL = 2_500
_MOST_OF_LINE = 500  # of a tool in the list of all
_MOST_OF_RESULT = 1_500
_MOST_OF_STOCK = 60_000
_NO_ANSWER = "the writer gave no operation"


class StockAnswer(msgspec.Struct):
    """Things and records as a model writes them; their form is checked afterwards."""

    things: dict[str, Any]
    records: dict[str, Any]
    settings: dict[str, Any] = {}


class OperationsAnswer(msgspec.Struct):
    """Operations by tool, and tools without one; their form is checked afterwards."""

    tools: dict[str, Any] = {}
    uncovered: list[Any] = []


@dataclass(frozen=True)
class WorldWriter:
    """The writing of one world.

    Attributes:
        folder: Data folder; the answers are kept in its subfolder `world`.
        library: The tools.
        service: What the service says of itself.
        seen: For each tool, real results as lines of a prompt.
        run: The model and its limits.
        now: Date and time in the world.
    """

    folder: Path
    library: ToolLibrary
    service: str
    seen: Sequence[str]
    run: RunSettings
    now: str

    def written(self, known: World | None) -> World | None:
        """The world, after corrections; tools that still do not work are not covered. None in a dry run.

        Args:
            known: A world whose records are kept, and whose tools are not asked about.

        Raises:
            ToolassayError: The model gave no answer.
        """
        world = known or self._stock()
        if world is None:
            if self.run.choices.dry_run:
                self._asked("operations", self._operation_prompts(self._nothing(), self.library.ids))
            return None
        done = {*world.tools, *(one.tool for one in world.uncovered)}
        open_tools = [tool for tool in self.library.ids if tool not in done]
        if not open_tools:
            return world
        answers = self._asked("operations", self._operation_prompts(world, open_tools))
        if self.run.choices.dry_run:
            return None
        world, bad = self._with(world, answers, open_tools)
        for number in range(_ROUNDS):
            if not bad:
                break
            prompts = self._operation_prompts(world, [*dict.fromkeys(flaw.tool for flaw in bad)], bad)
            answers = self._asked(f"corrections_{number + 1}", prompts)
            world, bad = self._with(world, answers, [*{flaw.tool for flaw in bad}])
        return without(world, bad)

    def _nothing(self) -> World:
        return World(self.now, {}, {}, {}, written_by=self.run.model.llm)

    def _stock(self) -> World | None:
        """The records that the model invents, corrected once; None without a usable answer."""
        lines = [_line(tool) for tool in self.library]
        seen = ["", "# WHAT IT RETURNED #", "Real results; keep these records.", *self.seen, ""]
        prompt = Template(package_template("worlds", "stock")).substitute(
            service=self.service,
            tools="\n".join(lines),
            seen="\n".join(seen if self.seen else [""]),
            most=_MOST_RECORDS,
            now=self.now,
        )
        prompts = {"1": prompt}
        while True:
            answer = self._asked("stock", prompts, StockAnswer).get([*prompts][-1])
            if answer is None:
                return None
            world, problems = self._of_stock(answer)
            if not problems or len(prompts) > 1:
                return world
            said = short_json(msgspec.to_builtins(answer), _MOST_OF_STOCK)
            wrong = "\n".join(problems)
            prompts["2"] = f"{prompt}\n# CORRECT THIS #\nYou answered:\n{said}\nWrong with it:\n{wrong}\n"

    def _of_stock(self, answer: StockAnswer) -> tuple[World | None, list[str]]:
        """The world of an answer, and what is wrong with it; None if something is."""
        try:
            things = msgspec.convert(answer.things, dict[str, Thing])
            records = msgspec.convert(answer.records, dict[str, list[Record]])
        except msgspec.ValidationError as error:
            return None, [str(error)]
        world = msgspec.structs.replace(
            self._nothing(), things=things, records=records, settings=answer.settings
        )
        problems = [flaw.reason for flaw in flaws(world)]
        return (None if problems else world), problems

    def _operation_prompts(
        self, world: World, tools: Sequence[str], bad: Iterable[Flaw] = ()
    ) -> dict[str, str]:
        """The prompts about some tools by the first of them."""
        things = [
            f"{name}: {unescaped_json(msgspec.to_builtins(thing))} "
            + " ".join(short_json(record, _MOST_OF_RECORD) for record in world.records.get(name, ())[:_SHOWN])
            for name, thing in world.things.items()
        ]
        reasons: dict[str, list[str]] = defaultdict(list)
        for flaw in bad:
            reasons[flaw.tool].append(flaw.reason)
        template = Template(package_template("worlds", "operations"))
        prompts = {}
        for start in range(0, len(tools), TOOLS_TOGETHER):
            together = tools[start : start + TOOLS_TOGETHER]
            prompt = template.substitute(
                service=self.service,
                things="\n".join(things) or "(not known yet)",
                settings=unescaped_json(world.settings),
                now=self.now,
                tools="\n".join(unescaped_json(_shown(self.library[tool])) for tool in together),
            )
            if reasons:
                wrong = "\n".join(_wrong(world, tool, reasons[tool]) for tool in together)
                prompt += Template(package_template("worlds", "corrections")).substitute(wrong=wrong)
            prompts[together[0]] = prompt
        return prompts

    def _asked(
        self, name: str, prompts: Mapping[str, str], form: type[Any] = OperationsAnswer
    ) -> dict[str, Any]:
        parameters = {"temperature": 0.0, "max_tokens": 16_000}
        otherwise = "the tools that it is about are not covered"
        questions = [
            ModelQuestion(name, prompt, form, {}, parameters, otherwise, part)
            for part, prompt in prompts.items()
        ]
        return asked(questions, self.folder / FOLDER, self.run)

    def _with(
        self, world: World, answers: Mapping[str, OperationsAnswer], about: Sequence[str]
    ) -> tuple[World, list[Flaw]]:
        """The world with what answers say of some tools, and what is wrong with it."""
        tools: dict[str, AnyOperation] = {name: one for name, one in world.tools.items() if name not in about}
        uncovered = {one.tool: one for one in world.uncovered if one.tool not in about}
        bad: list[Flaw] = []
        for answer in answers.values():
            for one in _uncovered(answer.uncovered):
                if one.tool in about:
                    uncovered[one.tool] = one
            for tool, written in answer.tools.items():
                if tool not in about or tool in uncovered:
                    continue
                try:
                    tools[tool] = msgspec.convert(written, AnyOperation)
                except msgspec.ValidationError as error:
                    bad.append(Flaw(tool, f"{error}; you wrote {short_json(written, _MOST_OF_RESULT)}"))
        known = {*tools, *uncovered, *(flaw.tool for flaw in bad)}
        bad += [Flaw(tool, _NO_ANSWER) for tool in about if tool not in known]
        closed = [*uncovered.values(), *(Uncovered(flaw.tool, _NO_ANSWER) for flaw in bad)]
        made = msgspec.structs.replace(world, tools=tools, uncovered=tuple(closed))
        return made, bad + world_flaws(made, self.library, progress=self.run.screen.progress)


def _uncovered(written: Iterable[Any]) -> Iterator[Uncovered]:
    for one in written:
        try:
            yield msgspec.convert(one, Uncovered)
        except msgspec.ValidationError:
            continue


def _line(tool: Tool) -> str:
    """A tool in one line."""
    returns = "" if tool.output_schema is None else f" -> {signature(tool.output_schema, _MOST_OF_LINE)}"
    arguments = signature(schema_of_arguments(tool), _MOST_OF_LINE)
    description = " ".join(tool.description.split())[:_MOST_OF_LINE]
    return f"{tool.id} {arguments}{returns}: {description}"


def _shown(tool: Tool) -> dict[str, Any]:
    """A tool with its arguments, its description and the shape of its result."""
    schema = schema_of_arguments(tool)
    text = unescaped_json(schema)
    shown: dict[str, Any] = {
        "tool": tool.id,
        "description": tool.description[:_MOST_OF_TOOL],
        "arguments": schema if len(text) <= _MOST_OF_TOOL else signature(schema, _MOST_OF_TOOL),
    }
    if tool.output_schema is not None:
        shown["returns"] = signature(tool.output_schema, _MOST_OF_RESULT)
    return shown


def _wrong(world: World, tool: str, reasons: Sequence[str]) -> str:
    operation = world.tools.get(tool)
    said = "" if operation is None else f" {short_json(msgspec.to_builtins(operation), _MOST_OF_RESULT)}"
    return f"{tool}:{said} Wrong: {'; '.join(reasons)}"

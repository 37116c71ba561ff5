"""The export formats: plans as table rows and as chats with tool calls, and the files of an export.

Rows have fixed keys and types, as JSON Lines and Parquet, and a parser. The value of an argument is a text
with a `kind`: `text` and `reference` stand for themselves, `json` must be parsed. So every column has one
type in all rows, and no value becomes null.

Chats have the form of OpenAI, which is that of fine-tuning and of chat templates, or that of ShareGPT, which
LLaMA-Factory reads: human or observation at even indices, function_call or gpt at odd ones. A `function_call`
is JSON: an object, or a list of objects for parallel calls; its `observation` is then a JSON list too.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from string import Template
from typing import Any, Literal, NamedTuple, get_args

import msgspec
from msgspec import UNSET, UnsetType

from toolassay.exporters.executed_results import Marking, PlanResults, grounded_answer
from toolassay.extras import needed
from toolassay.files.data_files import HALF_PAIRS, package_data, safe_name, values_in, write_json
from toolassay.files.locks import open_regular
from toolassay.graph import DependencyType
from toolassay.plans.call_plan import Argument, Call, CallPlan, FunctionSchema, Names, Unfit, function_of
from toolassay.records.dataset import Shape
from toolassay.tools.library import ToolLibrary
from toolassay.tools.output_paths import parse_reference

ResultForm = Literal["executed", "references", "none"]
"""What an export has as results: what the tools returned, `<node-j>` in their place, or nothing."""
CLOSINGS: Mapping[ResultForm, str | None] = {
    "executed": "$results",
    "references": "Done: $results",
    "none": None,
}
"""Default last message of the assistant, by the form of the results."""


@dataclass(frozen=True)
class ChatStyle:
    """Options of the chat formats.

    Attributes:
        system: the system message; empty for none.
        closing: the last message of the assistant, with `$results` for the results that no other call
            takes; None ends a chat with its last call.
        parallel: put calls that do not depend on each other into one turn.
        as_objects: write the arguments of a call as an object instead of JSON text.
        calls_only: put all calls into one turn, without results. A format that has tool messages requires
            one after each other turn.
    """

    system: str = ""
    closing: str | None = CLOSINGS["references"]
    parallel: bool = False
    as_objects: bool = False
    calls_only: bool = False


class CalledFunction(msgspec.Struct, frozen=True):
    """A function and its arguments: an object, or its JSON text."""

    name: str
    arguments: Any


class MessageCall(msgspec.Struct, frozen=True):
    """A call in a message of an assistant."""

    id: str
    type: Literal["function"]
    function: CalledFunction


class ChatMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message; one of a tool has the id of its call."""

    role: Literal["system", "user", "assistant", "tool"]
    tool_call_id: str | UnsetType = UNSET
    content: str
    tool_calls: list[MessageCall] | UnsetType = UNSET


class ChatFunction(msgspec.Struct, frozen=True):
    """A function that a chat offers."""

    type: Literal["function"]
    function: FunctionSchema


class ChatLine(msgspec.Struct, frozen=True):
    """A line of the format "openai"."""

    messages: list[ChatMessage]
    tools: list[ChatFunction]
    parallel_tool_calls: bool


class ConversationTurn(msgspec.Struct, frozen=True, rename={"who": "from"}):
    """A turn of a conversation."""

    who: Literal["human", "function_call", "observation", "gpt"]
    value: str


class ConversationLine(msgspec.Struct, frozen=True):
    """A line of the format "sharegpt"; `system` may be empty, `tools` is JSON text."""

    conversations: list[ConversationTurn]
    system: str
    tools: str


class RowArgument(msgspec.Struct, frozen=True):
    """An argument in a row; see the module."""

    name: str
    kind: Literal["text", "reference", "json"]
    value: str


class RowCall(msgspec.Struct, frozen=True):
    """A call in a row, with its result as a model reads it; "" without results."""

    tool: str
    arguments: list[RowArgument]
    result: str


class RowLink(msgspec.Struct, frozen=True):
    """A link in a row, by the numbers of the calls."""

    source: int
    target: int


class PlanRow(msgspec.Struct, frozen=True):
    """A line of the formats "hf" and "jsonl"; `columns.json` says what the fields mean."""

    id: str
    request: str
    shape: Shape
    size: int
    steps: tuple[str, ...]
    calls: list[RowCall]
    links: list[RowLink]
    has_arguments: bool
    answer: str
    results: ResultForm | Marking


class IndexLine(msgspec.Struct, frozen=True):
    """A line of the index of a split of chats.

    Attributes:
        id: the id of the sample.
        links: pairs of numbers of calls.
        has_arguments: whether the label has arguments.
        results: how the results are marked; absent without results.
        recovery: true if the chat has a refused call; else absent.
    """

    id: str
    links: Sequence[tuple[int, int]]
    has_arguments: bool
    results: Marking | UnsetType = UNSET
    recovery: bool | UnsetType = UNSET


class ChatCall(NamedTuple):
    """A call in a chat.

    Attributes:
        id: its id, unique in the chat.
        call: the tool and the arguments.
        result: the text of the tool message.
    """

    id: str
    call: Call
    result: str


def turns_of(plan: CallPlan, *, parallel: bool = False) -> list[list[int]]:
    """The numbers of the calls in each turn, in order.

    Args:
        plan: the plan.
        parallel: put successive calls that do not depend on each other into one turn; by default each call
            is a turn.

    >>> plan = CallPlan("1", "", (), (Call("a", ()), Call("b", ()), Call("c", ())), ((0, 2), (1, 2)))
    >>> turns_of(plan), turns_of(plan, parallel=True)
    ([[0], [1], [2]], [[0, 1], [2]])
    """
    turns: list[list[int]] = []
    for place, before in enumerate(plan.needs()):
        if parallel and turns and before.isdisjoint(turns[-1]):
            turns[-1].append(place)
        else:
            turns.append([place])
    return turns


def chat_turns(plan: CallPlan, style: ChatStyle, results: PlanResults | None) -> list[list[ChatCall]]:
    """The calls of each turn with their results.

    A refused call ends its turn, and the right call begins the next one: so every call comes after those that
    were executed before it.

    Args:
        plan: the sample.
        style: options of the chat formats.
        results: what the calls returned; None for references.
    """
    numbers = [list(range(plan.size))] if style.calls_only else turns_of(plan, parallel=style.parallel)
    calls = plan.calls if results is None else results.calls
    refused = None if results is None else results.refused
    turns = []
    for turn in numbers:
        said: list[ChatCall] = []
        for place in turn:
            if refused is not None and refused.number == place:
                # The number after the last one: no other call of the chat has it.
                turns.append([*said, ChatCall(call_id(plan, plan.size), refused.call, refused.error)])
                said = []
            said.append(ChatCall(call_id(plan, place), calls[place], result_of(place, results)))
        turns.append(said)
    return turns


def result_of(call: int, results: PlanResults | None = None) -> str:
    """The text of a tool's result; without results, the reference that later arguments use for it."""
    return f"<node-{call}>" if results is None else results.texts[call]


def closing_of(plan: CallPlan, closing: str, results: PlanResults | None = None) -> str:
    """The last message of the assistant, with `$results` replaced.

    >>> closing_of(CallPlan("1", "", (), (Call("a", ()), Call("b", ())), ((0, 1),)), "See $results.")
    'See <node-1>.'
    """
    last = [result_of(call, results) for call in plan.results()]
    text = ", ".join(last) if results is None else grounded_answer(last)
    return Template(closing).safe_substitute(results=text)


def call_id(plan: CallPlan, call: int) -> str:
    """The id of a call: nine letters and digits, as Mistral's templates require; unique in a conversation.

    >>> call_id(CallPlan("1", "", (), (), ()), 12)
    '6b86b2012'
    """
    return f"{hashlib.sha256(plan.id.encode()).hexdigest()[:6]}{call:03d}"


def arguments_of(call: Call, names: Names) -> dict[str, Any]:
    """The arguments of a call by the property names of its function.

    A wrong call may have a name that is not a parameter; that is kept.
    """
    known = names.parameters[call.tool]
    return {known.get(name, name): value for name, value in call.arguments}


def chat_of(
    plan: CallPlan,
    functions: Sequence[FunctionSchema],
    names: Names,
    style: ChatStyle,
    results: PlanResults | None = None,
) -> ChatLine:
    """One line of the file.

    `content` of a message with calls is an empty text, because templates render null as "None".

    Args:
        plan: the sample.
        functions: the functions of the chat.
        names: names of functions and parameters.
        style: options of the chat formats.
        results: what the calls returned; None for references.
    """
    return ChatLine(
        messages_of(plan, names, style, results),
        [ChatFunction("function", function) for function in functions],
        style.parallel or style.calls_only,
    )


def messages_of(
    plan: CallPlan, names: Names, style: ChatStyle, results: PlanResults | None = None
) -> list[ChatMessage]:
    """The messages of a chat: each turn of calls is followed by its results, one message per call.

    >>> from toolassay.tools.library import Tool, ToolLibrary
    >>> names = Names.of(ToolLibrary([Tool("Paint it", inputs=("text",))]), "resource")
    >>> plan = CallPlan("1", "Paint a cat", (), (Call("Paint it", (Argument("text", "cat"),)),), ())
    >>> messages = messages_of(plan, names, ChatStyle())
    >>> [(one.role, one.content) for one in messages]
    [('user', 'Paint a cat'), ('assistant', ''), ('tool', '<node-0>'), ('assistant', 'Done: <node-0>')]
    >>> messages[1].tool_calls[0].function
    CalledFunction(name='Paint_it', arguments='{"text": "cat"}')
    """

    def called(one: ChatCall) -> MessageCall:
        arguments = arguments_of(one.call, names)
        written = arguments if style.as_objects else _text(arguments)
        return MessageCall(one.id, "function", CalledFunction(names.functions[one.call.tool], written))

    messages = [ChatMessage(role="system", content=style.system)] if style.system else []
    messages.append(ChatMessage(role="user", content=plan.request))
    turns = chat_turns(plan, style, results)
    for turn in turns:
        messages.append(ChatMessage(role="assistant", content="", tool_calls=[*map(called, turn)]))
        if turn is not turns[-1] or style.closing is not None:
            messages += [ChatMessage(role="tool", tool_call_id=one.id, content=one.result) for one in turn]
    if style.closing is not None:
        messages.append(ChatMessage(role="assistant", content=closing_of(plan, style.closing, results)))
    return messages


def check_objects(calls: Sequence[Call]) -> None:
    """Check that `datasets` can read arguments as objects: it takes integers of at most 64 bits.

    Raises:
        Unfit: an integer is larger.
    """
    for place, call in enumerate(calls):
        for argument in call.arguments:
            for number in values_in(argument.value):
                if isinstance(number, int) and not -(2**63) <= number < 2**63:
                    raise Unfit(
                        f"has a number of over 64 bits in {argument.name}; use --arguments text",
                        f"call {place}",
                    )


def conversation_of(
    plan: CallPlan,
    functions: Sequence[FunctionSchema],
    names: Names,
    style: ChatStyle,
    results: PlanResults | None = None,
) -> ConversationLine:
    """One line of the file.

    Args:
        plan: the sample.
        functions: the functions of the chat.
        names: names of functions and parameters.
        style: options of the chat formats.
        results: what the calls returned; None for references.
    """
    turns = chat_turns(plan, style, results)
    said = [ConversationTurn("human", plan.request)]
    for turn in turns:
        calls = [
            CalledFunction(names.functions[one.call.tool], arguments_of(one.call, names)) for one in turn
        ]
        said.append(ConversationTurn("function_call", _text(calls[0] if len(calls) == 1 else calls)))
        if turn is not turns[-1] or style.closing is not None:
            texts = [one.result for one in turn]
            said.append(ConversationTurn("observation", texts[0] if len(texts) == 1 else _text(texts)))
    if style.closing is not None:
        said.append(ConversationTurn("gpt", closing_of(plan, style.closing, results)))
    return ConversationLine(said, style.system, _text(list(functions)))


def dataset_info(files: Iterable[str], name: str) -> dict[str, Any]:
    """The object of `dataset_info.json`, in which LLaMA-Factory looks up the files of a folder.

    Args:
        files: file names, each with its split before the first dot.
        name: prefix of the names of the data sets.

    >>> list(dataset_info(["train.jsonl", "test.jsonl"], "errands"))
    ['errands_train', 'errands_test']
    """
    columns = {"messages": "conversations", "system": "system", "tools": "tools"}
    form = {"formatting": "sharegpt", "columns": columns}
    return {f"{name}_{file.partition('.')[0]}": {"file_name": file, **form} for file in files}


def _text(value: Any) -> str:
    return json.dumps(msgspec.to_builtins(value), ensure_ascii=False)


def row_of(plan: CallPlan, results: PlanResults | None = None, *, form: ResultForm = "references") -> PlanRow:
    """The row of a plan.

    Args:
        plan: the sample.
        results: what the calls returned; None without results.
        form: the column `results` of a row without results.

    >>> call = Call("Book", (Argument("seats", 2), Argument("film", "<node-0>")))
    >>> row_of(CallPlan("1", "Two seats", (), (call,), ())).calls[0].arguments[0]
    RowArgument(name='seats', kind='json', value='2')
    """
    texts = ("",) * plan.size if results is None else results.texts
    return PlanRow(
        plan.id,
        plan.request,
        plan.shape,
        plan.size,
        plan.steps,
        [
            RowCall(call.tool, [*map(_argument, call.arguments)], text)
            for call, text in zip(plan.calls, texts, strict=True)
        ],
        [RowLink(*link) for link in plan.links],
        plan.has_arguments,
        "" if results is None else grounded_answer([texts[call] for call in plan.results()]),
        form if results is None else results.marking,
    )


def plan_of_row(line: object) -> CallPlan:
    """The plan of a row, which is a `PlanRow` or its JSON object."""
    row = msgspec.convert(line, PlanRow, from_attributes=True)

    def named(one: RowArgument) -> Argument:
        return Argument(one.name, json.loads(one.value) if one.kind == "json" else one.value)

    return CallPlan(
        row.id,
        row.request,
        row.steps,
        tuple(Call(call.tool, tuple(map(named, call.arguments))) for call in row.calls),
        tuple((link.source, link.target) for link in row.links),
        row.has_arguments,
    )


def _argument(argument: Argument) -> RowArgument:
    name, value = argument
    if not isinstance(value, str):
        return RowArgument(name, "json", _text(value))
    return RowArgument(name, "text" if parse_reference(value) is None else "reference", value)


def columns(what: Literal["fields", "types"], form: str) -> Sequence[Any]:
    """The columns of a format: what they mean, or their types.

    `datasets` infers types from the first lines only if it is not told: it then fills objects that have other
    keys further down with nulls, or fails on them.
    """
    forms = package_data(__package__, "columns.json")[what]
    found: list[Any] = forms["rows" if form in ("hf", "jsonl") else form]
    return found


ROWS_OF_A_GROUP = 1_000
"""Rows of a Parquet row group, which memory holds at once."""


class JsonLinesWriter:
    """Writes one JSON object per line in UTF-8; creates missing folders."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._stream = open_regular(path, "w", encoding="utf-8", errors=HALF_PAIRS, newline="\n")

    def write(self, row: object) -> None:
        """Append a line."""
        line = json.dumps(msgspec.to_builtins(row), ensure_ascii=False, allow_nan=False)
        self._stream.write(line + "\n")

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


class ParquetWriter:
    """Writes the rows of `row_of` as Parquet (zstd), `ROWS_OF_A_GROUP` at a time; needs pyarrow."""

    def __init__(self, path: Path) -> None:
        arrow, parquet = parquet_libraries()
        plain = {"string": arrow.string(), "int64": arrow.int64(), "bool": arrow.bool_()}

        def types_of(table: Sequence[Any]) -> Any:
            for column in table:
                items = column.get("list")
                if items is None:
                    kind = plain[column["dtype"]]
                else:
                    kind = arrow.list_(
                        plain[items] if isinstance(items, str) else arrow.struct(types_of(items))
                    )
                yield column["name"], kind

        self._schema = arrow.schema(types_of(columns("types", "hf")))
        path.parent.mkdir(parents=True, exist_ok=True)
        self._table_of = arrow.Table.from_pylist
        self._writer = parquet.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[Any] = []

    def write(self, row: object) -> None:
        """Append a row."""
        self._rows.append(msgspec.to_builtins(row))
        if len(self._rows) >= ROWS_OF_A_GROUP:
            self._flush()

    def close(self) -> None:
        """Write the last group and close the file."""
        if self._rows:
            self._flush()
        self._writer.close()

    def _flush(self) -> None:
        self._writer.write_table(self._table_of(self._rows, schema=self._schema))
        self._rows = []


def parquet_libraries() -> tuple[Any, Any]:
    """The modules `pyarrow` and `pyarrow.parquet`.

    Raises:
        UsageError: pyarrow is not installed.
    """
    return needed("pyarrow", "Parquet", "export"), needed("pyarrow.parquet", "Parquet", "export")


Format = Literal["hf", "openai", "sharegpt", "jsonl"]
FORMATS: tuple[Format, ...] = get_args(Format)
CHAT_FORMATS: tuple[Format, ...] = ("openai", "sharegpt")


@dataclass(frozen=True)
class Chats:
    """The tools and options that turn plans into chats.

    Attributes:
        library: all tools.
        kind: the dependency type.
        style: options of the chat formats.
        tools: the functions of a chat: all, only those of its plan ("gold"), or this number, which adds
            randomly drawn ones to those of the plan.
        seed: seed of the draw.
    """

    library: ToolLibrary
    kind: DependencyType
    style: ChatStyle = field(default_factory=ChatStyle)
    tools: int | Literal["all", "gold"] = "all"
    seed: int = 0

    @cached_property
    def names(self) -> Names:
        """The names of functions and parameters in chats."""
        return Names.of(self.library, self.kind)

    @cached_property
    def _functions(self) -> list[FunctionSchema]:
        return [function_of(tool, self.kind, self.names) for tool in self.library]

    def offered(self, plan: CallPlan) -> Sequence[FunctionSchema]:
        """The functions of the chat for a plan, in the order of the library."""
        if self.tools == "all" or (isinstance(self.tools, int) and self.tools >= len(self.library)):
            return self._functions
        chosen = {self.library.index(call.tool) for call in plan.calls}
        more = 0 if self.tools == "gold" else int(self.tools) - len(chosen)
        if more > 0:
            others = [place for place in range(len(self.library)) if place not in chosen]
            chosen.update(random.Random(f"{self.seed} {plan.id}").sample(others, more))
        return [self._functions[place] for place in sorted(chosen)]


class Rows:
    """Writes the files of one export, one row at a time.

    Args:
        to: the format.
        folder: the folder to write into.
        chats: the tools and options of chats, which "openai" and "sharegpt" use.
        form: the form of the results.
    """

    def __init__(self, to: Format, folder: Path, chats: Chats, form: ResultForm = "references") -> None:
        self._to, self._folder, self._chats, self._form = to, folder, chats, form
        self._writers: dict[str, JsonLinesWriter | ParquetWriter] = {}
        self._splits: set[str] = set()

    @property
    def files(self) -> dict[str, str]:
        """The file of each split with plans, relative to the folder."""
        known = [split for split in ("train", "dev", "test") if split in self._splits]
        return {split: self._place(split) for split in known}

    def check(self, calls: Sequence[Call]) -> None:
        """Check that the format can represent calls.

        Raises:
            Unfit: it cannot.
        """
        if self._to == "openai" and self._chats.style.as_objects:
            check_objects(calls)

    def write(self, plan: CallPlan, split: str, results: PlanResults | None = None) -> None:
        """Append the row of a plan to the file of a split, and for chats a line to the split's index.

        Args:
            plan: the sample.
            split: its split.
            results: what its calls returned, with a refused call only if the chat is to have it; None without
                results.
        """
        self._splits.add(split)
        writer, chats = self._writer(self._place(split)), self._chats
        if self._to in CHAT_FORMATS:
            line_of = chat_of if self._to == "openai" else conversation_of
            writer.write(line_of(plan, chats.offered(plan), chats.names, chats.style, results))
            marking = UNSET if results is None else results.marking
            recovery = UNSET if results is None or results.refused is None else True
            line = IndexLine(plan.id, plan.links, plan.has_arguments, marking, recovery)
            self._writer(f"index/{split}.jsonl").write(line)
        else:
            writer.write(row_of(plan, results, form=self._form))

    def _writer(self, name: str) -> JsonLinesWriter | ParquetWriter:
        if name not in self._writers:
            path = self._folder / name
            self._writers[name] = ParquetWriter(path) if path.suffix == ".parquet" else JsonLinesWriter(path)
        return self._writers[name]

    def _place(self, split: str) -> str:
        return f"data/{split}.parquet" if self._to == "hf" else f"{split}.jsonl"

    def finish(self, name: str) -> None:
        """Close the files and write `names.json` and `dataset_info.json` if the format has them.

        Args:
            name: name of the data set, a prefix of the names in `dataset_info.json`.
        """
        self.close()
        if self._to in CHAT_FORMATS:
            named = {"functions": msgspec.to_builtins(self._chats.names.by_function)}
            write_json(self._folder / "names.json", named)
        if self._to == "sharegpt":
            info = dataset_info(self.files.values(), safe_name(name))
            write_json(self._folder / "dataset_info.json", info)

    def close(self) -> None:
        """Close the files."""
        while self._writers:
            self._writers.popitem()[1].close()

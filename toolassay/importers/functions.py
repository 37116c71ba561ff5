"""A Python function as a tool: type hints become JSON Schema (pydantic), docstrings descriptions."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Optional, Union, get_args, get_origin, get_type_hints

from toolassay.importers.importer import DefinitionError, IncomingTool, Note

# Name of a variable or parameter with a credential: "OPENAI_API_KEY", "auth_token"; not "key", "max_tokens".
CREDENTIAL = re.compile(
    r"(?:^|_)(?:(?:api|access|private|secret|auth)_?key|token|secret|password|passwd|credentials?)(?:_|$)",
    re.IGNORECASE,
)


@dataclass
class Docstring:
    """A docstring of Google, NumPy or reST style: its description, parameters and result, and other parts."""

    description: str
    parameters: dict[str, str]
    returns: str = ""
    others: tuple[str, ...] = ()


def docstring_of(function: Callable[..., Any]) -> Docstring:
    """The docstring of a function; one whose sections cannot be parsed is all description."""
    import docstring_parser
    from docstring_parser.common import DocstringParam, DocstringReturns

    text = inspect.getdoc(function) or ""
    try:
        parsed = docstring_parser.parse(text)
    except Exception:  # ParseError, and errors of the parser itself
        return Docstring(text, {}, others=("sections",))
    parts = (parsed.short_description, parsed.long_description)
    docstring = Docstring("\n\n".join(part.strip() for part in parts if part), {})
    for item in parsed.meta:
        description = " ".join((item.description or "").split())
        if isinstance(item, DocstringParam) and item.args[0] != "attribute":
            # NumPy style allows several names: "x, y : int". reST writes "**options" as "\\*\\*options".
            names = item.arg_name.replace("\\", "").split(",") if description else ()
            docstring.parameters |= {name.strip(" *"): description for name in names}
        elif isinstance(item, DocstringReturns):
            docstring.returns = f"{docstring.returns} {description}".strip()
        else:
            docstring.others = tuple(dict.fromkeys((*docstring.others, item.args[0])))
    return docstring


def tool_from_function(function: Callable[..., Any], name: str) -> IncomingTool:
    """The tool that calls a function.

    What a framework adds, as MCP's `ctx: Context`, is no argument. Nor is one that a call may omit and whose
    type has no JSON Schema: the program sets it, not the model.

    Args:
        function: The function; if it is decorated, with `__wrapped__` or the signature of the inner one.
        name: Its name as a tool.

    Raises:
        DefinitionError: Its hints cannot be resolved, or a required argument has no name or no JSON Schema.
    """
    from pydantic import TypeAdapter

    try:
        parameters = list(inspect.signature(function).parameters.values())
        hints = get_type_hints(function, include_extras=True)
    except Exception as error:  # hints are expressions, which can raise anything
        raise DefinitionError(f"its type hints cannot be resolved: {in_one_line(error)}") from None
    marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    named_parameters = [parameter for parameter in parameters if parameter.kind not in marks]
    further = [
        f"{marks[parameter.kind]}{parameter.name}" for parameter in parameters if parameter.kind in marks
    ]
    if further and not named_parameters:
        raise DefinitionError(f"its arguments have no names: it takes {', '.join(further)}")
    docstring = docstring_of(function)
    losses = [Note(f"docstring.{part}", "a tool file has no place for it") for part in docstring.others]
    arguments = []
    for parameter in named_parameters:
        if _is_injected(hints.get(parameter.name), parameter.default, function.__module__):
            docstring.parameters.pop(parameter.name, None)
            losses.append(Note(parameter.name, "the framework adds it, not the model"))
        else:
            arguments.append(_argument(parameter, hints.get(parameter.name, Any)))
    schemas, definitions = _schemas_of(arguments, losses)
    properties = {}
    for argument in arguments:
        description = docstring.parameters.pop(argument.name, "")
        if (schema := schemas.get(argument.name)) is not None:
            texts = [
                text for text in (schema.get("description"), description, *_texts(argument.hint)) if text
            ]
            if set(texts[1:]) - set(texts[:1]):
                reason = "is given more than once; the first is kept"
                losses.append(Note(f"{argument.name}.description", reason))
            described = {"description": texts[0]} if texts else {}
            properties[argument.name] = {**schema, **described, **_default(argument, losses)}
    losses += [Note(f"docstring.{name}", "describes no named argument") for name in docstring.parameters]
    inputs: dict[str, Any] = {"type": "object", "properties": properties}
    if required := [argument.name for argument in arguments if argument.required]:
        inputs["required"] = required
    if "**" not in "".join(further):
        inputs["additionalProperties"] = False  # a call with another argument raises TypeError
    output: dict[str, Any] | None = None
    if (hint := hints.get("return", Any)) not in (Any, None, NoneType):
        try:
            output = TypeAdapter(hint).json_schema(mode="serialization", schema_generator=_generator())
        except Exception as error:
            # A type of the user's may define its own schema, which can raise anything.
            losses.append(Note("return", f"its type has no JSON Schema: {in_one_line(error)}"))
    if docstring.returns and (output is not None or hint is Any):
        output = {**(output or {}), "description": docstring.returns}
    elif docstring.returns:
        losses.append(Note("docstring.returns", "without a type of the result it has no place"))
    return IncomingTool(
        name,
        docstring.description,
        {**inputs, **definitions},
        output,
        losses=losses,
        warnings=[
            *(Note(name, "takes further arguments, which the schema does not name") for name in further),
            *(
                Note(parameter.name, "has no type hint")
                for parameter in named_parameters
                if parameter.name not in hints
            ),
        ],
    )


@dataclass(frozen=True)
class _Argument:
    """A parameter of a function; `hint` has the constraints and the description that `Field` gives."""

    name: str
    hint: Any
    value: Any
    required: bool


# Classes of what frameworks add to a call: MCP and FastMCP, OpenAI Agents, Pydantic AI, ADK, LangChain.
_INJECTED = frozenset(
    {
        *(
            "Context",
            "RunContextWrapper",
            "RunContext",
            "ToolContext",
            "InvocationContext",
            "ReadonlyContext",
        ),
        *("InjectedToolArg", "ToolRuntime", "RunnableConfig", "Depends", "Dependency", "Resolve"),
        *("CallbackManagerForToolRun", "AsyncCallbackManagerForToolRun"),
    }
)


def _is_injected(hint: Any, default: Any, module: str) -> bool:
    """Whether a framework adds an argument, by its type, a mark in `Annotated` or its default.

    A class of such a name in the tools' own package is a type like any other.
    """
    if get_origin(hint) in (Annotated, Union, UnionType):
        return any(_is_injected(argument, default, module) for argument in get_args(hint))
    kinds = [
        value if isinstance(value, type) else type(value) for value in (get_origin(hint) or hint, default)
    ]
    return any(
        base.__name__ in _INJECTED and base.__module__.partition(".")[0] != module.partition(".")[0]
        for kind in kinds
        for base in kind.__mro__
    )


def _argument(parameter: inspect.Parameter, hint: Any) -> _Argument:
    from pydantic.fields import FieldInfo

    value = parameter.default
    required = parameter.default is parameter.empty
    if isinstance(value, FieldInfo):  # city: str = Field("Rome", description=…)
        hint = Annotated[hint, value]
        required = value.is_required()
        value = None if required else value.get_default(call_default_factory=True)
    elif value is None and hint is not Any:  # city: str = None
        inner, *about = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        inner = Optional[inner]  # noqa: UP045 - "|" fails on hints that are no class
        hint = Annotated[inner, *about] if about else inner
    return _Argument(parameter.name, hint, value, required)


def _default(argument: _Argument, losses: list[Note]) -> dict[str, Any]:
    """`{"default": …}`; {} without one. A credential and a value that is no JSON are losses."""
    from pydantic import TypeAdapter

    if argument.required:
        return {}
    if isinstance(argument.value, str) and argument.value and CREDENTIAL.search(argument.name):
        losses.append(Note(f"{argument.name}.default", "may be a credential"))
        return {}
    try:
        value = TypeAdapter(argument.hint).dump_python(argument.value, mode="json", warnings=False)
        json.dumps(value, allow_nan=False)
        return {"default": value}
    except Exception as error:
        # Classes of the user's are serialised by their own code, which can raise anything.
        losses.append(Note(f"{argument.name}.default", f"is no JSON value: {in_one_line(error)}"))
        return {}


def _texts(hint: Any) -> Iterator[str]:
    """The texts and `Doc`s in a hint, as in `Annotated[str, "Where."]` and `Annotated[…] | None`."""
    if get_origin(hint) in (Union, UnionType):
        for argument in get_args(hint):
            yield from _texts(argument)
    if get_origin(hint) is Annotated:
        inner, *metadata = get_args(hint)
        yield from _texts(inner)
        for annotation in metadata:
            text = getattr(annotation, "documentation", annotation)  # `Doc` exists in several packages
            if isinstance(text, str) and text.strip():
                yield " ".join(text.split())


def _schemas_of(
    arguments: Iterable[_Argument], losses: list[Note]
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """The JSON Schema of each argument that has one, by name, and the definitions that they share.

    Raises:
        DefinitionError: A required argument has no JSON Schema.
    """
    from pydantic import TypeAdapter

    mode: Literal["validation"] = "validation"
    adapters = []
    for argument in arguments:
        try:
            adapter = TypeAdapter(argument.hint)
            adapter.json_schema()
            adapters.append((argument.name, mode, adapter))
        except Exception as error:  # of pydantic, or of the module's own types
            reason = f"has no JSON Schema: {in_one_line(error)}"
            if argument.required:
                raise DefinitionError(f"the type of '{argument.name}' {reason}") from None
            losses.append(Note(argument.name, f"its type {reason}"))
    generated, definitions = TypeAdapter.json_schemas(adapters, schema_generator=_generator())
    return {name: schema for (name, _), schema in generated.items()}, definitions


def _generator() -> Any:
    from pydantic.json_schema import GenerateJsonSchema

    class Generator(GenerateJsonSchema):
        """Without the titles that pydantic makes of the names of fields; listed keys of a dict are fields."""

        def field_title_should_be_set(self, schema: Any) -> bool:
            return False

        def dict_schema(self, schema: Any) -> dict[str, Any]:
            dict_schema = super().dict_schema(schema)
            keys = dict_schema.get("propertyNames", {})
            names = keys.get("enum", [keys["const"]] if "const" in keys else [])
            fields = {name: dict_schema.get("additionalProperties", {}) for name in names}
            return {"type": "object", "properties": fields} if names else dict_schema

    return Generator


def in_one_line(error: BaseException) -> str:
    """An exception with the first sentence of its message."""
    text = next((line for line in str(error).splitlines() if line.strip()), "").strip().partition(". ")[0]
    kind = type(error).__name__
    return f"{kind}: {text[:200]}" if text else kind

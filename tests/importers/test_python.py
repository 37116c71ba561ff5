from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from toolassay.errors import UsageError
from toolassay.importers.importer import Incoming, IncomingTool, Skipped
from toolassay.importers.python import IMPORTER, PythonOptions

Read = Callable[..., Incoming]
ALLOWED = PythonOptions(allow_tools=True)


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Reads the functions of a module with this code."""

    def read_code(code: str, function: str = "", name: str = "shop_tools.py") -> Incoming:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(code), encoding="utf-8")
        return IMPORTER.read(f"{path}:{function}" if function else str(path), ALLOWED)

    return read_code


def only(incoming: Incoming) -> IncomingTool:
    assert not incoming.skipped
    (tool,) = incoming.tools
    Draft202012Validator.check_schema(dict(tool.input_schema))
    return tool


def properties(incoming: Incoming) -> Any:
    return only(incoming).input_schema["properties"]


def test_a_module_is_not_run_without_allow_tools(tmp_path: Path) -> None:
    path = tmp_path / "shop_tools.py"
    path.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\ndef find(): ...\n")
    with pytest.raises(UsageError, match=r"importing the module runs it.*--allow_tools if you trust it"):
        IMPORTER.read(str(path), PythonOptions())
    assert not (tmp_path / "ran").exists()


def test_hints_defaults_and_constraints_become_json_schema(read: Read) -> None:
    tool = only(
        read("""
        import enum
        from typing import Annotated, Literal
        from pydantic import Field

        class Size(enum.Enum):
            SMALL = "s"
            LARGE = "l"

        async def find(
            query: str,
            /,
            days: Annotated[int, Field(ge=1, description="How long.")] = 3,
            *,
            mode: Literal["new", "used"] = "new",
            size: Size = Size.SMALL,
            prices: list[float] | None = None,
        ) -> dict[str, int]: ...
        """)
    )
    assert tool.input_schema == {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "days": {"type": "integer", "minimum": 1, "description": "How long.", "default": 3},
            "mode": {"type": "string", "enum": ["new", "used"], "default": "new"},
            "size": {"$ref": "#/$defs/Size", "default": "s"},
            "prices": {
                "anyOf": [{"type": "array", "items": {"type": "number"}}, {"type": "null"}],
                "default": None,
            },
        },
        "required": ["query"],
        "additionalProperties": False,
        "$defs": {"Size": {"enum": ["s", "l"], "title": "Size", "type": "string"}},
    }
    assert tool.output_schema == {"type": "object", "additionalProperties": {"type": "integer"}}
    assert tool.source == {"module": "shop_tools", "function": "find"}
    assert not tool.warnings
    assert not tool.losses


def test_own_classes_become_definitions_even_if_they_are_recursive(read: Read) -> None:
    incoming = read("""
        from __future__ import annotations
        from dataclasses import dataclass
        from typing import Optional, TypedDict
        from pydantic import BaseModel

        class Options(TypedDict, total=False):
            fast: bool

        @dataclass
        class Point:
            x: float
            options: Options

        class Item(BaseModel):
            id: int
            part: Optional[Item] = None

        def buy(item: Item, at: Point) -> list[Item]: ...
        """)
    schema = dict(only(incoming).input_schema)
    assert set(schema["$defs"]) == {"Item", "Point", "Options"}
    validator = Draft202012Validator(schema)
    value = {"item": {"id": 1, "part": {"id": 2}}, "at": {"x": 1, "options": {"fast": True}}}
    assert validator.is_valid(value)
    assert not validator.is_valid({**value, "item": {"id": 1, "part": {"id": "2"}}})
    output = only(incoming).output_schema
    assert output is not None
    assert Draft202012Validator(output).is_valid([{"id": 1, "part": None}])


@pytest.mark.parametrize(
    "docstring",
    [
        "Find items.\n\n    Of all shops.\n\n    Args:\n        query: What to\n            find.\n",
        "Find items.\n\n    Of all shops.\n\n    Parameters\n    ----------\n    query : str\n"
        "        What to\n        find.\n",
        "Find items.\n\n    Of all shops.\n\n    :param query: What to\n        find.\n",
    ],
    ids=["Google", "NumPy", "reST"],
)
def test_docstrings_of_each_style_describe_the_tool_and_its_arguments(read: Read, docstring: str) -> None:
    tool = only(read(f'def find(query: str):\n    """{docstring}    """\n'))
    assert tool.description == "Find items.\n\nOf all shops."
    assert tool.input_schema["properties"]["query"]["description"] == "What to find."
    assert not tool.losses


def test_what_has_no_place_in_a_schema_is_a_warning_or_a_loss(read: Read) -> None:
    tool = only(
        read("""
        import math

        def find(query, limit: float = math.inf, *more: int, **options: str):
            '''Find.

            Args:
                querry: A misspelt name.
            '''
        """)
    )
    assert [note.field for note in tool.warnings] == ["*more", "**options", "query"]
    assert [note.field for note in tool.losses] == ["limit.default", "docstring.querry"]
    assert tool.input_schema["properties"] == {"query": {}, "limit": {"type": "number"}}
    assert tool.input_schema["required"] == ["query"]
    assert "additionalProperties" not in tool.input_schema


def test_a_function_that_cannot_be_read_is_skipped_with_the_reason(read: Read) -> None:
    incoming = read("""
        import sqlite3

        def find(query: "Missing"): ...
        def store(db: sqlite3.Connection): ...
        def odd(): ...
        odd.__doc__ = type("Odd", (str,), {"expandtabs": lambda self: 1 / 0})("Odd.")
        def call(*args, **kwargs): ...
        def good(): ...
        """)
    assert [tool.name for tool in incoming.tools] == ["good"]
    assert incoming.skipped[0].where == "find" and "'Missing' is not defined" in incoming.skipped[0].reason
    assert incoming.skipped[1].reason.startswith("the type of 'db' has no JSON Schema: ")
    assert incoming.skipped[2] == Skipped("odd", "cannot be read: ZeroDivisionError: division by zero")
    assert incoming.skipped[3] == Skipped("call", "its arguments have no names: it takes *args, **kwargs")


def test_public_functions_of_the_module_itself_are_read(read: Read) -> None:
    code = """
        import functools
        from textwrap import dedent

        class Proxy:
            def __getattr__(self, name):
                raise RuntimeError("no request")

            @property
            def __class__(self):
                raise RuntimeError("no request")

        class Decorated:
            def __init__(self, fn):
                self.fn = fn

        request = Proxy()
        half = functools.partial(int, base=2)

        def find(x: int): ...
        def _hidden(): ...
        @functools.cache
        def cached(x: int): ...
        @Decorated
        def decorated(x: int): ...
        """
    incoming = read(code)
    assert [tool.name for tool in incoming.tools] == ["find", "cached", "decorated"]
    assert [[note.field for note in tool.losses] for tool in incoming.tools] == [[], [], ["decorator"]]
    assert [tool.name for tool in read(code, "_hidden").tools] == ["_hidden"]
    incoming = read(textwrap.dedent(code) + "__all__ = ['_hidden', 'dedent', 'Proxy', 'gone']")
    assert [tool.name for tool in incoming.tools] == ["_hidden", "dedent"]
    assert [note.field for note in incoming.notes] == ["__all__.Proxy", "__all__.gone"]


def test_a_credential_is_no_default_and_is_named_as_a_secret(
    read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "planted-secret")
    monkeypatch.setenv("SHOP_MONKEY", "banana-banana")
    incoming = read("""
        import os

        def find(query: str, key: str = "name", api_key: str = os.environ["SHOP_API_KEY"]): ...
        """)
    assert properties(incoming)["key"]["default"] == "name"
    assert "default" not in properties(incoming)["api_key"]
    assert only(incoming).input_schema["required"] == ["query"]
    assert [note.field for note in only(incoming).losses] == ["api_key.default"]
    assert "planted-secret" in incoming.secrets
    assert "banana-banana" not in incoming.secrets


@pytest.mark.parametrize(
    ("code", "line", "message"),
    [
        ("x = 1\nraise ValueError('bad\\nvalue')", 2, "cannot be imported: ValueError: bad. Fix: correct"),
        ("import sys\n\nsys.exit(3)", 3, "cannot be imported: SystemExit: 3. Fix: correct that line"),
        ("def find(:", 1, "cannot be imported: SyntaxError: invalid syntax"),
        ("input('Name? ')", 1, "cannot be imported: EOFError"),
        (
            "import not_installed.x",
            1,
            "No module named 'not_installed'. Fix: install the package of 'not_inst",
        ),
    ],
)
def test_a_module_that_fails_on_import_is_one_line_with_file_and_line(
    read: Read, code: str, line: int, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        read(code)
    assert f"shop_tools.py:{line}: the module " in str(caught.value)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_search_path_and_the_modules_are_as_before(tmp_path: Path, read: Read) -> None:
    for folder, text in (("one", "One."), ("two", "Two.")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "shop_helper.py").write_text(f"TEXT = {text!r}\n")
        path, modules = list(sys.path), set(sys.modules)
        stdin = sys.stdin
        code = """
            import sys
            from shop_helper import TEXT
            sys.path.append("x")
            def find(): ...
            find.__doc__ = TEXT
            """
        assert only(read(code, name=f"{folder}/shop_tools.py")).description == text
        assert (sys.path, sys.stdin) == (path, stdin)
        assert not {"shop_tools", "shop_helper"} & set(sys.modules)
        assert modules <= set(sys.modules)


def test_a_module_is_found_in_the_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "shop_package"
    package.mkdir()
    (package / "__init__.py").write_text("from .data import find\n__all__ = ['find']\n")
    (package / "data.py").write_text("from . import __name__ as own\ndef find(): ...\ndef sell(): ...\n")
    monkeypatch.chdir(tmp_path)
    for source, expected in {
        "shop_package": ["find"],
        "shop_package.data": ["find", "sell"],
        "shop_package.data:sell": ["sell"],
        "shop_package/data.py:sell": ["sell"],
        "shop_package/__init__.py": ["find"],
    }.items():
        incoming = IMPORTER.read(source, ALLOWED)
        assert [tool.name for tool in incoming.tools] == expected
        assert incoming.source == source
    assert only(IMPORTER.read("shop_package", ALLOWED)).source["module"] == "shop_package"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("no_such_module", "no module named 'no_such_module'. Fix: check the name"),
        ("no_such_file.py", "no_such_file.py: no such file"),
        ("json:no_such", "json: has no function 'no_such'. Fix: use one of "),
        ("not a module", "'not a module' is neither a Python file nor the name of a module"),
    ],
)
def test_a_source_that_does_not_exist_is_one_line(source: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        IMPORTER.read(source, ALLOWED)
    assert message in str(caught.value)


def test_listed_keys_of_a_dict_are_fields_and_words_on_an_untyped_result_are_kept(read: Read) -> None:
    place, zone = read("""
        from typing import Literal

        def place() -> dict[Literal["latitude", "longitude"], float]:
            "Where we are."

        def zone(city: str):
            \"""The time zone.

            Returns:
                Its name in the IANA list.
            \"""
        """).tools
    fields = {"latitude": {"type": "number"}, "longitude": {"type": "number"}}
    assert place.output_schema == {"type": "object", "properties": fields}
    assert zone.output_schema == {"description": "Its name in the IANA list."}


FRAMEWORK = """
    from dataclasses import dataclass
    from typing import Generic, TypedDict, TypeVar

    T = TypeVar("T")

    @dataclass
    class RunContextWrapper(Generic[T]):
        context: T

    class ToolContext(RunContextWrapper[T]): ...
    class InjectedToolArg: ...
    class InjectedState(InjectedToolArg):
        def __init__(self, field=None): ...
    class CallbackManagerForToolRun: ...
    class RunnableConfig(TypedDict, total=False):
        tags: list[str]
    class Depends:
        def __init__(self, function): ...
"""


@pytest.mark.parametrize(
    "argument",
    [
        "ctx: Context",
        "ctx: 'Context'",
        "ctx: Optional[Context[Any, Any]] = None",
        "ctx: Annotated[Context | None, 'The call.'] = None",
        "ctx: framework.RunContextWrapper[int]",
        "ctx: framework.ToolContext[int]",
        "ctx: ShopContext",
        "ctx: Annotated[dict[str, int], framework.InjectedState('messages')]",
        "ctx: Annotated[str, framework.InjectedToolArg]",
        "ctx: framework.RunnableConfig",
        "ctx: framework.CallbackManagerForToolRun",
        "ctx: str = framework.Depends(len)",
        "ctx: Annotated[str, framework.Depends(len)]",
    ],
)
@pytest.mark.parametrize("future", ["", "from __future__ import annotations"])
def test_what_a_framework_adds_to_a_call_is_no_argument(
    read: Read, tmp_path: Path, argument: str, future: str
) -> None:
    pytest.importorskip("mcp")
    (tmp_path / "framework.py").write_text(textwrap.dedent(FRAMEWORK))
    tool = only(
        read(f"""
        {future}
        from typing import Annotated, Any, Optional
        import framework
        from mcp.server.mcpserver import Context

        class ShopContext(framework.ToolContext[int]): ...

        def find(*, email: str, {argument}, limit: int = 5) -> int:
            \"\"\"Finds orders.

            Args:
                email: Whose.
                ctx: Of this call.
            \"\"\"
        """)
    )
    assert [*tool.input_schema["properties"]] == ["email", "limit"]
    assert tool.input_schema["required"] == ["email"]
    assert [(loss.field, "framework" in loss.reason) for loss in tool.losses] == [("ctx", True)]


def test_a_class_of_the_tools_themselves_is_an_argument_whatever_its_name(read: Read) -> None:
    found = properties(
        read("""
        from pydantic import BaseModel

        class Context(BaseModel):
            text: str

        def find(context: Context, scope: dict[str, Context]) -> int: ...
        """)
    )
    assert [*found] == ["context", "scope"]

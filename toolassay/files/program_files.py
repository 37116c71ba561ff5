"""The files of a program of the user's, an agent or a server, found without running it.

Their content is the fingerprint by which a run knows that the program has changed.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import re
import shlex
import shutil
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

from toolassay.files.data_files import sha256_of, stamp_of
from toolassay.files.locks import open_regular

_SUFFIXES = "py|pyz|js|mjs|cjs|ts|mts|sh|jar|rb|php|exe|bat|cmd"
SCRIPT = re.compile(rf"[\w.-]+\.(?:{_SUFFIXES})", re.IGNORECASE)
"""The name of a program or script: "server.py", not "notes.txt"."""
# What the text of a script names: matches "./lib/tool.js" in `require("./lib/tool.js")`, and "-m" and
# "agent.main" in `exec python -m agent.main`; not "notes.txt".
_MENTIONED = re.compile(rf"(?<=\s)-m(?=\s)|(?<=-m )[\w.]+|[\w./@+-]+\.(?:{_SUFFIXES})\b")
LAUNCHERS = frozenset(
    (
        *("bun", "bunx", "deno", "docker", "dotnet", "node", "npm", "npx", "pipx", "pnpm", "podman"),
        *("python", "uv", "uvx", "yarn"),
    )
)
"""Programs that start a package, so that the first word after their flags is its name."""
_SHELLS = frozenset(("bash", "dash", "env", "fish", "java", "ksh", "perl", "php", "ruby", "sh", "zsh"))
_PROGRAMS = (b"#!", b"\x7fELF", b"\xcf\xfa\xed\xfe", b"MZ")  # scripts, and programs of Linux, macOS, Windows
_LARGEST = 16 * 2**20  # bytes of a file; a larger one is compared by size and time
_LONGEST_NAME = 255  # characters of a file's name; the system refuses a longer one
_START = "program "
_END = "_sha256"
VERSION = "agent_version"
"""The setting of a run with the user's own name for the state of the program."""
_INSTALLED = {"site-packages", "dist-packages"}
# The standard library, and this package.
_NOT_OF_PROJECTS = (Path(inspect.__file__).resolve().parent, Path(__file__).resolve().parents[1])
_Mention = tuple[Path, str]
"""A file that may be there, and its name in a command; empty for an imported module."""


def is_setting(name: str) -> bool:
    """Whether a setting of a run is part of the fingerprint of a program."""
    return name == VERSION or name.startswith(_START)


def _setting(name: str) -> str:
    """The setting with the content of a file."""
    return f"{_START}{name}{_END}"


def file_of(setting: str) -> str:
    """The name of the file whose content a setting has."""
    return setting.removeprefix(_START).removesuffix(_END)


def is_launcher(program: str) -> bool:
    """Whether a program starts packages: `python3.12`, `npx.cmd`."""
    return re.sub(r"[\d.]+$|\.(?:exe|cmd)$", "", program) in LAUNCHERS


class ProgramFiles:
    """The files of a program, each as a setting of a run that has its name and content.

    A command counts with every file that it names, a Python file with the modules of its project that it
    imports, another script with the scripts that its text names. Interpreters and installed packages do not
    count, nor does what a data folder holds beside scripts.

    Args:
        mentions: The files that the program may begin with.
        data: The data folder.
        only_scripts: Leave out what a command names beside scripts, such as databases.

    Attributes:
        settings: The settings.
    """

    def __init__(self, mentions: Iterable[_Mention], data: Path, *, only_scripts: bool = False) -> None:
        self._settings: dict[Path, str] = {}
        self._scripts: set[Path] = set()
        self.settings: dict[str, str] = {}
        waiting = [*mentions]
        while waiting:
            path, name = waiting.pop()
            programs = {path.name, (path := path.resolve()).name}
            is_script = path.is_file() and _is_script(path)
            is_others = not name and (
                any(map(path.is_relative_to, _NOT_OF_PROJECTS)) or _INSTALLED & {*path.parts}
            )
            is_beside = not is_script and (only_scripts or path.is_relative_to(data.resolve()))
            if path in self._settings or is_others or is_beside or any(map(_is_interpreter, programs)):
                continue
            # Manifests have no more of a server's command than the names of its scripts.
            shown = path.name if only_scripts else name or "/".join(path.parts[-2:])
            taken = _setting(shown) in self._settings.values()
            self._settings[path] = _setting(f"{shown} ({len(self._settings)})" if taken else shown)
            if is_script:
                self._scripts.add(path)
                waiting += _mentions(path)
        self._stamps = {path: stamp_of(path) for path in self._settings}
        for path, setting in self._settings.items():
            if content := _fingerprint(path):
                self.settings[setting] = content

    @classmethod
    def of_command(cls, words: Sequence[str], data: Path, *, only_scripts: bool = False) -> Self:
        """The files of a command line. Other arguments are those of the class."""
        program = shutil.which(words[0])
        begin = [] if program is None else [(Path(program), words[0])]
        named = _named([*_split(words[1:])], [Path()])
        return cls([*begin, *named], data, only_scripts=only_scripts)

    @classmethod
    def of_function(cls, function: Callable[..., Any], data: Path) -> Self:
        """The module of a function, and the modules that it imports; without a file, the code itself."""
        function = inspect.unwrap(getattr(function, "func", function))
        code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
        path = Path("" if code is None else code.co_filename)
        program = cls([(path, path.name)] if path.is_file() else [], data)
        if code is not None and not program.settings:
            plain = [constant for constant in code.co_consts if isinstance(constant, str | int | float)]
            text = repr([code.co_code, code.co_names, plain])
            program.settings[_setting(code.co_name)] = hashlib.sha256(text.encode()).hexdigest()
        return program

    def changed(self, *, scripts: bool) -> list[str]:
        """The settings of scripts, or of other files, whose content is another one than when it was read."""
        return [
            setting
            for path, setting in self._settings.items()
            if (path in self._scripts) == scripts
            and stamp_of(path) != self._stamps[path]
            and _fingerprint(path) != self.settings.get(setting, "")
        ]

    def written_until(self, moment: float) -> list[str]:
        """The settings of files beside scripts that were last written until then (seconds of the epoch)."""
        return [
            self._settings[path]
            for path, stamp in self._stamps.items()
            if stamp is not None and path not in self._scripts and stamp[1] <= moment * 1e9
        ]


def _split(words: Sequence[str]) -> Iterator[str]:
    """Words, with the values after `=` and the words inside quoted commands."""
    for word in words:
        yield word
        if "=" in word:
            yield word.partition("=")[2]
        # An unclosed quote: a word, and no command.
        with suppress(ValueError):
            if len(inner := shlex.split(word)) > 1:
                yield from _split(inner)


def _named(words: Sequence[str], folders: list[Path]) -> Iterator[_Mention]:
    """The files that words name below some folders, and below those that the words name."""
    for word, following in pairwise([*words, ""]):
        if word == "-c":
            yield from _imported(following, Path("-c"))
        if len(word) > _LONGEST_NAME or (word.startswith("-") and word != "-m"):
            continue
        mentions = []
        for path in [folder / word for folder in folders]:
            if word == "-m":
                yield from _module(path.parent, f"{following}.__main__")
            elif path.is_dir():
                folders.append(path)
                yield from _module(path, "__main__")
            elif path.is_file():
                mentions.append((path, word))
        # A file that is not there may be one that the program writes.
        yield from mentions or [(Path(word), word)]


def _module(folder: Path, name: str) -> Iterator[_Mention]:
    """The file of a module below a folder, with the packages that have it."""
    location = folder
    for part in name.split("."):
        location /= part
        for path in (location.parent / f"{part}.py", location / "__init__.py"):
            if path.is_file():
                yield path, ""


def _mentions(path: Path) -> Iterator[_Mention]:
    """What a script imports or names."""
    with suppress(OSError), open_regular(path) as stream:
        text = stream.read(_LARGEST).decode(errors="replace")
        first = text.partition("\n")[0]
        if path.suffix == ".py" or (first.startswith("#!") and "python" in first):
            yield from _imported(text, path)
        elif "\0" not in text:
            yield from _named(_MENTIONED.findall(text), [path.parent, Path()])


def _imported(text: str, path: Path) -> Iterator[_Mention]:
    """The modules that a Python file imports: beside it, in the working directory, or on the search path."""
    try:
        with warnings.catch_warnings(action="ignore"):  # of escapes such as "\d"
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            level = getattr(node, "level", 0)
            module = getattr(node, "module", None)
            beside = path.parents[min(max(level, 1), len(path.parents)) - 1]
            folders = [beside] if level else [beside, *map(Path, ("", "src", *sys.path))]
            for alias in node.names:
                name = ".".join(filter(None, (module, alias.name)))
                top = name.partition(".")[0]
                having = (
                    folder
                    for folder in folders
                    if (folder / f"{top}.py").is_file() or (folder / top).is_dir()
                )
                yield from _module(next(having, beside), name)


def _fingerprint(path: Path) -> str:
    """The content of a file; of a large one its size and time; empty if it cannot be read."""
    stamp = stamp_of(path)
    with suppress(OSError):
        return str(stamp) if stamp is not None and stamp[0] > _LARGEST else sha256_of(path)
    return ""


def _is_interpreter(program: str) -> bool:
    return is_launcher(program) or program in _SHELLS


def _is_script(path: Path) -> bool:
    """Whether a file is a program, by its name or its first bytes."""
    if SCRIPT.fullmatch(path.name):
        return True
    with suppress(OSError), open_regular(path) as stream:
        return bool(stream.read(4).startswith(_PROGRAMS))
    return False

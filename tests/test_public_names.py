"""`dir(toolassay)`, `--help` and the documentation pages agree; the Python API is pleasant in a notebook."""

import inspect
import re
from pathlib import Path

import click
import pytest

import toolassay
from measurements import interface
from tests.support.running import inside, shell
from toolassay.cli.main import COMMANDS, cli, run
from toolassay.errors import UsageError
from toolassay.runs.runner import RunSummary
from toolassay.runs.work import Inference

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# Flags of other programs that the pages mention.
OTHERS = {"--chat_format", "--interrupt_requests", "--model_alias", "--n_ctx", "--n_threads"} | {
    "--n_threads_batch"
}


def flags_of(command: click.Command) -> set[str]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        nested = [command.get_command(context, name) for name in command.list_commands(context)]
        return {flag for one in nested if one is not None for flag in flags_of(one)}
    return {flag for parameter in command.params for flag in (*parameter.opts, *parameter.secondary_opts)}


def test_every_flag_of_a_page_is_an_option() -> None:
    known = flags_of(cli) | OTHERS
    for page in PAGES:
        # Flags with an underscore: matches "--data_dir", not "--model-path" of vLLM.
        written = set(re.findall(r"(?<![\w-])--[a-z]+(?:_[a-z]+)+\b", page.read_text()))
        assert written <= known, page


def test_every_command_and_public_name_is_on_a_page() -> None:
    text = "\n".join(page.read_text() for page in PAGES)
    assert not [name for name in COMMANDS if f"toolassay {name}" not in text]
    assert dir(toolassay) == sorted(toolassay.__all__)
    assert all(getattr(toolassay, name) is not None for name in toolassay.__all__)


def test_the_function_is_not_hidden_by_the_package_of_its_name() -> None:
    import toolassay.reports.decision

    assert toolassay.report is toolassay.write_report


def test_the_types_and_the_reference_page_are_those_of_the_declarations() -> None:
    assert interface.STUB.read_text(encoding="utf-8") == interface.stub()
    assert interface.REFERENCE.read_text(encoding="utf-8") == interface.reference()


def test_the_help_of_a_function_names_the_flat_keywords() -> None:
    shown = inspect.getdoc(toolassay.infer) or ""
    assert {"llm,", "temperature,", "trials,", "max_cost,"} <= set(shown.split())


def test_a_result_is_a_line_and_a_table() -> None:
    result = Inference(3, 1, RunSummary())
    assert repr(result) == "Inference(written=3, already=1, adopted=0, expected=0, malformed=0)"
    assert "<td>written</td><td>3</td>" in result._repr_html_()
    pytest.importorskip("pandas")
    assert list(result.to_pandas()["value"]) == [3, 1, 0, 0, 0]


@pytest.mark.parametrize(("name", "hint"), [("evaluate", "toolassay infer"), ("evaluate.py", "inference.py")])
def test_a_hint_names_what_was_typed(tmp_path: Path, name: str, hint: str) -> None:
    (tmp_path / "predictions").mkdir()
    done = shell(name, "--data_dir", tmp_path, "--llm", "all", cwd=tmp_path)
    assert done.code == 2 and f"make one with {hint}" in done.error
    with pytest.raises(UsageError, match=r"make one with infer\(\)"):
        toolassay.evaluate(tmp_path)


def test_a_removed_flag_says_what_to_use() -> None:
    done = inside("graph", "--materialise")
    assert done.code == 2 and "no --materialise any more: give --max_links a larger number" in done.error


@pytest.mark.parametrize(
    ("old", "new"),
    [("leaderboard", "report --only leaderboard"), ("critic", "check"), ("export-tools", "export")],
)
def test_an_old_command_works_and_says_its_new_name(
    old: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(cli, [old, "--help"], "toolassay") == 0
    assert f"`toolassay {old}` is `toolassay {new}` now" in capsys.readouterr().err

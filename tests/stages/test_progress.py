from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from toolassay.console.screen import Count, Figures, PlainLines, shown_progress


class Clock:
    """Stands still until it is told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Run:
    """A run as its figures show it."""

    def __init__(self) -> None:
        self.asked = self.failed = self.answers = self.timeouts = 0
        self.used = ""

    def __call__(self) -> Figures:
        return Figures(self.asked, self.failed, self.answers, self.timeouts, self.used)


def times(count: int, call: Callable[[], None]) -> None:
    for _ in range(count):
        call()


def test_everything_a_run_has_come_to_is_in_the_words() -> None:
    clock, run = Clock(), Run()
    count = Count("infer", 500, run, clock=clock)
    assert count.words() == "0/500, 0 failed"
    times(40, count.advance)
    clock.now += 10
    run.asked, run.failed, run.answers, run.used = 40, 3, 55, "12.3k tokens, $0.0120"
    words = "40/500, 3 failed, 330 answers/min, 12.3k tokens, $0.0120, 0:01:55 left"  # 4 items/s
    assert count.words() == words
    run.timeouts = 2
    assert count.words() == words.replace("answers/min", "answers/min, 2 timed out")


def test_what_was_answered_before_does_not_make_a_run_look_fast() -> None:
    clock, run = Clock(), Run()
    count = Count("infer", 1000, run, clock=clock)
    times(900, count.advance)
    assert count.words() == "900/1000, 0 failed"
    clock.now += 20
    times(10, count.advance)
    run.asked = run.answers = 10
    assert count.words() == "910/1000, 0 failed, 30 answers/min, 0:03:00 left"


def test_the_rate_is_that_of_the_last_two_minutes() -> None:
    clock, run = Clock(), Run()
    count = Count("infer", 100_000, run, clock=clock)
    for _ in range(60):
        clock.now += 1
        run.asked = run.answers = run.answers + 1
        count.words()
    for _ in range(120):
        clock.now += 1
        run.asked = run.answers = run.answers + 2000
        count.words()
    assert "120,000 answers/min" in count.words()
    clock.now += 3600  # nothing heard for an hour
    assert "0.0 answers/min" in count.words()


@pytest.mark.parametrize(("total", "lines"), [(50, 0), (250, 2), (1000, 10), (12_345, 10), (1_000_000, 10)])
def test_plain_lines_come_at_every_tenth_and_for_nothing_short(total: int, lines: int) -> None:
    said: list[str] = []
    plain = PlainLines("infer", total, say=said.append, clock=Clock())
    times(total, plain.advance)
    assert len(said) == lines
    if lines == 10:
        assert said[-1].startswith(f"infer {total}/{total}")


def test_a_slow_run_is_seen_to_live() -> None:
    said: list[str] = []
    clock, run = Clock(), Run()
    run.used = "cost unknown"
    plain = PlainLines("infer", 50, run, say=said.append, clock=clock)
    for _ in range(120):
        clock.now += 1
        plain.tick()
    assert said == ["infer 0/50, 0 failed, cost unknown"] * 4
    times(3, plain.advance)
    run.asked = run.answers = 3
    clock.now += 30
    plain.tick()
    assert said[-1] == "infer 3/50, 0 failed, 1.5 answers/min, cost unknown, 0:31:20 left"


def test_without_a_terminal_lines_are_plain(capsys: pytest.CaptureFixture[str]) -> None:
    with shown_progress("infer", 200) as advance:
        times(200, advance)
    err = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in err] == ["infer 100/200", "infer 200/200"]
    assert "\x1b" not in "".join(err)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("no_color", [False, True])
def test_on_a_terminal_a_bar(monkeypatch: pytest.MonkeyPatch, *, no_color: bool) -> None:
    terminal = Terminal()
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("sys.stderr", terminal)
    run = Run()
    run.used = "1.0k tokens, $0.0100"
    with shown_progress("infer", 3, run) as advance:
        times(3, advance)
    shown = terminal.getvalue()
    assert "3/3, 0 failed, 1.0k tokens, $0.0100, took 0:00:00" in shown
    assert "━" in shown
    assert ("\x1b[38;5;" in shown) != no_color

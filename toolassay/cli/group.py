"""How help is laid out: options in sections, each spelled once; commands in whole sentences."""

from __future__ import annotations

import click


class Group(click.Group):
    """As click's, but its list of commands cuts no sentence off."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands with the first paragraph of their help."""
        rows = [
            (name, " ".join((command.help or "").partition("\n\n")[0].split()))
            for name, command in self.commands.items()
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class Option(click.Option):
    """An option that help shows in one spelling, and in the section it was put in.

    Attributes:
        section: of the help; empty for the one that every command has.
    """

    section = ""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """As click's, without the spelling with dashes."""
        spellings = self.opts
        dashed = {f"--{name[2:].replace('_', '-')}" for name in spellings if "_" in name}
        self.opts = [name for name in spellings if name not in dashed]
        try:
            return super().get_help_record(ctx)
        finally:
            self.opts = spellings


class Command(click.Command):
    """A command whose help has its options in sections."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options by section, in the order in which sections begin."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                sections.setdefault(getattr(parameter, "section", "") or "Options", []).append(record)
        for name, records in sections.items():
            with formatter.section(name):
                formatter.write_dl(records)

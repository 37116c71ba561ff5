"""A command with commands of its own, whose help tells each in a whole sentence."""

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

"""What a tool does, as a verb phrase, from its description, title and id."""

from __future__ import annotations

from dataclasses import dataclass

from toolassay.tools import Tool


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a tool does, as an imperative.

    >>> Purpose("check", "out", "a guest", "at the end of the stay").imperative
    'check out a guest at the end of the stay'

    Attributes:
        verb: In base form: "check", "list".
        particle: Of a phrasal verb: "out"; empty if there is none.
        object: A noun phrase with its determiner: "a guest", "all open invoices"; empty if there is none.
        rest: What follows the object and belongs to the action: "at the end of the stay"; usually empty.
        is_certain: Whether the phrase is known to be sound. If not, it is a plain neutral form that is:
            verb "use", object "the guest profile lookup".
    """

    verb: str
    particle: str = ""
    object: str = ""
    rest: str = ""
    is_certain: bool = True

    @property
    def head(self) -> str:
        """The head noun of the object: "guest" for "a guest", "list" for "the list of movies"."""
        return self.object.split(" of ")[0].split()[-1] if self.object else ""

    @property
    def result(self) -> str:
        """What the tool gives, as a noun without an article; empty if unclear."""
        return self.head

    @property
    def imperative(self) -> str:
        """The verb phrase, without a full stop."""
        return " ".join(part for part in (self.verb, self.particle, self.object, self.rest) if part)


def purpose_of(tool: Tool) -> Purpose:
    """What the tool does. Never raises, whatever the description holds."""
    raise NotImplementedError

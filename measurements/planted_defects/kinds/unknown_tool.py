"""A plan calls a tool that the library does not have."""

from __future__ import annotations

import re
from collections.abc import Sequence

from measurements.planted_defects.forms import Change, Form, World
from measurements.planted_defects.plans import bare, renamed, tools_of
from measurements.planted_defects.samples import Record

KIND = "unknown tool"
PLAN = ("task_nodes", "task_links", "task_steps")
EVERYWHERE = (*PLAN, "sampled_nodes", "sampled_links")
INVENTED = {
    False: ("Smart Cropper", "Subtitle Generator", "Language Detector", "Tone Adjuster", "File Converter"),
    True: ("get_directions", "check_calendar", "notify_contact", "manage_subscription", "confirm_booking"),
}
OTHER_WORDS = ("manager", "maker", "assistant", "helper", "finder", "engine")


def _name(record: Record, world: World, names: Sequence[str]) -> tuple[str, str] | None:
    """A tool of the plan, and one of these names that the library does not have in any spelling."""
    known = {bare(name) for name in world.data.tools}
    names = [name for name in names if bare(name) not in known]
    if not names:
        return None
    return world.chance.choice(tools_of(record)), world.chance.choice(names)


def _plant(record: Record, keys: Sequence[str], ends: tuple[str, str] | None) -> Change | None:
    if ends is None:
        return None
    renamed(record, *ends, keys)
    return Change(", ".join(keys), *ends)


def _invented(record: Record, world: World) -> Change | None:
    return _plant(record, PLAN, _name(record, world, INVENTED[world.data.temporal]))


def _other_library(record: Record, world: World) -> Change | None:
    return _plant(record, EVERYWHERE, _name(record, world, world.strange_tools))


def _word_changed(record: Record, world: World) -> Change | None:
    tool = world.chance.choice(tools_of(record))
    parts = re.split(r"([ _-])", tool)
    parts[-1] = world.chance.choice([word for word in OTHER_WORDS if word != parts[-1].lower()])
    new = "".join(parts) if "_" in tool else "".join(parts[:-1]) + parts[-1].capitalize()
    found = _name(record, world, [new])
    return _plant(record, ("task_nodes",), found and (tool, new))


def _version(record: Record, world: World) -> Change | None:
    tool = world.chance.choice(tools_of(record))
    found = _name(record, world, [tool + ("_v2" if "_" in tool else " v2")])
    return _plant(record, EVERYWHERE, found and (tool, found[1]))


def _typing_error(record: Record, world: World) -> Change | None:
    tool = world.chance.choice(tools_of(record))
    places = [i for i in range(1, len(tool) - 1) if tool[i].isalpha() and tool[i] != tool[i + 1]]
    place = world.chance.choice(places)
    found = _name(record, world, [tool[:place] + tool[place + 1 :]])
    return _plant(record, ("task_nodes",), found and (tool, found[1]))


FORMS = (
    Form(KIND, "invented name, in the plan", _invented),
    Form(KIND, "one word of the name changed, in the nodes only", _word_changed),
    Form(KIND, "version added, everywhere alike", _version),
    Form(KIND, "tool of another library, everywhere alike", _other_library),
    Form(KIND, "a letter left out, in the nodes only", _typing_error),
)

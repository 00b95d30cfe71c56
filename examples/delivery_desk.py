"""The tools of the example's agent: a delivery desk that writes every call into a log.

Here: what the desk answers at each subtask, and its log, the only trace that a call leaves in the
world. Never here: anything about memory; a tool knows nothing of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from anthropic.types import ToolParam

__all__ = ["TOOLS", "DeliveryDesk", "Result"]

_INPUT: dict[str, object] = {
    "type": "object",
    "properties": {"subtask": {"type": "string"}, "details": {"type": "string"}},
    "required": ["subtask", "details"],
}
TOOLS: Sequence[ToolParam] = (
    {
        "name": "look_up",
        "description": "Look something up in the orders, the calendar or the fleet.",
        "input_schema": _INPUT,
    },
    {
        "name": "book",
        "description": "Reserve, change or cancel something at the depot.",
        "input_schema": _INPUT,
    },
    {
        "name": "ask_contact",
        "description": "Read what the contact wrote, or ask and wait for the answer.",
        "input_schema": _INPUT,
    },
    {
        "name": "write_to_contact",
        "description": "Send the contact a message; its text is in details.",
        "input_schema": _INPUT,
    },
)
"""What a model is told about each tool, as the SDK takes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came back from a tool.

    Attributes:
        text: in words.
        role: whose words they are: ``tool``, ``contact``, or ``agent`` for what was sent.
        entity: somebody or something that was not spoken of before, or None.
        decided: what the call settled, or None.
        blocker: what holds the task up now; None where nothing does.
    """

    text: str
    role: str = "tool"
    entity: str | None = None
    decided: str | None = None
    blocker: str | None = None


class DeliveryDesk:
    """The desk.

    Args:
        log: a line is added to it at each call: process, subtask, tool.
    """

    def __init__(self, log: Path) -> None:
        self._log = log

    def call(self, tool: str, subtask: str, details: str) -> Result:
        """What the desk answers; the call is in the log by then.

        Raises:
            KeyError: the desk has no such subtask.
        """
        with self._log.open("a", encoding="utf-8") as log:
            log.write(f"{os.getpid()} {subtask} {tool}\n")
        if tool == "write_to_contact":
            return Result(text=details, role="agent")
        return _RESULTS[subtask]


_RESULTS: Mapping[str, Result] = {
    "read-request": Result(
        role="contact",
        text="Please bring my piano on Friday instead of Tuesday. "
        "My studio has moved to the old dairy in Holm.",
    ),
    "find-order": Result(
        text="Order 7731: one upright piano, 230 kg, planned for Tuesday, carrier Norrfrakt.",
        entity="Norrfrakt",
    ),
    "check-friday": Result(text="Friday: two windows are free, 9 to 11 and 14 to 16."),
    "ask-window": Result(
        role="contact",
        text="The afternoon, please. I like it best when the driver rings before he sets out.",
    ),
    "check-van": Result(text="Van 12 is free on Friday afternoon and has a tail lift."),
    "reserve-window": Result(
        text="Friday, 14 to 16, is reserved with van 12.",
        decided="The piano comes on Friday between 14 and 16, in van 12.",
    ),
    "check-access": Result(
        text="The old dairy has a ramp on its yard side; Jonas Brandt has the key.",
        entity="Jonas Brandt",
    ),
    "ask-depot": Result(
        text="The depot strikes Tuesday's trip when its list closes at noon, not before.",
        blocker="The depot's list for Tuesday is open until noon.",
    ),
    "strike-tuesday": Result(text="Noon has passed; Tuesday's trip is off the list."),
    "ask-ramp": Result(
        role="contact",
        text="Jonas will be there. Mind that the ramp carries 300 kilos at most.",
    ),
    "book-second-carrier": Result(
        text="A second carrier is booked for Friday.",
        decided="Two people carry the piano.",
    ),
    "brief-driver": Result(text="The driver of van 12 knows: old dairy, yard side, ring first."),
    "update-order": Result(text="Order 7731 says Friday, 14 to 16, the old dairy in Holm."),
}

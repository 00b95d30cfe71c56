"""Write what the calls of the CRM agent return into docs/crm_agent.md.

    PYTHONPATH=$PWD python tools/write_crm_page.py

A line such as ``<!-- 2026-03-30 message 1 -->``, or ``opening`` in place of ``message 1``, is
followed by a block, which is made again from the recorded conversations.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path

import anthropic

from tests.crm_recordings import Held, RecordedClaude, played, what_is_missing

PAGE = Path(__file__).resolve().parents[1] / "docs" / "crm_agent.md"
WIDTH = 100
PLACE = re.compile(
    r"(<!-- (?P<day>[\d-]+) (?:opening|message (?P<number>\d+)) -->\n)(?:```text\n.*?^```\n)?",
    re.MULTILINE | re.DOTALL,
)


def written(page: str, held: Iterable[Held]) -> str:
    """The page with the blocks of these conversations."""
    by_day = {f"{each.conversation.at:%Y-%m-%d}": each for each in held}

    def block(found: re.Match[str]) -> str:
        conversation, number = by_day[found["day"]], found["number"]
        lines = (
            conversation.exchanges[int(number) - 1].lines()
            if number
            else conversation.opening.splitlines()
        )
        shown = "\n".join(wrapped for line in lines for wrapped in _wrapped(line))
        return f"{found[1]}```text\n{shown}\n```\n"

    return PLACE.sub(block, page)


def _wrapped(line: str) -> list[str]:
    """A line in the page's width; what follows stands further in."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(line, WIDTH, subsequent_indent=indent, break_long_words=False) or [""]


def main() -> None:
    try:
        held = list(played(RecordedClaude()))
    except anthropic.NotFoundError as error:
        sys.exit(what_is_missing(error))
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), held), encoding="utf-8")


if __name__ == "__main__":
    main()

"""The command that asks the judge again about decisions that it did not answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from reconciler.entrypoints.options import Agent, AsJson, MaybeContactId, Tenant, of_whom, show
from reconciler.entrypoints.progress import progress
from reconciler.entrypoints.rendering import shown
from reconciler.errors import ReconcilerError
from reconciler.memory import Memory

if TYPE_CHECKING:
    from reconciler.service.writing.rejudging import Rejudged


def rejudge(
    agent: Agent,
    contact: MaybeContactId = None,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Ask the judge about the decisions that it did not answer in time, and amend them."""
    answers: list[Rejudged] = []
    try:
        with Memory.open() as memory:
            asked = of_whom(memory, agent, contact, tenant)
            with progress("decisions", as_json) as advance:
                for rejudged in asked.rejudge():
                    answers.append(rejudged)
                    advance(len(answers), None)
    except (KeyboardInterrupt, ReconcilerError):
        if answers:  # they are kept, even if the command was interrupted
            _show(as_json, answers)
        raise
    _show(as_json, answers)


def _show(as_json: bool, answers: Iterable[Rejudged]) -> None:
    show(as_json, answers, lambda: Group(*_view(answers)))


def _view(answers: Iterable[Rejudged]) -> Iterable[Text]:
    counts: Counter[str] = Counter()
    for rejudged in answers:
        counts[rejudged.became] += 1
        yield shown(f"{rejudged.became:9} {rejudged.decision.text}  ({rejudged.why})")
    told = ", ".join(f"{count} {became}" for became, count in counts.items())
    yield Text(told or "Everything that wanted a judge was judged.")


COMMANDS = {"rejudge": rejudge}
"""The commands of this module, by name."""

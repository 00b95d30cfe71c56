"""The command that asks the judge again about decisions that it did not answer."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group
from rich.text import Text

from reconciler.entrypoints.options import Agent, AsJson, MaybeContactId, Tenant, of_whom, show
from reconciler.entrypoints.progress import progress
from reconciler.entrypoints.rendering import shown, terminal
from reconciler.errors import ReconcilerError
from reconciler.memory import Memory

if TYPE_CHECKING:
    from reconciler.ports.arbiter import BatchState
    from reconciler.service.writing.rejudging import Rejudged

__all__ = ["add_rejudge_command"]


def add_rejudge_command(app: typer.Typer) -> None:
    """Give the command line the command of this module."""
    app.command()(rejudge)


def rejudge(
    agent: Agent,
    contact: MaybeContactId = None,
    tenant: Tenant = None,
    batch: Annotated[
        bool, typer.Option("--batch", help="Send all questions at once, at half the price.")
    ] = False,
    batch_id: Annotated[
        str | None, typer.Option(help="Continue this batch, which an earlier --batch has sent.")
    ] = None,
    wait: Annotated[
        float, typer.Option(min=0, help="With --batch: wait at most this many hours.")
    ] = 24.0,
    as_json: AsJson = False,
) -> None:
    """Ask the judge about the decisions that it did not answer in time, and amend them.

    With --batch the vendor answers within a day, mostly within an hour, and this command waits. If
    it ends before that, nothing is lost: it says how to continue the batch.
    """
    answers: list[Rejudged] = []
    whose = {"--agent": agent, "--contact": contact, "--tenant": tenant}
    waiting = _WaitDisplay([*_given(whose), "--batch-id"])
    try:
        with Memory.open() as memory:
            asked = of_whom(memory, agent, contact, tenant)
            if batch or batch_id:
                with waiting.status:
                    judged = asked.rejudge_in_batches(
                        batch_id=batch_id, wait_hours=wait, on_wait=waiting.say
                    )
                    answers.extend(judged)
            else:
                with progress("decisions", as_json) as advance:
                    for rejudged in asked.rejudge():
                        answers.append(rejudged)
                        advance(len(answers), None)
    except (KeyboardInterrupt, ReconcilerError) as ended:
        if isinstance(ended, KeyboardInterrupt):
            waiting.take_leave()
        if answers:  # they are kept, even if the command was interrupted
            _show(as_json, answers)
        raise
    _show(as_json, answers)


class _WaitDisplay:
    """Says on the error output which batch is waited for, how far it is, and how to go on later."""

    def __init__(self, options: Iterable[str]) -> None:
        self._console = terminal(stderr=True)
        self.status = self._console.status("looking for questions")
        self._command = shlex.join(["reconciler", "rejudge", *options])
        self._batch_id = ""
        self._started = 0.0

    def say(self, state: BatchState) -> None:
        """Say a new batch at once, because from then on it can be continued."""
        if state.batch_id != self._batch_id:
            self._batch_id, self._started = state.batch_id, time.monotonic()
            self._tell(f"Questions that were sent as a batch: {state.total:,}.")
        minutes = (time.monotonic() - self._started) / 60
        self.status.update(f"{state.done:,} of {state.total:,} answered after {minutes:.0f} min")

    def take_leave(self) -> None:
        """A person ended the command."""
        if self._batch_id:
            self._tell("Nothing is lost: the server goes on.")

    def _tell(self, told: str) -> None:
        take_up = f"{self._command} {shlex.quote(self._batch_id)}"
        self._console.print(f"{told} To take it up later:\n  {take_up}", soft_wrap=True)


def _given(options: dict[str, str | None]) -> Iterable[str]:
    return (part for name, value in options.items() if value is not None for part in (name, value))


def _show(as_json: bool, answers: Iterable[Rejudged]) -> None:
    show(as_json, [rejudged.to_dict() for rejudged in answers], lambda: Group(*_view(answers)))


def _view(answers: Iterable[Rejudged]) -> Iterable[Text]:
    counts: Counter[str] = Counter()
    for rejudged in answers:
        counts[rejudged.became] += 1
        yield shown(f"{rejudged.became:9} {rejudged.decision.text}  ({rejudged.why})")
    told = ", ".join(f"{count} {became}" for became, count in counts.items())
    yield Text(told or "Everything that wanted a judge was judged.")

"""An agent that works in a loop: fifteen steps, killed after the ninth, gone on with, and gated.

    python examples/agent_loop.py                 # with the real embedding model
    python examples/agent_loop.py --noop          # without it, in seconds
    python examples/agent_loop.py --path FOLDER   # keep the memory, and look at it afterwards

A contact wants a piano on another day. Each step is a tool that "Claude" chooses: the real SDK, but
a scripted server on the loopback, so that nothing is sent anywhere and nothing costs money. The
work is done in processes of their own. The first one is killed outright, the second one finds the
task as it was left, and what the first one merely supposed is gone.

Here: the loop, and what it does with memory. What Claude says is in ``scripted_claude.py``, what
the tools do in ``delivery_desk.py``.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import anthropic
from anthropic.types import ToolUseBlock
from delivery_desk import TOOLS, DeliveryDesk, Result
from rich.console import Console
from rich.table import Table
from scripted_claude import PLAN, ScriptedClaude

from reconciler import Action, Memory, MemoryContext, Turn, as_prompt, load_settings
from reconciler.domain.tasks.tasks import TaskState
from reconciler.errors import IllegalMemoryOperationError

AGENT, CONTACT, TASK = "dispatch", "vera", "move-piano"
GOAL = "Have Vera's piano delivered on Friday instead of Tuesday"
KNOWN = (
    "Norrfrakt's drivers refuse to carry anything up steps.",
    "Jonas Brandt, the town's caretaker, only works in the afternoon.",
)
PROCEDURE = ("Agree on a window.", "Book the van.", "Ask about access.", "Brief the driver.")
QUESTION = "Where is the studio?"
KILLED_AFTER = 9
console = Console(highlight=False, markup=False)


def main() -> int:
    """Run the task in two processes, the first of which does not live to see its end."""
    arguments = _arguments()
    if arguments.server:
        return work(arguments)
    if arguments.path and (arguments.path / "memory.lbug").exists():
        console.print(f"{arguments.path} has a memory already; name a folder that has none")
        return 2
    os.environ.update(NO_PROXY="127.0.0.1", no_proxy="127.0.0.1")  # the loopback, and only it
    with tempfile.TemporaryDirectory() as temporary, ScriptedClaude() as claude:
        folder = arguments.path or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        own = [sys.executable, __file__, "--server", claude.base_url, "--path", str(folder)]
        own += ["--noop"] if arguments.noop else []
        ended = subprocess.run([*own, "--die-after", str(KILLED_AFTER)], check=False).returncode
        console.print(f"\nkilled after step {KILLED_AFTER}: exit status {ended}\n")
        return subprocess.run(own, check=False).returncode if ended == -signal.SIGKILL else 1


def work(arguments: argparse.Namespace) -> int:
    """One process's share of the task: begin it or go on with it, and finish it."""
    settings = load_settings(
        graph="embedded",
        embedded_path=arguments.path / "memory.lbug",
        embedder={"model": "noop" if arguments.noop else "minilm"},
        arbiter={"mode": "off"},
        extractor={"base_url": arguments.server, "api_key": "none-needed"},
    )
    with Memory.open(settings) as memory:
        for number, text in enumerate(KNOWN):  # under the same key it is remembered once
            memory.add_contact_note(AGENT, CONTACT, text, idempotency_key=f"known-{number}")
        task = memory.contact(AGENT, CONTACT).task(TASK, goal=GOAL)
        if task.state is TaskState.INTERRUPTED:
            _go_on(task)
        console.print(f"recalled at the start: {len(task.recall(GOAL, budget_tokens=100))} facts")
        claude = anthropic.Anthropic(base_url=arguments.server, api_key="none-needed")
        loop(task, claude, DeliveryDesk(arguments.path / "desk.log"), arguments.die_after)
        finish(memory, task)
    return 0


def loop(
    task: MemoryContext, claude: anthropic.Anthropic, desk: DeliveryDesk, die_after: int | None
) -> None:
    """Decide, call a tool, take in what it returned; until Claude wants nothing more done."""
    while (call := decide(task, claude)) is not None:
        subtask, details = str(call.input["subtask"]), str(call.input["details"])
        take_in(task, subtask, desk.call(call.name, subtask, details))
        if len(task.working.task.done) == die_after:
            os.kill(os.getpid(), signal.SIGKILL)  # nothing is closed, flushed or said goodbye to


def decide(task: MemoryContext, claude: anthropic.Anthropic) -> ToolUseBlock | None:
    """The next tool call, or None; while deciding an agent has its working memory and no more."""
    task.deciding()
    head = task.working
    if not head.task.done:
        _show_what_is_illegal(task)
    kept = {name: getattr(head.task, name) for name in ("goal", "done", "decided", "blocker")}
    held = {"observed": head.observations, "supposed": head.hypotheses}
    data = json.dumps(kept | held | {"known": as_prompt(head.facts)})
    reply = claude.messages.create(
        model="claude-haiku-4-5",
        max_tokens=500,
        system="You serve a customer. Call the tool for the next subtask, or say that all is done.",
        tools=TOOLS,
        messages=[{"role": "user", "content": f"<data>{data}</data>"}],
    )
    call = next((block for block in reply.content if block.type == "tool_use"), None)
    for block in reply.content if call else ():
        if block.type == "text":
            head.suppose(block.text)  # in this process's head only: a hypothesis is no fact
            console.print(f"    supposes, and tells nobody: {block.text}")
    return call


def take_in(task: MemoryContext, subtask: str, result: Result) -> None:
    """Record what came back, and how far the task is: evidence and progress, never a fact."""
    (task.observed if result.role == "contact" else task.tool_returned)()
    task.log_episode(Turn(role=result.role, text=result.text, reference=subtask))
    task.working.observe(result.text)
    notes = []
    if result.entity:  # a result may make something known worth knowing now
        found = task.recall_about(result.entity, budget_tokens=30)
        notes += [f"recalled about {result.entity}: {hit.fact.text}" for hit in found]
    if result.decided:
        task.task_memory.checkpoint([result.decided])
        notes.append(f"decided: {result.decided}")
    if result.blocker != task.working.task.blocker:
        task.task_memory.set_blocker(result.blocker)
        notes.append(f"blocked: {result.blocker}" if result.blocker else "no longer blocked")
    done = task.task_memory.mark_done(subtask).done
    shown = Table.grid(padding=(0, 2))
    shown.add_row(f"{len(done):>2}", f"{subtask:<19}", f"{result.role:<7}", result.text)
    for note in notes:
        shown.add_row("", "", "", note)
    console.print(shown)


def finish(memory: Memory, task: MemoryContext) -> None:
    """The task is over: only now may anything become a fact, and the gate has the say."""
    done = task.working.task.done
    task.succeed()
    record = task.episodes()
    proposed = task.propose_durable(record)
    for proposal in proposed:
        if proposal.decision.action is Action.ADMIT:
            task.commit(proposal.candidate, proposal.decision)
    way = task.propose_procedure("move a delivery", PROCEDURE, record)  # waits for an operator

    gated = Table("gate", "why", "proposed", title="\nThe write gate", title_justify="left")
    for decision in (*(proposal.decision for proposal in proposed), way):
        gated.add_row(decision.action, decision.gate.reason if decision.gate else "", decision.text)
    known, waiting = (
        memory.contact(AGENT, CONTACT).recall(QUESTION),
        memory.contact(AGENT, CONTACT).pending(),
    )
    console.print(gated, f"\nRecall: {QUESTION}", as_prompt(known), sep="\n")
    console.print("\nWaiting for a yes", *(decision.question for decision in waiting), sep="\n- ")
    count = Counter(proposal.decision.action for proposal in proposed)
    console.print(
        f"\ndone: {len(done)} of {len(PLAN)} steps, {count[Action.ADMIT]} facts, "
        f"{len(waiting)} waiting, {count[Action.REJECT]} refused"
    )


def _go_on(task: MemoryContext) -> None:
    kept = task.resume()
    console.print(f"found the task {TASK} interrupted: {len(kept.done)} of {len(PLAN)} steps done")
    for sentence in kept.decided:
        console.print(f"    decided: {sentence}")
    console.print(f"    blocked: {kept.blocker}")


def _show_what_is_illegal(task: MemoryContext) -> None:
    try:
        task.recall("everything about Vera", budget_tokens=100)
    except IllegalMemoryOperationError as error:
        console.print(f"    tried to recall while deciding: {error}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--path", type=Path, help="a folder to keep the memory in; else none")
    parser.add_argument("--noop", action="store_true", help="without an embedding model")
    parser.add_argument("--server", help=argparse.SUPPRESS)
    parser.add_argument("--die-after", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

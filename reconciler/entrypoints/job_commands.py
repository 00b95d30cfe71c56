"""The background door's commands: hand sessions over, see their jobs, process them.

Turns arguments into calls of ``Memory``, and signals into a worker's stop. It never logs the text
of a session, nor what is remembered of it.
"""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from zoneinfo import ZoneInfo

import typer
from rich.console import Group
from rich.text import Text

import reconciler
from reconciler.bound_memory import BoundMemory
from reconciler.domain.records.kinds import JobState
from reconciler.entrypoints.options import (
    STANDARD_INPUT,
    Agent,
    AsJson,
    Limit,
    MaybeAgent,
    MaybeContactId,
    Tenant,
    bar,
    bound_to,
    opened,
    parse_time,
    reading,
    show,
)
from reconciler.entrypoints.rendering import lines
from reconciler.entrypoints.serving import StopSignals, logging_to_stderr, stop_signals
from reconciler.errors import InvalidRequestError, InvalidSessionError
from reconciler.memory import Memory
from reconciler.serve.descriptions import capital
from reconciler.serve.wording import counted, json_text

if TYPE_CHECKING:
    from reconciler.domain.records.candidates import Turn
    from reconciler.domain.records.sessions import Job
    from reconciler.domain.records.transcript_forms import Conversation

_LOG = logging.getLogger(__name__)
_POLL_SECONDS = 1.0
_ENDED = (JobState.DONE, JobState.DEAD)
_DEAD_JOBS_MAX = 1_000_000


def extract(
    file: Path,
    agent: Agent,
    contact: Annotated[str | None, typer.Option()] = None,
    session: str | None = None,
    conversation: str | None = None,
    all_conversations: bool = False,
    tenant: Tenant = None,
    channel: str = "chat",
    started_at: str | None = None,
    contact_name: str | None = None,
    speaker: list[str] | None = None,
    time_zone: str | None = None,
    as_json: AsJson = False,
) -> None:
    """Hand over a conversation to be read in the background; print its job's id.

    A message has "role" (user or contact, assistant or agent, operator, tool, system) and "content"
    or "text", and may have "timestamp", "id" and "name". If you hand it over again under the same
    session id, only what is new is read.

    Options:
        file: the conversation: JSON lines, or an export of ChatGPT, Claude, WhatsApp and others;
            - reads standard input.
        contact: the contact whom the conversation was with; or --speaker for several.
        session: the session's id; default: the conversation's in an export, else the file's name
            without its last suffix.
        conversation: the id or title of one conversation, if the file holds several.
        all_conversations: hand over all conversations of the file, each as a session of its own.
        channel: the channel of the conversation.
        started_at: ISO 8601 with a zone; default: its first message's time, or now.
        contact_name: what the contact is called in it, if several people speak as users; what the
            others say is no evidence.
        speaker: who speaks as a user, NAME=ROLE, for each name: contact, operator for a colleague,
            agent, system for others; or contact:ID, without --contact.
        time_zone: the zone of a WhatsApp export's times: Europe/Berlin.
    """
    from reconciler.domain.records.transcript_forms import chosen
    from reconciler.service.sessions.transcripts import read_conversations, turns_in

    conversations = read_conversations(_lines(file), _zone(time_zone))
    roles = dict(each.partition("=")[::2] for each in speaker or ())
    is_of_names = any(each.is_of_names for each in conversations) and contact_name is None
    began_at = parse_time("--started-at", started_at)

    def hand_over(memory: Memory, session_id: str, turns: list[Turn]) -> list[Job]:
        if contact is None:
            several = memory.agent(agent, tenant=tenant)
            jobs = several.submit_session(
                session_id, turns, speakers=roles, channel=channel, started_at=began_at
            )
            return [several.contact(who).job(job_id) for who, job_id in jobs.items()]
        about = memory.contact(agent, contact, tenant=tenant)
        job_id = about.submit_session(
            session_id,
            turns,
            channel=channel,
            started_at=began_at,
            contact_name=contact_name,
            speakers=roles if roles or is_of_names else None,
        )
        return [about.job(job_id)]

    if all_conversations:
        if not (session is None and conversation is None and started_at is None):
            raise InvalidRequestError(
                "--all-conversations gives each conversation its own id and times: leave out "
                "--session, --conversation and --started-at"
            )
        _hand_over_all(file, conversations, hand_over, as_json)
        return
    wanted = chosen(conversations, conversation)
    turns = turns_in(wanted)
    session_id = wanted.conversation_id if session is None else session
    session_id = session_id or _file_session_id(file)
    with Memory.open() as memory:
        made = hand_over(memory, session_id, turns)
    plain = [_handed_over(job, turns) for job in made]
    show(as_json, plain if contact is None else plain[0], lambda _: _begun_view(made))


def _zone(name: str | None) -> ZoneInfo | None:
    try:
        return None if name is None else ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise InvalidRequestError(
            f"--time-zone {name!r} is not a time zone; give one such as Europe/Berlin"
        ) from None


def _hand_over_all(
    file: Path,
    conversations: Sequence[Conversation],
    hand_over: Callable[[Memory, str, list[Turn]], list[Job]],
    as_json: bool,
) -> None:
    """Hand over all conversations with words; a refusal stops no other, but sets the exit code."""
    refused: dict[str, str] = {}
    made: list[dict[str, object]] = []
    with Memory.open() as memory:
        for each in conversations:
            session_id = each.conversation_id or f"{_file_session_id(file)}-{each.number}"
            try:
                if turns := each.turns():
                    jobs = hand_over(memory, session_id, turns)
                    made += [_handed_over(job, turns) for job in jobs]
            except InvalidSessionError as error:
                refused[session_id] = str(error)
    told = [f"Refused: {name}: {why}" for name, why in refused.items()]
    show(
        as_json,
        {"sessions": made, "refused": refused},
        lambda _: lines(f"{len(made):,} handed over.", *told, _TO_READ),
    )
    if refused:
        raise typer.Exit(1)


def _handed_over(job: Job, turns: list[Turn]) -> dict[str, object]:
    return {
        "job_id": job.job_id,
        "contact_id": job.scope.contact_id,
        "session_id": job.session_id,
        "turns": len(turns),
        "state": job.state,
    }


def jobs(
    agent: MaybeAgent = None,
    contact: MaybeContactId = None,
    state: JobState | None = None,
    tenant: Tenant = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List jobs, newest first, with their states and how to retry dead ones.

    Options:
        state: only jobs in this state.
    """
    with reading(agent, contact, tenant) as memory:
        jobs_shown = bound_to(_jobs, memory, agent, contact, tenant)(state=state, limit=limit)
    show(as_json, jobs_shown, jobs_view)


def retry(
    job_id: Annotated[str | None, typer.Argument()] = None,
    all_dead: bool = False,
    agent: MaybeAgent = None,
    contact: MaybeContactId = None,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Retry a dead job now, or one that waits for its next attempt.

    To retry one job, give its id, --agent and --contact. --all-dead retries all dead jobs of the
    tenant, or of one agent or contact, oldest first.

    Options:
        job_id: the job's id, as `reconciler jobs` prints it; or give --all-dead.
        all_dead: retry every dead job.
    """
    if (job_id is None) is not all_dead:
        raise InvalidRequestError(
            "give either the id of one job (`reconciler jobs --state dead` lists it) or --all-dead"
        )
    if job_id is None:
        with Memory.open() as memory:
            dead = bound_to(_jobs, memory, agent, contact, tenant)(
                state=JobState.DEAD, limit=_DEAD_JOBS_MAX
            )
            # Workers take the job that has been due longest, so the first handed over goes first.
            begun = [_retried(memory, job) for job in reversed(dead)]
        nothing = "No such job is dead; there is nothing to retry."
        show(as_json, begun, lambda jobs: _begun_view(jobs, nothing))
        return
    if agent is None or contact is None:
        raise InvalidRequestError(
            "the id of a job needs --agent and --contact: `reconciler jobs` shows them"
        )
    with Memory.open() as memory:
        job = memory.contact(agent, contact, tenant=tenant).retry(job_id)
    show(as_json, job, lambda job: _begun_view([job]))


def drain(as_json: AsJson = False) -> None:
    """Process all waiting jobs, then return; exit code 1 if one is dead at the end.

    Ctrl-C puts the current job back in the queue before its next step; a second one stops at once.
    """
    from reconciler.entrypoints.doctor import describe_extractor

    with stop_signals() as asked, Memory.open(warm_up=True) as memory:
        extractor = describe_extractor(memory.settings)
        ended = _drain(memory, asked, as_json)
    show(as_json, {"extractor": extractor, "jobs": ended}, lambda _: drained_view(ended, extractor))
    if (number := asked.number) is not None:
        raise typer.Exit(128 + number)
    if any(job.state is JobState.DEAD for job in ended):
        raise typer.Exit(1)


def worker(
    metrics_port: Annotated[int | None, typer.Option(min=0, max=65_535)] = None,
    metrics_host: str = "127.0.0.1",
    as_json: AsJson = False,
) -> None:
    """Process jobs as they arrive, until SIGTERM or Ctrl-C; with --json, one line per ended job.

    It also sends changes and digests to the webhooks of the settings.

    The current job then goes back to the queue; nothing is lost. Any number of workers may run on
    one Neo4j. The embedded engine serves one process at a time: use `reconciler drain` there.

    Options:
        metrics_port: serve /metrics, /healthz and /readyz on this port; 0 picks a free one.
        metrics_host: the address for --metrics-port; 0.0.0.0 in a container.
    """
    from reconciler.entrypoints.doctor import describe_extractor
    from reconciler.ops.metrics import serve_metrics
    from reconciler.ops.webhooks import sending

    with (
        logging_to_stderr(logging.INFO, reconciler.load_settings().log),
        stop_signals() as asked,  # before the memory is opened, which may wait for a server
        Memory.open(warm_up=True) as memory,
        serve_metrics(memory.queue, metrics_port, metrics_host) as address,
        sending(memory),
    ):
        _LOG.info("reading with %s", describe_extractor(memory.settings))
        if address is not None:
            _LOG.info("metrics at %s", address)
        thread = memory.start_worker(lambda job: _report(job, as_json))
        while thread.is_alive and not asked.wait(_POLL_SECONDS):
            pass
        is_broken = not thread.is_alive
        _LOG.info("stopping")
        memory.stop_workers()
    if is_broken:
        raise typer.Exit(1)


def _jobs(whose: Memory | BoundMemory, **asked: Any) -> list[Job]:
    return whose.jobs(**asked)


def _retried(memory: Memory, dead: Job) -> Job:
    scope = dead.scope
    return memory.contact(scope.agent_id, scope.contact_id, tenant=scope.tenant).retry(dead.job_id)


def _drain(memory: Memory, asked: StopSignals, is_quiet: bool) -> list[Job]:
    """Process the waiting jobs in a thread, so that this thread is free for a signal."""
    report = memory.queue()
    unfinished = report.jobs[JobState.WAITING] + report.jobs[JobState.RUNNING]
    with (
        bar("jobs", is_quiet, unfinished) as advance,
        logging_to_stderr(logging.WARNING, memory.settings.log),
        ThreadPoolExecutor(1) as pool,
    ):
        if held := report.jobs[JobState.RUNNING]:
            _LOG.warning(
                "%d running already: waiting; a worker silent for %g s loses its job to this one",
                held,
                memory.settings.jobs.lease_seconds,
            )
        draining = pool.submit(memory.worker().drain, lambda job: advance(job.state in _ENDED))
        draining.add_done_callback(lambda _: asked.wake())
        asked.wait()
        if not draining.done():
            _LOG.warning("stopping; again to stop at once")
            memory.stop_workers()
        return draining.result()


def _report(ended: Job, as_json: bool) -> None:
    """Log an attempt, from the worker's thread."""
    level = logging.WARNING if ended.state is JobState.DEAD else logging.INFO
    _LOG.log(level, "%s", job_words(ended))
    if as_json and ended.state in _ENDED:
        sys.stdout.write(json_text(ended) + "\n")
        sys.stdout.flush()


def _lines(file: Path) -> list[str]:
    """Return the file's lines; bytes that are not UTF-8 become half surrogates."""
    from reconciler.service.sessions.transcripts import TRANSCRIPT_BYTES_MAX, too_large

    with sys.stdin.buffer if file == STANDARD_INPUT else opened(file) as stream:
        data = stream.read(TRANSCRIPT_BYTES_MAX + 1)
    if len(data) > TRANSCRIPT_BYTES_MAX:
        raise too_large()
    return data.decode("utf-8", "surrogateescape").split("\n")


def _file_session_id(file: Path) -> str:
    if file == STANDARD_INPUT:
        raise InvalidRequestError("standard input has no name: give the session's id by --session")
    return file.stem


_TO_READ = "Run `reconciler drain`, or keep a worker running."


def _outcomes(outcomes: Mapping[str, int]) -> str:
    """Return the outcomes of candidates, without zeros."""
    return ", ".join(f"{count} {name}" for name, count in outcomes.items() if count) or (
        "no candidates"
    )


def job_words(job: Job) -> str:
    """Describe one job in a line of a log: no words of the contact, and none of the extractor."""
    if job.state is JobState.DONE:
        return f"job {job.job_id} is done: {_outcomes(asdict(job.outcomes))}"
    return f"job {job.job_id} is {job.state} after {counted(job.attempts, 'attempt')}"


def jobs_view(jobs: Sequence[Job], nothing: str = "There is no job.") -> Text:
    """Show each job with its session, its last error, and how to start a dead job again."""
    told: list[str] = []
    for job in jobs:
        whose = f"  {job.scope.agent_id} · {job.scope.contact_id} · {job.session_id}, handed over"
        told += [capital(job_words(job)), f"{whose} {job.submitted_at:%Y-%m-%d %H:%M} UTC"]
        told += [f"  {job.last_error}"] if job.last_error and job.attempts else []
        told += ["Once the cause is mended:", job.advice] if job.advice else []
    return lines(*told or [nothing])


def _begun_view(jobs: Sequence[Job], nothing: str = "") -> Text:
    """Show each job as it is now, and what to do if one waits."""
    waits = any(job.state is JobState.WAITING for job in jobs)
    return lines(jobs_view(jobs, nothing), _TO_READ if waits else None)


def drained_view(jobs: Sequence[Job], extractor: str) -> Group:
    """Show the result of a drain: jobs by state, outcomes of candidates, and why jobs are dead.

    Args:
        jobs: the jobs of the drain, in their state after it.
        extractor: the extractor that read, in words.
    """
    if not jobs:
        return Group("Nothing waited.")
    sums: Counter[str] = Counter()
    for job in jobs:
        sums.update(asdict(job.outcomes))
    states = Counter(job.state for job in jobs)
    counts = ", ".join(f"{count} {state}" for state, count in states.items())
    told = [f"Drained: {counts}; {_outcomes(sums)}", f"Read with {extractor}"]
    dead = [job for job in jobs if job.state is JobState.DEAD]
    return Group(*told, *[jobs_view(dead)] * bool(dead))


COMMANDS = {"extract": extract, "jobs": jobs, "retry": retry, "drain": drain, "worker": worker}
"""The commands of this module, by name."""

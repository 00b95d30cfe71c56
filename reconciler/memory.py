"""The facade: one object that opens a memory and hands out its views. Decides nothing.

A call imports the modules that only it needs, so that a caller who reads a history does not wait
for others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, Unpack
from weakref import WeakSet

from reconciler.bound_memory import (
    AgentMemory,
    ContactMemory,
    checked_ids,
    first,
    known_or_none,
)
from reconciler.domain.records.kinds import AnyJobState, Clock, JobState, Progress
from reconciler.domain.records.notes import check_callable, check_flags, positive
from reconciler.errors import ConfigurationError, InvalidRequestError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from reconciler.bootstrap.services import Services
    from reconciler.domain.records.decisions import Decision
    from reconciler.domain.records.erasures import Erasure
    from reconciler.domain.records.sessions import Job, QueueReport, Stage
    from reconciler.ports.arbiter import Arbiter
    from reconciler.ports.embedder import Embedder
    from reconciler.ports.extractor import Extractor
    from reconciler.ports.graph import EngineDescription
    from reconciler.service.sessions.extraction_worker import ExtractionWorker, WorkerThread
    from reconciler.service.tools.agent_tools import AgentTools
    from reconciler.service.writing.doors import NoteFields
    from reconciler.service.writing.note_import import ImportReport
    from reconciler.settings import OpenFields, Settings


class Memory:
    """An open memory: the store, its jobs, and the way to each agent and contact.

    Example::

        with Memory.open() as memory:
            priya = memory.contact("crm", "priya")
            priya.note("Lives in Pune.")
            priya.recall("Where does she live?")

    Safe to share between threads. Open it once and keep it: the model is loaded once, at the first
    note or recall, or from the opening on (``warm_up``).
    """

    def __init__(self, services: Services) -> None:
        self._parts = services
        self._workers: WeakSet[ExtractionWorker] = WeakSet()
        self._worker_threads: list[WorkerThread] = []

    @classmethod
    def open(
        cls,
        settings: Settings | None = None,
        *,
        embedder: Embedder | None = None,
        arbiter: Arbiter | None = None,
        extractor: Extractor | None = None,
        clock: Clock | None = None,
        migrate: bool = False,
        warm_up: bool = False,
        must_exist: bool = False,
        attributes: Mapping[str, type[BaseModel]] | None = None,
        **arguments: Unpack[OpenFields],
    ) -> Self:
        """Open the memory that the settings describe; a new store is set up automatically.

        Args:
            settings: all of them; None reads them from arguments, environment and files.
            embedder: instead of the configured one; the caller closes it.
            arbiter: instead of the configured one; the caller closes it.
            extractor: instead of the configured one; the caller closes it.
            clock: the time now, UTC-aware, for tests; None for this machine's.
            migrate: bring a store of an older schema up to date instead of refusing it.
            warm_up: True starts loading the model at once, in a thread, and does not wait for it;
                ``Memory.warm_up`` waits until it is ready, and raises its error. False loads it at
                the first note or recall; a program that embeds nothing never loads it.
            must_exist: refuse a place without a memory instead of making one there. The parts that
                write are then set up only when a call needs them.
            attributes: Pydantic models, by the ids of agents or shell patterns of ids: each field
                is an attribute that these agents know. ``docs/attributes.md`` says how.
            **arguments: single settings, as ``load_settings`` takes them.

        Raises:
            ConfigurationError: a setting, the password or the database is wrong, or the model is
                not on this machine. Opening does not check whether its files can be loaded.
            GraphUnavailableError: the server does not answer.
            GraphLockedError: another process has the embedded file open.
            SchemaError: the store is of another schema version or another model.
        """
        check_flags(migrate=migrate, warm_up=warm_up, must_exist=must_exist)
        chosen = settings_of("Memory.open", settings, arguments)
        check_parts(clock, embedder=embedder, arbiter=arbiter, extractor=extractor)
        from reconciler.bootstrap.services import build_services

        return cls(
            build_services(
                chosen,
                embedder=embedder,
                arbiter=arbiter,
                extractor=extractor,
                clock=clock,
                migrate=migrate,
                warm_up=warm_up,
                must_exist=must_exist,
                attributes=attributes,
            )
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the engine, the model and the connections; calling it again does nothing.

        Workers in this process stop first; their jobs go back to the queue. In a forked child it
        does nothing: what was opened before the fork is the parent's.
        """
        if not self._parts.maker.is_here:
            return
        self._parts.is_closed = True
        self.stop_workers()
        self._parts.closing.close()

    @property
    def _services(self) -> Services:
        return self._parts.opened

    @property
    def settings(self) -> Settings:
        """The settings that this memory was opened with."""
        return self._parts.settings

    def warm_up(self) -> float:
        """Wait until the model is loaded and has embedded once; returns the seconds of that wait.

        It also loads the gate's lexicons and the packaged judge, and lets the engine plan a recall,
        so that the first note and the first recall do not wait.

        Raises:
            ConfigurationError: the model cannot be loaded; the message says what to install or set.
            EmbeddingError: the model was loaded and failed.
            GraphError: the engine is unavailable.
        """
        seconds = self._services.embedder.warm_up()
        self._services.live_door.warm_up()
        if (arbitration := self._services.arbitration) is not None:
            arbitration.warm_up()
        self._services.recall.warm_up()
        return seconds

    def describe(self) -> EngineDescription:
        """The engine of this memory and its place. It asks the engine, so it is also a check."""
        return self._services.binding_store.graph.describe()

    def contact(
        self, agent_id: str, contact_id: str, *, tenant: str | None = None
    ) -> ContactMemory:
        """The memory of one contact.

        Args:
            agent_id: the agent.
            contact_id: the contact; a new contact has an empty memory.
            tenant: the tenant; None for the configured one.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
        """
        return ContactMemory(self._parts, self._parts.scope(tenant, agent_id, contact_id))

    def account(self, agent_id: str, account: str, *, tenant: str | None = None) -> ContactMemory:
        """The memory of an account, such as a company: what is known to all contacts in it.

        It is the contact ``account:NAME``, with all calls of a contact. A contact belongs to it by
        ``ContactMemory.join_account``.

        Args:
            agent_id: the agent.
            account: the account's name; a new account has an empty memory.
            tenant: the tenant; None for the configured one.

        Raises:
            InvalidScopeError: tenant, agent or account cannot be used.
        """
        named = self._parts.scope(tenant, agent_id, "any").account(account).contact_id
        return self.contact(agent_id, named, tenant=tenant)

    def agent(self, agent_id: str, *, tenant: str | None = None) -> AgentMemory:
        """The memory of an agent, with the calls across its contacts.

        Args:
            agent_id: the agent.
            tenant: the tenant; None for the configured one.

        Raises:
            InvalidScopeError: tenant or agent cannot be used.
        """
        return AgentMemory(self._parts, self._parts.scope(tenant, agent_id, "any"))

    def add_contact_note(
        self,
        agent_id: str,
        contact_id: str,
        text: str,
        *,
        tenant: str | None = None,
        **fields: Unpack[NoteFields],
    ) -> Decision:
        """Remember something about a contact; ``contact(...).note`` does the same.

        Args:
            agent_id: the agent.
            contact_id: whom the note is about.
            text: one fact, 1 to 2,000 characters.
            tenant: the tenant; None for the configured one.
            **fields: optional fields besides the text; ``NoteFields`` documents them. By default
                ``source_kind`` is ``user_explicit``, and the gate judges ``importance`` from the
                words.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used; nothing was written.
            InvalidNoteError: the note cannot be used, or its key belongs to another note; nothing
                was written.
            EmbeddingError: the model failed; nothing was written.
            GraphUnavailableError: the engine stayed unavailable; call again with the same key.
            GraphConflictError: other writers came first too often; nothing was written.
        """
        return self.contact(agent_id, contact_id, tenant=tenant).note(text, **fields)

    def agent_tools(
        self,
        agent_id: str,
        contact_id: str,
        *,
        tenant: str | None = None,
        session_id: str | None = None,
        can_recall: bool = True,
        can_check: bool = False,
        budget_tokens: int | None = None,
        trusted_tools: Sequence[str] | None = None,
        colleague: str | None = None,
    ) -> AgentTools:
        """The tools that an agent's model may call: to note, to relate notes, and to recall.

        See ``ContactMemory.tools``.
        """
        return self.contact(agent_id, contact_id, tenant=tenant).tools(
            session_id=session_id,
            can_recall=can_recall,
            can_check=can_check,
            budget_tokens=budget_tokens,
            trusted_tools=trusted_tools,
            colleague=colleague,
        )

    def import_notes(
        self,
        lines: Iterable[str],
        *,
        tenant: str | None = None,
        agent_id: str | None = None,
        contact_id: str | None = None,
        source: str | None = None,
        on_progress: Progress = lambda _: None,
    ) -> ImportReport:
        """Import JSON lines; see ``NoteImport``.

        Run it again from the same source to continue where it stopped. A line without a time counts
        as said again if it comes from another source, or from an unnamed source: the last word
        counts. A file that returns to its earlier content changes nothing, because its lines are
        known; if they should count again, give them ``said_at``, or name another source.

        Args:
            lines: one JSON object each, with ``text`` and optionally the door's other arguments.
            tenant: for lines that name none; None for the configured one.
            agent_id: for lines that name none.
            contact_id: for lines that name none.
            source: a name for the lines' origin, for example a file's path; None for the path of
                an open file, or for lines that are imported only once.
            on_progress: called with how many more lines were processed.

        Raises:
            InvalidScopeError: tenant, agent or contact cannot be used.
            InvalidRequestError: the lines are one text, such as a file's name, or cannot be read,
                or the source is blank.
        """
        check_callable(on_progress=on_progress)
        is_text = isinstance(lines, str | bytes)  # it would be read as lines of one character each
        if is_text or not isinstance(lines, Iterable):
            raise InvalidRequestError(
                "lines must be an iterable of lines, such as an open file, not "
                f"{'one text' if is_text else type(lines).__name__}"
            )
        chosen = self._parts.tenant(tenant)
        defaults = checked_ids({"tenant": chosen, "agent_id": agent_id, "contact_id": contact_id})
        from reconciler.service.writing.note_import import source_of

        named = source_of(lines, source)
        return self._services.note_import.run(_read_lines(lines), defaults, on_progress, named)

    def agents(self) -> list[tuple[str, str]]:
        """All agents of the store, of all tenants, each with its tenant first."""
        return self._services.contact_store.list_agents()

    def erasures(
        self, *, unfinished: bool = False, tenant: str | None = None, limit: int | None = None
    ) -> list[Erasure]:
        """The erasures of a tenant, oldest first, and how far each one got.

        Args:
            unfinished: only the erasures that were interrupted and must be finished.
            tenant: the tenant; None for the configured one.
            limit: at most this many; None for all.

        Raises:
            InvalidScopeError: the tenant cannot be used.
            InvalidRequestError: the limit is below 1.
        """
        check_flags(unfinished=unfinished)
        chosen = checked_ids({"tenant": self._parts.tenant(tenant)})["tenant"]
        all_erasures = self._services.erasure_store.list_erasures(is_unfinished=unfinished)
        own = (erasure for erasure in all_erasures if erasure.scope.tenant == chosen)
        return first(own, limit)

    def finish_erasures(self, *, on_progress: Progress = lambda _: None) -> list[Erasure]:
        """Finish all interrupted erasures of the store; returns those that this call finished.

        Args:
            on_progress: called with how many more records were read or emptied.

        Raises:
            GraphUnavailableError: the engine stayed unavailable or busy; call again.
        """
        check_callable(on_progress=on_progress)
        unfinished = self._services.erasure_store.list_erasures(is_unfinished=True)
        return [self._services.erasures.finish(erasure, on_progress) for erasure in unfinished]

    def jobs(
        self,
        *,
        contact_id: str | None = None,
        state: AnyJobState | None = None,
        tenant: str | None = None,
        limit: int = 50,
    ) -> list[Job]:
        """The jobs of all agents, newest first.

        Args:
            contact_id: only jobs about contacts with this id, of any agent.
            state: only those in this state.
            tenant: the tenant; None for the configured one.
            limit: at most this many.

        Raises:
            InvalidScopeError: tenant or contact cannot be used.
            InvalidRequestError: the limit is below 1, or there is no such state.
        """
        from reconciler.service.stores.session_store import JobFilter

        chosen = self._parts.tenant(tenant)
        checked_ids({"tenant": chosen, "contact_id": contact_id})
        wanted = JobFilter(contact_id=contact_id, state=known_or_none(JobState, "state", state))
        return self._services.session_store.list_jobs(chosen, wanted, positive("limit", limit))

    def queue(self) -> QueueReport:
        """All jobs of the store in numbers."""
        return self._services.session_store.count_jobs()

    def drain(self, on_progress: Callable[[Job], None] = lambda _: None) -> list[Job]:
        """Process all jobs in this thread until each is done or dead; returns those of this call.

        If its extractor fails, a job is retried after a wait, which may take many minutes;
        ``worker().work_once()`` makes one attempt.

        Raises:
            GraphUnavailableError: the engine stayed unavailable; unfinished jobs wait.
        """
        check_callable(on_progress=on_progress)
        return self.worker().drain(on_progress)

    def worker(self, on_stage: Callable[[Stage], None] = lambda _: None) -> ExtractionWorker:
        """A worker that the caller runs, and stops.

        Args:
            on_stage: called at each stage of a job; for tests.
        """
        from reconciler.bootstrap.services import build_worker

        check_callable(on_stage=on_stage)
        worker = build_worker(self._services, on_stage)
        self._workers.add(worker)
        return worker

    def start_worker(self, on_job: Callable[[Job], None] = lambda _: None) -> WorkerThread:
        """A worker in a thread of this process, until it is stopped or the memory is closed.

        Args:
            on_job: called in that thread after each attempt, with the job's state.
        """
        from reconciler.service.sessions.extraction_worker import WorkerThread

        check_callable(on_job=on_job)
        thread = WorkerThread(self.worker(), on_job)
        self._worker_threads.append(thread)
        return thread

    def stop_workers(self) -> None:
        """Stop all workers of this memory; their jobs go back to the queue.

        The extractor's running calls end. Not from a signal's handler, which may interrupt a thread
        that holds the extractor's lock.
        """
        self._parts.maker.check()
        for worker in self._workers:
            worker.stop()
        if self._workers:
            self._parts.extractor.close()
        for thread in self._worker_threads:
            thread.stop()


def settings_of(call: str, settings: object, arguments: Mapping[str, Any]) -> Settings:
    """All settings of a call, as they were given or from arguments, environment and files.

    Raises:
        ConfigurationError: they are not settings, or cannot be used.
    """
    from reconciler.settings import Settings, load_settings

    if settings is None:
        return load_settings(**arguments)
    if arguments:
        raise ConfigurationError(
            f"give {call} either a settings object or single settings, not both"
        )
    if not isinstance(settings, Settings):
        raise ConfigurationError(
            f"{call} takes settings, not {type(settings).__name__}; to name a store's file, use "
            f"{call}(embedded_path=...)"
        )
    return settings


_MUST_HAVE = {"embedder": "embed", "arbiter": "judge", "extractor": "extract"}


def check_parts(clock: object, **parts: object) -> None:
    """Refuse an object that cannot be a part of a memory; None is the configured part.

    Raises:
        ConfigurationError: an object has another class.
    """
    for name, part in parts.items():
        if part is not None and not callable(getattr(part, _MUST_HAVE[name], None)):
            raise ConfigurationError(
                f"{name} must be an {name.title()}, not {type(part).__name__}; leave it out for "
                f"the configured one, and give settings as load_settings({name}={{...}})"
            )
    if clock is not None and not callable(clock):
        raise ConfigurationError(
            f"clock must be a function that returns the time, not {type(clock).__name__}"
        )


def _read_lines(lines: Iterable[str]) -> Iterator[str]:
    """The lines, as they are read.

    Raises:
        InvalidRequestError: they cannot be read to their end.
    """
    try:
        yield from lines
    except (OSError, ValueError) as error:  # a closed file, or one that is not UTF-8
        raise InvalidRequestError(
            f"the lines cannot be read to the end: {error}. All lines before that were imported. "
            "Give an open file in UTF-8, and import it again from the same source"
        ) from error

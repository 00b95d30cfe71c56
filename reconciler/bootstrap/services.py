"""Wires the parts of an open memory, and its workers.

Each part is imported when it is built, so that a command that only reads loads no gate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from functools import cache, partial
from importlib import import_module
from inspect import signature
from operator import attrgetter
from threading import RLock, Thread
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from cachetools import TTLCache, cached

from reconciler.adapters.note_head import sure_kinds
from reconciler.bootstrap.chosen_models import (
    arbitration_policy,
    at_opening,
    build_arbiter,
    build_embedder,
    build_extractor,
    build_first_arbiter,
    build_gate_policy,
    build_note_reader,
    build_policy,
    build_recalling,
    build_secret_finder,
    build_sensitive_data_finder,
    check_memory_exists,
    hash_key_of,
    hashed_part,
    judge_of,
    judge_under,
    open_graph,
    open_store,
    retry_policy,
    utc_now,
    without_packaged_judge,
)
from reconciler.config_files import (
    BookChoice,
    load_attribute_book,
    load_attribute_sentences,
    load_head,
    load_own_questions,
    load_question_vectors,
    load_tools,
)
from reconciler.domain.records.kinds import Clock
from reconciler.domain.records.notes import CONTACT_SUBJECT, Scope
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.errors import (
    ConfigurationError,
    GraphClosedError,
    GraphUnavailableError,
    ReconcilerError,
)
from reconciler.floats import Floats
from reconciler.forks import Maker
from reconciler.reading.sensitive_data import SensitiveKind, keyed_digest, keyed_token
from reconciler.service.records import Records
from reconciler.service.stores.binding_store import BindingStore, ModelStore
from reconciler.service.stores.contact_store import ArchiveStore, ContactStore
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.stores.fact_store import FactStore
from reconciler.service.stores.patient_graph import patient
from reconciler.service.use_trace import UseTrace
from reconciler.service.writing.submissions import DecisionIds, IdCheck, Submission, recorded_policy

if TYPE_CHECKING:
    from pydantic import BaseModel

    from reconciler.domain.gate.policy import GatePolicy
    from reconciler.domain.recalling.recallable import Recalling
    from reconciler.domain.records.candidates import Candidate
    from reconciler.domain.records.decisions import Decision
    from reconciler.domain.records.facts import Fact
    from reconciler.domain.records.sessions import Stage
    from reconciler.domain.tools.tool import Tool
    from reconciler.domain.values.attributes import AttributeBook
    from reconciler.domain.values.placing import Meant
    from reconciler.ports.arbiter import Arbiter
    from reconciler.ports.embedder import Embedder
    from reconciler.ports.extractor import Extractor
    from reconciler.ports.graph import Graph
    from reconciler.service.checking.damage import Damage
    from reconciler.service.embedding import AskedAttributes
    from reconciler.service.erasures import Erasures
    from reconciler.service.persons.deciding import PersonsDecisions
    from reconciler.service.recall import FactFinder, Recall
    from reconciler.service.sessions.extraction import MemoryExtractor, SessionReader
    from reconciler.service.sessions.extraction_worker import ExtractionWorker
    from reconciler.service.stores.erasure_store import ErasureStore
    from reconciler.service.stores.session_store import SessionStore, TaskStore
    from reconciler.service.tasks.task_memory import Procedures
    from reconciler.service.writing.arbitration import Arbitration
    from reconciler.service.writing.cleaning import Cleaner
    from reconciler.service.writing.doors import LiveDoor
    from reconciler.service.writing.forgotten import Withholding
    from reconciler.service.writing.ledger import Ledger
    from reconciler.service.writing.memory_reconciler import MemoryReconciler
    from reconciler.service.writing.neighbourhoods import Neighbourhoods
    from reconciler.service.writing.note_import import NoteImport
    from reconciler.service.writing.relating import Rejudging, Relating
    from reconciler.service.writing.write_gate import NoteReader, WriteGate
    from reconciler.settings import Settings

T = TypeVar("T")

_HOMES_MAX, _HOME_SECONDS = 10_000, 1.0
"""Contacts of which a process remembers whether they were merged into another, and for how long."""


class _Part(Generic[T]):
    """A part of the services: built once, when a thread first asks for it."""

    def __init__(self, build: Callable[[Services], T]) -> None:
        self._build = build
        self.__doc__ = build.__doc__

    def __set_name__(self, _: type[Services], name: str) -> None:
        self._name = name

    def __get__(self, services: Services, _: type[Services]) -> T:
        with services.building:
            if self._name not in vars(services):
                vars(services)[self._name] = self._build(services)
        built: T = vars(services)[self._name]
        return built


def _made(where: str, **more: str) -> Any:
    """A part that is loaded when it is needed, and made from the parts that its fields name.

    Args:
        where: the module and the class, under ``reconciler.service``.
        more: the names of its other fields, and the parts for them.
    """
    module, _, name = where.partition(":")

    def build(services: Services) -> Any:
        kind = getattr(import_module(f"reconciler.service.{module}"), name)
        return services.made(kind, **{each: attrgetter(more[each])(services) for each in more})

    return _Part(build)


class Services:
    """The parts of one open memory; ``closing`` releases them.

    Args:
        settings: they choose the parts.
        graph: the engine, open.
        embedder: makes the vectors.
        policy: the rule's thresholds.
        arbiter: used instead of the configured arbiter; None for the configured one.
        extractor: used instead of the configured extractor; None for the configured one.
        id_key: the key that the store's ids are made with.
        clock: the time now, UTC-aware.
        closing: closes everything that was opened.
        only_reads: whether the opener only reads, so that recalls are not counted.
    """

    def __init__(
        self,
        *,
        settings: Settings,
        graph: Graph,
        embedder: Embedder,
        policy: ReconcilePolicy,
        arbiter: Arbiter | None,
        extractor: Extractor | None,
        id_key: bytes,
        clock: Clock,
        closing: ExitStack,
        books: BookChoice,
        only_reads: bool,
    ) -> None:
        self.building = RLock()
        self._others: dict[Callable[..., Any], Any] = {}
        self.maker = Maker()
        self.is_closed = False
        self.retry_policy = retry_policy(settings)
        self.settings = settings
        self.books = books
        self.embedder = embedder
        listed = settings.gate.system_attributes
        is_shipped = not (listed or any(books))  # then the book is read when it is needed
        self.policy = policy if is_shipped else _with_books(policy, self.attributes, listed)
        self.clock = clock
        self.closing = closing
        self.is_judged = policy.reach is not None
        waiting = patient(graph, self.retry_policy, GraphUnavailableError)
        model = (embedder.model_id, embedder.dimension)
        self.fact_store = FactStore(waiting, model)
        self.decision_store = DecisionStore(waiting, model)
        self.contact_store = ContactStore(waiting)
        self.binding_store = BindingStore(waiting)
        self.decision_ids = DecisionIds(id_key)
        self.records = self.made(Records, hides_expired=settings.life.expired == "hidden")
        self.ids = IdCheck(build_secret_finder(of_ids=True))
        self.finder = build_sensitive_data_finder()
        self.secret_finder = build_secret_finder()
        self._graph = graph
        self._patient_graph = patient(graph, self.retry_policy)
        self._use_flush_seconds = 0.0 if only_reads else settings.life.use_flush_seconds
        self._given_arbiter = arbiter
        self._given_extractor = extractor
        self.hash_key = hash_key_of(settings, self.binding_store, clock)
        self._homes: TTLCache[Scope, Scope] = TTLCache(_HOMES_MAX, _HOME_SECONDS)
        self._homing = RLock()
        self.home = cached(self._homes, key=lambda scope: scope, lock=self._homing)(self._home)

    @property
    def opened(self) -> Services:
        """Parts, while the memory is open.

        Raises:
            GraphClosedError: this memory was closed, or opened before this process was forked.
        """
        self.maker.check()
        if self.is_closed:
            raise GraphClosedError("this memory was closed by this program; open it again")
        return self

    def tenant(self, tenant: str | None) -> str:
        """Tenant; None for the configured one."""
        return self.settings.tenant if tenant is None else tenant

    def scope(self, tenant: str | None, agent_id: str, contact_id: str) -> Scope:
        """Tenant, agent and contact.

        Raises:
            InvalidScopeError: a part of the scope cannot be used.
        """
        scope = Scope(self.tenant(tenant), agent_id, contact_id)
        self.opened.ids.check(asdict(scope).items())
        return scope

    def _home(self, scope: Scope) -> Scope:
        """Scope of the contact that this one was merged into; mostly the same scope.

        ``home`` remembers it for a moment. If another process merges the contact in that moment, a
        write meets an ``AbsorbedError``, and a read an empty contact.
        """
        into = self.fact_store.standing(scope).absorbed_into
        return scope if into is None else replace(scope, contact_id=into)

    def known_home(self, scope: Scope) -> Scope:
        """The scope that ``home`` remembers, else the same; for a call that compares versions.

        If the contact was merged into another, such a call meets an ``AbsorbedError``.
        """
        with self._homing:
            return self._homes.get(scope, scope)

    def build_all(self) -> None:
        """Build every part now, so that a setting that cannot work is reported at opening."""
        for name, part in vars(Services).items():
            if isinstance(part, _Part):
                getattr(self, name)

    def digest(self, text: str) -> str:
        """Return a keyed hash, from which the text cannot be guessed."""
        return keyed_digest(self.hash_key(), text)

    def token_of(self, kind: SensitiveKind, value: str) -> str:
        """Return the token for a removed value: the same token for the same value."""
        return keyed_token(self.hash_key(), kind, hashed_part(kind, value))

    def made(self, kind: Callable[..., T], **more: Any) -> T:
        """Make a part from other parts: each of its fields gets the part with its name.

        Args:
            kind: makes the part.
            **more: the fields that have another name than their part, or another value.
        """
        known = vars(self).keys() | vars(Services).keys()
        named = [name for name in signature(kind).parameters if name in known and name not in more]
        return kind(**more, **{name: getattr(self, name) for name in named})

    def once(self, kind: Callable[..., T], **more: Any) -> T:
        """A part of a room above the core; ``made`` makes it at the first call."""
        with self.building:
            if kind not in self._others:
                self._others[kind] = self.made(kind, **more)
        made: T = self._others[kind]
        return made

    session_store: SessionStore = _made("stores.session_store:SessionStore", graph="_patient_graph")
    """The store of sessions and jobs."""

    task_store: TaskStore = _made("stores.session_store:TaskStore", graph="_patient_graph")
    """The store of tasks."""

    archive_store: ArchiveStore = _made("stores.contact_store:ArchiveStore", graph="_patient_graph")
    """Reads the whole store, contact by contact."""

    erasure_store: ErasureStore = _made("stores.erasure_store:ErasureStore", graph="_patient_graph")
    """The store of erasures."""

    gate: WriteGate = _made("writing.write_gate:WriteGate", reader="note_reader")
    """The write gate: every note from every door passes it."""

    persons: PersonsDecisions = _made("persons.deciding:PersonsDecisions")
    """Records what persons decide about known facts, and takes the answers to held notes."""

    relating: Relating = _made("writing.relating:Relating")
    """Relates known facts, as a model says later."""

    note_import: NoteImport = _made("writing.note_import:NoteImport", embed="reconciler.embed")
    """The import of notes."""

    recall: Recall = _made("recall:Recall")
    """Answers a query, about now or the past."""

    procedures: Procedures = _made("tasks.task_memory:Procedures")
    """Agents' procedures."""

    memory_extractor: MemoryExtractor = _made("sessions.extraction:MemoryExtractor")
    """The background door."""

    @_Part
    def how(self) -> Recalling:
        """How facts are recalled, by the settings."""
        return build_recalling(self.settings, self.embedder.model_id)

    @_Part
    def attributes(self) -> AttributeBook:
        """Attribute book: the attributes that slots may have."""
        return load_attribute_book(self.books)

    @property
    def tools(self) -> Mapping[str, Tool]:
        """Tools that an agent's model may call; read when the first agent is given them."""
        return load_tools()

    @_Part
    def neighbourhoods(self) -> Neighbourhoods:
        """The contacts' facts that this process keeps in memory."""
        from reconciler.service.writing.forgotten import ForgottenLook
        from reconciler.service.writing.neighbourhoods import Neighbourhoods

        return Neighbourhoods(
            self.fact_store,
            self.embedder.model_id,
            self.settings.reconcile.cached_facts_max,
            lambda: self.attributes,
            ForgottenLook(self.erasure_store, self.digest),
        )

    erasures: Erasures = _made("erasures:Erasures")
    """Erases for good."""

    def _withholding(self) -> Withholding:
        from reconciler.service.writing.forgotten import Withholding, earlier_decisions

        return Withholding(
            policy=recorded_policy(self.policy, self.embedder.model_id),
            gate_policy_of=self.cleaner.policy_of,
            earlier=partial(earlier_decisions, self.fact_store, self.decision_store),
            clock=self.clock,
        )

    @_Part
    def gate_policy(self) -> GatePolicy:
        """Gate's policy; read once, so that a dry run says what a write would do."""
        return build_gate_policy(self.settings)

    cleaner: Cleaner = _made("writing.cleaning:Cleaner")
    """Removes secrets and other data that must not be stored."""

    @_Part
    def judge(self) -> Callable[[Candidate], Submission]:
        """The gate's judgement, for a dry run."""
        return judge_under(self.gate_policy, self.clock, self.note_reader)

    ledger: Ledger = _made("writing.ledger:Ledger", withholding="_withholding")
    """The only caller of the commit."""

    @_Part
    def reconciler(self) -> MemoryReconciler:
        """Reconciles every note that the gate admits."""
        from reconciler.service.writing.memory_reconciler import MemoryReconciler

        consent = load_head("consent", self.embedder.model_id)
        return self.made(
            MemoryReconciler,
            end_head=load_head("ends", self.embedder.model_id),
            reads_consent=partial(sure_kinds, consent) if consent else None,
            attempts_max=self.settings.reconcile.write_attempts_max,
        )

    @_Part
    def note_reader(self) -> NoteReader:
        """Reads what a note resembles as a whole, if a head knows the model."""
        return build_note_reader(self.embedder)

    def siblings_of(self, decision: Decision) -> list[Fact]:
        """Find live facts that answer the same question as a decision's note, the newest first."""
        slot, now = decision.note.slot, self.clock()
        if slot is None or slot.attribute is None or decision.fact_id is None:
            return []
        known = self.neighbourhoods.of(decision.scope).answers(slot.question)
        live = [fact for fact in known if fact.as_of(now).is_live]
        return sorted(live, key=lambda fact: fact.recorded_at, reverse=True)

    def whom(self, scope: Scope, subject: str | None, said: str | None = None) -> Meant:
        """Find the person that a subject means among the people in a contact's facts.

        See ``People``.

        Args:
            scope: the contact's.
            subject: as a caller gives it.
            said: the text of a note, which is written next; None for a read.
        """
        from reconciler.domain.values.placing import Meant

        slot = self.attributes.of(scope.agent_id).slot(subject=subject)
        about = slot.subject if slot else CONTACT_SUBJECT
        if about == CONTACT_SUBJECT:
            return Meant((about,))
        look = self.neighbourhoods.current if said is None else self.neighbourhoods.of
        meant = look(scope).placing((scope.contact_id,)).meant_by(about, said or "")
        if said is None:  # "flat 3b" may be kept as a token
            _, token = self.gate.cleaner.clean_texts(scope, [about.title(), about])
            if token != about:
                kept = self.whom(scope, token, "")
                return Meant((*meant.subjects, *kept.subjects), meant.may_be)
        return meant

    rejudging: Rejudging = _made("writing.relating:Rejudging")
    """Asks the arbiter later; of no use without an arbiter."""

    @_Part
    def use_trace(self) -> UseTrace:
        """Counts how the memory is used. A count that cannot be written now waits."""
        built = UseTrace(
            write=FactStore(self._graph).record_use,
            write_asked=ContactStore(self._graph).record_recalls,
            clock=self.clock,
            flush_seconds=self._use_flush_seconds,
        )
        self.closing.callback(built.close)
        return built

    live_door: LiveDoor = _made("writing.doors:LiveDoor")
    """Live door."""

    @_Part
    def asked_attributes(self) -> AskedAttributes:
        """Finds the attributes that a question asks for."""
        from reconciler.service.embedding import AskedAttributes

        model = self.embedder.model_id
        return AskedAttributes(
            self.embedder,
            questions=self._book_questions,
            own=lambda: load_own_questions(self.books),
            shipped=cache(lambda: load_question_vectors(model)),
            kept=self._kept_questions,
        )

    def _kept_questions(
        self,
        texts: Sequence[str],
        make: Callable[[Sequence[str]], Floats],
    ) -> Floats:
        """Vectors of the shipped questions.

        If the settings name the model, its vectors are kept.
        """
        if self.settings.embedder.kind in {"packaged", "none"}:
            return make(texts)
        from reconciler.adapters.kept_vectors import kept_vectors

        return kept_vectors(self.embedder.model_id, texts, make)

    def _book_questions(self) -> Mapping[str, Sequence[str]]:
        """Questions for the book's attributes.

        A model without shipped vectors embeds them in each process.
        """
        sentences = load_attribute_sentences()
        names = [attribute.name for attribute in self.attributes if attribute.name in sentences]
        return {name: sentences[name].questions for name in names}

    finding: FactFinder = _made("recall:FactFinder")
    """Finds facts by name, and across contacts."""

    model_store: ModelStore = _made("stores.binding_store:ModelStore", graph="_patient_graph")
    """The store for the model that made the vectors."""

    damage: Damage = _made("checking.damage:Damage")
    """Finds records that cannot be read."""

    @_Part
    def extractor(self) -> Extractor:
        """Extractor, which reads sessions."""
        if self._given_extractor is not None:
            return self._given_extractor
        built = build_extractor(self.settings, self.attributes)
        self.closing.callback(built.close)
        return built

    @_Part
    def session_reader(self) -> SessionReader:
        """Makes the extractor read sessions."""
        from reconciler.service.sessions.extraction import SessionReader

        return self.made(
            SessionReader,
            near=lambda *asked: self.recall.near(*asked),
            door=self.live_door,
            policy=self.settings.extractor,
        )

    @_Part
    def arbitration(self) -> Arbitration | None:
        """The arbiter within its limits; None without an arbiter."""
        arbiter = self._given_arbiter
        is_free = arbiter is None and judge_of(self.settings) == "packaged"
        if arbiter is None and (arbiter := build_arbiter(self.settings)) is not None:
            self.closing.callback(arbiter.close)
        if arbiter is None:
            return None
        from reconciler.service.writing.arbitration import Arbitration

        policy = arbitration_policy(self.settings)
        first = build_first_arbiter(self.settings)
        arbitration = Arbitration(arbiter, policy, is_free=is_free, first=first)
        self.closing.callback(arbitration.close)
        return arbitration


def build_services(
    settings: Settings,
    *,
    embedder: Embedder | None,
    arbiter: Arbiter | None,
    extractor: Extractor | None,
    clock: Clock | None,
    migrate: bool,
    warm_up: bool,
    must_exist: bool,
    attributes: Mapping[str, type[BaseModel]] | None,
) -> Services:
    """Open a memory, and make its store ready for the embedder's model.

    Args:
        settings: they choose the parts.
        embedder: instead of the configured one; the caller closes it.
        arbiter: instead of the configured one; the caller closes it.
        extractor: instead of the configured one; the caller closes it.
        clock: the time now, UTC-aware; None for this machine's.
        migrate: bring a store of an older schema up to date instead of refusing it.
        warm_up: start loading the model now, in a thread, instead of at the first text.
        must_exist: refuse a place without a memory instead of making one there. The parts that
            write, and their files, are then read only when a call needs them.
        attributes: Pydantic models of attributes, by shell patterns of the agents' ids.

    Raises:
        ConfigurationError: something in the settings cannot work.
        GraphError: the engine is unavailable, locked, or holds a store of another schema or model.
    """
    clock = clock or utc_now
    models = {} if attributes is None else attributes
    if not (
        isinstance(models, Mapping) and all(isinstance(each, type) for each in models.values())
    ):
        raise ConfigurationError(
            "attributes must be a mapping from agents to models: give a Pydantic model, the class, "
            'for each, for example {"crm": Deal}'
        )
    books = BookChoice(settings.reconcile.attributes_file, settings.reconcile.books, models)
    with ExitStack() as stack:
        if arbiter is not None or embedder is not None:
            settings = without_packaged_judge(settings)
        if embedder is None:
            embedder = build_embedder(settings)
            stack.callback(embedder.close)
        if warm_up:
            _warm_up_behind(embedder)
        if must_exist:
            check_memory_exists(settings)
        else:
            # The files that configure a write are read before a store is opened or made.
            load_attribute_book(books)
            build_gate_policy(settings)
            settings = _with_own_file(settings, stack)
        graph = open_graph(settings)
        stack.callback(graph.close)
        binding_store = BindingStore(graph)
        is_judged = arbiter is not None or judge_of(settings) is not None
        policy = build_policy(settings, embedder.model_id, is_judged=is_judged)
        if migrate:
            at_opening(lambda: graph.migrate(embedder.dimension))
        services = Services(
            settings=settings,
            graph=graph,
            embedder=embedder,
            policy=policy,
            arbiter=arbiter,
            extractor=extractor,
            id_key=open_store(binding_store, embedder, clock()),
            clock=clock,
            closing=stack,
            books=books,
            only_reads=must_exist,
        )
        if not must_exist:
            services.hash_key.check()
            services.build_all()
        services.closing = stack.pop_all()
        return services


def _with_books(
    policy: ReconcilePolicy, shared: AttributeBook, listed: Mapping[str, Sequence[str]]
) -> ReconcilePolicy:
    """Return the policy with what the books, and the settings for systems, say of attributes."""
    every = [each for book in (shared, *shared.of_agents.values()) for each in book]
    systems = {name: {*map(shared.name_of, names)} for name, names in listed.items()}
    for attribute in every:
        for name in attribute.outranked_by:
            systems.setdefault(name, set()).add(attribute.name)
    return replace(
        policy,
        systems={name: frozenset(names) for name, names in systems.items()},
        confirmed=frozenset(each.name for each in every if each.confirm),
    )


def _with_own_file(settings: Settings, closing: ExitStack) -> Settings:
    """Return the settings.

    For a store in memory, with the path of a new file that is removed at closing.

    A database in the engine's memory alone would have no file to back up, or to search after an
    erasure.

    Raises:
        ConfigurationError: no temporary folder can be made.
    """
    if not settings.is_in_memory:
        return settings
    from reconciler.adapters.drafts import temporary_folder

    try:
        folder, remove = temporary_folder()
    except OSError as error:
        raise ConfigurationError(
            f"a store in memory needs a temporary folder, which cannot be made: {error}"
        ) from error
    closing.callback(remove)
    return settings.model_copy(update={"embedded_path": folder / "memory.lbug"})


def _warm_up_behind(embedder: Embedder) -> None:
    """Start to load the model in a thread; an error is raised at the first text."""

    def load() -> None:
        with suppress(ReconcilerError):
            embedder.warm_up()

    Thread(target=load, name="reconciler-warm-up", daemon=True).start()


def build_worker(services: Services, on_stage: Callable[[Stage], None]) -> ExtractionWorker:
    """A new worker on an open memory.

    Args:
        services: the open memory.
        on_stage: is called at each stage of a job; a test may end the process there.
    """
    from reconciler.service.sessions.extraction_worker import ExtractionWorker

    chosen = services.settings.jobs
    return services.made(
        ExtractionWorker,
        policy=chosen,
        poll_seconds=chosen.poll_seconds,
        on_stage=on_stage,
    )

"""The door of an agent that works in a loop: memory for one task, operation by operation.

Working memory, the task's record and candidates for facts have different calls.
``reconciler.domain.tasks.tasks`` gives the states in which each call is legal. Extraction proposes,
the write gate disposes, and only ``commit`` writes a fact that the gate admitted. Evidence is read
back from the store by its id: a caller's copy proves nothing. No call here can answer for a person:
a held note waits for a person's yes, and so does every procedure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from reconciler.domain.gate.asking import ANSWERED_WITHIN
from reconciler.domain.recalling.filtering import RecallFilter
from reconciler.domain.recalling.procedures import (
    Procedure,
    mentioning,
    procedure_slot,
    procedure_text,
)
from reconciler.domain.recalling.prompting import within_budget
from reconciler.domain.records.candidates import Candidate, Evidence, Turn
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import RankedFact
from reconciler.domain.records.kinds import Action, AnyCategory, Clock, SourceKind
from reconciler.domain.records.messages import turns_of
from reconciler.domain.records.notes import (
    Note,
    Scope,
    Slot,
    check_identifier,
    check_kind,
    check_text,
    list_of,
    positive,
)
from reconciler.domain.records.sessions import Episode, Session, time_of_saying
from reconciler.domain.sessions.extraction import SessionEpisodes
from reconciler.domain.tasks.tasks import (
    Operation,
    Step,
    Task,
    TaskState,
    WorkingMemory,
    outcome_slot,
    outcome_text,
)
from reconciler.errors import (
    IllegalMemoryOperationError,
    InvalidNoteError,
    InvalidRequestError,
    InvalidSessionError,
)
from reconciler.frozen import Strings, Values
from reconciler.reading.kinds import Category
from reconciler.service.recall import Recall
from reconciler.service.records import Records
from reconciler.service.sessions.extraction import SessionReader
from reconciler.service.stores.session_store import SessionStore, TaskStore
from reconciler.service.tasks.task_memory import Procedures, TaskMemory, TaskRun
from reconciler.service.use_trace import UseTrace
from reconciler.service.writing.cleaning import Cleaner
from reconciler.service.writing.write_gate import WriteGate

TASK_DOOR = "task"

_QUERY_LENGTH_MAX = 20_000
_FACT_COUNT_MAX = 1_000_000
_SURE = 0.95
"""The confidence of a task's outcome, which is made from the task's own record."""


class Proposed(NamedTuple):
    """A candidate with the gate's disposal; nothing is remembered yet."""

    candidate: Candidate
    decision: Decision


class Cited(NamedTuple):
    """An episode, and the words in it that a conclusion rests on, letter by letter."""

    episode: Episode
    words: str


class MemoryContext:
    """The memory of one task, for one thread; two processes may work on one task.

    The task and its state are stored at every step. An existing task that has not ended opens as
    interrupted, whether ``interrupt`` was called or its process was killed.

    Args:
        scope: the contact.
        task_id: the task's id.
        session_id: the session that its episodes are stored in; a resumed task may use another.
        goal: the goal of a new task; an existing one keeps its own.
        gate: judges every candidate.
        cleaner: removes personal data and secrets from the task's own texts.
        recall: reads facts about the contact.
        records: reads decisions about the contact.
        session_store: the store of episodes.
        task_store: the store of tasks.
        session_reader: makes episodes of turns, and candidates of episodes.
        procedures: reads the agent's procedures.
        use_trace: counts recalls.
        clock: the time now, UTC-aware.
        keeps_outcome: whether the task's outcome is proposed to the gate when the task ends.

    Raises:
        UnknownTaskError: there is no such task, and no goal was given to begin it.
        InvalidRequestError: an id or the goal cannot be used.
        GraphUnavailableError: the engine stayed unavailable.
    """

    def __init__(
        self,
        *,
        scope: Scope,
        task_id: str,
        session_id: str,
        goal: str | None = None,
        gate: WriteGate,
        cleaner: Cleaner,
        recall: Recall,
        records: Records,
        session_store: SessionStore,
        task_store: TaskStore,
        session_reader: SessionReader,
        procedures: Procedures,
        use_trace: UseTrace,
        clock: Clock,
        keeps_outcome: bool = True,
    ) -> None:
        check_identifier("task_id", task_id, InvalidRequestError)
        check_identifier("session_id", session_id, InvalidRequestError)
        cleaner.check_ids(scope, task_id=task_id, session_id=session_id)
        self._scope = scope
        self._gate = gate
        self._cleaner = cleaner
        self._recall = recall
        self._records = records
        self._sessions = session_store
        self._reader = session_reader
        self._procedures = procedures
        self._use = use_trace
        self._clock = clock
        self._keeps_outcome = keeps_outcome
        self._position: int | None = None
        self._recent: deque[Episode] | None = None
        self._proposed: dict[Strings, list[Proposed]] = {}
        self._run = TaskRun(
            scope=scope,
            task_id=task_id,
            session_id=session_id,
            store=task_store,
            clock=clock,
        )
        self._run.open(None if goal is None else self._cleaned(goal))
        self._task_memory = TaskMemory(self._run, self._cleaned)
        self._keep_outcome()  # a process may have been killed after the task's end, before this

    # Where the task stands

    @property
    def state(self) -> TaskState:
        """Return the task's state in this process."""
        return self._run.state

    @property
    def task_memory(self) -> TaskMemory:
        """Return the stored state of the task."""
        return self._task_memory

    def deciding(self) -> None:
        """Start the agent's next step of thinking: working memory only.

        Raises:
            IllegalMemoryOperationError: the state allows no such step, or another process ended the
                task; the text says what is legal. So do all steps.
        """
        self._run.go(Step.DECIDING)

    def tool_returned(self) -> None:
        """Record that a tool that the agent called has returned."""
        self._run.go(Step.TOOL_RETURNED)

    def observed(self) -> None:
        """Record an input without a tool call, for example the contact's message.

        It is legal at the start: facts need evidence, and this is evidence.
        """
        self._run.go(Step.OBSERVED)

    def succeed(self) -> None:
        """End a task that achieved its goal; the agent's hypotheses are forgotten.

        The outcome is proposed to the gate, with the task's episodes as evidence, and remembered if
        the gate admits it. ``fail`` does the same.
        """
        self._run.go(Step.SUCCEED)
        self._keep_outcome()

    def fail(self) -> None:
        """End a task that missed its goal; the agent's hypotheses are forgotten."""
        self._run.go(Step.FAIL)
        self._keep_outcome()

    def interrupt(self) -> None:
        """Stop the task here; it may be resumed. The agent's hypotheses are forgotten."""
        self._run.go(Step.INTERRUPT)

    def resume(self) -> Task:
        """Resume the task; see ``TaskMemory.resume``."""
        return self._task_memory.resume()

    # Reads

    @property
    def working(self) -> WorkingMemory:
        """Return the agent's working memory; a new one after every interruption.

        Raises:
            IllegalMemoryOperationError: the agent is not in its loop.
        """
        self._run.check(Operation.WORKING)
        return self._run.working

    def recall(
        self, query: str, *, budget_tokens: int, category: AnyCategory | None = None
    ) -> list[RankedFact]:
        """Recall the known facts that fit a query and the budget, best first, into working memory.

        Standing constraints are counted first and come last. The first other fact that does not
        fit the budget ends the list.

        Args:
            query: the query, in words; "" for the newest facts.
            budget_tokens: bounds the lines that ``as_prompt`` makes from the facts; 1 or more. A
                token is about four characters.
            category: only facts of this kind, such as ``outcome``; None for any.

        Raises:
            IllegalMemoryOperationError: the task has begun already.
            InvalidRequestError: the query, the budget or the category cannot be used.
            EmbeddingError: the model failed.
        """
        self._run.check(Operation.RECALL)
        if not isinstance(query, str) or query.strip():
            check_text("query", query, _QUERY_LENGTH_MAX)
        positive("budget_tokens", budget_tokens)
        # No line is as short as a token, so as many facts as tokens are always enough.
        wanted = RecallFilter(category=category)  # type: ignore[arg-type]  # it checks words
        recalled = self._recall.recall(self._scope, query.strip(), budget_tokens, wanted)
        return self._known(recalled, budget_tokens)

    def recall_about(
        self, entity: str, *, budget_tokens: int, limit: int | None = None
    ) -> list[RankedFact]:
        """Recall known facts that mention a person or a thing by name.

        See ``ContactMemory.recall_about``; here only facts of the task's contact are found. A name
        from any source is safe, because the call only reads.

        Args:
            entity: the name as people write it.
            budget_tokens: see ``recall``.
            limit: at most this many; None for as many as fit.

        Raises:
            IllegalMemoryOperationError: no input has come that could mention the name.
            InvalidRequestError: the name, the budget or the limit cannot be used.
        """
        self._run.check(Operation.RECALL_ABOUT)
        check_text("entity", entity)
        positive("budget_tokens", budget_tokens)
        if limit is not None:
            positive("limit", limit)
        everything = self._recall.recall(self._scope, "", _FACT_COUNT_MAX)
        hits = [hit for hit, _ in mentioning(everything, entity, lambda hit: hit.fact)]
        return self._known(hits[:limit], budget_tokens)

    def procedures(self) -> list[Procedure]:
        """Return the agent's procedures that operators approved, in the order of fit to the goal.

        They may come from any contact. A procedure that says something about its contact is used
        for no other contact.

        Raises:
            IllegalMemoryOperationError: the task has begun already.
            EmbeddingError: the model failed.
        """
        self._run.check(Operation.READ_PROCEDURES)
        return self._procedures.fitting(self._scope, self._run.working.task.goal)

    def episodes(self) -> list[Episode]:
        """Return all episodes of this task, over all its sessions, in order.

        Raises:
            IllegalMemoryOperationError: the task has not ended.
        """
        self._run.check(Operation.READ_EPISODES)
        return self._record()

    # Writes

    def log_episode(self, turn: Turn | Values) -> Episode:
        """Append an episode to the log, without personal data and secrets.

        An episode is evidence and makes no fact by itself. Recalled facts in the text are cut out.

        Args:
            turn: the speaker and the words; without a date it is said now. A message with ``role``
                and ``content`` also works, if it makes one turn.

        Raises:
            IllegalMemoryOperationError: no input has come.
            InvalidSessionError: the turn has no words of its own, or is in the future.
        """
        self._run.check(Operation.LOG_EPISODE)
        turn = _one_turn(turn)
        run, now = self._run, self._clock()
        said_at = now
        if turn.said_at is None:
            said_at = time_of_saying(now, self._sessions.find_last_said(run.scope))
        dated = replace(turn, said_at=turn.said_at or said_at)
        session = Session(
            scope=run.scope, session_id=run.session_id, turns=(dated,), channel=TASK_DOOR
        )
        kept = list(self._last_turns())
        [made], told = self._reader.episodes(session, said_at, kept)
        self._sessions.clean_episodes(zip(kept, told, strict=True))
        self._recent = deque(told, ANSWERED_WITHIN)
        [cleaned] = self._reader.clean(run.scope, [replace(made, position=self._next_position())])
        self._sessions.append_episodes(run.scope, run.session_id, TASK_DOOR, [cleaned], now)
        self._position = cleaned.position + 1
        self._last_turns().append(cleaned)
        return cleaned

    def propose_durable(self, episodes: Sequence[Episode]) -> list[Proposed]:
        """Propose the facts that the extractor finds in the task's episodes; writes no fact.

        Call it once, with all episodes, because it costs a call of the extractor. With the same
        episodes it returns the same again.

        Args:
            episodes: as ``episodes`` returns them. Only their ids count: the stored ones are read,
                in their own order.

        Raises:
            IllegalMemoryOperationError: the task has not succeeded.
            InvalidRequestError: an episode is not kept in this task.
            ExtractionError: the extractor gave no usable answer; call it again.
        """
        self._run.check(Operation.PROPOSE_DURABLE)
        kept = self._kept(episodes)
        ids, record = tuple(kept), list(kept.values())
        if ids not in self._proposed:
            # Without secrets that only a claim's slot shows.
            made_of = partial(SessionEpisodes, self._scope, self._run.session_id)
            read = self._reader.read(self._scope, record, frozenset(kept))
            read, cleaned = self._reader.cleaned(read, made_of(record))
            self._sessions.clean_episodes(zip(record, cleaned, strict=True))
            candidates = self._reader.candidates(read, made_of(cleaned))
            asked = self._gate.to_be_asked(candidates)
            self._proposed[ids] = [
                Proposed(
                    each,
                    self._gate.propose(each, TASK_DOOR, may_ask=each.note.idempotency_key in asked),
                )
                for each in candidates
            ]
        return list(self._proposed[ids])

    def propose_procedure(
        self, name: str, steps: Sequence[str], episodes: Sequence[Episode]
    ) -> Decision:
        """Propose a procedure; it is valid only after an operator's yes.

        An approved procedure replaces its earlier version; the same steps make no new version. The
        agent's own turns are no evidence, and are left out.

        Args:
            name: the name of the work, in a few words.
            steps: the steps, in order; at least one.
            episodes: the evidence that the procedure works; only their ids count.

        Raises:
            IllegalMemoryOperationError: the task has not succeeded.
            InvalidNoteError: the name or the steps cannot be used, or are too long together.
            InvalidRequestError: an episode is not kept in this task.
        """
        self._run.check(Operation.PROPOSE_PROCEDURE)
        slot = procedure_slot(name, steps)
        # The finders find nothing in a folded name, so the name is checked as it was given.
        if self._cleaned(name) != name:
            raise InvalidNoteError(
                "the procedure's name holds personal data or a secret; remove that from the name"
            )
        slot = procedure_slot(name, [self._cleaned(step) for step in steps])
        evidence = _evidence(
            self._scope, [(episode, ()) for episode in self._kept(episodes).values()]
        )
        text = procedure_text(slot)
        return self._propose(text, SourceKind.EXTRACTOR, evidence, Category.PROCEDURE, slot)

    def propose_reflection(self, text: str, cited: Sequence[Cited]) -> Decision:
        """Propose a lesson from a failure; it waits for a person's yes.

        The gate refuses it without cited words that a person or a tool really said.

        Args:
            text: the fault, in a sentence.
            cited: the words that show the fault; the stored episode of that id must contain them.

        Raises:
            IllegalMemoryOperationError: the task has not failed.
            InvalidNoteError: the text or the words cannot be used.
            InvalidRequestError: an episode is not kept in this task, or ``cited`` has other values
                than ``Cited``.
        """
        self._run.check(Operation.PROPOSE_REFLECTION)
        cited = list_of(Cited, "cited", cited)
        kept = self._kept([citation.episode for citation in cited])
        evidence = _evidence(
            self._scope,
            [(kept[citation.episode.episode_id], (citation.words,)) for citation in cited],
        )
        # The agent's own conclusion is trusted no more than what a tool says: never without a yes.
        return self._propose(text, SourceKind.TOOL_OUTPUT, evidence)

    def commit(self, candidate: Candidate, decision: Decision) -> Decision:
        """Write the fact that the gate admitted; only once, even if it is called again.

        Args:
            candidate: the proposed candidate.
            decision: the gate's decision about it.

        Raises:
            IllegalMemoryOperationError: the task has not ended, the decision is about another
                candidate, or the gate did not admit it.
            UnknownDecisionError: there is no such decision about the task's contact.
            InvalidRequestError: the proposal was withdrawn.
            EmbeddingError, GraphUnavailableError, GraphConflictError: call it again.
        """
        self._run.check(Operation.COMMIT)
        check_kind("candidate", candidate, Candidate)
        check_kind("decision", decision, Decision)
        # The stored record counts, not the caller's copy.
        kept = self._records.decision_store.get_decision(self._scope, decision.decision_id)
        is_ours = candidate.note.scope == kept.scope == self._scope
        if not is_ours or self._gate.judge(candidate).candidate.claim != kept.text:
            raise IllegalMemoryOperationError(
                f"commit is illegal for decision {kept.decision_id}: it belongs to another "
                "candidate"
            )
        if kept.action is not Action.ADMIT:
            why = kept.gate.detail if kept.gate else kept.reason
            raise IllegalMemoryOperationError(
                f"commit is illegal for decision {kept.decision_id}: it is {kept.action} ({why}); "
                "only a note that the gate admitted can be committed"
            )
        return self._gate.commit(self._scope, kept.decision_id, TASK_DOOR)

    def _propose(
        self,
        text: str,
        source: SourceKind,
        evidence: tuple[Evidence, ...],
        category: Category | None = None,
        slot: Slot | None = None,
        *,
        confidence: float | None = None,
        key: str | None = None,
    ) -> Decision:
        note = Note(
            scope=self._scope,
            text=text,
            said_at=self._clock(),
            source_kind=source,
            session_id=self._run.session_id,
            category=category,
            slot=slot,
            idempotency_key=key,
        )
        candidate = Candidate(
            note=note,
            evidence=evidence,
            proposed_by=f"agent:{self._scope.agent_id}",
            confidence=confidence,
        )
        return self._gate.propose(candidate, TASK_DOOR)

    def _keep_outcome(self) -> None:
        """Propose the outcome of an ended task, once, and write the decision's id on the task.

        Without a turn from outside there is no evidence for the outcome, and it is not proposed.
        """
        task = self._run.working.task
        is_over = task.state.is_terminal and task.outcome_id is None
        if not (is_over and self._keeps_outcome):
            return
        told = _evidence(self._scope, [(episode, ()) for episode in self._record()])
        tools = SourceKind.TOOL_OUTPUT  # they only count if no person said anything
        evidence = tuple(item for item in told if item.source_kind is not tools) or told
        if not evidence:
            return
        made = self._propose(
            outcome_text(task),
            SourceKind.EXTRACTOR,
            evidence,
            Category.OUTCOME,
            outcome_slot(task),
            confidence=_SURE,
            key=f"outcome-{task.task_id}",
        )
        if made.action is Action.ADMIT:
            made = self._gate.commit(self._scope, made.decision_id, TASK_DOOR)
        self._run.keep(self._run.store.set_outcome, made.decision_id)

    def _known(self, hits: list[RankedFact], budget_tokens: int) -> list[RankedFact]:
        """Return the facts that fit the budget; they are put in working memory, and counted."""
        fitting = within_budget(hits, budget_tokens)
        self._run.working.know(fitting)
        self._use.note(hit.fact.fact_id for hit in fitting)
        return fitting

    def _last_turns(self) -> deque[Episode]:
        """Return the last logged turns: the next turn may answer a question in them."""
        if self._recent is None:
            self._recent = deque(self._episodes_of(self._run.session_id), ANSWERED_WITHIN)
        return self._recent

    def _next_position(self) -> int:
        """Return the next turn's position in its session, which is linked to the task first."""
        if self._position is None:
            run = self._run
            run.store.link_session(run.scope, run.task_id, run.session_id, TASK_DOOR, self._clock())
            self._position = len(self._episodes_of(run.session_id))
        return self._position

    def _kept(self, handed: Iterable[Episode]) -> dict[str, Episode]:
        """Return the task's own episodes of these ids, by id, in the order of its record."""
        named = [episode.episode_id for episode in list_of(Episode, "episodes", handed)]
        for episode_id in named:
            check_identifier("episode_id", episode_id, InvalidRequestError)
        ids = set(named)
        kept = {
            episode.episode_id: episode for episode in self._record() if episode.episode_id in ids
        }
        if unknown := sorted(ids - kept.keys()):
            raise InvalidRequestError(
                f"no episode {unknown[0]} is kept in task {self._run.task_id}; only the task's own "
                "episodes are evidence: give the ones that episodes() returns"
            )
        return kept

    def _record(self) -> list[Episode]:
        run = self._run
        session_ids = run.store.list_sessions(run.scope, run.task_id)
        return [episode for session_id in session_ids for episode in self._episodes_of(session_id)]

    def _episodes_of(self, session_id: str) -> list[Episode]:
        return self._sessions.list_episodes(self._scope, session_id)

    def _cleaned(self, text: str) -> str:
        """Clean a text of the task of personal data and secrets, because no gate judges it."""
        check_text("a task's text", text)
        [cleaned] = self._cleaner.clean_texts(self._scope, [text])
        return cleaned


def _one_turn(given: Turn | Values) -> Turn:
    """Return the turn, or the single turn of a message.

    Raises:
        InvalidSessionError: the message makes no turn, or several.
    """
    made = list(turns_of([given]))
    if len(made) != 1:
        raise InvalidSessionError(
            f"an episode must be one statement, but the message has {len(made)}; log each answer "
            "of a tool, and the words of the message, as separate episodes"
        )
    return made[0]


def _evidence(scope: Scope, cited: Iterable[tuple[Episode, Strings]]) -> tuple[Evidence, ...]:
    """Return the episodes that can be evidence, each once, with all its cited words."""
    spans: dict[str, Strings] = {}
    episodes: dict[str, Episode] = {}
    for episode, words in cited:
        if episode.role.is_evidence:
            episodes[episode.episode_id] = episode
            spans[episode.episode_id] = (*spans.get(episode.episode_id, ()), *words)
    return tuple(item.evidence(scope, spans[key]) for key, item in episodes.items())

"""An agent's tools: the calls of its model in a conversation, bound to one contact.

The builder of the agent chooses the contact, the conversation, and whether the agent may recall; no
argument of a model can. A model's mistakes, and a memory that is unavailable, come back as words
that the model can act on. No call here can give an answer for a person.
"""

from __future__ import annotations

import json
import logging
import re
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import cache, partial
from threading import Lock
from typing import Any

from cachetools import LRUCache

from reconciler.domain.recalling.briefing import Briefing
from reconciler.domain.recalling.checking import ActCheck
from reconciler.domain.recalling.prompting import as_prompt, shown_ids, within_budget
from reconciler.domain.recalling.recalled import CLEAREST_SHARE, FITTING_MAX, Recalled, is_never_cut
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import HANDLE_SIGN, Facts, Relations
from reconciler.domain.records.kinds import Clock, SourceKind
from reconciler.domain.records.notes import Scope, check_identifier
from reconciler.domain.tools.replies import Shown, ToolReply, reply_about, reply_about_relating
from reconciler.domain.tools.tool import (
    ADD_CONTACT_NOTE,
    CHECK_BEFORE_ACTING,
    RECALL_CONTACT,
    RELATE_CONTACT_NOTE,
    Style,
    Tool,
    add_tool,
    agent_sources,
    check_style,
)
from reconciler.domain.values.attributes import AttributeBook
from reconciler.errors import (
    EmbedderClosedError,
    EmbeddingError,
    GraphUnavailableError,
    InvalidNoteError,
    InvalidRequestError,
    ReconcilerError,
    RelationError,
    UnknownFactError,
)
from reconciler.forks import Maker
from reconciler.frozen import Json, Values
from reconciler.service.json_lines import json_object
from reconciler.service.records import Records
from reconciler.service.writing.doors import LiveDoor
from reconciler.service.writing.relating import Relating

BUDGET_TOKENS = 500
"""The tokens of a recall, unless the builder gives another number: about fifteen facts."""

_AGENTS_SESSION = "agent"
"""The session for the notes of tools without a session: one for all days, so that an agent's
repetitions never count as several conversations."""

_UNSETTLED_MAX = 100
_TIMES = ("since", "until", "valid_at", "valid_from", "valid_to")
_LISTS = ("replaces", "ends", "both_hold")
_RELATIONS = (*_LISTS, "repeats")
_COMPLAINT_LENGTH_MAX = 600
_COUNTED = re.compile(r"[A-Za-z_:-]{0,16}\d{0,4}")
"""A call's id that is only a counter: the same server uses it again in its next answer."""
_log = logging.getLogger(__name__)


class AgentTools:
    """The tools that an agent may hold: two to note and relate, and to recall unless denied.

    Facts are shown to the model with handles, and the model may name only facts that it was shown.

    ``Memory.agent_tools`` makes one. Safe to share between threads.

    Example::

        tools = memory.agent_tools("crm", "priya", session_id="chat-17")
        reply = tools.call(
            block.name, block.input, call_id=block.id, message_id=response.id
        )
        result = {"type": "tool_result", "tool_use_id": block.id, "content": reply.text,
                  "is_error": reply.is_error}

    Args:
        tools: the description of each tool for a model, by name.
        live_door: the door for every note.
        relating: records relations of facts, and refused relations.
        records: reads the questions that a note answered, and the other questions to the contact.
        siblings_of: returns the live facts that answer the same question as a note.
        may_be: returns the subjects of the known people that a subject may mean.
        recall: recalls facts, like ``ContactMemory.recall``; None if the agent may not recall.
        briefing: makes a briefing, like ``ContactMemory.briefing``.
        check: says whether an act may rest on facts, like ``ContactMemory.check``; None if the
            agent has no tool for it.
        digest: a keyed digest, like ``ContactMemory.digest``.
        scope: returns the contact, also after a merge; a model cannot choose another one.
        book: the attributes that the agent knows.
        session_id: the conversation of the agent; with None all of its notes get one session.
        budget_tokens: the size of a recall, at about four characters a token.
        trusted_tools: the builder's own systems, by name, that are trusted.
        colleague: the person of the builder's organisation in the conversation.

    Raises:
        InvalidNoteError: the session's id cannot be used.
        InvalidRequestError: the name of a tool, or of the colleague, cannot be used.
    """

    def __init__(
        self,
        *,
        tools: Mapping[str, Tool],
        live_door: LiveDoor,
        relating: Relating,
        records: Records,
        siblings_of: Callable[[Decision], Facts],
        may_be: Callable[[str, str], Sequence[str]],
        recall: Callable[..., Recalled] | None,
        briefing: Callable[..., Briefing],
        check: Callable[..., ActCheck] | None,
        digest: Callable[[str], str],
        scope: Callable[[], Scope],
        book: AttributeBook,
        session_id: str | None,
        budget_tokens: int,
        trusted_tools: Iterable[str],
        colleague: str | None,
    ) -> None:
        if session_id is not None:
            check_identifier("session_id", session_id, InvalidNoteError)
        self._door = live_door
        self._relating = relating
        self._records = records
        self._siblings = siblings_of
        self._may_be = may_be
        self._recall = recall
        self._briefing = briefing
        self._check = check
        self._digest = digest
        self._where = scope
        self._session_id = _AGENTS_SESSION if session_id is None else session_id
        self._budget_tokens = budget_tokens
        self._sources = agent_sources(trusted_tools, colleague)
        self._colleague = colleague
        self._book = book
        self._tools = {
            ADD_CONTACT_NOTE: add_tool(tools[ADD_CONTACT_NOTE], self._book, self._sources),
            RELATE_CONTACT_NOTE: tools[RELATE_CONTACT_NOTE],
        }
        self._calls = {
            ADD_CONTACT_NOTE: self._add,
            RELATE_CONTACT_NOTE: self._relate,
            RECALL_CONTACT: self._answer,
            CHECK_BEFORE_ACTING: self._checked,
        }
        if recall is not None:
            self._tools[RECALL_CONTACT] = tools[RECALL_CONTACT]
        if check is not None:
            self._tools[CHECK_BEFORE_ACTING] = tools[CHECK_BEFORE_ACTING]
        self._unsettled: LRUCache[str, tuple[str, Clock]] = LRUCache(_UNSETTLED_MAX)
        self._shown = Shown()
        self._lock = Lock()
        self._maker = Maker()

    @property
    def scope(self) -> Scope:
        """Return tenant, agent and contact that every call is bound to."""
        return self._where()

    def definitions(self, style: Style = "anthropic", *, strict: bool = False) -> list[Json]:
        """Return the definitions of the tools for a model.

        Args:
            style: the API: ``anthropic``, ``openai`` (Chat Completions), ``openai-responses``,
                ``mcp`` (a server's ``tools/list``) or ``gemini``, also for a gateway that takes one
                type for each value.
            strict: let the API enforce the schema, if the model supports it: every property is then
                required, an optional value may be null, and there are no bounds. ``call`` checks
                the same in both modes. Gemini's format has no strict mode.

        Raises:
            InvalidRequestError: there is no such style.
        """
        check_style(style)
        return [tool.definition(style, strict=strict) for tool in self._tools.values()]

    def call(
        self,
        name: str,
        arguments: Values | str | None,
        *,
        call_id: str | None = None,
        message_id: str | None = None,
    ) -> ToolReply:
        """Answer a model's tool call. A mistake of the model never raises.

        If the memory failed, ``error`` and the log name the cause; the text only says if the model
        should call again.

        If a call is repeated with the same ids and arguments, for example in a replay from a
        checkpoint, it returns the first decision and writes nothing. Without ids each call is a new
        call.

        Args:
            name: the tool, as the model named it.
            arguments: the arguments from the model: an object, or JSON as OpenAI sends it.
            call_id: the id of the call. An id that is only a counter, such as ``call_0``, also
                needs ``message_id``: some servers count from zero in every answer.
            message_id: the id of the message that made the call, unique in the conversation.
        """
        tool = self._tools.get(name) if isinstance(name, str) else None
        if tool is None:
            known = ", ".join(self._tools)
            return ToolReply(text=f"There is no such tool; there is {known}.", is_error=True)
        try:
            self._maker.check()
            given = tool.read(_as_object(arguments))
            return self._calls[name](given, self._key_of(name, given, call_id, message_id))
        except InvalidRequestError as error:
            return self._mistaken(name, error)
        except ReconcilerError as error:
            _log.warning("%s failed: %s", name, error)
            return ToolReply(text=_told_of(name, error), is_error=True, error=error)

    def _key_of(
        self, name: str, given: Values, call_id: str | None, message_id: str | None
    ) -> str | None:
        """Return the idempotency key of a call with an identity; None for any other call."""
        if not call_id or (message_id is None and _COUNTED.fullmatch(call_id)):
            return None
        told = [self._session_id, message_id, call_id, name, given]
        return f"call-{self._digest(json.dumps(told, sort_keys=True))}"

    def _add(self, given: Json, key: str | None) -> ToolReply:
        """Add a note; the reply says what was done with it."""
        wrong: list[InvalidRequestError] = []
        subject = given.get("subject")
        may_be = self._may_be(subject, given["text"]) if subject else ()

        def write(key: str, first_at: Clock) -> Decision:
            fields = self._with_source(_unless_today(given, first_at()))
            note = partial(
                self._door.add, self.scope, session_id=self._session_id, idempotency_key=key
            )
            try:
                return note(**self._with_ids(fields))
            except (RelationError, UnknownFactError) as error:  # the note stands without it
                wrong.append(error)
                self._refused(error, f"{key}-related")
                unrelated = {
                    name: value for name, value in fields.items() if name not in _RELATIONS
                }
            return note(**unrelated)

        decision = self._settled(given, write, key)
        may_read = self._recall is not None
        siblings = self._siblings(decision) if may_read else ()
        reply = reply_about(
            decision,
            self._shown.show,
            siblings,
            names_close=may_read,
            complaint=self._in_handles(wrong[0]) if wrong else "",
            answers=self._records.has_answered(decision),
            asked=self._records.asked_beside(decision),
            may_be=may_be,
        )
        if key and decision.replayed:
            return replace(reply, text=_MADE_BEFORE + reply.text)
        return reply

    def _with_source(self, given: Json) -> Json:
        """Return the arguments with the door's name of the source, and the place of the words."""
        named, kind = given["source_kind"], self._sources[given["source_kind"]]
        speaker = {SourceKind.APPROVED_DOC: named, SourceKind.OPERATOR: self._colleague}.get(kind)
        reference = ": ".join(filter(None, (speaker, given.get("source_reference")))) or None
        if self._book.find(given.get("attribute") or ""):
            given = given | {"single_valued": None}  # a model never changes the book
        system = named if kind is SourceKind.APPROVED_DOC else None
        return given | {"source_kind": kind, "source_reference": reference, "artefact": system}

    def _relate(self, given: Json, key: str | None) -> ToolReply:
        """Relate facts; the reply says what was done."""
        wrong: list[InvalidRequestError] = []

        def write(key: str, _: object) -> Decision:
            try:
                named = self._with_ids(given)
                fact_id = self._shown.fact_id(named.pop("note"))
                return self._relating.relate(
                    self.scope,
                    fact_id,
                    Relations(**named),
                    session_id=self._session_id,
                    idempotency_key=key,
                )
            except InvalidRequestError as error:
                wrong.append(error)
                return self._refused(error, key)

        decision = self._settled({RELATE_CONTACT_NOTE: given}, write, key)
        if wrong:
            return replace(self._mistaken(RELATE_CONTACT_NOTE, wrong[0]), decision=decision)
        return reply_about_relating(decision, self._shown.show)

    def _refused(self, error: InvalidRequestError, key: str) -> Decision:
        """Record a model's refused relation of facts."""
        return self._relating.refuse(
            self.scope, self._in_handles(error), session_id=self._session_id, idempotency_key=key
        )

    def _in_handles(self, error: InvalidRequestError) -> str:
        """Replace the ids of facts in an error message with handles."""
        return self._shown.by_handle(str(error))[:_COMPLAINT_LENGTH_MAX].rstrip(".")

    def _mistaken(self, name: str, error: InvalidRequestError) -> ToolReply:
        told = f"{self._in_handles(error)}. {_NOTHING_DONE[name]} Fix that, and call {name} again."
        return ToolReply(text=told, is_error=True, error=error)

    def _settled(
        self,
        given: Json,
        write: Callable[[str, Clock], Decision],
        key: str | None,
    ) -> Decision:
        """Return the decision; keep its key and first time until its fate is known."""
        said = json.dumps(given, sort_keys=True)
        with self._lock:
            first = self._unsettled.pop(said, None)
            first = first or (key or f"tool-{uuid.uuid4()}", cache(self._door.clock))
        try:
            return write(*first)
        except GraphUnavailableError:
            with self._lock:
                self._unsettled[said] = first
            raise

    def _with_ids(self, given: Json) -> Json:
        """Return the arguments with facts' ids in place of handles.

        Raises:
            InvalidRequestError: a handle was not shown in this conversation.
        """
        read = dict(given)
        for name in (name for name in _LISTS if name in given):
            named = [given[name]] if isinstance(given[name], str) else given[name]
            read[name] = tuple(map(self._shown.fact_id, named))
        if "repeats" in given:
            read["repeats"] = self._shown.fact_id(given["repeats"])
        return read

    def _answer(self, given: Json, _: str | None) -> ToolReply:
        if not given:
            briefing = self._briefing(limit=self._budget_tokens)
            self._tell(briefing.facts)
            return ToolReply(text=self._with_handles(briefing.facts, briefing.as_prompt))
        asked = _with_times(given)
        query = asked.pop("query", "")
        # A budget is taken here, as only the conversation knows what it was told.
        size = {"limit": FITTING_MAX} if query else {"budget_tokens": self._budget_tokens}
        assert self._recall is not None  # noqa: S101  there is no such tool otherwise
        recalled = self._recall(query, **size, **asked)
        if query:
            recalled = recalled.clearest(CLEAREST_SHARE)
        told = self._tell(recalled)
        return ToolReply(text=self._with_handles(recalled, partial(_prompt, recalled, told)))

    def _checked(self, given: Json, _: object) -> ToolReply:
        """Check before an act; a handle names a fact that was shown, even if it has ended since."""
        assert self._check is not None  # noqa: S101  there is no such tool otherwise
        named = given.get("about", [])
        about = [
            self._shown.fact_id(name) if name.startswith(HANDLE_SIGN) else name
            for name in ([named] if isinstance(named, str) else named)
        ]
        checked = self._check(**given | {"about": about})
        return ToolReply(text=checked.as_prompt(self._shown.show(checked.fact_ids)))

    def _tell(self, recalled: Recalled) -> set[str]:
        """Remember the facts that no budget cuts; return those that were shown before.

        Without a session this may be another conversation, in which no fact was shown.
        """
        if self._session_id == _AGENTS_SESSION:
            return set()
        safe = [hit.fact.fact_id for hit in recalled if is_never_cut(hit.fact)]
        return self._shown.tell(safe, self._door.clock())

    def _with_handles(self, recalled: Recalled, prompt: Callable[..., str]) -> str:
        """Return the found facts with handles, within the budget."""
        own = [hit for hit in recalled if not hit.account]  # no note changes a fact of an account
        handles = self._shown.show(shown_ids(own))
        return prompt(handles=handles, budget_tokens=self._budget_tokens)


def _prompt(
    recalled: Recalled, told: Collection[str], handles: Mapping[str, str], budget_tokens: int
) -> str:
    within = within_budget(recalled, budget_tokens, handles, told)
    return as_prompt(within, handles=handles, told_ids=told)


_MADE_BEFORE = "This call was made before, and nothing is written again. Its answer was: "

_NOTHING_DONE = {
    ADD_CONTACT_NOTE: "Nothing was remembered.",
    RELATE_CONTACT_NOTE: "Nothing was changed.",
    RECALL_CONTACT: "Nothing was recalled.",
    CHECK_BEFORE_ACTING: "Nothing was checked.",
}


def _told_of(name: str, error: ReconcilerError) -> str:
    """Make the reply about a failure of the memory, without path, address or cause."""
    done = "Nothing was recalled" if name == RECALL_CONTACT else "Not confirmed as stored"
    is_closed = isinstance(error, EmbedderClosedError)
    if error.retryable or (isinstance(error, EmbeddingError) and not is_closed):
        return (
            f"{done}: the memory does not answer now. Send the same call again a little later; a "
            "note is stored once at most."
        )
    return (
        f"{done}: the memory is closed or out of order, and to call again will not help. Go on "
        "without it."
    )


def _as_object(arguments: object) -> Mapping[Any, Any]:
    """Read the arguments as an object; no arguments give an empty object.

    Raises:
        InvalidRequestError: the arguments are something else.
    """
    if arguments is None:
        return {}
    if isinstance(arguments, str):
        return {} if arguments.strip() in ("", "null") else json_object(arguments)
    if not isinstance(arguments, Mapping):
        raise InvalidRequestError("the arguments must be a JSON object")
    return arguments


def _with_times(given: Json) -> Json:
    """Read the times in the arguments.

    Raises:
        InvalidRequestError: a text is not a time.
    """
    return given | {name: _time(name, given[name]) for name in _TIMES if name in given}


def _unless_today(given: Json, now: datetime) -> Json:
    """Read the times in the arguments; today's date as a start is ignored.

    The day began before all other notes of today, so the note would count as older than those.
    Today's date as an end is ignored, too: facts end now.

    Args:
        given: the arguments.
        now: the time of the first call (UTC). A repeated call after midnight still means that day.
    """
    read = _with_times(given)
    is_end = given.get("ends") or given.get("ended")
    if is_end and _is_date_of(given.get("valid_to"), now):
        return {name: at for name, at in read.items() if name not in ("valid_from", "valid_to")}
    if _is_date_of(given.get("valid_from"), now):
        del read["valid_from"]
    return read


def _is_date_of(given: str | None, now: datetime) -> bool:
    """True if a text is a date without a time, and the date of now (UTC)."""
    try:
        return given is not None and date.fromisoformat(given.strip()) == now.date()
    except ValueError:
        return False


def _time(name: str, given: str) -> datetime:
    """Read a time that a model wrote; without an offset it is in UTC.

    Raises:
        InvalidRequestError: the text is not a time.
    """
    try:
        at = datetime.fromisoformat(given.strip())
    except ValueError:
        raise InvalidRequestError(
            f"{name} {given[:40]!r} is not a time; write a date such as 2026-03-01, or a date and "
            "time such as 2026-03-01T09:00:00+00:00"
        ) from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)

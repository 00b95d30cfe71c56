"""The background door: takes sessions in, reads them, and makes candidates of the claims.

``MemoryExtractor`` stores a session with its job and returns. A worker, or an agent at the end of
its task, reads with ``SessionReader``. No decision is made here: candidates go to the write gate.
"""

from __future__ import annotations

import logging
import re
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice

from reconciler.domain.gate.asking import ANSWERED_WITHIN
from reconciler.domain.recalling.prompting import without_recalled
from reconciler.domain.records.candidates import Candidate, Role, Turn
from reconciler.domain.records.facts import Fact, Facts
from reconciler.domain.records.kinds import OWN_WORDS, Clock, JobState
from reconciler.domain.records.messages import turns_of
from reconciler.domain.records.notes import (
    CONTACT_SUBJECT,
    Scope,
    Slot,
    not_in_the_future,
    utc,
)
from reconciler.domain.records.policies import ExtractionPolicy
from reconciler.domain.records.sessions import (
    ClaimOutcome,
    Episode,
    Episodes,
    Job,
    Session,
    time_of_saying,
)
from reconciler.domain.sessions.extraction import (
    CANDIDATES_OF_A_TURN_MAX,
    TURNS_OF_ONE_CONVERSATION,
    Claim,
    Extracted,
    SessionEpisodes,
    Window,
    candidate_from,
    capped,
    is_request,
    merged,
    place_in,
    shared_at_the_end,
    windows,
)
from reconciler.domain.sessions.frames import frames_of
from reconciler.domain.sessions.speakers import turns_of_one_contact
from reconciler.domain.values.attributes import MATTERS_MOST, AttributeBook
from reconciler.errors import InvalidNoteError, InvalidRequestError, InvalidSessionError
from reconciler.frozen import Strings, StringSet, Values, frozen
from reconciler.ports.extractor import Extractor, ReadsKnown
from reconciler.reading.text_reading import read_text
from reconciler.reading.values.ends import SaidTimes, said_times
from reconciler.service.stores.session_store import ReadSession, SessionStore
from reconciler.service.writing.cleaning import Cleaner
from reconciler.service.writing.doors import (
    LiveDoor,
    NoteFields,
    beginning,
    ending_at,
    over_in_words,
)
from reconciler.service.writing.submissions import Submission
from reconciler.service.writing.write_gate import WriteGate

_LOG = logging.getLogger(__name__)
_TAKEN_LENGTH_MIN = 4
"""The shortest value that is searched for in other texts: shorter ones would be found inside
words."""

_KNOWN_MAX = 20
"""The number of facts that an extractor is shown with a window: enough for two screens of talk, and
no more tokens than a long turn."""

_WORDS = re.compile(r"\w+")
_PEOPLE = (Role.CONTACT, Role.OPERATOR)
UNNAMED = "unnamed-"
"""The beginning of the ids of sessions that the caller gave no id."""

_UNNAMED_COUNT_MAX = 20
"""The number of unnamed sessions in which undated turns are searched for."""

_WINDOW_TURNS_MIN = 2
"""The least number of last turns with which a window must begin, unless it begins with all."""

_ANY_TIME = datetime.min.replace(tzinfo=UTC)
_ID_SPACE = uuid.UUID("0b1f4a1e-6f0e-5b0c-9a55-0c1f5f3f8f1d")


@frozen
class SessionReader:
    """Reads sessions with an extractor, and makes candidates of its claims.

    Attributes:
        extractor: reads one window at a time.
        attributes: the known attributes of slots.
        gate: says how a candidate would be stored.
        cleaner: cleans the words of turns and claims.
        near: finds the live facts of a contact nearest to some texts, up to a limit, and as many
            more that a test chooses; used only if the extractor reads them.
        digest: a keyed hash of a text, from which the text cannot be guessed.
        policy: windows and bounds.
        door: dates and ends a claim as it does a note.
    """

    extractor: Extractor
    attributes: AttributeBook
    gate: WriteGate
    cleaner: Cleaner
    near: Callable[[Scope, Sequence[str], int, Callable[[Fact], bool]], Facts]
    digest: Callable[[str], str]
    policy: ExtractionPolicy
    door: LiveDoor

    @property
    def name(self) -> str:
        """Return the name of the extractor."""
        return self.extractor.name

    def is_attribute(self, label: str) -> bool:
        """True if a label names an attribute; a person's name as its value does not count."""
        known = self.attributes.find(label)
        return known is not None and known.normaliser != "person"

    def episodes(
        self, session: Session, now: datetime, kept: Episodes = ()
    ) -> tuple[list[Episode], list[Episode]]:
        """Return handed-over turns as episodes, and the kept episodes, both without secrets.

        The id of a turn is the same each time it is handed over. A new turn may show that an
        earlier one held a secret; so the kept episodes are cleaned again.

        Recalled facts in a turn are cut out: they are not evidence. Secrets and the numbers of
        cards and accounts are taken out here, because an engine may keep the bytes of overwritten
        text. Other personal data is left to the worker.

        Args:
            session: the session as it is handed over.
            now: the time now (UTC).
            kept: the session's kept episodes, in order: a first turn may answer a question in
                them, or say that the last one was a secret.

        Raises:
            InvalidSessionError: a turn is in the future, or no turn has any words left.
            InvalidRequestError: an id holds a secret.
        """
        self.cleaner.check_ids(session)
        if session.started_at:
            not_in_the_future(session.started_at, now, "started_at", InvalidSessionError)
        at = session.started_at or min(
            (turn.said_at for turn in session.turns if turn.said_at), default=now
        )
        own = self._placed(session, kept)
        first = own[0][0] if own else 0
        at = max([at, *(episode.said_at for episode in kept[:first])])
        known = {episode.episode_id: episode for episode in kept}
        said_episodes = []
        for position, turn, count in own:
            at = turn.said_at or at  # a turn without a date was said after the turn before it
            made = self.episode(
                session.scope, session.session_id, turn, position, at, occurrence=count
            )
            said_episodes.append(known.get(made.episode_id, made))
        if not said_episodes:
            raise InvalidSessionError(
                "the session is empty: every turn is blank or holds only recalled facts"
            )
        for said in said_episodes:
            not_in_the_future(said.said_at, now, "a turn's said_at", InvalidSessionError)
        return self._without_secrets(session.scope, kept, said_episodes)

    def _without_secrets(
        self, scope: Scope, kept: Episodes, episodes: Episodes
    ) -> tuple[list[Episode], list[Episode]]:
        """Return new and kept episodes without secrets, read as one conversation."""
        clean = partial(self.cleaner.without_secrets, scope)
        again = {episode.episode_id for episode in episodes}
        earlier = [episode for episode in kept if episode.episode_id not in again]
        context = earlier[-ANSWERED_WITHIN:]
        cleaned = _with_words([*context, *episodes], clean)
        made = {episode.episode_id: episode for episode in cleaned}
        if any(made.get(each.episode_id, each) != each for each in kept):
            # A secret was kept: take it out of all kept episodes.
            made = {each.episode_id: each for each in _with_words([*earlier, *episodes], clean)}
        return (
            [made[episode.episode_id] for episode in episodes],
            [made.get(episode.episode_id, episode) for episode in kept],
        )

    def _placed(self, session: Session, kept: Episodes) -> list[tuple[int, Turn, int]]:
        """Return the turns without recalled facts: place, words, and number of the repetition.

        The same words at the same time, or with the same id, are the same turn. For other turns the
        order shows whether they are handed over again or said again.
        """
        own = _own_words(session.turns)
        symbols = self._symbols(session.scope, session.session_id, own, kept)
        place = place_in(symbols, [_identity(turn) for _, turn in own])
        # Those with neither a time nor an id to tell them from others with the same words.
        seen = Counter(each for each in symbols[:place] if len(each) > 1 and not any(each[1:3]))
        placed = []
        for number, turn in own:
            seen[_identity(turn)] += 1
            placed.append((place + number, turn, seen[_identity(turn)]))
        return placed

    def _symbols(
        self,
        scope: Scope,
        session_id: str,
        own: Sequence[tuple[int, Turn]],
        kept: Episodes,
    ) -> list[Strings]:
        """Return the identity of each kept turn among these; the episode's id for the others."""
        ids = {episode.episode_id for episode in kept}
        known: dict[str, Strings] = {}
        for turn in {_identity(turn): turn for _, turn in own}.values():
            for count in range(1, len(kept) + 1):
                made = self.episode(scope, session_id, turn, 0, _ANY_TIME, occurrence=count)
                if made.episode_id not in ids:
                    break
                known[made.episode_id] = _identity(turn)
        return [known.get(episode.episode_id, (episode.episode_id,)) for episode in kept]

    def dated_session_id(self, scope: Scope, turns: Sequence[Turn], began: datetime | None) -> str:
        """Make an id from a session's start and first dated turn; it stays as turns are added.

        Args:
            scope: the contact.
            turns: the turns; at least one is dated if ``began`` is None.
            began: the time when the session began, or None.
        """
        dated = next((turn for turn in turns if turn.said_at), turns[0])
        began_at = began.isoformat() if began else ""
        return self._unnamed(scope, began_at, *_identity(dated))

    def session_id_after(self, scope: Scope, turns: Sequence[Turn], before: str) -> str:
        """Make an id from undated turns and the unnamed session before them."""
        return self._unnamed(scope, before, *(part for turn in turns for part in _identity(turn)))

    def shared_turns(
        self, scope: Scope, session_id: str, turns: Sequence[Turn], kept: Episodes
    ) -> int:
        """Return the number of a session's last turns with which these begin; 0 if with none."""
        own = _own_words(turns)
        symbols = self._symbols(scope, session_id, own, kept)
        return shared_at_the_end(symbols, [_identity(turn) for _, turn in own])

    def _unnamed(self, scope: Scope, *said: str) -> str:
        made = uuid.uuid5(_ID_SPACE, self.digest("\0".join((scope.contact_key, *said))))
        return f"{UNNAMED}{made}"

    def episode(
        self,
        scope: Scope,
        session_id: str,
        turn: Turn,
        position: int,
        started_at: datetime,
        *,
        occurrence: int = 1,
    ) -> Episode:
        """Make one turn an episode.

        Args:
            scope: the contact.
            session_id: the session's id.
            turn: the turn.
            position: its place in the session, from 0.
            started_at: the time of the turn, if the turn itself has none.
            occurrence: how often exactly this was said in the session by then, from 1.
        """
        identity = (scope.session_key(session_id), *_identity(turn), str(occurrence))
        return Episode(
            episode_id=str(uuid.uuid5(_ID_SPACE, self.digest("\0".join(identity)))),
            session_id=session_id,
            role=Role(turn.role),
            text=turn.text,
            said_at=turn.said_at or started_at,
            position=position,
            reference=turn.reference,
        )

    def readable(self, scope: Scope, episodes: Episodes) -> list[Episode]:
        """Return episodes as an extractor may read them, with values that the policy keeps."""
        return _uncleaned_as(episodes, partial(self.cleaner.readable_texts, scope))

    def clean(self, scope: Scope, episodes: Episodes) -> list[Episode]:
        """Return episodes without personal data and secrets; cleaned ones stay as they are."""
        made = _uncleaned_as(episodes, partial(self.cleaner.clean_texts, scope))
        return [replace(episode, is_cleaned=True) for episode in made]

    def read(
        self,
        scope: Scope,
        episodes: Episodes,
        new_ids: StringSet,
        on_window: Callable[[], None] = lambda: None,
    ) -> ReadSession:
        """Return the extractor's claims from all windows of a session, each once.

        Args:
            scope: the contact of the session and of the facts that are shown.
            episodes: the episodes of a session, cleaned, in their order.
            new_ids: the episodes that were never read before.
            on_window: called after each window; an error from it ends the reading.

        Raises:
            ExtractionError: the extractor gave no usable answer for some window.
        """
        frames = frames_of(episodes)
        read = []
        policy, unread = self.policy, set(new_ids)
        for part in windows(episodes, policy.window_characters, policy.window_overlap_turns):
            fresh = frozenset(unread.intersection(episode.episode_id for episode in part))
            unread -= fresh
            if not fresh:  # an episode of an earlier window is only context
                continue
            window = Window(episodes=part, new_ids=fresh, known=self._known(scope, part, fresh))
            meant = frames.meant(window, self.extractor.extract(window))
            read.append((window, meant))
            on_window()
        costs = [extraction.usage for _, extraction in read if extraction.usage]
        _LOG.info(
            "%s read %d windows, %d tokens in, %d out",
            self.name,
            len(read),
            sum(cost.input_tokens for cost in costs),
            sum(cost.output_tokens for cost in costs),
        )
        proposals, left_out = capped(merged(read), episodes)
        if left_out:
            _LOG.warning(
                "%d candidates of session %s were left out: a turn gives at most %d, and what it "
                "asks to have remembered",
                left_out,
                episodes[0].session_id,
                CANDIDATES_OF_A_TURN_MAX,
            )
        return ReadSession(
            extractor=self.name,
            proposals=tuple(proposals),
            summary=" ".join(extraction.summary for _, extraction in read if extraction.summary),
            left_out=left_out + sum(extraction.left_out for _, extraction in read),
            shown=tuple(tuple(fact.fact_id for fact in window.known) for window, _ in read),
        )

    def cleaned(
        self, read: ReadSession, session: SessionEpisodes
    ) -> tuple[ReadSession, list[Episode]]:
        """Return claims and episodes without personal data, and without values only for slots.

        A value that the gate takes out of a slot, such as a PIN, is taken out of all episodes and
        claims. A value that it keeps stays only in that slot, if the cited words contain it.
        """
        scope, taken = session.scope, dict[str, str]()
        kept: set[str | None] = set()
        proposals: list[Claim] = []
        for said in read.proposals:
            proposal = said.mapped(lambda text: self.cleaner.without_secrets(scope, [text])[0])
            try:
                given = self.candidate(proposal, read.extractor, session)
                judged = self.gate.judge(given).candidate
            except InvalidRequestError:  # it makes no fact, and settling it reports the error
                unread = replace(proposal, extracted=replace(proposal.extracted, value=None))
                proposals.append(
                    unread.mapped(lambda text: self.cleaner.clean_texts(scope, [text])[0])
                )
                continue
            taken |= self._taken(proposal, given, judged)
            if judged.note.slot is not None and judged.note.slot.is_personal:
                # The gate keeps personal data as a value, if the cited turns hold it.
                if _is_held(given):
                    kept.add(proposal.extracted.value)
                else:
                    proposal = replace(proposal, extracted=replace(proposal.extracted, value=None))
            proposals.append(proposal.cleaned_as(judged))

        def without(text: str) -> str:
            for value, token in taken.items():
                text = re.sub(re.escape(value), token, text, flags=re.IGNORECASE)
            return text

        def cleaned(proposal: Claim) -> Claim:
            made, value = proposal.mapped(without), proposal.extracted.value
            said = value if value in kept else made.extracted.value
            return replace(made, extracted=replace(made.extracted, value=said))

        episodes = self.clean(scope, list(session.by_id.values()))
        [summary] = self.cleaner.clean_texts(scope, [read.summary])
        return (
            replace(
                read,
                proposals=tuple(map(cleaned, proposals)),
                summary=without(summary),
            ),
            [replace(episode, text=without(episode.text)) for episode in episodes],
        )

    def _taken(self, proposal: Claim, given: Candidate, judged: Candidate) -> dict[str, str]:
        """Return a value that the texts lose, as said and as normalised, each with its token."""
        before, after = given.note.slot, judged.note.slot
        if before is None or after is None or not after.value:
            return {}
        if not after.is_personal and before.value == after.value:
            return {}
        values = {before.value or "", proposal.extracted.value or ""}
        token = partial(self.cleaner.token, after.attribute)
        return {
            value: token(value) if after.is_personal else after.value
            for value in values
            if len(value) >= _TAKEN_LENGTH_MIN
        }

    def important(self, read: ReadSession, session: SessionEpisodes) -> list[Claim]:
        """Return the claims worth proposing: important ones, and those to remember on request."""
        return [
            proposal
            for proposal in read.proposals
            if proposal.extracted.importance >= self.policy.importance_min
            or is_request(proposal, session.by_id)
        ]

    def candidates(self, read: ReadSession, session: SessionEpisodes) -> list[Candidate]:
        """Turn claims into candidates for the gate, in the order in which they were last said.

        Unimportant and unusable claims are left out. A candidate's idempotency key is made from its
        session, its spans and its claim, so it takes effect only once.
        """
        candidates_read = []
        for proposal in self.important(read, session):
            try:
                candidate = self.candidate(proposal, read.extractor, session)
                candidates_read.append(self._in_time(candidate, proposal.extracted))
            except InvalidRequestError as error:
                _LOG.warning("a claim of session %s cannot be used: %s", session.session_id, error)

        def last_said(candidate: Candidate) -> tuple[datetime, int]:
            cited = (session.by_id[evidence.episode_id] for evidence in candidate.evidence)
            return candidate.note.said_at, max((said.position for said in cited), default=0)

        return sorted(candidates_read, key=last_said)

    def told(self, read: ReadSession, job: Job, episodes: Episodes) -> tuple[ClaimOutcome, ...]:
        """Return the outcome of each claim of a job's session, in the order of reading."""
        session = SessionEpisodes(job.scope, job.session_id, episodes)
        is_important = {id(claim) for claim in self.important(read, session)}
        return tuple(
            self._told(claim, read.extractor, session)
            if id(claim) in is_important
            else ClaimOutcome(
                text=claim.extracted.text, outcome="left_out", why="of too little importance"
            )
            for claim in read.proposals
        )

    def _told(self, claim: Claim, extractor: str, session: SessionEpisodes) -> ClaimOutcome:
        why = "unusable; the worker's log says why"
        try:
            candidate = self.candidate(claim, extractor, session)
            if (decision := self.gate.outcome_of(candidate.note)) is not None:
                return ClaimOutcome.of(decision)
            self._in_time(candidate, claim.extracted)
        except InvalidRequestError as error:
            why = str(error)
        return ClaimOutcome(text=claim.extracted.text, outcome="refused", why=why)

    def candidate(self, proposal: Claim, extractor: str, session: SessionEpisodes) -> Candidate:
        """Turn one claim into a candidate, with the episodes that it rests on.

        Raises:
            InvalidNoteError: the claim cannot be used.
        """
        scope, text = session.scope, proposal.extracted.text
        given, book = self._slot(scope, proposal.extracted), self.attributes.of(scope.agent_id)
        slot, slot_read_from = book.filled(given, text, [scope.contact_id])
        if book.is_critical(slot):
            always = replace(proposal.extracted, importance=MATTERS_MOST)
            proposal = replace(proposal, extracted=always)
        return candidate_from(
            proposal,
            session,
            slot=slot,
            slot_read_from=slot_read_from,
            idempotency_key=self._key(session.session_id, proposal),
            proposed_by=extractor,
        )

    def _in_time(self, candidate: Candidate, read: Extracted) -> Candidate:
        """Add the days to a candidate, as its extractor or else its words name them.

        If its value has ended, it ends the facts that it names.

        Raises:
            InvalidNoteError: it had ended before it was said, or a person would be asked about a
                note that has ended.
        """
        if not (read.is_ended or read.valid_from or read.valid_to):
            return _as_said(candidate, self.door.clock(), self.gate.judge)
        slot, told = candidate.note.slot, candidate.relations
        is_named = (slot is not None and slot.attribute is not None) or (told and told.ended_ids)
        fields: NoteFields = {"valid_to": read.ends_at}
        return self.door.with_effects(
            candidate, fields | {"ended": True} if read.is_ended and is_named else fields
        )

    def check_size(self, session: Session) -> None:
        """Check that a session is not too large to be read.

        Raises:
            InvalidSessionError: the session has too many turns or characters.
        """
        turns, characters = len(session.turns), sum(len(turn.text) for turn in session.turns)
        if turns > self.policy.session_turns_max:
            raise InvalidSessionError(
                f"the session has {turns:,} turns, but at most {self.policy.session_turns_max:,} "
                "are accepted; hand it over in parts, each under its own id"
            )
        if characters > self.policy.session_characters_max:
            raise InvalidSessionError(
                f"the session has {characters:,} characters, but at most "
                f"{self.policy.session_characters_max:,} are accepted; hand it over in parts, each "
                "under its own id"
            )

    def _known(self, scope: Scope, part: Episodes, fresh: StringSet) -> tuple[Fact, ...]:
        """Find known facts near to a window's new words, for an extractor that reads them.

        Also facts with the same subject or attribute: "my number" ends the old number.
        """
        extractor = self.extractor
        if not (isinstance(extractor, ReadsKnown) and extractor.reads_known):
            return ()
        said = [
            episode.text
            for episode in part
            if episode.episode_id in fresh and episode.role in _PEOPLE
        ]
        told = frozenset(_WORDS.findall(" ".join(said).casefold()))
        sentences = (sentence.text for text in said for sentence in read_text(text).sentences)
        book = self.attributes.of(scope.agent_id)
        read = (book.filled(None, each, [scope.contact_id])[0] for each in sentences)
        asked = {slot.attribute for slot in read if slot is not None}

        def shares(fact: Fact) -> bool:
            slot = fact.slot
            if slot is None or slot.attribute is None:
                return False
            value = slot.value if slot.value and not slot.is_personal else ""
            names = {*slot.subject.split(), *value.casefold().split()} - {CONTACT_SUBJECT}
            is_named = told.issuperset(slot.attribute.split("_")) or slot.attribute in asked
            return is_named or not told.isdisjoint(names)

        return tuple(self.near(scope, said, _KNOWN_MAX, shares))

    def _slot(self, scope: Scope, extracted: Extracted) -> Slot | None:
        """Return a claim's slot; None if it is invalid, because the words still count."""
        book = self.attributes.of(scope.agent_id)
        is_known = book.find(extracted.attribute or "") is not None
        try:
            return book.slot(
                subject=extracted.subject,
                attribute=extracted.attribute,
                value=extracted.value,
                # A model never changes the book.
                is_single_valued=None if is_known else extracted.single_valued,
            )
        except InvalidNoteError:
            return None

    def _key(self, session_id: str, proposal: Claim) -> str:
        extracted = proposal.extracted
        slot = [f"{part}" for part in (extracted.subject, extracted.attribute, extracted.value)]
        spans = [f"{key}:{span}" for key in sorted(proposal.spans) for span in proposal.spans[key]]
        return f"candidate:{self.digest(chr(0).join((session_id, extracted.text, *slot, *spans)))}"


@frozen
class MemoryExtractor:
    """The background door: it accepts a session immediately; a worker reads the session later.

    Attributes:
        session_store: the store of sessions and jobs.
        session_reader: makes episodes of turns.
        clock: the time now, UTC-aware.
    """

    session_store: SessionStore
    session_reader: SessionReader
    clock: Clock

    def hand_over(
        self,
        scopes: Mapping[Scope, Mapping[str, str] | None],
        session_id: str | None,
        turns: Iterable[Turn | Values],
        *,
        channel: str,
        started_at: datetime | None,
        contact_name: str | None = None,
    ) -> list[str]:
        """Store a conversation for each contact; return the ids of the jobs, in their order.

        The call takes one transaction for each contact and no model, so it returns in milliseconds
        even if the extractor is busy. If a session is handed over again, only new turns are added.
        Without a new turn it returns the id of the job that has the turns, an unfinished one if
        possible. All sessions are read before the first is stored. See
        ``ContactMemory.submit_session``.

        Args:
            scopes: the contacts, with the roles of the speakers for each.
            session_id: the session's id; None for an id made from the occasion.
            turns: the turns in their order.
            channel: the channel of the conversation.
            started_at: when it began, time-zone aware, or None.
            contact_name: the name of the only contact, or None.

        Raises:
            InvalidSessionError: one session cannot be used; no session was stored.
            GraphUnavailableError: the engine stayed unavailable; hand it over again.
        """
        given = turns or ()
        if isinstance(given, Iterable) and not isinstance(given, Sequence):
            # One more than are taken is enough to refuse them, should they never end.
            given = islice(given, self.session_reader.policy.session_turns_max + 1)
        taken, ready = tuple(turns_of(given)), []
        for scope, speakers in scopes.items():
            # With only one person's turns as the contact's.
            made = turns_of_one_contact(
                taken, contact_name, self.session_reader.is_attribute, speakers
            )
            session = Session(
                scope=scope,
                session_id=self.session_id(scope, made, started_at)
                if session_id is None
                else session_id,
                turns=made,
                channel=channel,
                started_at=started_at,
            )
            ready.append(self._ready(session))
        return [store() for store in ready]

    def session_id(self, scope: Scope, turns: Sequence[Turn], started_at: datetime | None) -> str:
        """Make an id for a session without a name; its turns cannot be guessed from it.

        The same occasion gets the same id. Dated turns are recognised by the time of the first one.
        Undated turns belong to an unnamed session if they begin with all of its turns, or with its
        last ones. So a conversation that is handed over again, with more turns or as a window of
        its last ones, is one session. But fewer than four turns count as said again if there was
        another session after that one.

        Args:
            scope: the contact.
            turns: the turns, in their order.
            started_at: when it began; None if unknown.

        Raises:
            InvalidSessionError: there are no turns, or the time cannot be used.
        """
        if not turns:
            raise InvalidSessionError("the session is empty: hand over at least one turn")
        if started_at is not None:
            started_at = utc("started_at", started_at, InvalidSessionError)
        sessions = self.session_store.list_last_sessions(scope, _UNNAMED_COUNT_MAX, UNNAMED)
        if started_at or any(turn.said_at for turn in turns):
            return self._dated_session_id(scope, turns, started_at, sessions)
        heard_at = self.session_store.find_last_said(scope)
        befores = [*(session_id for session_id, _ in sessions), ""]
        for (session_id, ended_at), before in zip(sessions, befores[1:], strict=True):
            if self.session_reader.session_id_after(scope, turns, before) == session_id:
                shared, is_all = len(turns), True  # also of a session that was erased
            else:
                shared, is_all = self._shared(scope, turns, session_id)
            is_last = heard_at is None or ended_at >= heard_at
            least = (1 if is_all else _WINDOW_TURNS_MIN) if is_last else TURNS_OF_ONE_CONVERSATION
            if shared >= least:
                return session_id
        return self.session_reader.session_id_after(scope, turns, befores[0])

    def _dated_session_id(
        self,
        scope: Scope,
        turns: Sequence[Turn],
        started_at: datetime | None,
        sessions: Sequence[tuple[str, datetime]],
    ) -> str:
        """Return an id made from the beginning, or the id of the continued session."""
        own = self.session_reader.dated_session_id(scope, turns, started_at)
        if turns[0].said_at is None or own in (session_id for session_id, _ in sessions):
            return own
        for session_id, ended_at in sessions:
            if ended_at >= turns[0].said_at and self._shared(scope, turns, session_id)[0]:
                return session_id
        return own

    def _shared(self, scope: Scope, turns: Sequence[Turn], session_id: str) -> tuple[int, bool]:
        """Return the number of a session's last turns that these begin with; also if it is all."""
        kept = self.session_store.list_episodes(scope, session_id)
        shared = self.session_reader.shared_turns(scope, session_id, turns, kept)
        return shared, shared == len(kept)

    def _ready(self, session: Session) -> Callable[[], str]:
        """Return the call that stores a session that was read, and returns its job's id."""
        self.session_reader.check_size(session)
        now, job_id = self.clock(), str(uuid.uuid4())
        said_at = now
        if not session.is_dated:
            said_at = time_of_saying(now, self.session_store.find_last_said(session.scope))
        kept = self.session_store.list_episodes(session.scope, session.session_id)
        episodes, cleaned = self.session_reader.episodes(session, said_at, kept)

        def store() -> str:
            self.session_store.clean_episodes(zip(kept, cleaned, strict=True))
            is_added = self.session_store.append_episodes(
                session.scope, session.session_id, session.channel, episodes, now, job_id
            )
            if is_added:
                return job_id
            # The job that has them: an unfinished one if there is one, else the newest.
            jobs = self.session_store.find_jobs_of(episodes)
            unfinished = (old_id for old_id, state in jobs if state is not JobState.DONE)
            return next(unfinished, jobs[0][0])

        return store

    def retry(self, scope: Scope, job_id: str) -> Job:
        """Start a dead or waiting job again at once; a job that is done stays done.

        Raises:
            UnknownJobError: the contact has no job of that id.
        """
        self.session_store.get_job(scope, job_id)
        self.session_store.retry_job(scope, job_id, self.clock())
        return self.session_store.get_job(scope, job_id)


def _is_held(candidate: Candidate) -> bool:
    """True if the cited turns contain the claim's value, letter by letter and digit by digit."""
    value = _plain(candidate.note.slot_value)
    return any(value in _plain(evidence.text) for evidence in candidate.evidence)


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


_Clean = Callable[[Sequence[str], int], list[str]]


def _uncleaned_as(episodes: Episodes, clean: _Clean) -> list[Episode]:
    """Return episodes; those not cleaned yet get new words."""
    made = iter(_with_words([each for each in episodes if not each.is_cleaned], clean))
    return [episode if episode.is_cleaned else next(made) for episode in episodes]


def _with_words(episodes: Episodes, clean: _Clean) -> list[Episode]:
    """Clean episodes together: a secret that one episode shows is removed from all."""
    if not episodes:
        return []
    references = [episode.reference or "" for episode in episodes]
    texts = clean([*(episode.text for episode in episodes), *references], len(episodes))
    return [
        replace(episode, text=text, reference=reference or None)
        for episode, text, reference in zip(
            episodes, texts[: len(episodes)], texts[len(episodes) :], strict=True
        )
    ]


def _own_words(turns: Iterable[Turn]) -> list[tuple[int, Turn]]:
    """Return turns without recalled facts, each with its place; without turns that become empty."""
    cut = [(place, turn, without_recalled(turn.text)) for place, turn in enumerate(turns)]
    return [(place, replace(turn, text=text)) for place, turn, text in cut if text is not None]


def _identity(turn: Turn) -> Strings:
    said_at = turn.said_at.isoformat() if turn.said_at else ""
    return str(turn.role), said_at, turn.reference or "", turn.text


def _as_said(
    candidate: Candidate, now: datetime, judge: Callable[[Candidate], Submission]
) -> Candidate:
    """Return a candidate with the first and last day that its words, or its quoted words, name.

    The end of a claim that ends other facts may be the end of those facts, and is not read.

    Args:
        candidate: a claim of a session.
        now: the time now (UTC).
        judge: says how a candidate would be stored.

    Raises:
        InvalidNoteError: by its words it had ended before it was said, or a person would be asked
            about a note that has ended.
    """
    times = next((times for times in _times(candidate) if times != SaidTimes()), SaidTimes())
    candidate = replace(candidate, note=beginning(candidate.note, times.begins_at))
    ends_others = candidate.relations is not None and bool(candidate.relations.ends)
    if times.ends_at is None or ends_others:
        return candidate
    if times.ends_at <= candidate.note.holds_from:
        raise InvalidNoteError(over_in_words(times.ends_at))
    ending_at(candidate, times.ends_at, now, judge, is_committed_later=True)
    return replace(candidate, holds_until=times.ends_at)


def _times(candidate: Candidate) -> Iterator[SaidTimes]:
    yield said_times(candidate.claim, candidate.note.said_at)
    for said in reversed(candidate.evidence):
        if said.source_kind in OWN_WORDS:
            yield from (said_times(span, said.said_at) for span in said.quoted)

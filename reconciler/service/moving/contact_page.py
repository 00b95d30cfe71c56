"""A contact's page: all that is kept of one person, as one document that can be read and printed.

It is an answer to "what do you know of me": facts now and before, the words that they rest on, what
was decided, and the conversations. It needs nothing beside itself: no network, no script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from reconciler.domain.recalling.evidence import told_beside
from reconciler.domain.records.facts import Fact, FactEvent, FactHistory
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.scope import Scope
from reconciler.domain.review.explanation import explain_in_short
from reconciler.errors import InvalidRequestError
from reconciler.frozen import frozen
from reconciler.ports.graph import Row
from reconciler.service.pages.rendering import WHOSE_WORD, render
from reconciler.service.records import Records
from reconciler.service.stores.archive_store import ArchiveStore

_DECISIONS_MAX = 100_000
_ABOVE_ALL = "\U0010ffff"


@frozen
class _Kept:
    """Nodes as they are kept, and the links between them, read beside the records."""

    contact: Row
    sessions: Sequence[Row]
    turns: Mapping[str, list[Row]]
    words: Mapping[str, list[tuple[Row, str | None]]]
    tasks: Sequence[Row]


@frozen
class ContactPage:
    """Writes the page of a contact.

    Args:
        store: what is kept, as it is kept.
        records: facts and decisions, as they are shown elsewhere.
        clock: the time now, UTC-aware.
    """

    store: ArchiveStore
    records: Records
    clock: Callable[[], datetime]

    def html(self, scope: Scope) -> str:
        """The document; every remembered text is escaped, and invisible characters are named.

        Raises:
            InvalidRequestError: nothing is known of the contact.
        """
        chains = self.records.history(scope)
        kept = self._kept(scope, chains)
        return render(
            "contact_page.html",
            scope=scope,
            name=str(kept.contact.get("name") or scope.contact_id),
            now=self.clock(),
            words=kept.words,
            known=[chain.facts[0] for chain in chains if not chain.facts[0].has_ended],
            pending=list(self.records.pending([scope])),
            before=list(_before(chains)),
            decided=[
                (decision, *explain_in_short(decision))
                for decision in self.records.decision_store.list_decisions([scope], _DECISIONS_MAX)
            ],
            sessions=[
                (session, kept.turns.get(str(session["session_key"]), ()))
                for session in kept.sessions
            ],
            tasks=kept.tasks,
        )

    def _kept(self, scope: Scope, chains: Sequence[FactHistory]) -> _Kept:
        contact = self.store.find_contact(scope.contact_key)
        if contact is None:
            raise InvalidRequestError(
                f"nothing is known about contact {scope.contact_id} of agent {scope.agent_id}; "
                "check both names"
            )
        episodes = {key: _with_speaker(held) for key, held in self._nodes(scope, "Episode").items()}
        turns: dict[str, list[Row]] = {}
        for episode_id, session_key, _ in self._links(scope, "IN"):
            turns.setdefault(session_key, []).append(episodes.get(episode_id, {}))
        cited: dict[str, dict[str, str | None]] = {}
        for fact_id, episode_id, held in self._links(scope, "EVIDENCED_BY"):
            cited.setdefault(fact_id, {})[episode_id] = held.get("span")
        links = [link for chain in chains for link in chain.supersessions]
        beside = told_beside((fact.fact_id for chain in chains for fact in chain.facts), links)
        sessions = sorted(self._nodes(scope, "Session").values(), key=_started)
        return _Kept(
            contact=contact,
            sessions=sessions,
            turns={key: sorted(said, key=_place) for key, said in turns.items()},
            words={
                fact_id: _quoted((cited.get(each_id, {}) for each_id in told_ids), episodes)
                for fact_id, told_ids in beside.items()
            },
            tasks=sorted(self._nodes(scope, "Task").values(), key=_started),
        )

    def _nodes(self, scope: Scope, label: str) -> dict[str, Row]:
        pages = self.store.node_pages(scope.contact_key, label, with_vectors=False)
        return {key: held for page in pages for key, held in page}

    def _links(self, scope: Scope, kind: str) -> Iterator[tuple[str, str, Row]]:
        return self.store.list_links(scope.contact_key, kind, "", _ABOVE_ALL)


def _before(chains: Iterable[FactHistory]) -> Iterator[tuple[Fact, Sequence[FactEvent]]]:
    """What ended, with what persons decided about a chain beside the newest of it."""
    for chain in chains:
        ended = [fact for fact in chain.facts if fact.has_ended]
        yield from ((fact, chain.events if fact is ended[0] else ()) for fact in ended)


def _with_speaker(episode: Row) -> Row:
    return {"said_at": None, "text": ""} | dict(episode) | {"who": _speaker(episode)}


def _speaker(episode: Row) -> str:
    if role := episode.get("role"):
        return str(role)
    try:
        return WHOSE_WORD[SourceKind(str(episode.get("source_kind")))]
    except ValueError:
        return "unknown"


def _started(held: Row) -> str:
    return str(held.get("started_at", ""))


def _quoted(
    cited: Iterable[Mapping[str, str | None]], episodes: Mapping[str, Row]
) -> list[tuple[Row, str | None]]:
    """Each turn once, the oldest first, with the words that the nearest of these facts cites."""
    spans: dict[str, str | None] = {}
    for own in cited:
        for episode_id, span in own.items():
            spans.setdefault(episode_id, span)
    quoted = [(episodes.get(episode_id, {}), span) for episode_id, span in spans.items()]
    return sorted(quoted, key=lambda pair: _place(pair[0]))


def _place(episode: Row) -> tuple[str, int]:
    return (str(episode.get("said_at", "")), int(episode.get("position") or 0))

"""A contact's page: all that is kept of one person, as one document that can be read and printed.

It is an answer to "what do you know of me": facts now and before, the words that they rest on, what
was decided, and the conversations. It needs nothing beside itself: no network, no script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape

from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import Dispute, Fact, FactHistory
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.scope import Scope
from reconciler.domain.review.explanation import explain
from reconciler.domain.visible_text import visible
from reconciler.errors import InvalidRequestError
from reconciler.ports.graph import Row
from reconciler.service.records import Records
from reconciler.service.stores.archive_store import ArchiveStore

__all__ = ["ContactPage"]

_DECISIONS_MAX = 100_000
_ABOVE_ALL = "\U0010ffff"

_WORDS = {
    SourceKind.USER_EXPLICIT: "the contact",
    SourceKind.OPERATOR: "an operator",
    SourceKind.APPROVED_DOC: "an approved document",
    SourceKind.EXTRACTOR: "read from a conversation",
    SourceKind.TOOL_OUTPUT: "a tool",
    SourceKind.MODEL_GUESS: "a guess of the model",
}
_STATES = {
    "live": "holds",
    "expired": "lapsed",
    "superseded": "ended",
    "revoked": "revoked",
}
_STYLE = """
:root { color-scheme: light dark; --ink: #1d2329; --dim: #5b6670; --line: #d5dbe1; --page: #fff;
  --card: #f5f7f9; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ec; --dim: #9aa6b1; --line: #38414a;
  --page: #14181c; --card: #1d2329; } }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--page);
  max-width: 52rem; margin: 0 auto; padding: 2rem 1.2rem 4rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.2rem; margin-top: 2.4rem;
  border-bottom: 1px solid var(--line); } h3 { font-size: 1rem; margin-bottom: .2rem; }
.dim { color: var(--dim); font-size: .88rem; } article { background: var(--card);
  border: 1px solid var(--line); border-radius: .5rem; padding: .7rem 1rem; margin: .7rem 0; }
article p { margin: .2rem 0; } blockquote { margin: .3rem 0 .3rem .2rem; padding-left: .8rem;
  border-left: 3px solid var(--line); } ol, ul { padding-left: 1.3rem; } li { margin: .25rem 0; }
@media print { article { break-inside: avoid; } }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """What is read beside the records: nodes as they are kept, and what rests on what."""

    contact: Row
    sessions: Sequence[Row]
    turns: Mapping[str, list[Row]]
    words: Mapping[str, list[tuple[Row, str | None]]]
    tasks: Sequence[Row]


class ContactPage:
    """Writes the page of a contact.

    Args:
        store: what is kept, as it is kept.
        records: facts and decisions, as they are shown elsewhere.
        clock: the time now, UTC-aware.
    """

    def __init__(
        self, *, store: ArchiveStore, records: Records, clock: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._records = records
        self._clock = clock

    def html(self, scope: Scope) -> str:
        """The document; every text of anybody's is escaped, and invisible characters are named.

        Raises:
            InvalidRequestError: nothing is known of the contact.
        """
        kept = self._kept(scope)
        chains = self._records.history(scope)
        pending = self._records.pending([scope])
        decisions = self._records.decisions([scope], _DECISIONS_MAX)
        parts = (
            *_head(scope, kept.contact, self._clock()),
            *_section("What is known now", _now(chains, kept.words)),
            *_section("What waits for an answer", _waiting(pending)),
            *_section("What was known before", _before(chains, kept.words)),
            *_section("What was decided, the newest first", map(_decision, decisions)),
            *_section("Conversations", _sessions(kept)),
            *_section("Tasks", map(_task, kept.tasks)),
            "</body></html>",
        )
        return "\n".join(parts) + "\n"

    def _kept(self, scope: Scope) -> _Kept:
        contact = self._store.find_contact(scope.contact_key)
        if contact is None:
            raise InvalidRequestError(
                f"nothing is known of contact {scope.contact_id} of agent {scope.agent_id}; check "
                "both names"
            )
        episodes = self._nodes(scope, "Episode")
        turns: dict[str, list[Row]] = {}
        for episode_id, session_key, _ in self._links(scope, "IN"):
            turns.setdefault(session_key, []).append(episodes.get(episode_id, {}))
        words: dict[str, list[tuple[Row, str | None]]] = {}
        for fact_id, episode_id, held in self._links(scope, "EVIDENCED_BY"):
            words.setdefault(fact_id, []).append((episodes.get(episode_id, {}), held.get("span")))
        sessions = sorted(self._nodes(scope, "Session").values(), key=_started)
        return _Kept(
            contact=contact,
            sessions=sessions,
            turns={key: sorted(said, key=_place) for key, said in turns.items()},
            words={
                key: sorted(said, key=lambda each: _place(each[0])) for key, said in words.items()
            },
            tasks=sorted(self._nodes(scope, "Task").values(), key=_started),
        )

    def _nodes(self, scope: Scope, label: str) -> dict[str, Row]:
        pages = self._store.node_pages(scope.contact_key, label, with_vectors=False)
        return {key: held for page in pages for key, held in page}

    def _links(self, scope: Scope, kind: str) -> Iterator[tuple[str, str, Row]]:
        return self._store.list_links(scope.contact_key, kind, "", _ABOVE_ALL)


def _head(scope: Scope, contact: Row, now: datetime) -> Iterator[str]:
    name = _text(str(contact.get("name") or scope.contact_id))
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>What is known of {name}</title>\n<style>{_STYLE}</style>\n</head>\n<body>"
    yield f"<h1>What is known of {name}</h1>"
    yield (
        f'<p class="dim">Contact {_text(scope.contact_id)} of agent {_text(scope.agent_id)}, '
        f"tenant {_text(scope.tenant)}. As of {_moment(now)}.</p>"
    )


def _section(title: str, parts: Iterable[str]) -> Iterator[str]:
    yield f"<h2>{title}</h2>"
    found = list(parts)
    yield from found or ['<p class="dim">Nothing.</p>']


def _now(
    chains: Iterable[FactHistory], words: Mapping[str, list[tuple[Row, str | None]]]
) -> Iterator[str]:
    for chain in chains:
        if not chain.facts[0].has_ended:
            yield _fact(chain.facts[0], words)


def _before(
    chains: Iterable[FactHistory], words: Mapping[str, list[tuple[Row, str | None]]]
) -> Iterator[str]:
    for chain in chains:
        events = [
            f"<p>{_text(each.action.capitalize())} by {_text(each.by)} on {_moment(each.at)}: "
            f"{_text(each.reason)}</p>"
            for each in chain.events
        ]
        ended = [fact for fact in chain.facts if fact.has_ended]
        yield from (_fact(fact, words, events if fact is ended[0] else ()) for fact in ended)


def _fact(
    fact: Fact,
    words: Mapping[str, list[tuple[Row, str | None]]],
    events: Sequence[str] = (),
) -> str:
    since = f"since {_moment(fact.valid_from)}"
    until = f" until {_moment(fact.valid_to)}" if fact.valid_to else ""
    state = "never held" if fact.is_void else _STATES.get(str(fact.state), str(fact.state))
    told = [
        f"{state} {since}{until}",
        f"by the word of {_WORDS[fact.trust]}",
        f"said {fact.observations} times" if fact.observations > 1 else "said once",
        f"kept since {_moment(fact.recorded_at)}",
    ]
    if fact.expires_at:
        told.append(f"until {_moment(fact.expires_at)} at the longest")
    slot = ""
    if fact.slot:
        named = f"{fact.slot.subject} · {fact.slot.attribute}: {fact.slot.value}"
        slot = f'<p class="dim">{_text(named)}</p>'
    rests = "".join(_quoted(episode, span) for episode, span in words.get(fact.fact_id, ()))
    return (
        f"<article><p>{_text(fact.text)}</p>{slot}"
        f'<p class="dim">{", ".join(told)}.</p>{rests}{"".join(events)}</article>'
    )


def _quoted(episode: Row, span: str | None) -> str:
    if not episode:
        return ""
    who = episode.get("role") or _whose(episode)
    cited = f" Cited: {_text(span)}." if span and span != episode.get("text") else ""
    return (
        f"<blockquote>{_text(str(episode.get('text', '')))}"
        f'<br><span class="dim">{_text(str(who))}, {_moment(episode.get("said_at"))}.{cited}</span>'
        "</blockquote>"
    )


def _whose(episode: Row) -> str:
    try:
        return _WORDS[SourceKind(str(episode.get("source_kind")))]
    except ValueError:
        return "nobody knows who"


def _waiting(pending: Iterable[Decision | Dispute]) -> Iterator[str]:
    for each in pending:
        yield f"<article><p>{_text(each.question or '')}</p></article>"


def _decision(decision: Decision) -> str:
    told = explain(decision)
    by = decision.proposal.answered_by or decision.proposal.proposed_by
    who = f", by {_text(by)}" if by else ""
    remarks = "".join(f"<p>{_text(each)}</p>" for each in told.remarks)
    return (
        f"<article><p>{_text(told.outcome)}</p>{remarks}"
        f'<p class="dim">{_moment(decision.at)}{who}, through the {_text(decision.door)} door. '
        f"{_text(decision.decision_id)}</p></article>"
    )


def _sessions(kept: _Kept) -> Iterator[str]:
    for session in kept.sessions:
        times = f"{_moment(session.get('started_at'))} to {_moment(session.get('ended_at'))}"
        summary = f"<p>{_text(str(session['summary']))}</p>" if session.get("summary") else ""
        turns = "".join(
            _quoted(turn, None) for turn in kept.turns.get(str(session["session_key"]), ())
        )
        yield (
            f"<article><h3>{_text(str(session.get('session_id')))}</h3>"
            f'<p class="dim">{_text(str(session.get("channel")))}, {times}</p>{summary}{turns}'
            "</article>"
        )


def _task(task: Row) -> str:
    done = "".join(f"<li>{_text(each)}</li>" for each in task.get("done") or ())
    decided = "".join(f"<li>{_text(each)}</li>" for each in task.get("decided") or ())
    return (
        f"<article><p>{_text(str(task.get('goal')))}</p>"
        f'<p class="dim">{_text(str(task.get("state")))}, begun {_moment(task.get("started_at"))}'
        f"</p><ul>{done}{decided}</ul></article>"
    )


def _text(text: str) -> str:
    return escape(visible(text))


def _moment(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC" if at else "an unknown time"


def _started(held: Row) -> str:
    return str(held.get("started_at", ""))


def _place(episode: Row) -> tuple[str, int]:
    return (str(episode.get("said_at", "")), int(episode.get("position") or 0))

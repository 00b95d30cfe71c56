"""The pages: an analyst's report, a contact's page, and the templates and words that both use.

The report shows how an agent's facts changed over time, the open questions, and the refused notes.
Its size is bounded, and it says how much it left out.

A contact's page has all that is stored about one person, as one document to read and print. It
answers "what do you know about me": present and past facts, the words that they rest on, the
decisions, and the conversations.

Templates escape every text, and are in the folder of this module. A page needs no other file: no
network, no script.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from reconciler.domain.explanation import explain_in_short
from reconciler.domain.recalling.history import Said, told_beside
from reconciler.domain.records.decisions import Decision
from reconciler.domain.records.facts import (
    Contact,
    Dispute,
    Fact,
    FactEvent,
    FactHistory,
    RefusalCount,
    Supersession,
)
from reconciler.domain.records.kinds import Action, Clock
from reconciler.domain.records.notes import Scope
from reconciler.errors import InvalidRequestError
from reconciler.frozen import StringMap, frozen, grouped
from reconciler.ops.review.timeline import Timeline, caption_of, timeline
from reconciler.ports.graph import Row
from reconciler.reading.quoting import in_marks
from reconciler.reading.visible_text import visible
from reconciler.service.records import Records
from reconciler.service.stores.contact_store import ArchiveStore
from reconciler.service.stores.decision_store import DecisionStore
from reconciler.service.stores.fact_store import FactStore

_WORDS: Mapping[str, StringMap] = tomllib.loads(
    Path(__file__).with_name("words.toml").read_text(encoding="utf-8")
)


def render(template: str, **values: object) -> str:
    """Render a page: every text is escaped, and an invisible character is shown as an escape."""
    return _templates().get_template(template).render(values)


def moment(at: datetime | None) -> str:
    """Show a time to a reader, in UTC."""
    return f"{at:%Y-%m-%d %H:%M} UTC" if at else "an unknown time"


def standing_of(fact: Fact) -> str:
    """Return a fact's state, in a word or two."""
    return "never held" if fact.is_void else _WORDS["standings"].get(fact.state, fact.state)


def why_of(link: Supersession) -> str:
    """Say why one fact replaced another, in a few words."""
    if link.is_restatement:
        return "said again"
    return _WORDS["why"].get(link.decided_by, link.decided_by)


@cache
def _templates() -> Environment:
    return environment()


def environment(*folders: Path) -> Environment:
    """Make templates that escape every text, and show hidden characters in it.

    Args:
        folders: the folders of the templates, besides the folder of this module.
    """
    made = Environment(
        autoescape=True,
        finalize=_shown,
        loader=FileSystemLoader([*folders, Path(__file__).parent]),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters |= {"moment": moment, "standing": standing_of, "in_marks": in_marks}
    made.globals |= {"whose_word": _WORDS["whose_word"], "caption": caption_of, "why": why_of}
    return made


def _shown(value: object) -> object:
    """Show the hidden characters of a value; a macro's output has been treated in its parts."""
    return visible(str(value)) if not isinstance(value, Markup) else value


FACTS_MAX = 2_000
"""The most facts in a report, over all of its contacts; the page then has about 4 MB."""

CONTACTS_MAX = 100
"""The number of contacts that the report describes; the others are only listed."""

_FACTS_OF_CONTACT_MIN = 20
_REFUSED_MAX = 50
_STRANDS_OPEN = 12


@frozen
class _ContactSection:
    """The report on one contact."""

    contact: Contact
    timeline: Timeline
    words: Mapping[str, Sequence[Said]]
    ended_by: Mapping[str, Supersession]
    events: Mapping[str, Sequence[FactEvent]]
    disputes: Sequence[Dispute]
    questions: Sequence[Decision]
    refusals: Sequence[RefusalCount]
    refused: Sequence[Decision]
    decisions: int

    @property
    def name(self) -> str:
        return self.contact.name or self.contact.contact_id


@frozen
class Report:
    """Writes the report.

    Args:
        records: facts and open questions.
        decision_store: decisions.
        fact_store: the evidence of facts.
        clock: the time now, UTC-aware.
    """

    records: Records
    decision_store: DecisionStore
    fact_store: FactStore
    clock: Clock

    def html(self, whose: Scope, contacts: Sequence[Contact]) -> str:
        """Write the document; every remembered text is escaped, and invisible characters are named.

        Args:
            whose: tenant and agent, with one of the contacts or with any.
            contacts: the contacts to describe, at least one.
        """
        last_first = sorted(
            contacts,
            key=lambda each: (each.last_decision_at is not None, each.last_decision_at or ""),
            reverse=True,
        )
        told = last_first[:CONTACTS_MAX]
        facts_max = max(FACTS_MAX // len(told), _FACTS_OF_CONTACT_MIN)
        now = self.clock()
        parts = [self._part(contact, now, facts_max) for contact in told]
        return render(
            "report.html",
            agent_id=whose.agent_id,
            tenant=whose.tenant,
            now=now,
            title=parts[0].name if len(contacts) == 1 else f"{len(contacts)} contacts",
            contacts=last_first,
            parts=parts,
            open_strands=_STRANDS_OPEN,
            refused_max=_REFUSED_MAX,
            anchor="#fact-{}".format,
        )

    def _part(self, contact: Contact, now: datetime, facts_max: int) -> _ContactSection:
        scope = Scope(contact.tenant, contact.agent_id, contact.contact_id)
        chains = self.records.history(scope)
        shown = timeline(chains, now, facts_max)
        links = [link for chain in chains for link in chain.supersessions]
        pending = list(self.records.pending([scope]))
        decisions = self.decision_store.list_records(scope)
        return _ContactSection(
            contact=contact,
            timeline=shown,
            words=_turns_beside(self.fact_store, [fact.fact_id for fact in shown.facts], links),
            ended_by={link.old_id: link for link in links},
            events=grouped((event.fact_id, event) for chain in chains for event in chain.events),
            disputes=[item for item in pending if isinstance(item, Dispute)],
            questions=[item for item in pending if isinstance(item, Decision)],
            refusals=list(self.decision_store.count_refusals([scope])),
            refused=[decision for decision in decisions if decision.action is Action.REJECT],
            decisions=len(decisions),
        )


def _turns_beside(
    fact_store: FactStore, fact_ids: Iterable[str], links: Sequence[Supersession]
) -> dict[str, list[Said]]:
    """Find the turns that each fact cites, each turn once, the oldest first.

    If several facts cite a turn, it has the words that the nearest of them cites.
    """
    beside = told_beside(fact_ids, links)
    asked = list({each_id for told_ids in beside.values() for each_id in told_ids})
    said_by_fact = grouped((said.fact_id, said) for said in fact_store.list_said(asked))
    turns: dict[str, list[Said]] = {}
    for fact_id, told_ids in beside.items():
        nearest: dict[str, Said] = {}
        for each_id in told_ids:
            for said in said_by_fact.get(each_id, ()):
                nearest.setdefault(said.episode_id, said)
        turns[fact_id] = sorted(nearest.values(), key=lambda said: said.said_at)
    return turns


_DECISIONS_MAX = 100_000
_ABOVE_ALL = "\U0010ffff"


@frozen
class ContactPage:
    """Writes the page of a contact.

    Args:
        archive_store: the stored records, as they are.
        records: facts, as they are shown elsewhere.
        fact_store: the turns that facts rest on.
        decision_store: decisions.
        clock: the time now, UTC-aware.
    """

    archive_store: ArchiveStore
    records: Records
    fact_store: FactStore
    decision_store: DecisionStore
    clock: Clock

    def html(self, scope: Scope) -> str:
        """Write the document; every remembered text is escaped, and invisible characters are named.

        Raises:
            InvalidRequestError: nothing is stored about the contact.
        """
        chains = self.records.history(scope)
        contact = self.archive_store.find_contact(scope.contact_key)
        if contact is None:
            raise InvalidRequestError(
                f"nothing is known about contact {scope.contact_id} of agent {scope.agent_id}; "
                "check both names"
            )
        links = [link for chain in chains for link in chain.supersessions]
        fact_ids = (fact.fact_id for chain in chains for fact in chain.facts)
        return render(
            "contact_page.html",
            scope=scope,
            name=str(contact.get("name") or scope.contact_id),
            now=self.clock(),
            words=_turns_beside(self.fact_store, fact_ids, links),
            known=[chain.facts[0] for chain in chains if not chain.facts[0].has_ended],
            pending=list(self.records.pending([scope])),
            before=list(_before(chains)),
            decided=[
                (decision, *explain_in_short(decision))
                for decision in self.decision_store.list_decisions([scope], _DECISIONS_MAX)
            ],
            sessions=self._conversations(scope),
            tasks=sorted(self._nodes(scope, "Task").values(), key=_started),
        )

    def _conversations(self, scope: Scope) -> list[tuple[Row, list[Row]]]:
        """Return each session with its turns, as they are stored."""
        episodes = self._nodes(scope, "Episode")
        links = self.archive_store.list_links(scope.contact_key, "IN", "", _ABOVE_ALL)
        turns = grouped(
            (session_key, {"said_at": None, "text": "", "spans": (), **held, "who": _speaker(held)})
            for episode_id, session_key, _ in links
            if (held := episodes.get(episode_id))
        )
        sessions = sorted(self._nodes(scope, "Session").items(), key=lambda item: _started(item[1]))
        return [(session, sorted(turns.get(key, ()), key=_place)) for key, session in sessions]

    def _nodes(self, scope: Scope, label: str) -> dict[str, Row]:
        pages = self.archive_store.node_pages(scope.contact_key, label, with_vectors=False)
        return {key: held for page in pages for key, held in page}


def _before(chains: Iterable[FactHistory]) -> Iterator[tuple[Fact, Sequence[FactEvent]]]:
    """Return the ended facts; the newest of a chain has persons' decisions about the chain."""
    for chain in chains:
        ended = [fact for fact in chain.facts if fact.has_ended]
        yield from ((fact, chain.events if fact is ended[0] else ()) for fact in ended)


def _speaker(episode: Row) -> str:
    if role := episode.get("role"):
        return str(role)
    return _WORDS["whose_word"].get(str(episode.get("source_kind")), "unknown")


def _started(held: Row) -> str:
    return str(held.get("started_at", ""))


def _place(episode: Row) -> tuple[str, int]:
    return (str(episode.get("said_at", "")), int(episode.get("position") or 0))

"""Before an act: what is known of what it rests on. Only reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from reconciler.domain.recalling.checking import ActCheck, Doubts, check
from reconciler.domain.recalling.filtering import RecallFilter
from reconciler.domain.recalling.recalled import CLEAREST_SHARE, FITTING_MAX
from reconciler.domain.records.facts import Fact, Supersession
from reconciler.domain.records.handles import HANDLE_SIGN, named_by
from reconciler.domain.records.notes import Scope
from reconciler.domain.values.attributes import AttributeBook
from reconciler.errors import InvalidRequestError
from reconciler.frozen import frozen
from reconciler.service.recall import Known, Recall
from reconciler.service.records import Records
from reconciler.service.stores.fact_store import FactStore


def attribute_asked(book: AttributeBook, attribute: str, subject: str | None) -> tuple[str, str]:
    """Canonical name of an attribute, and its subject.

    Raises:
        InvalidRequestError: either cannot be used.
    """
    asked = book.slot(subject=subject, attribute=attribute)
    if asked is None or asked.attribute is None:
        raise InvalidRequestError(
            f"attribute {attribute!r} is not the name of an attribute; give one, for example city"
        )
    return asked.attribute, asked.subject


@frozen
class Acting:
    """Says whether an act may rest on what is known.

    Args:
        fact_store: facts, also those that have ended.
        records: held notes and current values.
        recall: live facts and standing constraints.
        attributes: names of attributes.
        clock: the time now, UTC-aware.
    """

    fact_store: FactStore
    records: Records
    recall: Recall
    attributes: AttributeBook
    clock: Callable[[], datetime]

    def check(
        self,
        scope: Scope,
        about: Sequence[str],
        subjects: Callable[[str], Sequence[str]],
        *,
        subject: str | None,
        act: str,
        max_age: timedelta | None,
        confidence_min: float,
    ) -> ActCheck:
        """Check before an act; see ``ContactMemory.check``.

        Args:
            scope: the contact.
            about: attributes, and facts by id or handle.
            subjects: gives all subjects of the person or thing that a subject means.
            subject: whom the attributes are about; None for the contact.
            act: what is planned, in words; may be empty.
            max_age: the longest time since a fact was last said; None for any.
            confidence_min: facts with less confidence are not known.
        """
        now, known = self.clock(), self.recall.known(scope)
        own_ids = [use.fact_id for use in known.uses]
        ids = {
            name: named_by(name, own_ids) if name.startswith(HANDLE_SIGN) else name
            for name in about
        }
        _, found = self.fact_store.find_facts(scope, [*ids.values()])
        wanted = {
            name: self._wanted(name, subject, subjects)
            for name, fact_id in ids.items()
            if fact_id not in found
        }
        current = self._current(known, wanted, confidence_min)
        asked = {
            name: current[name] if name in wanted else [found[ids[name]].as_of(now)]
            for name in about
        }
        held = [*self.records.held([scope])] if wanted else []
        links = self.fact_store.list_supersessions(scope)
        doubts = Doubts(
            disputed_ids={fact_id for each in known.conflicts for fact_id in each.pair},
            replaced_at={each.new_id: each.at for each in links if not each.is_restatement},
            instead=_instead(links, known.facts),
            waiting={
                name
                for name, filtered in wanted.items()
                if any(filtered.is_about(each.note.slot, each.text) for each in held)
            },
            now=now,
            max_age=max_age,
        )
        facts = [fact for each in asked.values() for fact in each]
        return check(asked, self._limits(scope, act, facts), doubts)

    def _wanted(
        self, name: str, subject: str | None, subjects: Callable[[str], Sequence[str]]
    ) -> RecallFilter:
        attribute, meant = attribute_asked(self.attributes, name, subject)
        return RecallFilter(attribute=attribute, subject=tuple(subjects(meant)))

    def _current(
        self, known: Known, wanted: Mapping[str, RecallFilter], confidence_min: float
    ) -> dict[str, list[Fact]]:
        """Facts that give the current values of attributes."""
        values = self.records.values_of(
            known.facts, known.conflicts, confidence_min, self.attributes
        )
        facts, now = {fact.fact_id: fact for fact in known.facts}, self.clock()
        return {
            name: [
                facts[value.fact_id].as_of(now)
                for value in values
                if value.attribute == filtered.attribute
                and value.subject in (filtered.subject or ())
            ]
            for name, filtered in wanted.items()
        }

    def _limits(self, scope: Scope, act: str, facts: Sequence[Fact]) -> list[Fact]:
        """Standing constraints that touch the act, or without one the facts."""
        if not act and not facts:
            return []
        query = act or " ".join(fact.text for fact in facts)
        own = {fact.fact_id for fact in facts}
        near = self.recall.recall(scope, query, FITTING_MAX).clearest(CLEAREST_SHARE)
        return [
            hit.fact for hit in near if hit.is_standing and hit.fits and hit.fact.fact_id not in own
        ]


def _instead(links: Sequence[Supersession], facts: Sequence[Fact]) -> dict[str, str]:
    """For each fact that was replaced, the text of the fact that holds in its place."""
    newer = {link.old_id: link.new_id for link in links}
    texts = {fact.fact_id: fact.text for fact in facts}
    found: dict[str, str] = {}
    for old_id, new_id in newer.items():
        seen = {old_id}
        while new_id not in texts and new_id in newer and new_id not in seen:
            seen.add(new_id)
            new_id = newer[new_id]
        if new_id in texts:
            found[old_id] = texts[new_id]
    return found

"""Before an act: what is known of the facts that it rests on. Only reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from itertools import chain
from sys import maxsize

from reconciler.domain.recalling.checking import ActCheck, Doubts, check
from reconciler.domain.recalling.filtering import RecallFilter
from reconciler.domain.recalling.history import head_of, last_said
from reconciler.domain.recalling.recallable import Recalling
from reconciler.domain.recalling.recalled import SlotValue, holds_always, suspended_ids
from reconciler.domain.records.facts import Fact, named_by
from reconciler.domain.records.kinds import Clock
from reconciler.domain.records.notes import Scope
from reconciler.domain.values.attributes import AttributeBook
from reconciler.domain.values.placing import Meant
from reconciler.errors import InvalidRequestError
from reconciler.frozen import frozen
from reconciler.reading.guard import OF_PERMISSIONS, denies_more_than, share_more_than
from reconciler.service.recall import Recall, open_disputes
from reconciler.service.records import Records
from reconciler.service.stores.fact_store import FactStore

_TOUCHES = 0.1
"""Least similarity of a limit that touches an act; a model without a profile has no floor."""


@frozen
class Acting:
    """Says whether an act may rest on what is known.

    Args:
        fact_store: facts, also those that have ended.
        records: held notes and current values.
        recall: live facts and standing constraints.
        attributes: names of attributes.
        whom: gives the known people that a subject means.
        how: the least confidence of a known fact.
        clock: the time now, UTC-aware.
    """

    fact_store: FactStore
    records: Records
    recall: Recall
    attributes: AttributeBook
    whom: Callable[[Scope, str], Meant]
    how: Recalling
    clock: Clock

    def check(
        self,
        scope: Scope,
        about: Mapping[str, str],
        subject: str | None,
        act: str,
        max_age: timedelta | None,
        account: str | None = None,
    ) -> ActCheck:
        """Check before an act; see ``ContactMemory.check``.

        Args:
            scope: the contact.
            about: attributes, and facts by id or handle; each by the name that the caller gave it.
            subject: whom the attributes are about; None for the contact.
            act: what is planned, in words; may be empty.
            max_age: the longest time since a fact was last said; None for any.
            account: the account that the scope is; None for the contact that was asked about.
        """
        now, known = self.clock(), self.recall.known(scope)
        links = self.fact_store.list_supersessions(scope)
        facts = {fact.fact_id: fact.as_of(now) for fact in known.facts}
        wholes = {name: scope.known_account(name) for name in known.recallable.accounts(now)}
        uses = chain(known.uses, *map(self.fact_store.list_uses, wholes.values()))
        all_ids = [use.fact_id for use in uses]
        newer = {link.old_id: link.new_id for link in links}
        ids = {name: last_said(named_by(each, all_ids), links) for name, each in about.items()}
        found = self.fact_store.find_facts(scope, [*ids.values()])
        values = self.records.values_of(
            known.facts,
            known.conflicts,
            self.how.confidence_min,
            self.attributes.of(scope.agent_id),
        )
        asked: dict[str, list[Fact]] = {"act": []}
        wanted: dict[str, RecallFilter] = {}
        unclear = []
        for name, fact_id in ids.items():
            if fact_id in found:
                asked[name] = [facts.get(fact_id, found[fact_id])]
                if (slot := found[fact_id].slot) and slot.attribute:
                    wanted[name] = RecallFilter(attribute=slot.attribute, subject=(slot.subject,))
                continue
            wanted[name], is_unclear, said = self.said_of(scope, name, subject, values)
            unclear += [name] if is_unclear else []
            asked[name] = [facts[each.fact_id] for each in said]
        left = {name: ids[name] for name in ids if not asked[name]}
        theirs = [
            self.check(whole, left, subject, act, max_age, name)
            for name, whole in wholes.items()
            if left
        ]
        elsewhere = {reason.about for each in theirs for reason in each.reasons}
        resting = {fact.fact_id: fact.text for each in asked.values() for fact in each}
        query = act or " ".join(resting.values())
        names = " ".join((scope.contact_id, *known.recallable.own_names))
        light = f"{names} {OF_PERMISSIONS}"
        # The floor of recall is for questions: "Give her nuts" finds no allergy to nuts.
        touching = [
            hit
            for hit in (self.recall.recall(scope, query, maxsize) if query else ())
            if (
                (hit.fits and (hit.similarity or 0.0) >= _TOUCHES)
                or (holds_always(hit) and share_more_than(light, act, hit.fact.text))
            )
            and not hit.is_upcoming
            and (act or hit.fact.fact_id not in resting)
        ]
        in_dispute = [hit.fact for hit in touching if act and hit.disputed_with]
        told = [fact for fact in facts.values() if fact.is_told() and not fact.is_upcoming(now)]
        limits = [hit.fact for hit in touching if holds_always(hit)]
        denials = [
            fact for fact in told if fact not in limits and denies_more_than(light, fact.text, act)
        ]
        asked["act"] += in_dispute + denials
        held = [*self.records.held([scope])]
        waiting = [
            name
            for name, each in wanted.items()
            if any(each.is_about(one.note.slot, one.text) for one in held)
        ]
        if act or not wanted:
            # Words find 24 of 30 held notes about an act, and none about other things. Of 8 notes
            # about other things, vectors find one for 13 of 30 acts.
            waiting += [
                "act"
                for one in (*held, *self.records.held([*wholes.values()]))
                if share_more_than(names, query, one.text)
            ]
        disputes = open_disputes(known.conflicts)
        doubts = Doubts(
            of_facts={
                "it is in dispute": [*disputes, *(fact.fact_id for fact in in_dispute)],
                "another value holds in its place for now": suspended_ids(told, now, disputes),
                "it may not fit": [fact.fact_id for fact in denials],
                "it may be outdated": [each.fact_id for each in values if each.may_be_outdated],
            },
            replaced_at={each.new_id: each.at for each in links if not each.is_restatement},
            instead={old: facts[head] for old in newer if (head := head_of(old, newer)) in facts},
            of_names={
                "nothing is known of it": () if account else left.keys() - elsewhere,
                "more than one known person fits": unclear,
                "a note about it waits for an answer": waiting,
            },
            now=now,
            max_age=max_age,
            account=account,
            theirs=theirs,
        )
        return check(asked, limits, doubts)

    def said_of(
        self, scope: Scope, name: str, subject: str | None, values: Iterable[SlotValue]
    ) -> tuple[RecallFilter, bool, list[SlotValue]]:
        """What a name and a subject mean, if several people fit, and their values among these.

        Raises:
            InvalidRequestError: either cannot be used.
        """
        slot = self.attributes.of(scope.agent_id).slot(subject=subject, attribute=name)
        if slot is None or slot.attribute is None:
            raise InvalidRequestError(
                f"attribute {name!r} is not the name of an attribute; give one, for example city"
            )
        meant = self.whom(scope, slot.subject)
        subjects = (*meant.subjects, *meant.may_be)
        said = [
            each for each in values if each.attribute == slot.attribute and each.subject in subjects
        ]
        return RecallFilter(attribute=slot.attribute, subject=subjects), bool(meant.may_be), said

"""The common part of rules and limits: the view of the facts, and a verdict's parts. Pure.

Here are the neighbours, which are the facts that a note is compared with, the input of the rules,
and the form of a rule and a limit. Several rules also share the differences between note and fact,
the links of a new fact, the questions of a reader, and the verdict of a correction.

A model is believed only about facts that the note speaks of (``may_end``). Never here: the rules
and their order, or the computing of a cosine, which comes from elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import combinations, starmap, takewhile
from operator import attrgetter

from reconciler.domain.records.decisions import Judgement, Verdict
from reconciler.domain.records.facts import Fact, Neighbour, Neighbours, Relations
from reconciler.domain.records.kinds import Action, DecidedBy
from reconciler.domain.records.notes import Note, SlotMatch, compare_slots
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.errors import InvalidRequestError
from reconciler.frozen import Strings, StringSet, frozen, in_order
from reconciler.reading.findings import Difference, Finding, Findings
from reconciler.reading.guard import (
    answer_one_question,
    are_two_things,
    denies_value,
    denies_value_ever,
    differ_only_in,
    find_changes,
    find_differences,
    find_losses,
    find_news,
    find_unreadable,
    is_english,
    is_repeated_in,
    may_be_asked,
    names_before,
    says_it_changed,
    share_a_word,
    shared_words,
    tell_of_other_matters,
    tells_of_change,
    tells_of_end,
)
from reconciler.reading.guard.reading import folded, read
from reconciler.reading.kinds import Category

NEIGHBOUR_COUNT_MAX = 10
"""Facts that are compared: those that share the note's slot first, then the nearest."""

_NEAREST_COUNT = 5
"""Neighbours that a decision keeps, beside those that share the note's slot."""

_EXPIRED_COUNT = 2
"""Expired facts that a decision keeps in addition to the live ones."""


_OF_FACT = (
    "fact_id",
    "text",
    "valid_from",
    "trust",
    "slot",
    "category",
    "observations",
    "is_confirmed_by_user",
    "is_standing",
    "is_start_given",
)


def neighbour_of(fact: Fact, cosine: float, **flags: bool) -> Neighbour:
    """A fact as the rule sees it.

    Args:
        fact: the fact.
        cosine: its raw cosine to the note, in [-1, 1].
        **flags: the fields of ``Neighbour`` about its state at this moment; False if left out.
    """
    own = dict(zip(_OF_FACT, _own(fact), strict=True))
    return Neighbour(cosine=cosine, **(own | flags))


_own = attrgetter(*_OF_FACT)


def is_rival(note: Note, fact: Fact) -> bool:
    """True if the note's slot decides about the fact, even if their texts are very different."""
    if note.slot is None or fact.slot is None:
        return False
    return note.slot.decides_about(fact.slot)


def are_of_one_kind(note: Note, fact: Fact | Neighbour) -> bool:
    """True if the two may be compared: an outcome of a task only with another outcome."""
    return (note.category is Category.OUTCOME) == (fact.category is Category.OUTCOME)


def match_of(note: Note, fact: Fact | Neighbour) -> SlotMatch:
    """How the note's slot relates to the fact's slot, if the texts are about one matter.

    The budgets of two projects are two matters, with any values. An attribute that the caller
    invented is always one matter. A denial of a value is not another value: a person who never
    worked at Globex may work at Nordlys, in either order.
    """
    match = compare_slots(note.slot, fact.slot)
    if not note.slot or not fact.slot or match not in (SlotMatch.EQUAL, SlotMatch.CHANGED):
        return match
    is_denied = match is SlotMatch.CHANGED and (
        denies_value(note.text, note.slot_value) or denies_value_ever(fact.text, fact.slot_value)
    )
    return SlotMatch.APART if is_denied or are_other_matters(note, fact) else match


def are_of_several_matters(facts: Iterable[Fact | Neighbour]) -> bool:
    """True if facts in one slot are about several things, such as the budgets of two projects."""
    return any(starmap(are_other_matters, combinations(facts, 2)))


def are_other_matters(one: Note | Fact | Neighbour, other: Fact | Neighbour) -> bool:
    """True if both name the thing of the slot's value, and the things differ."""
    if one.slot is None or other.slot is None or not one.slot.is_known:
        return False
    values = (one.slot_value, other.slot_value)
    return tell_of_other_matters(one.text, other.text, one.slot.attribute or "", values)


def are_filed_apart(note: Note, fact: Neighbour) -> bool:
    """True if the caller gave the note another attribute than the fact's.

    Then no cosine makes them the same: "Yes, that is fine." answers any question.
    """
    return note.slot_read_from is None and len(_attributes(note, fact)) > 1


def _attributes(note: Note, fact: Neighbour) -> Strings:
    """Attributes of both, the note's first, each once."""
    named = (slot.attribute for slot in (note.slot, fact.slot) if slot)
    return tuple(dict.fromkeys(filter(None, named)))


def may_both_hold(note: Note, fact: Neighbour) -> bool:
    """True if note and fact are about two matters, so that there is nothing to ask."""
    return _are_two_questions(note, fact) or are_two_things(note.text, fact.text)


def _are_two_questions(note: Note, fact: Neighbour) -> bool:
    """True if the caller gave the note another attribute than the fact's, so that both hold.

    Not if one name is a part of the other ("films", "films_watched"), or only the answer differs
    ("has a dog", "has no dog"). Nor if the note tells of a change of the fact's attribute, and does
    not name its own: "the new credit limit, with our terms" changes no terms.
    """
    if not are_filed_apart(note, fact):
        return False
    here, there = (set(attribute.split("_")) for attribute in _attributes(note, fact))
    new, old = (slot.value_key for slot in (note.slot, fact.slot) if slot)
    if here <= there or there <= here or new in (None, old):
        return False
    if denies_value(note.text, fact.slot_value) or names_before(note.text, fact.slot_value):
        return False
    names_its_own = all(share_a_word(note.text, name) for name in here - there)
    names_the_other = share_a_word(note.text, " ".join(there - here))
    if names_the_other and not names_its_own and tells_of_change(note.text):
        return False
    findings = find_differences(note.text, fact.text)
    return not differ_only_in(findings, note.text, fact.text)


def neighbours_of(
    note: Note, seen: Iterable[Neighbour], named_ids: Sequence[str] = ()
) -> Neighbours:
    """Facts that decide about a note, nearest first.

    They are the five nearest; the five nearest without siblings, which are other values of an
    attribute that holds many; and facts that are named, or share the note's slot or words. Of
    expired facts the two nearest without siblings, and those that share the slot.

    Args:
        note: the note.
        seen: the compared facts, in any order.
        named_ids: the facts that the note names, if any.

    Returns:
        The neighbours that the decision keeps, nearest first.
    """
    alike = [neighbour for neighbour in seen if are_of_one_kind(note, neighbour)]
    ordered = sorted(alike, key=lambda neighbour: -neighbour.cosine)
    matches = {fact.fact_id: compare_slots(note.slot, fact.slot) for fact in ordered}
    live = [fact for fact in ordered if not fact.is_expired]
    near = [fact for fact in ordered if matches[fact.fact_id] is not SlotMatch.APART]
    kept = [
        *live[:_NEAREST_COUNT],
        *[fact for fact in near if not fact.is_expired][:_NEAREST_COUNT],
        *[fact for fact in near if fact.is_expired][:_EXPIRED_COUNT],
        *(fact for fact in near if matches[fact.fact_id] is not SlotMatch.UNKNOWN),
    ]
    kept_ids = {*named_ids, *(fact.fact_id for fact in kept)}
    return tuple(fact for fact in ordered if fact.fact_id in kept_ids or fact.shares_words)


LINK_COSINE_MIN = 0.45
"""Below this cosine two texts are about different things, even if they count the same noun. Source:
measured on LongMemEval with all-MiniLM-L6-v2: 31 of 33 updates are above it."""


Unread = Callable[[str], str]
"""The parts of a text that the embedding model could not read; empty if it read all."""

DENIALS = (Difference.NEGATION, Difference.CESSATION)


@frozen
class RuleInput:
    """The input of the rules: a note's neighbours, thresholds and judgement.

    Attributes:
        neighbours: as in ``decide``, without the facts that hold together with the note, as a model
            says.
        known: all neighbours; None without an embedder.
        replaceable: the neighbours that the note could replace.
        policy: the thresholds.
        judgement: an arbiter's answer about ``shown``, if any.
        shown: the facts that a judge is, or would be, asked about.
        unread: returns the parts of a text that the embedding model could not read.
        relations: the relations from a model that read note and facts.
        related_by: the name of that model.
        is_state: whether the note is a plain statement, judged by its vector, and not the end of a
            fact.
        taken_back: the ids of the permissions that the note withdraws, judged by vectors.
        so_far: the verdict that is valid unless a judge, which is asked last, changes it.
    """

    neighbours: Sequence[Neighbour]
    known: Sequence[Neighbour] | None
    replaceable: Sequence[Neighbour]
    policy: ReconcilePolicy
    judgement: Judgement | None
    shown: Sequence[Neighbour]
    unread: Unread
    relations: Relations | None
    related_by: DecidedBy
    is_state: bool
    taken_back: Collection[str]
    so_far: Ruling = None

    @property
    def nearest(self) -> Neighbour:
        """The nearest fact to replace.

        A live fact, unless it is far away and an expired fact is near.
        """
        for bound in (self.policy.cut, self.policy.cosine_add_max):
            for fact in self.replaceable:
                if fact.cosine >= bound:
                    return fact
        return self.replaceable[0]

    @property
    def is_asked(self) -> bool:
        """True if a judge is asked also below the band."""
        return self.policy.reach is not None and bool(self.shown)


@in_order
class RuleRow:
    """One row of the table; the first three are given in this order.

    Attributes:
        decided_by: what the decision records, as the table prints it.
        when, what: when it applies, and what is written.
        why: the sentence of ``explain`` about its decisions; "" if the thresholds explain them.
    """

    decided_by: str
    when: str
    what: str
    why: str = ""


Ruling = Verdict | None
"""What a rule or a limit says of a note; None if it does not apply."""


@frozen
class Rule(RuleRow):
    """A rule. The first that gives a verdict decides; a judge is asked last, and may overrule it.

    Attributes:
        apply: takes the note and the input; returns None if it does not apply.
        is_linked: whether its ADD is linked to facts about which a reader would ask.
    """

    apply: Callable[[Note, RuleInput], Ruling]
    is_linked: bool = False


@frozen
class RuleLimit(RuleRow):
    """A limit, which every verdict of these actions must pass.

    Attributes:
        apply: takes the note, the input and the verdict; returns None if it changes nothing.
        over: the actions that it checks.
    """

    apply: Callable[[Note, RuleInput, Verdict], Ruling]
    over: frozenset[Action] = frozenset({Action.UPDATE})


def all_read(_text: str) -> str:
    """Returns no unread part: the model reads the whole text."""
    return ""


def add(decided_by: DecidedBy, reason: str) -> Verdict:
    """An ADD without links."""
    return Verdict(Action.ADD, decided_by, reason)


def update(
    decided_by: DecidedBy, target: Neighbour, reason: str, *, is_restatement: bool
) -> Verdict:
    """An UPDATE of one fact."""
    return Verdict(
        Action.UPDATE,
        decided_by,
        reason,
        targets=(target,),
        is_restatement=is_restatement,
    )


def cosine_of(neighbour: Neighbour) -> str:
    """Fact's cosine, in words for a reason."""
    return f"nearest fact at {neighbour.cosine:.3f}"


def listed(findings: Iterable[Finding]) -> str:
    """The findings, in words for a reason."""
    shown = "; ".join(map(str, findings))
    return f", yet {shown}" if shown else ""


def sparing(spared: Neighbours, verdict: Verdict, decided_by: DecidedBy, reason: str) -> Verdict:
    """The UPDATE without the targets that must not end; the note is in dispute with them."""
    conflicts = verdict.conflicts + spared
    ended = tuple(target for target in verdict.targets if target not in spared)
    if ended:
        return replace(verdict, targets=ended, conflicts=conflicts, reason=reason)
    return replace(
        verdict,
        action=Action.ADD,
        decided_by=decided_by,
        reason=reason,
        targets=(),
        conflicts=conflicts,
        is_restatement=False,
    )


def repeating(fact: Neighbour, verdict: Verdict, decided_by: DecidedBy, reason: str) -> Verdict:
    """The UPDATE as one more observation of the fact that must not end."""
    return replace(
        verdict, action=Action.SKIP, decided_by=decided_by, reason=reason, targets=(fact,)
    )


def differences_of(note: Note, fact: Neighbour, policy: ReconcilePolicy) -> Findings:
    """Differences between note and fact; none if the guard is off."""
    return find_differences(note.text, fact.text) if policy.guard else ()


def unlike(note: Note, fact: Neighbour, seen: RuleInput) -> Findings:
    """Findings that keep any cosine from meaning a restatement; empty if there are none.

    Without the guard only text that the model could not read counts.
    """
    return differences_of(note, fact, seen.policy) or tuple(
        finding
        for finding in find_unreadable(note.text, fact.text, seen.unread)
        if seen.policy.guard or finding.kind is Difference.UNREAD
    )


def news_of(note: Note, fact: Neighbour, policy: ReconcilePolicy) -> Findings:
    """Details that only the note has; swapped roles are left to the arbiter."""
    news = find_news(note.text, fact.text) if policy.guard else ()
    return tuple(
        difference
        for difference in news
        if difference.in_note and difference.kind is not Difference.ROLES
    )


def changes_of(findings: Iterable[Finding]) -> Findings:
    """Findings of which only one side can hold."""
    return tuple(finding for finding in findings if finding.is_change)


def denials_of(note: Note, fact: Neighbour, policy: ReconcilePolicy) -> Findings:
    """Denials: one text affirms, and the other says "not" or "no longer"."""
    return tuple(each for each in differences_of(note, fact, policy) if each.kind in DENIALS)


def losses_of(note: Note, fact: Neighbour) -> Findings:
    """Details that would be lost if the fact ended.

    Another spelling of the value does not count.
    """
    said = note.slot_value
    is_named = bool(said) and said.casefold() in note.text.casefold()
    is_shared = is_named and match_of(note, fact) is SlotMatch.EQUAL
    return find_losses(note.text, fact.text, value=fact.slot_value if is_shared else "")


_APART_COSINE_MIN = 0.7
"""The same bound for texts that share only their subject, or that are not English: the packaged
model puts all texts of another language near each other. Source: as for replies."""


def may_end(note: Note, fact: Neighbour) -> bool:
    """True if a model that says that a note ends a fact may be believed.

    The note must speak of that fact: it names something that the fact says, answers its question,
    or has a similar meaning. The name of the contact does not count. A fact that orders or forbids,
    or that recall never cuts, ends only by another value of its slot or by words that name it. A
    fact that recall never cuts needs words about an end, too: "Orders the peanut menu" does not end
    an allergy. Only the name of the attribute is enough only with such words: "Has a new budget
    line" does not end a budget.
    """
    if match_of(note, fact) is SlotMatch.CHANGED:
        return True
    named = named_of(note, fact)
    tells = tells_of_change(note.text) or tells_of_end(note.text)
    if fact.is_vital:
        return bool(named) and (tells or bool(find_changes(note.text, fact.text)))
    question = fact.slot.attribute_in_words if fact.slot else ""
    if named and (tells or shared_words(" ".join(named), question) != named):
        return True
    if fact.is_standing:
        return False
    told, known = note.slot, fact.slot
    if told and known and told.attribute and told.question == known.question:
        return True
    is_read = is_english(note.text) and is_english(fact.text)
    is_far = not is_read or bool(shared_words(note.text, fact.text))  # a name, as far as they go
    return fact.cosine >= (_APART_COSINE_MIN if is_far else LINK_COSINE_MIN)


def named_of(note: Note, fact: Neighbour) -> StringSet:
    """The words of the fact that the note has, too, without the names of their subject."""
    names = " ".join((*note.called, _subject_of(note, fact)))
    return shared_words(note.text, f"{fact.text} {fact.slot_value}", names)


def _subject_of(note: Note, fact: Neighbour) -> str:
    """The name at the beginning of both texts, mostly the contact's; empty if there is none."""
    pairs = zip(note.text.split(), fact.text.split(), strict=False)
    run = [one for one, _ in takewhile(lambda pair: pair[0] == pair[1] != pair[0].lower(), pairs)]
    names = read(note.text).names | read(fact.text).names
    return " ".join(run) if any(folded(word.strip(".,:")) in names for word in run) else ""


def kept_apart(note: Note, target: Neighbour, findings: Findings, why: str) -> Verdict:
    """A verdict that keeps both, linked if they cannot both hold.

    A name, a number or a "not" in only one text shows that the two are not the same; beside other
    words of its own, it does not show that they cannot both hold.
    """
    return Verdict(
        Action.ADD,
        DecidedBy.GUARD,
        why + listed(findings),
        conflicts=(target,) if is_conflict(note, target, findings) else (),
        findings=findings,
    )


def is_conflict(note: Note, fact: Neighbour, findings: Findings) -> bool:
    """True if a reader of both would ask which one holds."""
    return may_be_asked(note.text, fact.text, findings) and not may_both_hold(note, fact)


def live_first(neighbours: Iterable[Neighbour]) -> list[Neighbour]:
    """Neighbours in order, live ones before expired ones."""
    return sorted(neighbours, key=lambda neighbour: neighbour.is_expired)


def without_loss(note: Note, verdict: Verdict, policy: ReconcilePolicy) -> Verdict:
    """Verdict, except when the fact that the verdict would end says more than the note.

    Such a fact stays. If the note restates it and the fact has all of the note's words, the fact is
    counted again. Any other note is written beside it: a word that only the note has may be news,
    and a more trusted note is always kept.

    Args:
        note: the note.
        verdict: the UPDATE that would end its first target.
        policy: whether the guard is on.
    """
    fact = verdict.targets[0]
    losses = losses_of(note, fact) if policy.guard else ()
    if not losses or verdict.action is not Action.UPDATE:
        return verdict
    lost = "; ".join(map(str, losses))
    is_repeated = verdict.is_restatement and is_repeated_in(note.text, fact.text)
    if is_repeated and not fact.word.is_trusted_less_than(note.trust):
        reason = f"{verdict.reason}, and it says more: {lost}"
        return repeating(fact, replace(verdict, findings=losses), DecidedBy.GUARD, reason)
    return Verdict(
        Action.ADD,
        DecidedBy.GUARD,
        f"{verdict.reason}, yet this part of the fact would be lost: {lost}",
        findings=losses,
        can_be_arbitrated=verdict.can_be_arbitrated,
    )


def _owning_to(note: Note, seen: RuleInput, verdict: Verdict) -> Ruling:
    """The verdict of a cosine; its reason says how much of the note the model could not read."""
    unread = seen.unread(note.text)
    if not unread:
        return None
    share = len(unread) / max(1, sum(map(str.isalnum, note.text)))
    how = f"; the embedding model could not read {min(share, 1):.0%} of the note"
    return replace(verdict, reason=verdict.reason + how)


def _with_denied(note: Note, seen: RuleInput, verdict: Verdict) -> Ruling:
    """A note without a value ends no fact; a fact that it denies in its slot is linked to it."""
    if note.slot is None or note.slot.value_key is not None or verdict.action is not Action.ADD:
        return None
    denied = tuple(
        neighbour
        for neighbour in seen.neighbours
        if neighbour.slot
        and neighbour.slot.question == note.slot.question
        and neighbour not in verdict.conflicts
        and denials_of(note, neighbour, seen.policy)
    )
    return replace(verdict, conflicts=verdict.conflicts + denied) if denied else None


def _with_open(note: Note, seen: RuleInput, verdict: Verdict) -> Ruling:
    """A note with another value of an attribute if it is not known how many values it holds.

    Only a reader can tell whether they still hold, so without one they are linked.
    """
    if verdict.action is not Action.ADD or not seen.policy.guard or note.slot is None:
        return None
    others = tuple(
        fact
        for fact in seen.neighbours
        if match_of(note, fact) is SlotMatch.OPEN
        and not fact.is_expired
        and fact not in verdict.conflicts
    )
    if not others:
        return None
    values = ", ".join(fact.slot.shown_value or "" for fact in others if fact.slot)
    what = f"{note.slot.subject}'s {note.slot.attribute} was {values}, and both may hold"
    return replace(
        verdict,
        reason=f"{verdict.reason}; {what}",
        conflicts=verdict.conflicts + others,
        can_be_arbitrated=True,
    )


def _with_changed(note: Note, seen: RuleInput, verdict: Verdict) -> Ruling:
    """A note that answers the question of a near fact in another way is linked to that fact.

    If no judge answered, a note that says it is a change is also linked to the nearest fact about
    the same matter; a judge reads such notes better than shared words do.
    """
    if verdict.action is not Action.ADD or verdict.conflicts or not seen.policy.guard:
        return None
    for fact in seen.neighbours:
        if fact.is_expired:
            continue
        if seen.judgement is None and says_it_changed(note.text, fact.text, fact.cosine):
            why = f'it says that it is a change, maybe of "{fact.text}"'
        elif fact.cosine >= LINK_COSINE_MIN and answer_one_question(note.text, fact.text):
            why = f'it answers the question that "{fact.text}" answers'
        else:
            continue
        if match_of(note, fact) is not SlotMatch.APART and not may_both_hold(note, fact):
            return replace(verdict, reason=f"{verdict.reason}; {why}", conflicts=(fact,))
    return None


LINKS = (_owning_to, _with_denied, _with_open, _with_changed)
"""The links of a note that a cosine decided about, and the words for them, in order."""


def amended(
    note: Note, neighbours: Sequence[Neighbour] | None, fact_id: str | None, why: str
) -> Verdict:
    """Verdict that ends the named fact and all facts in the note's slot.

    Args:
        note: the correction.
        neighbours: live facts in scope, with the named one and those in the note's slot; None
            without an embedder.
        fact_id: the fact to end; None for the facts in the slot.
        why: who amends, and why.

    Raises:
        InvalidRequestError: there is no fact to amend, or it begins later than the note.
    """
    if neighbours is None:
        raise InvalidRequestError(
            "this memory has no model to compare texts with, so no fact can be amended; add a "
            "model with `reconciler reembed --model minilm`, or revoke the fact and add the right "
            "one"
        )
    named = [neighbour for neighbour in neighbours if neighbour.fact_id == fact_id]
    slotted = (SlotMatch.EQUAL, SlotMatch.CHANGED)
    rivals = [neighbour for neighbour in neighbours if match_of(note, neighbour) in slotted]
    targets = tuple(named + [rival for rival in rivals if rival not in named])
    if not targets or (fact_id is not None and not named):
        raise InvalidRequestError(
            "no live fact has this attribute, or this id; name the fact with `--fact` (fact_id), "
            "which `reconciler recall` shows, or add a plain note"
        )
    newest = max(targets, key=lambda neighbour: neighbour.valid_from)
    if not note.is_undated and note.holds_from < newest.valid_from:
        raise InvalidRequestError(
            f"the known fact starts on {newest.valid_from:%Y-%m-%d %H:%M}, later than the "
            f"amendment ({note.holds_from:%Y-%m-%d %H:%M}); give a later said_at, or leave it out "
            "to amend the fact from now on"
        )
    return Verdict(
        Action.UPDATE,
        DecidedBy.AMENDMENT,
        f"amended by {why}",
        targets=targets,
    )

"""Standing decisions in the rule, and which live fact says already what was proposed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, strategies as st

from reconciler.domain.reconciling.rule import decide, restated
from reconciler.domain.records.decisions import Judgement, Verdict
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Action, DecidedBy, Relation, SourceKind
from reconciler.domain.records.notes import Note, Scope, Slot
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.reading.kinds import Category
from tests.tables import every

ADD, UPDATE, SKIP = Action.ADD, Action.UPDATE, Action.SKIP
STANDING = DecidedBy.STANDING
USER, EXTRACTOR, TOOL = SourceKind.USER_EXPLICIT, SourceKind.EXTRACTOR, SourceKind.TOOL_OUTPUT
DECISION = Category.DECISION
OTHERS = [None, *(each for each in Category if each is not DECISION)]
NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)
EARLIER, LATER = NOW - timedelta(days=30), NOW + timedelta(days=30)
POLICY, UNGUARDED = ReconcilePolicy(), ReconcilePolicy(guard=False)
IN_BAND, ABOVE, BELOW = 0.9, 0.97, 0.5
AGREED, OTHERWISE = "Agreed to pay by invoice", "Pays in cash these days"
SAME_ANSWER, OTHER_ANSWER = "net 30", "net 14"


def note(text: str = OTHERWISE, category: Category | None = None, **changes: Any) -> Note:
    scope = Scope("acme", "crm", "ann")
    return Note(**{"scope": scope, "text": text, "said_at": NOW, "category": category} | changes)


def known(
    text: str = AGREED, cosine: float = IN_BAND, category: Category = DECISION, **changes: Any
) -> Neighbour:
    usual = {"fact_id": f"fact: {text}", "text": text, "cosine": cosine, "category": category}
    return Neighbour(**usual | {"valid_from": EARLIER} | changes)


def terms(value: str | None, single: bool = True) -> Slot:
    return Slot(
        subject="contact",
        attribute="payment_terms",
        value=value,
        value_key=value,
        is_single_valued=single,
        is_known=True,
    )


def judged(relation: Relation, action: Action = UPDATE) -> Judgement:
    return Judgement(reasoning="because", relation=relation, target=1, action=action)


def decided(note_: Note, *facts: Neighbour, judgement: Judgement | None = None) -> Verdict:
    """Without the guard, which would keep such different texts apart by itself."""
    return decide(note_, facts, UNGUARDED, judgement)


# Standing decisions


@every("category", [each for each in OTHERS if each is not Category.VOLATILE])
def test_what_is_no_decision_does_not_end_a_standing_one(category: Category | None) -> None:
    verdict = decided(note(category=category), known())
    assert (verdict.action, verdict.decided_by) == (ADD, STANDING)


def test_what_would_have_ended_it_stands_beside_it_as_a_conflict() -> None:
    standing = known()
    verdict = decided(note(), standing)
    assert (verdict.targets, verdict.conflicts) == ((), (standing,))


def test_a_newer_decision_ends_a_standing_one() -> None:
    standing = known()
    verdict = decided(note(category=DECISION), standing)
    assert (verdict.action, verdict.targets) == (UPDATE, (standing,))


@every("category", [each for each in Category if each is not DECISION])
@every("of_note", [None, *Category])
def test_whatever_is_no_decision_ends_as_ever(category: Category, of_note: Category | None) -> None:
    # A temporary note cannot replace a lasting fact, a decision or not.
    passes = of_note is Category.VOLATILE and category is not Category.VOLATILE
    assert decided(note(category=of_note), known(category=category)).action is (
        ADD if passes else UPDATE
    )


def test_the_reason_says_what_would_have_happened() -> None:
    reason = decided(note(), known()).reason
    assert "ends only by another one or when revoked" in reason
    assert "nearest fact at 0.900" in reason


@every("category", OTHERS)
def test_saying_a_standing_decision_again_restates_it(category: Category | None) -> None:
    verdict = decide(note(AGREED, category), [known(cosine=ABOVE)], POLICY)
    assert (verdict.action, verdict.is_restatement) == (UPDATE, True)


def test_a_new_value_of_the_same_attribute_ends_a_standing_decision() -> None:
    standing = known(slot=terms(OTHER_ANSWER))
    verdict = decided(note(slot=terms(SAME_ANSWER)), standing)
    assert (verdict.decided_by, verdict.targets) == (DecidedBy.SLOT, (standing,))


def test_without_a_value_of_its_own_a_note_ends_no_standing_decision() -> None:
    verdict = decided(note(slot=terms(None)), known(slot=terms(OTHER_ANSWER)))
    assert verdict.action is ADD


@every(
    ("whose", "known_by", "decided_by"),
    [
        (SourceKind.USER_EXPLICIT, SourceKind.USER_EXPLICIT, DecidedBy.ARBITER),
        (SourceKind.EXTRACTOR, SourceKind.EXTRACTOR, STANDING),
        (SourceKind.OPERATOR, SourceKind.OPERATOR, STANDING),
        (SourceKind.USER_EXPLICIT, SourceKind.OPERATOR, STANDING),
    ],
)
def test_an_arbiter_ends_only_the_contacts_own_decision_by_the_contacts_own_word(
    whose: SourceKind, known_by: SourceKind, decided_by: DecidedBy
) -> None:
    told, standing = note(source_kind=whose), known(trust=known_by)
    verdict = decided(told, standing, judgement=judged(Relation.REPLACES))
    assert verdict.decided_by is decided_by


def test_an_arbiter_may_say_that_a_decision_is_only_repeated() -> None:
    verdict = decided(note(), known(), judgement=judged(Relation.SAME, SKIP))
    assert (verdict.action, verdict.decided_by) == (SKIP, DecidedBy.ARBITER)


def test_an_arbiter_may_end_a_decision_with_a_newer_one() -> None:
    verdict = decided(note(category=DECISION), known(), judgement=judged(Relation.REPLACES))
    assert (verdict.action, verdict.decided_by) == (UPDATE, DecidedBy.ARBITER)


INVOICES = "Every invoice must carry our PO number."


@every(
    ("known_text", "said", "action"),
    [
        (INVOICES, "We switched to direct debit for your invoices.", ADD),
        ("Never send invoices by post.", "We switched to direct debit for your invoices.", ADD),
        (INVOICES, "PO numbers are no longer needed on invoices.", UPDATE),
        ("Is allergic to almonds.", "The almond test came back negative.", UPDATE),
        ("Always copy Nadia on quotes.", "Nadia has left, copy Lena instead.", UPDATE),
    ],
)
def test_an_arbiter_ends_only_a_standing_fact_that_the_note_names(
    known_text: str, said: str, action: Action
) -> None:
    standing = known(known_text, category=Category.PREFERENCE, is_standing=True)
    verdict = decided(note(said), standing, judgement=judged(Relation.REPLACES))
    assert (verdict.action, (*verdict.targets, *verdict.conflicts)) == (action, (standing,))


def test_an_arbiter_is_still_asked_where_a_decision_stood_in_the_way() -> None:
    assert decided(note(), known()).can_be_arbitrated


@every("category", [None, DECISION])
def test_an_older_note_goes_beneath_a_standing_decision(category: Category | None) -> None:
    verdict = decided(note(category=category), known(valid_from=LATER))
    assert (verdict.decided_by, verdict.is_history) == (DecidedBy.ORDER, True)


def test_a_less_trusted_decision_does_not_end_a_standing_one() -> None:
    verdict = decided(note(category=DECISION, source_kind=TOOL), known())
    assert (verdict.action, verdict.decided_by) == (ADD, DecidedBy.TRUST)


def test_a_less_trusted_value_does_not_end_a_standing_decision() -> None:
    standing = known(slot=terms(OTHER_ANSWER))
    verdict = decided(note(slot=terms(SAME_ANSWER), source_kind=TOOL), standing)
    assert (verdict.action, verdict.decided_by) == (ADD, DecidedBy.TRUST)


def test_a_standing_decision_far_away_is_not_in_the_way() -> None:
    near = known("Pays in cash now", IN_BAND, Category.FACT)
    verdict = decided(note(), near, known(cosine=0.85))
    assert (verdict.targets, verdict.conflicts) == ((near,), ())


def test_without_an_embedder_no_decision_is_ended() -> None:
    assert decide(note(), None, POLICY).decided_by is DecidedBy.NOOP


neighbours_of_all_kinds = st.lists(
    st.builds(
        known,
        st.sampled_from([AGREED, OTHERWISE, "Pays by card"]),
        st.sampled_from([BELOW, 0.85, IN_BAND, ABOVE]),
        st.sampled_from(Category),
        trust=st.sampled_from(SourceKind),
        valid_from=st.sampled_from([EARLIER, LATER]),
    ),
    max_size=4,
    unique_by=lambda each: each.fact_id,
)
judgements = st.none() | st.sampled_from(
    [judged(Relation.REPLACES), judged(Relation.REFINES), judged(Relation.SAME, SKIP)]
)


@given(neighbours_of_all_kinds, st.sampled_from(OTHERS), judgements, st.booleans())
def test_only_a_decision_ever_takes_a_standing_ones_place(
    facts: Sequence[Neighbour], category: Category | None, judgement: Judgement | None, guard: bool
) -> None:
    near = sorted(facts, key=lambda each: -each.cosine)
    rules = ReconcilePolicy(guard=guard)
    verdict = decide(note(category=category), near, rules, judgement if near else None)
    ended = verdict.targets if verdict.is_replacement else ()
    # A judge may end what the contact alone agreed to, by what the contact says.
    is_judged = verdict.decided_by is DecidedBy.ARBITER
    held = [each for each in ended if not (is_judged and each.trust is SourceKind.USER_EXPLICIT)]
    assert not [each for each in held if each.category is DECISION]


# What is known already


def test_the_same_words_again_are_known_already() -> None:
    fact = known(cosine=1.0)
    assert restated(note(AGREED), [fact], POLICY) is fact


def test_the_same_value_in_other_words_is_known_already() -> None:
    fact = known("Payment terms are net 30", BELOW, slot=terms(SAME_ANSWER))
    text = "The terms are net 30"
    assert restated(note(text, slot=terms(SAME_ANSWER)), [fact], POLICY) is fact


@every("text", ["Could not pay for months", "The terms after her bankruptcy"])
def test_other_words_under_the_same_value_are_not_known_already(text: str) -> None:
    fact = known("Has agreed terms", BELOW, slot=terms(SAME_ANSWER))
    assert restated(note(text, slot=terms(SAME_ANSWER)), [fact], POLICY) is None


@every("source", [USER, EXTRACTOR, TOOL])
def test_a_less_trusted_word_counts_as_agreeing(source: SourceKind) -> None:
    fact = known(cosine=1.0)
    assert restated(note(AGREED, source_kind=source), [fact], POLICY) is fact


@every(
    ("text", "fact"),
    [
        (OTHERWISE, known(cosine=BELOW)),
        (OTHERWISE, known(cosine=IN_BAND)),
        ("Pays by invoice 1043", known("Pays by invoice 1042", ABOVE)),
        ("Does not pay by invoice", known("Pays by invoice", ABOVE)),
        ("Pays by invoice to Ann Lee", known("Pays by invoice", ABOVE)),
    ],
)
def test_what_is_new_in_it_is_not_known_already(text: str, fact: Neighbour) -> None:
    assert restated(note(text), [fact], POLICY) is None


def test_another_value_is_not_known_already_however_alike_it_sounds() -> None:
    fact = known(cosine=1.0, slot=terms(OTHER_ANSWER))
    assert restated(note(AGREED, slot=terms(SAME_ANSWER)), [fact], POLICY) is None


def test_what_held_only_later_was_not_known_then() -> None:
    assert restated(note(AGREED), [known(cosine=1.0, valid_from=LATER)], POLICY) is None


@every("facts", [None, []])
def test_without_anything_to_compare_with_nothing_is_known(facts: list[Neighbour] | None) -> None:
    assert restated(note(), facts, POLICY) is None


def test_of_two_facts_the_one_that_says_it_is_named() -> None:
    other = known("Pays by invoice 1043", 0.99)
    same = known("Pays by invoice 1042", 0.98)
    assert restated(note("Pays by invoice 1042"), [other, same], POLICY) is same


@given(neighbours_of_all_kinds, st.sampled_from([AGREED, OTHERWISE]))
def test_what_is_known_already_is_one_of_the_facts_and_ends_none_by_contradiction(
    facts: Sequence[Neighbour], text: str
) -> None:
    near = sorted(facts, key=lambda each: -each.cosine)
    found = restated(note(text), near, POLICY)
    assert found is None or found in near
    assert found is None or not decide(note(text), near, POLICY).is_replacement

"""What goes with what is forgotten, and what is left of a record."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reconciler.domain.erasing.planning import (
    ContactRecords,
    Judged,
    is_erased,
    plan_of,
    sayings,
    without_argument,
    without_telling,
    without_words,
)
from reconciler.domain.records.candidates import Assessment, CheckFinding
from reconciler.domain.records.decisions import Decision, Undo
from reconciler.domain.records.erasures import ERASED, ErasureTarget
from reconciler.domain.records.facts import Conflict, Fact, Supersession
from reconciler.domain.records.kinds import (
    Action,
    DecidedBy,
    Disposal,
    FactState,
    GateReason,
    Sensitivity,
    SourceKind,
)
from reconciler.domain.records.notes import Note, Scope, Slot
from reconciler.errors import InvalidRequestError
from reconciler.reading.findings import Difference, Finding
from reconciler.reading.kinds import Category, RecallSemantics
from tests.records import changed, decision_of
from tests.tables import every

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
SCOPE = Scope("acme", "crm", "priya")
WORD = "planted"
KEPT = {"scope", "session_id", "source_kind", "category"}
"""Fields of a note that are ids or names of lists, and stay."""


def lives_in(fact_id: str, city: str, **given: Any) -> Fact:
    usual: dict[str, Any] = {
        "text": f"Lives in {city}.",
        "slot": Slot(
            subject="contact",
            attribute="city",
            value=city,
            value_key=city.casefold(),
            is_single_valued=True,
        ),
        "trust": SourceKind.USER_EXPLICIT,
        "observations": 1,
        **dict.fromkeys(("recorded_at", "valid_from", "last_confirmed_at"), NOON),
    }
    return Fact(fact_id=fact_id, **usual | given)


def link(new_id: str, old_id: str, *, is_restatement: bool) -> Supersession:
    return Supersession(
        new_id=new_id,
        old_id=old_id,
        decided_by="slot",
        reason="a reason",
        at=NOON,
        is_restatement=is_restatement,
    )


def decided(fact: Fact, **given: Any) -> Decision:
    made = decision_of(
        decision_id=f"wrote {fact.fact_id}",
        scope=SCOPE,
        text=fact.text,
        slot=fact.slot,
        said_at=NOON,
        action=Action.ADD,
        decided_by=DecidedBy.SLOT,
        reason="a reason",
        fact_id=fact.fact_id,
        door="live",
        at=NOON,
        episode_id=f"said {fact.fact_id}",
        profile="seed",
        cosine_update_min=0.95,
        cosine_add_max=0.8,
        cosine_cut=0.875,
        guard=True,
        embedding_model="model",
    )
    return changed(made, **given) if given else made


def told(decision: Decision, **given: Any) -> Judged:
    usual: dict[str, Any] = {
        "decision_id": decision.decision_id,
        "episode_id": decision.episode_id,
        "session_id": "chat",
        "text": decision.text,
    }
    return Judged(**usual | given)


DELHI, PUNE = lives_in("delhi", "Delhi", state=FactState.SUPERSEDED), lives_in("pune", "Pune")
AGAIN = lives_in("again", "Pune", text="Her home is in Pune.")
KNOWN = ContactRecords(
    facts=[DELHI, replace(PUNE, state=FactState.SUPERSEDED), AGAIN],
    links=[link("pune", "delhi", is_restatement=False), link("again", "pune", is_restatement=True)],
    decisions=[
        decided(DELHI),
        decided(PUNE, action=Action.UPDATE, targets=("delhi",)),
        decided(AGAIN, action=Action.UPDATE, targets=("pune",)),
    ],
    judged=[told(decided(fact)) for fact in (DELHI, PUNE, AGAIN)],
    session_keys={"key of chat": "chat"},
)


def everything_planted() -> Decision:
    """A decision in which every text says the word."""
    texts = {
        each.name: WORD
        for each in fields(Note)
        if "str" in str(each.type) and each.name not in KEPT
    }
    note = Note(scope=SCOPE, said_at=NOON, **{**texts, "tags": (WORD,)})
    slot = replace(PUNE.slot or Slot(subject=""), subject=WORD, attribute=WORD, value=WORD)
    found = Assessment(
        disposal=Disposal.CONFIRM,
        reason=GateReason.THIN_EVIDENCE,
        **dict.fromkeys(("detail", "topic", "question", "inference_key"), WORD),
        findings=(CheckFinding(check="score", disposal=Disposal.CONFIRM, detail=WORD),),
        confidence=0.5,
        parts=(),
        category=Category.FACT,
        sensitivity=Sensitivity.PHI,
        is_redacted=False,
        recall_semantics=RecallSemantics.NEGATIVE,
        yields_to_live_intent=False,
        lapses_at=NOON + timedelta(days=9),
        policy_version="1",
        domain="crm",
    )
    standing = replace(PUNE, slot=slot).standing
    links = (replace(link("a", "b", is_restatement=True), reason=WORD),)
    conflicts = (Conflict(new_id="a", old_id="b", reason=WORD, at=NOON),)
    undo = Undo(before=(standing,), unlinked=links, linked=links, conflicts=conflicts)
    finding = Finding(kind=Difference.NUMBER, in_note=WORD, in_fact=WORD)
    made = decided(PUNE, arbiter_reasoning=WORD, arbiter_error=WORD, reason=WORD)
    verdict = replace(made.verdict, findings=(finding,))
    note = replace(note, slot=slot)
    return replace(made, note=note, gate=found, verdict=verdict, undo=undo)


def test_no_word_is_left_of_a_decision_that_was_erased() -> None:
    before = everything_planted()
    assert str(before).count(WORD) > 20
    after = without_words(before, NOON)
    assert WORD not in str(after)
    assert is_erased(after)


def test_a_decision_without_words_keeps_its_ids_action_and_times() -> None:
    before = everything_planted()
    after = without_words(before, NOON)
    for name in ("decision_id", "at", "door", "episode_id", "action", "fact_id", "version"):
        assert getattr(after, name) == getattr(before, name)


def test_erased_twice_a_decision_is_the_same() -> None:
    once = without_words(everything_planted(), NOON)
    assert without_words(once, NOON + timedelta(days=1)) == once


def test_a_decision_about_something_else_keeps_its_note_and_how_others_stood() -> None:
    before = everything_planted()
    after = without_argument(before, frozenset())
    assert (after.note, after.gate) == (before.note, before.gate)
    assert after.undo
    assert after.undo.before == (before.undo or Undo(before=())).before
    assert after.reason == after.undo.conflicts[0].reason == ERASED


def test_a_fact_goes_with_what_says_the_same_and_not_with_what_it_replaced() -> None:
    plan = plan_of(ErasureTarget(fact_id="pune"), KNOWN, NOON)
    assert plan.fact_ids == ("again", "pune")
    assert set(plan.decision_ids) == {"wrote again", "wrote pune"}
    assert plan.episodes == {"said again": ERASED, "said pune": ERASED}
    assert plan.session_keys == ("key of chat",)
    assert plan.revived_ids == ()


def test_an_attribute_goes_with_all_that_was_filed_under_it_held_or_not() -> None:
    held = decided(lives_in("none", "Goa"), fact_id=None, action=Action.HOLD)
    known = replace(KNOWN, decisions=[*KNOWN.decisions, held])
    plan = plan_of(ErasureTarget(attribute="city"), known, NOON)
    assert set(plan.fact_ids) == {"again", "delhi", "pune"}
    assert held.decision_id in plan.decision_ids
    assert plan_of(ErasureTarget(attribute="city", subject="Maya"), known, NOON).decision_ids == ()


def test_only_the_cited_words_go_from_an_episode_that_supports_something_else() -> None:
    other = decided(lives_in("tea", "none", text="Likes tea.", slot=None))
    text = "I live in Pune and like tea."
    shared = {"episode_id": "turn", "text": text}
    judged = [
        told(decided(PUNE), span="I live in Pune", **shared),
        told(other, span="like tea", **shared),
    ]
    known = replace(KNOWN, decisions=[*KNOWN.decisions, other], judged=judged)
    plan = plan_of(ErasureTarget(fact_id="pune"), known, NOON)
    assert plan.episodes == {"turn": f"{ERASED} and like tea."}
    assert other.decision_id not in plan.decision_ids


@every("span", [None, "words that nobody said"])
def test_an_episode_that_is_cited_as_a_whole_goes_as_a_whole(span: str | None) -> None:
    other = decided(lives_in("tea", "none", text="Likes tea.", slot=None))
    shared = {"episode_id": "turn", "text": "I live in Pune and like tea."}
    judged = [told(decided(PUNE), span=span, **shared), told(other, **shared)]
    known = replace(KNOWN, decisions=[*KNOWN.decisions, other], judged=judged)
    assert plan_of(ErasureTarget(fact_id="pune"), known, NOON).episodes == {"turn": ERASED}


def test_what_a_restatement_of_a_forgotten_session_had_replaced_holds_again() -> None:
    judged = [told(decided(PUNE), session_id="elsewhere"), told(decided(AGAIN), session_id="chat")]
    plan = plan_of(ErasureTarget(session_id="chat"), replace(KNOWN, judged=judged), NOON)
    assert (plan.fact_ids, plan.revived_ids) == (("again",), ("pune",))


def counted_again(decision_id: str, fact_id: str, session_id: str = "elsewhere") -> Decision:
    made = decided(
        replace(AGAIN, fact_id=fact_id),
        decision_id=decision_id,
        episode_id=f"said {decision_id}",
        action=Action.SKIP,
    )
    return replace(made, note=replace(made.note, session_id=session_id))


def test_only_a_note_elsewhere_that_counted_what_held_is_decided_again() -> None:
    said = counted_again("said", "again")
    beneath = counted_again("beneath", "pune")
    own = counted_again("own", "again", session_id="chat")
    of_history, wrong = counted_again("history", "delhi"), counted_again("wrong", "again")
    undone = replace(
        decided(DELHI, decision_id="undone"), undo=Undo(before=(), decision_ids=("wrong",))
    )
    made = [undone, wrong, of_history, own, beneath, said]
    known = replace(KNOWN, decisions=[*made, *KNOWN.decisions])
    plan = plan_of(ErasureTarget(session_id="chat"), known, NOON)
    assert set(plan.fact_ids) == {"again", "delhi", "pune"}
    assert plan.retold_ids == ("said", "beneath")


def test_a_decision_that_quotes_what_goes_loses_what_was_argued() -> None:
    quoting = decided(lives_in("goa", "Goa"), reason='not "Lives in Pune." any more')
    known = replace(KNOWN, decisions=[*KNOWN.decisions, quoting])
    plan = plan_of(ErasureTarget(fact_id="pune"), known, NOON)
    assert quoting.decision_id in plan.quoting_ids
    assert quoting.decision_id not in plan.decision_ids


def test_an_answer_and_what_undid_it_go_with_a_question() -> None:
    held = decided(PUNE, decision_id="held", fact_id=None, action=Action.HOLD)
    answer = decided(DELHI, decision_id="answer", settles_id="held", text="No.", slot=None)
    answer = changed(answer, fact_id=None)
    undone = decided(DELHI, decision_id="undone", fact_id=None, text="Wrong.", slot=None)
    undo = Undo(before=(), decision_ids=("answer",))
    undone = replace(undone, undo=undo)
    known = replace(KNOWN, decisions=[*KNOWN.decisions, held, answer, undone])
    assert {"held", "answer", "undone"} <= set(
        plan_of(ErasureTarget(fact_id="pune"), known, NOON).decision_ids
    )


def test_the_same_is_known_by_its_slot_or_by_its_words_in_one_form() -> None:
    assert set(sayings(SCOPE, PUNE)) & set(sayings(SCOPE, AGAIN))
    bare = replace(PUNE, slot=None, text="lives  in PUNE")
    assert set(sayings(SCOPE, PUNE)) & set(sayings(SCOPE, bare))
    assert not set(sayings(SCOPE, PUNE)) & set(sayings(SCOPE, DELHI))
    assert sayings(SCOPE, replace(PUNE, text=ERASED)) == set()


def test_words_in_the_first_person_are_known_in_the_third() -> None:
    said = replace(PUNE, slot=None, text="My brother is a pilot.")
    told = replace(said, text="The contact's brother is a pilot.")
    assert sayings(SCOPE, said) & sayings(SCOPE, told)
    assert not sayings(SCOPE, said) & sayings(SCOPE, replace(said, text="Her brother is a pilot."))


SAID = replace(PUNE, slot=None, text="Flies to New York in May.")


def said(text: str) -> Fact:
    return replace(SAID, fact_id=text, text=text)


@every(
    "again",
    [
        "flies to NEW YORK in may",
        "Flies to New-York, in May!",
        "Flies to New\u2010York in May\u2026",
        "\uff26lies to \uff2e\uff45\uff57 \uff39\uff4f\uff52\uff4b in May.",
        "Flies  to New\u00a0York\nin May",
        "Flies to New\u200b York in May.",
        "(Flies to \u201cNew York\u201d in May)",
    ],
)
def test_other_case_width_spaces_or_punctuation_do_not_hide_what_was_forgotten(again: str) -> None:
    assert sayings(SCOPE, SAID) == sayings(SCOPE, said(again))
    known = ContactRecords(facts=[SAID, said(again)], links=[], decisions=[], judged=[])
    plan = plan_of(ErasureTarget(fact_id=SAID.fact_id), known, NOON)
    assert set(plan.fact_ids) == {SAID.fact_id, again}


@every(
    "again",
    [
        "Flies to New \u0423ork in M\u0430y.",  # Cyrillic
        "Flies t\u03bf New Y\u03bfrk in May.",  # Greek
        "Flies to New \u028fork in May.",  # a small capital
        "Fl\u0131es to New York in May.",  # an i without a dot
        "Flies to New Yo\u0332rk in May.",  # a line under a letter
        "Flies to New Yo\ufe0frk in May.",  # a variation of nothing
        "Flies to New Yo\u034frk in May.",  # an invisible joiner
        "Flies to\u2800New\u3164York in May.",  # blanks that are no spaces
    ],
)
def test_letters_that_look_alike_do_not_hide_what_was_forgotten(again: str) -> None:
    assert set(sayings(SCOPE, SAID)) & set(sayings(SCOPE, said(again)))
    known = ContactRecords(facts=[SAID, said(again)], links=[], decisions=[], judged=[])
    for each in (SAID.fact_id, again):
        plan = plan_of(ErasureTarget(fact_id=each), known, NOON)
        assert set(plan.fact_ids) == {SAID.fact_id, again}


def test_a_value_in_letters_that_look_alike_is_known_as_what_was_forgotten() -> None:
    assert PUNE.slot is not None
    alike = replace(PUNE.slot, value="P\u0443ne", value_key="\u0440une")
    other = replace(PUNE, fact_id="alike", slot=alike, text="Has moved there.")
    assert set(sayings(SCOPE, PUNE)) & set(sayings(SCOPE, other))
    known = ContactRecords(facts=[PUNE, other], links=[], decisions=[], judged=[])
    plan = plan_of(ErasureTarget(fact_id=PUNE.fact_id), known, NOON)
    assert set(plan.fact_ids) == {PUNE.fact_id, "alike"}


def test_the_contact_as_the_subject_does_not_hide_what_was_forgotten() -> None:
    named = said("The contact flies to New York in May.")
    assert set(sayings(SCOPE, SAID)) & set(sayings(SCOPE, named))
    known = ContactRecords(facts=[SAID, named], links=[], decisions=[], judged=[])
    for each in (SAID, named):
        plan = plan_of(ErasureTarget(fact_id=each.fact_id), known, NOON)
        assert set(plan.fact_ids) == {SAID.fact_id, named.fact_id}


@every(
    ("one", "other"),
    [
        ("Runs 10 km.", "Runs 1.0 km."),
        ("Runs 10 km.", "Runs 10\u00b2 km."),
        ("Owes 1,000.", "Owes 1.000."),
        ("Likes -15 degrees.", "Likes 15 degrees."),
        ("Lives in a co-op.", "Lives in a coop."),
        ("Will re-sign in May.", "Will resign in May."),
        ("Writes C.", "Writes C++."),
        ("Writes C#.", "Writes C++."),
        ("Paid \u20ac50.", "Paid $50."),
        ("Wants 50% of it.", "Wants 50 of it."),
        ("Called El Nino.", "Called El Ni\u00f1o."),
        ("Calls her \u0414\u0430\u0448\u0430.", "Calls her \u041c\u0430\u0448\u0430."),
        ("Uses room B1.", "Uses room Bl."),
        ("Likes tea.", "Likes no tea."),
        ("\u2615", "\u2744"),
    ],
)
def test_what_says_something_else_is_not_known_as_what_was_forgotten(one: str, other: str) -> None:
    assert not set(sayings(SCOPE, said(one))) & set(sayings(SCOPE, said(other)))
    known = ContactRecords(facts=[said(one), said(other)], links=[], decisions=[], judged=[])
    assert plan_of(ErasureTarget(fact_id=one), known, NOON).fact_ids == (one,)


def test_nobody_elses_words_are_known_as_the_contacts() -> None:
    other = Scope("acme", "crm", "bob")
    assert not set(sayings(SCOPE, PUNE)) & set(sayings(other, PUNE))


@every(
    ("reason", "kept"),
    [
        ("She asked under GDPR.", "She asked under GDPR."),
        ("She has left pune for good.", "She has left [erased] for good."),
        ('She wrote: "lives in Pune."', 'She wrote: "[erased]"'),
        ("Priya Sharma asked.", "[erased] asked."),
        ("priya's lawyer, Mr. Sharma, asked.", "[erased] lawyer, Mr. [erased], asked."),
        ("Her account 99-1042 is closed.", "Her account [erased] is closed."),
        ("The account is closed.", "The account is closed."),
        ("Wants PUNE, Pune and Li gone.", "Wants [erased] and [erased] gone."),
        ("[erased]", "[erased]"),
    ],
)
def test_a_reason_is_kept_without_what_would_tell_again_what_goes(reason: str, kept: str) -> None:
    texts = {"Lives in Pune.", "Pune", "Pays by account 99-1042, is erased."}
    assert without_telling(reason, texts, {"Priya Sharma", "Li", ""}) == kept


@every(
    "given",
    [{"fact_id": "a", "session_id": "b"}, {"subject": "Maya"}, {"fact_id": ""}, {"fact_id": 1}],
)
def test_a_target_names_one_part_or_none(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError):
        ErasureTarget(**given)

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, strategies as st

from reconciler.domain.explanation import explain, explain_in_short
from reconciler.domain.reconciling import by_text, rule, verdicts
from reconciler.domain.reconciling.rule import replaceable
from reconciler.domain.records.decisions import (
    ACTIONS_OF_RELATION,
    Comparison,
    Decision,
    Judgement,
    Verdict,
)
from reconciler.domain.records.kinds import Action, DecidedBy, Relation, SourceKind
from reconciler.domain.records.notes import Note, Scope, Slot
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.reading.findings import Difference, Finding
from tests.records import changed, decision_of
from tests.tables import every

NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)
MONTH = timedelta(days=30)
DECIDED = NOW + 2 * MONTH
"""When what was said at NOW was imported: no fact and no note is a plan then."""
DEFAULT = ReconcilePolicy()
UNGUARDED = ReconcilePolicy(guard=False)
CALIBRATED = ReconcilePolicy(
    cosine_update_min=0.9, cosine_add_max=0.6, cosine_cut=0.7, profile="measured"
)
USER, OPERATOR, GUESS = SourceKind.USER_EXPLICIT, SourceKind.OPERATOR, SourceKind.MODEL_GUESS
SKIP_1 = Judgement(reasoning="No news.", relation=Relation.SAME, target=1, action=Action.SKIP)
REPLACES_2 = Judgement(
    reasoning="One home.\nNot two.", relation=Relation.REPLACES, target=2, action=Action.UPDATE
)
COEXISTS = Judgement(
    reasoning="Both.", relation=Relation.COEXISTS, target=None, action=Action.ADD, confidence=0.6
)


def numbers_only(note: str, fact: str) -> tuple[Finding, ...]:
    """A guard that sees numbers and nothing else, whatever the real one learns."""
    new, old = (" ".join(re.findall(r"\d+", text)) for text in (note, fact))
    if new == old:
        return ()
    change = bool(new and old)
    return (Finding(kind=Difference.NUMBER, in_note=new, in_fact=old, is_change=change),)


@contextmanager
def simple_guard() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verdicts, "find_differences", numbers_only)
        for name in ("leaves_words_out", "has_many_other_words"):
            patch.setattr(by_text, name, lambda note, fact: False)
        yield


@pytest.fixture(scope="module", autouse=True)
def _guard() -> Iterator[None]:
    with simple_guard():
        yield


def slot(
    value: str | None = "Pune",
    *,
    attribute: str = "city",
    about: str = "contact",
    many: bool = False,
) -> Slot:
    return Slot(
        subject=about,
        attribute=attribute,
        value=value,
        value_key=value.casefold() if value else None,
        is_single_valued=not many,
    )


def near(*facts: tuple[str, float], **given_: Any) -> tuple[Comparison, ...]:
    return tuple(
        Comparison(
            **{"valid_from": NOW - MONTH, **given_},
            fact_id=f"fact#{rank}",
            text=text,
            cosine=cosine,
            rank=rank,
        )
        for rank, (text, cosine) in enumerate(facts, start=1)
    )


def decided(
    compared: Sequence[Comparison] | None,
    policy: ReconcilePolicy = DEFAULT,
    judgement: Judgement | None = None,
    *,
    text: str = "Moved to town",
    trust: SourceKind = USER,
    held_from: datetime = NOW,
    filed: Slot | None = None,
    hedged: bool = False,
    **recorded: Any,
) -> Decision:
    """What the reconciler records of such a note."""
    note = Note(
        scope=Scope("acme", "agent-7", "ann"),
        text=text,
        said_at=NOW,
        valid_from=None if held_from == NOW else held_from,
        source_kind=trust,
        slot=filed,
        is_hedged=hedged,
    )
    with simple_guard():  # The table is made before any fixture is.
        verdict = rule.decide(note, compared, policy, judgement)
    return changed(_recorded(note, verdict, compared or (), policy, judgement), **recorded)


def _recorded(
    note: Note,
    verdict: Verdict,
    compared: Sequence[Comparison],
    policy: ReconcilePolicy,
    judgement: Judgement | None,
) -> Decision:
    decided_on = next(iter((*verdict.targets, *verdict.conflicts, *compared)), None)
    return decision_of(
        decision_id="decision#1",
        verdict=verdict.by_id(),
        cosine=decided_on.cosine if decided_on else None,
        text=note.text,
        fact_id=verdict.targets[0].fact_id if verdict.action is Action.SKIP else "fact#new",
        slot=note.slot,
        trust=note.trust,
        valid_from=note.holds_from,
        episode_id="episode#1",
        tenant="default",
        agent_id="crm",
        contact_id=note.scope.contact_id,
        profile=policy.profile,
        cosine_update_min=policy.cosine_update_min,
        cosine_add_max=policy.cosine_add_max,
        cosine_cut=policy.cut,
        guard=policy.guard,
        embedding_model="model",
        **_answer(note, compared, judgement),
        door="live",
        said_at=note.said_at,
        at=DECIDED,
        compared_with=tuple(compared),
    )


def _answer(
    note: Note, compared: Sequence[Comparison], judgement: Judgement | None
) -> dict[str, Any]:
    if judgement is None:
        return {}
    target = judgement.target
    shown = replaceable(note, compared)
    return {
        "arbiter": "small-model",
        "arbiter_reasoning": judgement.reasoning,
        "arbiter_relation": judgement.relation,
        "arbiter_action": judgement.action,
        "arbiter_target": None if target is None else list(compared).index(shown[target - 1]) + 1,  # type: ignore[arg-type]
        "arbiter_confidence": judgement.confidence,
    }


PUNE = near(("Lives in town.", 0.84), ("Has a dog", 0.31))
LOWER = near(("Lives in town.", 0.42))
HIGHER = near(("Lives in town.", 0.97))
BOOKS = near(("Owns 1042 books", 0.966))
NEWER = near(("Lives in town.", 0.97), valid_from=NOW + MONTH)
FILED = near(("Lives in town.", 0.42), slot=slot())
THREE = near(("a", 0.9), ("b", 0.8), ("c", 0.7), slot=slot())
CONFIRMED = near(("a", 0.42), slot=slot(), is_confirmed_by_user=True)
DOCUMENT = near(("Lives in town.", 0.97), trust=OPERATOR)
NUTS = near(("Is allergic to nuts", 0.98), slot=slot("nuts", many=True))
WIFE = near(("Works at Acme", 0.98), ("Lives here", 0.9), slot=slot("Acme", about="wife"))
MIXED = (WIFE[0], replace(WIFE[1], slot=None))
GUESSED = (replace(THREE[0], trust=GUESS), THREE[1])

BOOKS_1043 = decided(BOOKS, text="Owns 1043 books")
VAGUE = decided(near(("Lives in Pune, by the lake", 0.97)), text="Lives by the lake")
MOVED = decided(FILED, filed=slot("Berlin"))
REPLACED = decided(PUNE, DEFAULT, REPLACES_2)
SKIPPED = decided(PUNE, DEFAULT, SKIP_1)
FAILED = decided(PUNE, arbiter="small-model", arbiter_error="Timeout:\n30 s")
GONE = decided(HIGHER, compared_with=())
UNANSWERED = changed(FAILED, arbiter_error=None)

OUTCOMES: list[tuple[str, Decision, str]] = [
    ("noop", decided(None), 'The note "Moved to town" was kept as a new fact of its own.'),
    ("above", decided(HIGHER), 'was put in the place of "Lives in town."'),
    (
        "guard",
        BOOKS_1043,
        'was kept as a new fact beside "Owns 1042 books", which it may contradict.',
    ),
    ("arbiter", SKIPPED, 'was counted as a repetition of "Lives in town.", without a new fact.'),
    ("slot", decided(THREE, filed=slot("Berlin")), 'was put in the place of "a", "b" and "c".'),
    (
        "four at once",
        decided((*THREE, replace(THREE[2], fact_id="fact#4", rank=4)), filed=slot("Berlin")),
        'was put in the place of "a", "b", "c" and 1 more.',
    ),
    ("order", decided(NEWER), 'as history beneath "Lives in town.", which holds from later on.'),
    ("trust repeats", decided(DOCUMENT, trust=GUESS), "was counted as a repetition of"),
    (
        "trust keeps both",
        decided(THREE[:1], trust=GUESS, filed=slot("Berlin")),
        'was kept as a new fact beside "a", which it may contradict.',
    ),
    (
        "trust holds one of two",
        decided(GUESSED, trust=GUESS, filed=slot("Berlin")),
        'was put in the place of "a", and kept beside "b", which it may contradict.',
    ),
    ("a fact that is gone", GONE, "was put in the place of a fact no longer on record."),
]

PARTS: list[tuple[str, Decision, str, str]] = [
    ("noop", decided(None), "neighbours", "There is no embedder"),
    ("first fact", decided(()), "neighbours", "There was no live fact to compare the note with."),
    (
        "nearest",
        decided(PUNE),
        "neighbours",
        'The nearest fact, "Lives in town.", is similar at 0.840 (1 would be the same wording). '
        'Also compared: "Has a dog" at 0.310.',
    ),
    (
        "not the nearest",
        REPLACED,
        "neighbours",
        'it was decided on, "Has a dog", is similar at 0.310',
    ),
    (
        "the nearest could not be replaced",
        decided((WIFE[0], replace(MIXED[1], cosine=0.4)), filed=slot("Berlin")),
        "neighbours",
        'The fact it was decided on, "Lives here", is similar at 0.400',
    ),
    ("gone", GONE, "neighbours", "The fact that it was decided on is no longer on record."),
    ("noop", decided(None), "rule", "Without an embedder every note is new."),
    ("first fact", decided(()), "rule", "no fact about this contact"),
    ("sibling", decided(NUTS, filed=slot("x", many=True)), "rule", "no fact about this contact"),
    (
        "below",
        decided(LOWER, CALIBRATED),
        "rule",
        'profile "measured" decided: nearest fact at 0.420',
    ),
    ("above", decided(HIGHER), "rule", "nearest fact at 0.970, at or above 0.95."),
    ("midpoint", decided(PUNE), "rule", "0.840, below the cut 0.875; it says"),
    ("midpoint up", decided(near(("a", 0.9))), "rule", "0.900, at or above the cut 0.875."),
    (
        "hedge",
        decided(CONFIRMED, filed=slot("Berlin"), hedged=True),
        "rule",
        "A guess alone does not end a fact that was confirmed or often said.",
    ),
    (
        "settled",
        decided(HIGHER, targets=("fact#1",), settled=("fact#9",)),
        "remarks",
        "It agrees with one side of a dispute, so the other side ended with it.",
    ),
    ("guard", BOOKS_1043, "rule", "a difference that makes them two facts, so both are kept."),
    ("says less", VAGUE, "rule", "so it stays, and the note counts as said again."),
    ("arbiter", REPLACED, "rule", "so the arbiter's answer decided."),
    ("slot", MOVED, "rule", "Note and fact answer one question, so their values decide."),
    (
        "order",
        decided(NEWER),
        "rule",
        "from 2026-03-09 12:00:00, the fact from 2026-04-08 12:00:00 (UTC).",
    ),
    (
        "trust",
        decided(DOCUMENT, trust=GUESS),
        "rule",
        "The note is a model's guess, and \"Lives in town.\" is an operator's word, which is",
    ),
    (
        "trust holds one of two",
        decided(GUESSED, trust=GUESS, filed=slot("Berlin")),
        "rule",
        '"b" is the user\'s own word, which is trusted more.',
    ),
    ("guard", BOOKS_1043, "differences", "found a difference in number: 1043 instead of 1042."),
    ("guard silent", decided(HIGHER), "differences", "The guard found no difference"),
    (
        "guard off",
        decided(HIGHER, UNGUARDED),
        "differences",
        "The guard was off, so the",
    ),
    ("says less", VAGUE, "differences", "found a difference in name: no Pune."),
    ("unfiled", decided(LOWER), "differences", "do not decide, so the wording counts."),
    (
        "another value",
        MOVED,
        "differences",
        'The note is filed under "city" of the contact as "Berlin", the fact under "city" of the '
        'contact as "Pune", and only one of them can hold.',
    ),
    ("equal value", decided(FILED, filed=slot("PUNE")), "differences", "is the same answer."),
    (
        "another subject",
        decided(WIFE[:1], filed=slot("Acme")),
        "differences",
        '"city" of "wife" as "Acme", so neither can take the other\'s place.',
    ),
    ("below", decided(LOWER), "arbiter", "No arbiter was asked."),
    ("midpoint", decided(PUNE), "arbiter", "No arbiter was asked."),
    ("failed", FAILED, "arbiter", "gave no answer that could be used (Timeout: 30 s)."),
    (
        "arbiter",
        REPLACED,
        "arbiter",
        'The arbiter "small-model" answered that the note replaces "Has a dog", at a confidence of '
        '1.00 of 1. It argued: "One home. Not two."',
    ),
    (
        "arbiter adds",
        decided(PUNE, DEFAULT, COEXISTS),
        "arbiter",
        "holds side by side with the facts that it was shown, at a confidence of 0.60 of 1.",
    ),
    (
        "remembered",
        changed(SKIPPED, arbiter_is_cached=True),
        "arbiter",
        "The answer was remembered from an equal question before.",
    ),
    ("failed and erased", UNANSWERED, "arbiter", "gave no answer that could be used."),
    (
        "contested",
        changed(MOVED, is_contested=True, reason="x; contested: said again"),
        "remarks",
        "It is marked as contested: said again.",
    ),
    (
        "corrected",
        decided(PUNE, correction=Relation.REPLACES),
        "remarks",
        'that the note replaces "Lives in town."; this changed no fact.',
    ),
    ("replayed", decided(PUNE).as_replay(), "remarks", "An earlier call with the same key"),
]

CASES = [
    *((name, decision, "outcome", expected) for name, decision, expected in OUTCOMES),
    *PARTS,
    ("told by the thresholds", decided(HIGHER, decided_by=DecidedBy.MIDPOINT), "rule", "0.970"),
]


@every(("decision", "part", "expected"), [case[1:] for case in CASES])
def test_each_part_says_what_is_true_of_the_decision(
    decision: Decision, part: str, expected: str
) -> None:
    said = getattr(explain(decision), part)
    assert expected in (said if isinstance(said, str) else " ".join(said))


@every("decision", [case[1] for case in CASES])
def test_an_explanation_in_short_begins_as_the_whole_one(decision: Decision) -> None:
    whole = explain(decision)
    assert explain_in_short(decision) == (whole.outcome, whole.remarks)


NEVER_SAID = [
    ("a slot asks no guard", MOVED, "The guard"),
    ("no trust asked", decided(BOOKS, text="Invoice 2", trust=GUESS), "trusted more"),
    ("an arbiter judged it", REPLACED, "The guard"),
]


@pytest.mark.parametrize(
    ("decision", "unexpected"),
    [case[1:] for case in NEVER_SAID],
    ids=[case[0] for case in NEVER_SAID],
)
def test_nothing_is_said_that_does_not_belong(decision: Decision, unexpected: str) -> None:
    assert unexpected not in " ".join(explain(decision).sentences())


NOT_IN_THE_TABLE = {
    DecidedBy.GATE,
    DecidedBy.ANSWER,
    DecidedBy.STANDING,
    DecidedBy.AMENDMENT,
    DecidedBy.RETRACTION,
    DecidedBy.CHANGE,
    DecidedBy.AGENT,
    DecidedBy.EXTRACTOR,
}


def test_the_table_has_a_row_for_every_rule() -> None:
    assert {decision.decided_by for _, decision, _, _ in CASES} == set(DecidedBy) - NOT_IN_THE_TABLE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one\ntwo\u2028three\x1b[31m", r'"one two three\x1b[31m"'),
        ("a" * 81, '"' + "a" * 79 + '…"'),
        ("a" * 80, '"' + "a" * 80 + '"'),
        ("abc \u202egnp.exe", r'"abc \u202egnp.exe"'),
        ("[bold]x[/]", '"[bold]x[/]"'),
    ],
)
def test_texts_are_quoted_on_one_line_and_shortened(text: str, expected: str) -> None:
    assert f"The note {expected} was" in explain(decided(PUNE, text=text)).outcome


def test_what_the_guard_found_about_another_fact_is_not_told_of_this_one() -> None:
    two = near(("Walks 4 dogs", 0.86), ("Has 3 dogs", 0.85))
    alone = explain(decided(two, text="Has 4 dogs"))
    assert alone.differences[0] == "The guard found a difference in number: 4 instead of 3."


def test_the_dictionary_is_plain_and_complete() -> None:
    explanation = explain(decided(PUNE, correction=Relation.SAME))
    plain = explanation.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert sorted(explanation.sentences()) == sorted(
        [plain.pop("outcome"), *(each for part in plain.values() for each in part)]
    )


def test_sentences_begin_with_the_outcome_and_end_with_the_arbiter() -> None:
    explanation = explain(decided(PUNE))
    assert explanation.sentences()[0] == explanation.outcome
    assert explanation.sentences()[-1] == explanation.arbiter[-1]


WORDS = st.sampled_from(["oak", "elm 1", "elm 2", "fir\n9", "ash\x07", "yew [b]", "x" * 200])
VALUES = st.sampled_from(["Pune", "Berlin", None])
TIMES = st.sampled_from([NOW, NOW - MONTH, NOW + MONTH, NOW + timedelta(seconds=1)])
COSINES = st.sampled_from([0.8, 0.875, 0.95, 0.7, 0.9, 1.0, -1.0]) | st.floats(-1, 1)


@st.composite
def slots(draw: st.DrawFn) -> Slot | None:
    if draw(st.booleans()):
        return None
    made = slot(
        draw(VALUES),
        about=draw(st.sampled_from(["contact", "wife"])),
        attribute=draw(st.sampled_from(["city", "employer"])),
        many=draw(st.booleans()),
    )
    return (
        made if draw(st.booleans()) else replace(made, attribute=None, value=None, value_key=None)
    )


@st.composite
def policies(draw: st.DrawFn) -> ReconcilePolicy:
    low, cut, high = sorted(draw(st.tuples(*[st.floats(-1, 1)] * 3)))
    own = ReconcilePolicy(cosine_add_max=low, cosine_cut=cut, cosine_update_min=high)
    policy = draw(st.sampled_from([DEFAULT, CALIBRATED, own]))
    return replace(policy, guard=draw(st.booleans()))


@st.composite
def decisions(draw: st.DrawFn) -> Decision:
    cosines = sorted(draw(st.lists(COSINES, max_size=7)), reverse=True)
    compared = tuple(
        Comparison(
            fact_id=f"fact#{rank}",
            text=draw(WORDS),
            cosine=cosine,
            valid_from=draw(TIMES),
            trust=draw(st.sampled_from(SourceKind)),
            slot=draw(slots()),
            rank=rank,
        )
        for rank, cosine in enumerate(cosines, start=1)
    )
    given_: dict[str, Any] = {
        "text": draw(WORDS),
        "trust": draw(st.sampled_from(SourceKind)),
        "held_from": draw(TIMES),
        "filed": draw(slots()),
    }
    policy = draw(policies())
    plain = decided(draw(st.sampled_from([compared, compared, None])), policy, **given_)
    recorded: dict[str, Any] = {
        "correction": draw(st.sampled_from([None, *Relation])),
        "arbiter_cost_usd": draw(st.sampled_from([None, 0.0, 0.01])),
        "replayed": draw(st.booleans()),
    }
    judgement = draw(judgements(plain))
    return (
        decided(plain.compared_with, policy, judgement, **given_, **recorded)
        if judgement
        else changed(plain, **recorded)
    )


@st.composite
def judgements(draw: st.DrawFn, decision: Decision) -> Judgement | None:
    """An answer that was let through, where one could be asked for."""
    shown = replaceable(note_of(decision), decision.compared_with)
    if not shown or draw(st.booleans()) or not _arbitrable(decision):
        return None
    relation = draw(st.sampled_from(Relation))
    action = draw(st.sampled_from(sorted(ACTIONS_OF_RELATION[relation])))
    target = None if action is Action.ADD else draw(st.integers(1, len(shown)))
    return Judgement(reasoning="so\nit is", relation=relation, action=action, target=target)


def _arbitrable(decision: Decision) -> bool:
    note, policy = note_of(decision), policy_of(decision)
    return rule.decide(note, decision.compared_with, policy).can_be_arbitrated


@given(decisions())
def test_every_decision_is_explained_in_single_lines_without_ids(decision: Decision) -> None:
    for sentence in explain(decision).sentences():
        assert re.fullmatch(r"[A-Z\"0-9j-].*[.\"]", sentence), sentence
        assert "#" not in sentence


def note_of(record: Decision) -> Note:
    return Note(
        scope=Scope("a", "b", "c"),
        text=record.text,
        said_at=NOW,
        valid_from=None if record.note.holds_from == NOW else record.note.holds_from,
        slot=record.note.slot,
        source_kind=record.note.trust,
    )


def policy_of(record: Decision) -> ReconcilePolicy:
    return ReconcilePolicy(
        cosine_update_min=record.policy.cosine_update_min,
        cosine_add_max=record.policy.cosine_add_max,
        cosine_cut=record.policy.cosine_cut,
        guard=record.policy.guard,
    )

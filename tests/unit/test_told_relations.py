"""What becomes of a note when a model that read note and facts says how they relate."""

from __future__ import annotations

from typing import Any

from reconciler.domain.reconciling.rule import decide
from reconciler.domain.records.decisions import Verdict
from reconciler.domain.records.facts import Neighbour, Relations
from reconciler.domain.records.kinds import Action, DecidedBy, SourceKind
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.reading.kinds import Category
from tests.tables import every
from tests.unit.test_rule import day, neighbour, note, slot

ADD, UPDATE, SKIP = Action.ADD, Action.UPDATE, Action.SKIP
AGENT, TRUST, STANDING = DecidedBy.AGENT, DecidedBy.TRUST, DecidedBy.STANDING
USER, OPERATOR, TOOL = SourceKind.USER_EXPLICIT, SourceKind.OPERATOR, SourceKind.TOOL_OUTPUT
ONE, TWO = "fact-1", "fact-2"


def told(
    text: str, facts: list[Neighbour], changes: dict[str, Any] | None = None, **relations: Any
) -> Verdict:
    said = Relations(**relations)
    return decide(note(text, **(changes or {})), facts, ReconcilePolicy(), relations=said)


FLAT = "Rents a flat in Pune."
HOUSE = "Bought a house in Goa."


@every(
    ("fact", "changes", "relations", "action", "decided_by"),
    [
        ({}, {}, {"replaces": [ONE]}, UPDATE, AGENT),
        ({}, {}, {"ends": [ONE]}, UPDATE, AGENT),
        ({"trust": SourceKind.EXTRACTOR}, {}, {"replaces": [ONE]}, UPDATE, AGENT),
        # A less trusted word over a more trusted one: in dispute.
        ({}, {"source_kind": TOOL}, {"replaces": [ONE]}, ADD, TRUST),
        ({}, {"source_kind": TOOL}, {"ends": [ONE]}, ADD, TRUST),
        ({"trust": TOOL}, {"source_kind": TOOL}, {"ends": [ONE]}, UPDATE, AGENT),
        (
            {"trust": TOOL, "is_confirmed_by_user": True},
            {"source_kind": TOOL},
            {"ends": [ONE]},
            ADD,
            TRUST,
        ),
        # An older note: history beneath.
        ({}, {"at": day(0)}, {"replaces": [ONE]}, ADD, DecidedBy.ORDER),
        # A guess.
        ({"observations": 3}, {"is_hedged": True}, {"ends": [ONE]}, ADD, DecidedBy.HEDGE),
        # An operator's word: in dispute, unless the slot says the same.
        ({"trust": OPERATOR}, {}, {"replaces": [ONE]}, ADD, STANDING),
        (
            {"trust": OPERATOR, "slot": slot("Pune")},
            {"slot": slot("Goa")},
            {"replaces": [ONE]},
            UPDATE,
            AGENT,
        ),
        # What binds, or was confirmed: the contact's own word alone, where it speaks of that.
        ({"is_standing": True}, {}, {"ends": [ONE]}, ADD, STANDING),
        ({"is_standing": True, "text": "No house in Pune."}, {}, {"ends": [ONE]}, UPDATE, AGENT),
        (
            {"category": Category.DECISION, "text": "Wants a house."},
            {},
            {"replaces": [ONE]},
            UPDATE,
            AGENT,
        ),
        ({"is_confirmed_by_user": True}, {}, {"ends": [ONE]}, ADD, STANDING),
        ({"is_standing": True, "trust": OPERATOR}, {}, {"ends": [ONE]}, ADD, STANDING),
        (
            {"category": Category.DECISION, "trust": OPERATOR},
            {"category": Category.DECISION},
            {"replaces": [ONE]},
            ADD,
            STANDING,
        ),
        (
            {"is_standing": True, "trust": TOOL},
            {"source_kind": TOOL},
            {"ends": [ONE]},
            ADD,
            STANDING,
        ),
        ({}, {}, {"both_hold": [ONE]}, ADD, DecidedBy.THRESHOLD),
    ],
)
def test_what_a_model_says_holds_within_the_limits_of_any_verdict(
    fact: dict[str, Any],
    changes: dict[str, Any],
    relations: dict[str, Any],
    action: Action,
    decided_by: DecidedBy,
) -> None:
    known = neighbour(0.5, **{"text": FLAT} | fact)
    verdict = told(HOUSE, [known], changes, **relations)
    assert (verdict.action, verdict.decided_by) == (action, decided_by)
    ended = verdict.targets == (known,) and not verdict.is_history
    assert ended == (action is UPDATE)
    if decided_by in (TRUST, STANDING, DecidedBy.HEDGE):
        assert verdict.conflicts == (known,)


CERTIFIED = "Every batch comes with a 3.1 certificate"


@every(
    ("fact", "text", "action", "decided_by"),
    [
        ("Prefers window seats.", "Likes to sit at the window.", UPDATE, AGENT),
        ("Prefers window seats.", "Prefers window seats because she sleeps there.", UPDATE, AGENT),
        ("Prefers window seats.", "Prefers window seats.", SKIP, AGENT),
        # It says less: an observation, and nothing is lost.
        ("Our budget is 40k and we need 12 laptops.", "Our budget is 40k.", SKIP, AGENT),
        ("Wants tea and no longer coffee.", "Wants tea.", SKIP, AGENT),
        ("Is allergic to nuts and carries a pen.", "The nut allergy is for life.", SKIP, AGENT),
        # What it leaves out denies something that it does not speak of.
        (
            f"{CERTIFIED}; without one it cannot be used.",
            "Insists: a 3.1 certificate.",
            SKIP,
            AGENT,
        ),
        ("Wants WhatsApp: asked not to be emailed any more.", "Still wants WhatsApp.", SKIP, AGENT),
        # A denial that the note puts plainly; of a limit it is kept beside.
        (
            "Bars must be no longer than three metres: no forklift. Four-metre ones go back.",
            "Bars must be three metres long at the most, still.",
            ADD,
            DecidedBy.GUARD,
        ),
        (
            "Nobody may enter a flat without 48 hours' notice; the only exception is water.",
            "Entering a flat needs notice, two full days (48 hours) ahead.",
            SKIP,
            AGENT,
        ),
        ("Shipping needs a form.", "Never ships without a form.", SKIP, AGENT),
        # What each says beside the other is kept; an aside after a comma may be the same again.
        (
            "Is allergic to nuts and carries a pen.",
            "Is allergic to nuts and has asthma.",
            ADD,
            DecidedBy.GUARD,
        ),
        (
            "Wants tea at four, with milk and sugar.",
            "Wants tea at four; collects mugs.",
            ADD,
            DecidedBy.GUARD,
        ),
        (
            "Is allergic to nuts and carries a pen.",
            "Is allergic to nuts. Has asthma.",
            ADD,
            DecidedBy.GUARD,
        ),
        ("No sesame: not in oils, not in breads.", "No sesame, not even for free.", SKIP, AGENT),
        # Of two that say the same in other words, the one that says more stays.
        (
            "The outreach rooms on the hill get parcels.",
            "The hill still gets parcels.",
            SKIP,
            AGENT,
        ),
        ("The hill gets parcels.", "The outreach rooms on the hill get parcels.", UPDATE, AGENT),
        (
            "Bars are no longer than 3 metres.",
            "Bars are longer than 3 metres.",
            ADD,
            DecidedBy.GUARD,
        ),
        (
            "Bars are no longer than 3 metres.",
            "Bars have 4 metres at the most.",
            ADD,
            DecidedBy.GUARD,
        ),
        ("Nobody may enter without notice.", "Entering needs no notice.", ADD, DecidedBy.GUARD),
        ("Wants calls, not any more.", "Wants calls.", ADD, DecidedBy.GUARD),
        ("Wants calls, which he no longer gets.", "Wants emails.", ADD, DecidedBy.GUARD),
        ("Wants no calls, and no letters.", "Wants calls.", ADD, DecidedBy.GUARD),
        ("Our budget is 40k.", "Our budget is 45k.", ADD, DecidedBy.GUARD),
        ("Eats pork.", "Does not eat pork.", ADD, DecidedBy.GUARD),
        ("Does not eat pork.", "Eats pork.", ADD, DecidedBy.GUARD),
        ("Meets Tom on Friday.", "Meets Anna on Friday.", ADD, DecidedBy.GUARD),
    ],
)
def test_what_repeats_is_counted_unless_the_guard_sees_something_else(
    fact: str, text: str, action: Action, decided_by: DecidedBy
) -> None:
    verdict = told(text, [neighbour(0.2, fact)], repeats=ONE)
    assert (verdict.action, verdict.decided_by) == (action, decided_by)


def test_what_does_not_repeat_after_all_is_linked() -> None:
    known = neighbour(0.2, "Our budget is 40k.")
    assert told("Our budget is 45k.", [known], repeats=ONE).conflicts == (known,)


def test_a_fact_that_says_more_ends_where_the_model_says_so() -> None:
    known = neighbour(0.9, "Our budget is 40k and we need 12 laptops.")
    verdict = told("Our budget is 45k.", [known], replaces=[ONE])
    assert (verdict.action, verdict.targets) == (UPDATE, (known,))


def test_a_new_value_of_the_slot_ends_the_old_one_beside_what_is_named() -> None:
    named, rival = neighbour(0.3, "Commutes by tram in Pune."), neighbour(0.5, number=2)
    facts = [named, neighbour(0.5, "Lives in Pune.", number=2, slot=slot("Pune"))]
    verdict = told("Moved from Pune to Goa.", facts, {"slot": slot("Goa")}, ends=[ONE])
    assert {fact.fact_id for fact in verdict.targets} == {named.fact_id, rival.fact_id}
    assert (verdict.action, verdict.decided_by) == (UPDATE, AGENT)


def test_a_value_that_is_known_already_is_said_again_and_what_is_named_ends() -> None:
    facts = [
        neighbour(0.3, "Commutes from Pune to Goa."),
        neighbour(0.5, "Lives in Goa.", number=2, slot=slot("Goa")),
    ]
    verdict = told("Lives in Goa.", facts, {"slot": slot("Goa")}, ends=[ONE])
    assert [fact.fact_id for fact in verdict.targets] == [TWO, ONE]
    assert verdict.is_restatement


@every("text", [HOUSE, "bought a house in goa", "BOUGHT A HOUSE IN GOA!"])
@every("name", ["replaces", "ends"])
def test_a_note_that_says_another_live_fact_again_restates_it_and_ends_what_is_named(
    text: str, name: str
) -> None:
    facts = [neighbour(1.0, HOUSE, number=2), neighbour(0.5, FLAT)]
    verdict = told(text, facts, **{name: [ONE]})
    assert [fact.fact_id for fact in verdict.targets] == [TWO, ONE]
    assert (verdict.action, verdict.decided_by, verdict.is_restatement) == (UPDATE, AGENT, True)


def test_a_note_that_says_a_live_fact_again_is_one_fact_where_what_is_named_stays() -> None:
    facts = [neighbour(1.0, GARDEN, number=2), neighbour(0.1, BINDING, is_standing=True)]
    verdict = told(GARDEN, facts, replaces=[ONE])
    assert (verdict.action, verdict.targets) == (UPDATE, (facts[0],))
    assert (verdict.conflicts, verdict.is_restatement) == ((facts[1],), True)


@every(
    ("fact", "changes"),
    [({"is_upcoming": True}, {}), ({}, {"valid_from": day(200)})],
)
def test_a_plan_and_a_fact_that_holds_now_are_not_the_same(
    fact: dict[str, Any], changes: dict[str, Any]
) -> None:
    facts = [neighbour(1.0, HOUSE, number=2, **fact), neighbour(0.5, FLAT)]
    verdict = told(HOUSE, facts, changes, replaces=[ONE])
    assert verdict.targets == (facts[1],)
    assert not verdict.is_restatement


def test_a_rival_value_that_holds_as_well_is_neither_ended_nor_linked() -> None:
    known = neighbour(0.5, "Lives in Pune.", slot=slot("Pune"))
    verdict = told("Lives in Goa.", [known], {"slot": slot("Goa")}, both_hold=[ONE])
    assert (verdict.action, verdict.targets, verdict.conflicts) == (ADD, (), ())


def test_one_of_two_that_may_not_end_is_spared_and_the_other_ends() -> None:
    facts = [neighbour(0.5, FLAT, trust=TOOL), neighbour(0.4, "Has a landlord.", number=2)]
    verdict = told(HOUSE, facts, {"source_kind": TOOL}, ends=[ONE, TWO])
    assert [fact.fact_id for fact in verdict.targets] == [ONE]
    assert [fact.fact_id for fact in verdict.conflicts] == [TWO]


def test_no_arbiter_is_asked_about_what_a_model_has_read() -> None:
    facts = [neighbour(0.9, "Likes tea."), neighbour(0.89, "Likes green tea.", number=2)]
    said = Relations(both_hold=(ONE,))
    assert decide(note("Likes mint tea."), facts, ReconcilePolicy()).can_be_arbitrated
    verdict = decide(note("Likes mint tea."), facts, ReconcilePolicy(), relations=said)
    assert not verdict.can_be_arbitrated


BINDING = "Always send invoices by post."
GARDEN = "Enjoys gardening."


@every(
    "kept",
    [
        {"trust": OPERATOR, "is_standing": True},
        {"category": Category.DECISION},
        {"is_confirmed_by_user": True},
        {"slot": slot("jazz", subject="wife")},
    ],
)
def test_what_binds_or_is_another_matter_ends_by_no_note_that_is_said_to_repeat_it(
    kept: dict[str, Any],
) -> None:
    verdict = told(GARDEN, [neighbour(0.3, BINDING, **kept)], repeats=ONE)
    assert (verdict.action, verdict.targets, verdict.is_restatement) == (ADD, (), False)


def test_what_binds_is_only_counted_where_the_note_speaks_of_it() -> None:
    operators = neighbour(0.6, BINDING, trust=OPERATOR, is_standing=True)
    verdict = told("Invoices go out by post, always and to everybody.", [operators], repeats=ONE)
    assert (verdict.action, verdict.targets) == (SKIP, (operators,))


def test_a_restatement_of_one_fact_shields_no_other_from_the_limits() -> None:
    city = neighbour(0.9, "Lives in Pune.", slot=slot("Pune"))
    binding = neighbour(0.1, BINDING, number=2, trust=OPERATOR, is_standing=True)
    verdict = told("Lives in Pune.", [city, binding], {"slot": slot("Pune")}, replaces=[TWO])
    assert (verdict.targets, verdict.conflicts) == ((city,), (binding,))


@every(
    ("text", "fact", "cosine", "ended"),
    [
        ("Likes the house rules.", "Never call before nine.", 0.1, False),
        ("Clinic portal was updated on 3 May.", "Is allergic to peanuts.", 0.1, False),
        ("Likes the house rules.", "Keeps to the rules of golf.", 0.1, True),
        ("Is vegan.", "Has steak on Fridays.", 0.44, False),
        ("Is vegan.", "Has steak on Fridays.", 0.45, True),
        # That a note tells some change says nothing of which fact it ends.
        ("Moved to the coast.", "Rents from Tom Meyer.", 0.1, False),
        ("No longer rents from Tom Meyer.", "Rents from Tom Meyer.", 0.1, True),
        ("Wants an email rather than a call.", "Ring only after six.", 0.2, False),
        ("Gave the canoe away.", "Takes 5 mg of bisoprolol.", 0.2, False),
        # A person who is named, in whatever role; not the one whom all facts are about.
        ("Tom Meyer has retired.", "Rents from Tom Meyer.", 0.1, True),
        ("Ann gave the canoe away.", "Ann takes bisoprolol.", 0.6, False),
        ("Rita Vogt gave the canoe away.", "Rita Vogt takes bisoprolol.", 0.5, False),
        ("Rita Vogt gave the canoe away.", "Rita Vogt has a canoe.", 0.5, True),
        # A date, a number, or a word that fits in any sentence tells nothing.
        ("The gym closed on 3 May.", "Has her birthday on 3 May.", 0.1, False),
        ("Gave up 2 of her cats.", "Wants 2 rooms.", 0.1, False),
        # Other languages: a word in any form, not that the model puts all texts near each other.
        ("Isst kein Fleisch und keinen Fisch.", "Has steak on Fridays.", 0.1, False),
        ("Hat das Kanu verschenkt.", "Nimmt morgens Tabletten.", 0.6, False),
        ("Hat das Kanu verschenkt.", "Fährt jeden Samstag Kanu.", 0.2, True),
        ("Ya no fuma.", "Fuma mucho.", 0.2, True),
        ("Se dio de baja del gimnasio.", "Vive con la madre del novio.", 0.6, False),
        ("Nie pracuje już w drukarni.", "Pracuje w drukarni.", 0.2, True),
        ("她卖掉了自行车。", "她对花生过敏。", 0.6, False),
        ("她卖掉了自行车。", "骑自行车上班。", 0.2, True),
        ("Продала велосипед.", "Живёт в Казани.", 0.6, False),
        ("Уехала из Казани.", "Живёт в Казани.", 0.2, True),
    ],
)
@every("by", [AGENT, DecidedBy.EXTRACTOR])
def test_a_model_ends_only_what_its_note_speaks_of(
    text: str, fact: str, cosine: float, ended: bool, by: DecidedBy
) -> None:
    known, said = neighbour(cosine, fact), Relations(ends=[ONE])
    verdict = decide(note(text), [known], ReconcilePolicy(), relations=said, related_by=by)
    assert verdict.decided_by is (by if ended else DecidedBy.GUARD)
    assert verdict.targets == ((known,) if ended else ())
    assert verdict.conflicts == (() if ended else (known,))


@every(
    ("text", "fact", "ended"),
    [
        ("Orders the peanut menu.", "Is allergic to peanuts.", False),
        ("Is free of it now, the doctor says.", "Is allergic to peanuts.", False),
        ("Was never allergic to peanuts.", "Is allergic to peanuts.", True),
        ("No longer allergic to peanuts.", "Is allergic to peanuts.", True),
        ("Hat keine Erdnussallergie mehr.", "Hat eine Erdnussallergie.", True),
        ("Hat das Kanu verkauft.", "Hat eine Erdnussallergie.", False),
    ],
)
def test_what_recall_never_cuts_ends_only_by_words_that_name_its_end(
    text: str, fact: str, ended: bool
) -> None:
    known = neighbour(0.9, fact, is_vital=True)
    filed = {"slot": slot(None, attribute="allergy")}
    assert told(text, [known], filed, ends=[ONE]).targets == ((known,) if ended else ())


def test_the_same_attribute_is_enough_to_speak_of_a_fact() -> None:
    fact = neighbour(0.1, "Rings at noon.", slot=slot("noon", attribute="call_time"))
    asked = {"slot": slot("six", attribute="call_time")}
    assert told("Six suits best.", [fact], asked, ends=[ONE]).targets == (fact,)


def test_the_name_of_an_attribute_alone_ends_no_value() -> None:
    fact = neighbour(0.6, "Budget is 40k.", slot=slot("40k", attribute="budget"))
    assert not told("Has a new budget line.", [fact], ends=[ONE]).targets
    assert told("The budget was cancelled.", [fact], ends=[ONE]).targets == (fact,)


def test_each_fact_ends_or_stays_by_itself() -> None:
    facts = [
        neighbour(0.1, "Lives in Pune."),
        neighbour(0.1, "Pays Tom Meyer.", number=2),
        neighbour(0.1, "Sings in Pune.", number=3),
    ]
    verdict = told("Left Pune.", facts, replaces=[ONE], ends=[TWO, "fact-3"])
    assert [fact.fact_id for fact in verdict.targets] == [ONE, "fact-3"]
    assert [fact.fact_id for fact in verdict.conflicts] == [TWO]

"""What a note that says it is a change does to what is known, and what is no change at all."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from reconciler.domain.reconciling.rule import decide
from reconciler.domain.records.facts import Neighbour
from reconciler.domain.records.kinds import Action, DecidedBy
from reconciler.domain.records.notes import Note, Scope, Slot
from reconciler.domain.records.policies import ReconcilePolicy
from reconciler.reading.guard import (
    answer_one_question,
    are_of_other_people,
    denies_value,
    ends,
    is_event,
    names_a_part,
    says_it_changed,
    stated,
)
from tests.tables import every, grouped

DEFAULT = ReconcilePolicy()
NOW = datetime(2026, 5, 1, tzinfo=UTC)
ADD, UPDATE = Action.ADD, Action.UPDATE


def note(text: str, **changes: Any) -> Note:
    return Note(**{"scope": Scope("acme", "crm", "ann"), "text": text, "said_at": NOW} | changes)


def known(text: str, cosine: float = 0.6, **changes: Any) -> Neighbour:
    usual = {"fact_id": "fact-1", "valid_from": NOW - timedelta(days=30)}
    return Neighbour(**usual | {"text": text, "cosine": cosine} | changes)


def read_slot(value: str, attribute: str = "city", *, single: bool = True) -> Slot:
    return Slot(
        subject="contact",
        attribute=attribute,
        value=value,
        value_key=value.casefold(),
        is_single_valued=single,
        is_known=True,
    )


@every(
    ("fact", "said"),
    [
        ("The supplier is Brandt GmbH", "Brandt GmbH went bust, so the supplier is Ilves Oy now"),
        ("Ships by sea", "Ships by air these days"),
        ("Wants the brochure by post", "Stop the brochure"),
        ("The desk closes at six", "Starting in June the desk stays open till eight"),
        ("Takes the 7 am train", "Switched to the evening train"),
    ],
)
def test_a_note_that_says_it_is_a_change_is_never_silent(fact: str, said: str) -> None:
    verdict = decide(note(said), [known(fact)], DEFAULT)
    assert verdict.targets or verdict.conflicts


@every(
    ("fact", "said"),
    [
        ("Ships by sea", "Ships by air"),
        ("Collects stamps", "Has collected stamps for a while now"),
        ("Is thinking of a new press", "Sold the press"),
        ("Has a press", "Can you tell me whether the press is sold now?"),
        ("The garden faces south", "Plays chess at the club again"),
        ("His sister is Vera", "Has changed schools"),
        (
            "Every letter must show the dealer's order number, or it comes back",
            "The dealer has dropped the rubber mats altogether; its standing order is over",
        ),
    ],
)
def test_what_says_no_change_or_is_about_another_matter_is_no_change(fact: str, said: str) -> None:
    assert not says_it_changed(said, fact, 0.79)


def test_a_long_text_shares_words_by_chance() -> None:
    long = "By the way, " + "and then we talked about the weather " * 3 + "and pays by card now"
    assert says_it_changed("Pays by card now", "Pays by invoice", 0.5)
    assert not says_it_changed(long, "Pays by invoice", 0.5)


@every(
    ("fact", "said"),
    [
        ("Uses Zendesk", "No longer uses Zendesk."),
        ("Plays tennis on Mondays", "Stopped playing tennis on Mondays."),
        ("Drives a van", "Sold the van."),
        ("Smokes", "Quit smoking."),
        ("Ravi Menon is the buyer", "Ravi Menon is no longer the buyer."),
        ("The call is on Tuesdays", "The call moved from Tuesday to Thursday."),
        ("Eats meat", "Ann no longer eats meat."),
        ("Eats meat", "For health reasons, the customer no longer eats meat."),
        ("Her nanny eats meat", "Her nanny no longer eats meat."),
        ("Her notice period is two months", "Her firm cut the notice period to one month."),
        ("Has two cars", "Sold both cars."),
        ("On the Silver plan", "Not on the Silver plan any more."),
        ("Eats no fish", "Eats fish again"),
        ("I can't swim", "I had lessons, so I can swim now"),
        ("Has a cat called Miso", "Has no cat any more, Miso died"),
        ("She takes the bus to school", "I no longer take the bus to school"),
        ("The ferry is how I get to school", "I no longer take the ferry to school"),
        ("I own a parrot", "Pip flew off, so I own no parrot any more"),
        ("Write by post, not fax", "Write by fax instead of post"),
        ("The workshop is in Leeds", "Moved the workshop from Leeds to York."),
        ("Consents to calls about offers", "Revoked her consent to calls about offers."),
        ("Opted in to the digest", "Opted out of the digest."),
    ],
)
def test_what_a_note_names_as_over_ends(fact: str, said: str) -> None:
    verdict = decide(note(said), [known(fact)], DEFAULT)
    assert (verdict.action, verdict.decided_by) == (UPDATE, DecidedBy.CHANGE)


@every(
    ("fact", "said", "action"),
    grouped(
        {
            ADD: [
                # What is over for another ends nothing of the contacts.
                ("Is allergic to nuts", "Her nanny is no longer allergic to nuts."),
                ("Works at Siemens", "The plumber left Siemens."),
                ("Eats meat", "Anna no longer eats meat."),
                ("Eats meat", "Last week James gave up meat."),
                ("Eats meat", "The head of the choir eats no meat any more."),
                ("Has two children", "Her nanny has three children now."),
                ("Meets us on Tuesdays", "The plumber moved from Tuesday to Thursday."),
                ("Her nanny eats meat", "Her flatmate no longer eats meat."),
                # The end of a part or of another one ends nothing.
                ("Has two cars", "Sold one car."),
                ("Has two cars", "Sold one of her cars."),
                ("Has cars", "Sold 2 cars."),
                ("Has a car", "Sold her other car."),
                ("Has a car", "Sold her second car."),
                ("Rents a garage", "No longer rents out a garage."),
                # A change that is denied wished or claimed ends nothing.
                ("Has a van.", "Hasn't sold the van."),
                ("Works at Siemens.", "Has never left Siemens."),
                ("Lives in Pune.", "Has not moved from Pune to Goa."),
                ("Consents to marketing emails.", "Has never revoked consent to marketing emails."),
                ("Her yoga class is on Mondays.", "Her yoga class was not moved to Thursdays."),
                ("Prefers email.", "Did not ask for calls instead of email."),
                ("Has a van.", "Wants to have sold the van by May."),
                ("Has a van.", "Claims to have sold the van."),
                ("Has a van.", "Almost sold the van."),
                ("Has a van.", "Left without having sold the van."),
                ("Has a van.", "May have sold the van."),
                ("Smokes.", "Hardly gave up smoking."),
                ("Works at Siemens.", "Plans on having left Siemens by May."),
                ("Works at Siemens.", "It is not true that she no longer works at Siemens."),
                ("Is allergic to nuts.", "The doctor asked if she is no longer allergic to nuts."),
                ("Is allergic to nuts.", "She doubts that she is no longer allergic to nuts."),
                ("Is allergic to nuts.", "Hopefully she is no longer allergic to nuts."),
                ("Is allergic to nuts.", "It's a rumour that she is no longer allergic to nuts."),
                ("Uses Zendesk.", "It is untrue that she no longer uses Zendesk."),
                ("Uses Zendesk.", "Please check whether I no longer use Zendesk."),
                ("Pays by card.", "Pays by invoice now and then."),
                # The end of another numbered or dated thing ends nothing.
                ("Works on Mondays.", "No longer works on Fridays."),
                ("Uses version 5.", "No longer uses version 4."),
                ("Has a meeting at 9.", "Cancelled the meeting at 11."),
                ("Pays 30 EUR a month.", "No longer pays 20 EUR a month."),
                (
                    "Her call is on Mondays.",
                    "Asked to have her call moved from Monday to Thursday.",
                ),
                ("Has two children.", "Never said that she has three children now."),
                # The end of what is not the whole ends nothing.
                ("Has a van.", "Sold the van's trailer."),
                ("Works at Siemens.", "Left Siemens' works council."),
                ("Works at Siemens.", "Left Siemens' works."),
                ("Likes Anna.", "No longer likes Anna's cakes."),
                ("Gets the weekly newsletter.", "Unsubscribed from the daily newsletter."),
                ("Has an old Volvo.", "Sold the new Volvo."),
                ("Has a Volvo.", "Sold the new Volvo."),
                ("Has two boats.", "Sold the boat."),
                ("Owns flats.", "Sold a flat."),
                ("Has a dog.", "Gave up the dog's kennel."),
                ("Has three cats.", "Gave up her cat."),
                ("Has two boats.", "No longer has one of the boats."),
                ("Pays for two desks.", "Does not pay for the second desk any more."),
                ("Has a blue car.", "Sold the red car."),
            ],
            UPDATE: [
                # An end of the whole still ends it.
                ("Has a van.", "Never liked it, sold the van."),
                ("Uses Zendesk.", "Does not use Zendesk any more."),
                ("Works on Fridays.", "No longer works on Fridays."),
                ("Uses Zendesk.", "Told me that she no longer uses Zendesk."),
                ("Uses Anna's car.", "No longer uses Anna's car."),
                ("Has two boats.", "Sold the boats."),
                ("Has an old Volvo.", "Sold the old Volvo."),
                ("On the Silver plan.", "The plan: cancelled the Silver plan."),
            ],
        }
    ),
)
def test_an_end_of_the_whole_ends_it_and_any_other_nothing(
    fact: str, said: str, action: Action
) -> None:
    assert decide(note(said), [known(fact)], DEFAULT).action is action


@every(
    ("fact", "said"),
    [
        ("Works at Acme", "No longer works at Acme on Fridays"),
        ("Plays tennis with Ana and golf with Rui", "Stopped playing golf"),
        ("Likes golf", "Stopped playing golf"),
        ("Never smoked", "Quit smoking"),
        ("I work at Acme", "She no longer works at Acme"),
        ("Has a van", "Is thinking of selling the van"),
        ("Write by post, not fax", "Write by letter instead of fax"),
        ("Has no van", "Has no van any more"),
    ],
)
def test_a_part_another_person_or_a_plan_ends_nothing(fact: str, said: str) -> None:
    assert not ends(said, fact)


@every(
    ("said", "is_over"),
    [
        ("Cancelled this Friday's flowers.", False),
        ("Cancelled the Friday flowers.", False),
        ("Cancelled the Friday flowers for good.", True),
        ("Cancelled the flowers every Friday.", True),
        ("No longer orders flowers every Friday.", True),
    ],
)
def test_a_cancelled_time_ends_no_habit(said: str, is_over: bool) -> None:
    fact = "Orders flowers every Friday."
    assert ends(said, fact) is is_over
    assert names_a_part(said, fact) is not is_over


@every(
    ("fact", "said", "is_once"),
    [
        ("Orders bread every Friday.", "Cancelled this Friday's bread.", True),
        ("Orders bread every Friday.", "Cancelled the bread on Friday.", True),
        ("Orders bread every Friday.", "Cancelled the bread this morning.", False),
        ("Orders bread on Fridays.", "Cancelled the bread on Monday.", False),
        ("Gets bread every morning.", "Cancelled the bread this morning.", True),
        ("Orders weekly bread.", "Cancelled next week's bread.", True),
        ("Orders weekly bread.", "Cancelled the bread for this Friday.", True),
        ("Orders weekly bread.", "Cancelled today's bread.", True),
        ("Pays for a weekly gym membership.", "Cancelled the gym membership this morning.", False),
        ("Has a monthly Netflix subscription.", "Cancelled the Netflix subscription.", False),
        ("Has a monthly Netflix subscription.", "Cancelled the Netflix subscription today.", False),
        (
            "Has a monthly Netflix subscription.",
            "Cancelled the Netflix subscription on Monday.",
            False,
        ),
        ("Takes a yearly holiday in Rome.", "Cancelled the holiday in Rome.", False),
        ("Takes a yearly holiday in Rome.", "Cancelled this year's holiday in Rome.", True),
    ],
)
def test_a_time_at_which_it_was_cancelled_is_no_time_of_the_habit(
    fact: str, said: str, is_once: bool
) -> None:
    assert names_a_part(said, fact) is is_once


def test_a_cancelled_time_that_is_no_habit_is_over() -> None:
    assert ends("Cancelled the meeting on Tuesday.", "Has a meeting on Tuesday.")


def test_a_denied_end_filed_under_the_value_denies_none() -> None:
    said = "Has never left Siemens."
    assert not denies_value(said, "Siemens")
    assert denies_value("Never worked at Siemens.", "Siemens")


@every(("cosine", "action"), [(0.3, UPDATE), (math.nextafter(0.3, -1), ADD), (0.9, UPDATE)])
def test_words_end_nothing_that_is_far_away(cosine: float, action: Action) -> None:
    verdict = decide(note("Sold the van"), [known("Has a van", cosine)], DEFAULT)
    assert verdict.action is action


def test_a_guess_ends_nothing_by_its_words() -> None:
    verdict = decide(note("Sold the van", is_hedged=True), [known("Has a van")], DEFAULT)
    assert verdict.action is ADD


def test_a_change_of_the_value_alone_ends_what_it_was() -> None:
    verdict = decide(note("The new boss is Ola Berg"), [known("Her boss is Ivo Tanev")], DEFAULT)
    assert (verdict.action, verdict.decided_by) == (UPDATE, DecidedBy.CHANGE)


@every(
    ("one", "other", "is_one"),
    [
        ("The lead developer is Mia", "The lead developer is Noor", True),
        ("Final budget is 45k", "Her budget is 30k", True),
        ("Noor is the buyer", "The buyer is Mia", True),
        ("Her manager is Mia", "Her account manager is Noor", False),
        ("The manager of Turin is Mia", "The manager of Bari is Noor", False),
        ("Room 12 is Mia's", "Room 14 is Noor's", False),
        ("The lead developer is Mia", "The lead developer is not Mia", False),
    ],
)
def test_a_head_with_two_names_is_one_question(one: str, other: str, is_one: bool) -> None:
    assert answer_one_question(one, other) is is_one


@every(
    ("fact", "said"),
    [
        ("Booth 7 needs a lamp", "Booth 9 needs a lamp"),
        ("Order no. 881 has left", "Order no. 884 has left"),
        ("Called on Monday about the lift", "Called on Friday about the lift"),
        ("Ordered 4 lamps for the hall", "Ordered 6 lamps for the office"),
        ("Visited the Turin site on 3 May", "Visited the Turin site on 9 June"),
        ("Interested in the X200 press", "Interested in the X300 press"),
    ],
)
def test_events_and_numbers_that_name_something_are_no_question(fact: str, said: str) -> None:
    for cosine in (0.97, 0.9, 0.6):
        verdict = decide(note(said), [known(fact, cosine)], DEFAULT)
        assert (verdict.action, verdict.conflicts) == (ADD, ())


@every(
    ("text", "expected"),
    [
        ("Called on Monday", True),
        ("She visited Turin in May", True),
        ("Last order was 50 units", True),
        ("Meets us on Mondays", False),
        ("The preferred hotel is the Ritz", False),
        ("I've ordered five so far", False),
        ("Reached 600 followers", False),
    ],
)
def test_an_event_is_told_in_the_past(text: str, expected: bool) -> None:
    assert is_event(text) is expected


@every(
    ("fact", "said", "is_other"),
    [
        ("I live in Turin", "She moved to Oslo", True),
        ("I work at Acme", "He got a job at Globex", True),
        ("My time zone is CET", "They are in EST", True),
        ("I live in Turin", "I moved to Oslo", False),
        ("Lives in Turin", "She moved to Oslo", False),
    ],
)
def test_he_she_and_they_are_not_the_contact(fact: str, said: str, is_other: bool) -> None:
    assert are_of_other_people(said, fact) is is_other


@every(
    ("fact", "said", "slots"),
    [
        ("I live in Turin", "She moved to Oslo", ("Turin", "Oslo")),
        ("Contract is 2 May", "Maintenance contract is 9 June", ("2 May", "9 June")),
        ("Bought 20 seats in 2024", "Bought 35 seats in 2025", ("20", "35")),
    ],
)
def test_a_slot_read_from_words_ends_nothing_of_another_matter(
    fact: str, said: str, slots: tuple[str, str]
) -> None:
    old, new = map(read_slot, slots)
    verdict = decide(note(said, slot=new, slot_read_from=said), [known(fact, slot=old)], DEFAULT)
    assert (verdict.action, verdict.targets) == (ADD, ())


def test_a_slot_read_from_words_spares_a_fact_that_says_more() -> None:
    fact = known("Our budget is 40k and we need 12 laptops", slot=read_slot("40k", "budget"))
    said = note("Our budget is 55k", slot=read_slot("55k", "budget"), slot_read_from="the words")
    read, given = (
        decide(each, [fact], DEFAULT) for each in (said, note(said.text, slot=said.slot))
    )
    assert (read.action, read.conflicts) == (ADD, (fact,))
    assert (given.action, given.targets) == (UPDATE, (fact,))


def test_an_equal_value_among_other_words_is_no_restatement() -> None:
    turtles = read_slot("turtles", "pet", single=False)
    fact = known("Has turtles that cheer him up", slot=turtles)
    said = note("His turtles eat a varied diet", slot=turtles, slot_read_from="the words")
    verdict = decide(said, [fact], DEFAULT)
    assert (verdict.action, verdict.targets) == (ADD, ())


def test_what_asks_or_plans_is_not_stated() -> None:
    assert stated("I have 3 dogs, I'm thinking of a fourth.") == "I have 3 dogs,"
    assert not stated("Can you find room for 5 people?")
    assert stated("Has 3 dogs.") == "Has 3 dogs."


def wordings(said: str, *facts: tuple[str, float]) -> set[str]:
    near = [known(text, cosine, fact_id=text) for text, cosine in facts]
    verdict = decide(note(said), near, DEFAULT)
    return {fact.text for fact in verdict.targets} if verdict.action is UPDATE else set()


@every(
    "beside",
    [
        "Ivo Tanev is her dentist",
        "Her boss is kind",
        "Ivo Tanev was her boss at Bergco",
        "Wants Ivo Tanev as her boss",
        "Her brother's boss is Ivo Tanev",
    ],
)
def test_what_says_more_than_a_wording_stays(beside: str) -> None:
    known_boss = "Her boss is Ivo Tanev"
    ended = wordings("Her new boss is Ola Berg", (known_boss, 0.6), (beside, 0.6))
    assert ended == {known_boss}


@every(
    ("fact", "said"),
    [
        ("Their help desk is Zendesk", "Zendesk is the help desk that they use"),
        ("Her buyer is Noor Haddad", "Noor Haddad is her buyer"),
        ("Her buyer is called Noor Haddad", "Her buyer is Noor Haddad"),
        ("Takes calls on Mondays", "On Mondays she takes calls"),
        ("Wants quotes in Polish", "Quotes should be in Polish"),
    ],
)
def test_the_same_words_in_another_order_say_it_again(fact: str, said: str) -> None:
    verdict = decide(note(said), [known(fact, 0.6)], DEFAULT)
    assert verdict.action is not ADD
    assert verdict.is_restatement


@every(
    ("fact", "said"),
    [
        ("Has a black van", "Wants a black van"),
        ("Likes the black van", "Sells the black van"),
        ("Plays golf on Mondays", "Teaches golf on Mondays"),
        ("Room 12 is for guests", "Room 14 is for guests"),
        ("Noor Haddad reports to Ivo Tanev", "Ivo Tanev reports to Noor Haddad"),
        ("The buyer pays the agent", "The agent pays the buyer"),
        ("Has a nut allergy", "Has no nut allergy"),
        ("Wants calls from the Turin office", "Wants the Turin office"),
        ("Called the plumber on Monday", "The plumber called on Monday"),
        ("Flies from Pune on Mondays", "Flies to Pune on Mondays"),
        ("Works with the city council", "Works for the city council"),
        ("Open until five", "Open from five"),
        ("Only eats fish", "Also eats fish"),
        ("We owe him money", "Owes us money"),
        ("Can sign contracts", "Must sign contracts"),
        ("Had a dog named Rex", "Has a dog named Rex"),
        ("Her client is a hotel in Bath", "Her client is a brewery in Bath"),
    ],
)
def test_what_differs_in_a_state_a_role_or_a_value_is_no_wording(fact: str, said: str) -> None:
    assert not decide(note(said), [known(fact, 0.7)], DEFAULT).is_restatement


@every(
    ("fact", "said"),
    [
        ("Peter is the CEO", "Anna is now the CEO"),
        ("Salesforce is the CRM they use", "HubSpot is the CRM they use now"),
    ],
)
def test_what_there_is_one_of_is_no_roster(fact: str, said: str) -> None:
    assert decide(note(said), [known(fact, 0.7)], DEFAULT).conflicts


ROSTER = [
    ("We sell the Alpha at 20 EUR", "We sell the Beta at 30 EUR"),
    ("Anna is on the team", "Ben is on the team"),
    ("Room 12 needs new paint", "Room 14 needs new paint"),
    ("Room 12 is for meetings", "Room 14 is for storage"),
    ("The Alpha weighs 2 kg", "The Beta weighs 5 kg"),
    ("The price of the Alpha is 20 EUR", "The price of the Beta is 30 EUR"),
    ("The red chair costs 80 euros", "The blue chair costs 95 euros"),
    ("We stock the oak table", "We stock the pine table"),
    ("The menu has lentil soup for 6 EUR", "The menu has onion soup for 7 EUR"),
    ("The Leeds office has 12 desks", "The York office has 30 desks"),
    ("The Basic plan is 9 EUR a month", "The Pro plan is 29 EUR a month"),
    ("The ferry to Bergen leaves at 8", "The ferry to Oslo leaves at 10"),
    ("Size M is in stock", "Size L is in stock"),
    ("Her son Jo is 4", "Her son Max is 7"),
    ("Client Acme pays in 30 days", "Client Globex pays in 60 days"),
    ("Maria is a nurse on the ward", "Tom is a doctor on the ward"),
    ("Budget 2025 is 40,000 EUR", "Budget 2026 is 50,000 EUR"),
    ("Budget 2025 is 40,000 EUR", "Budget 2026 is 40,000 EUR"),
    ("The order of 3 May: 7 lamps", "The order of 9 June: 7 lamps"),
    ("Parcel of 3 May weighs 2 kg", "Parcel of 9 June weighs 5 kg"),
    ("Claim 881: 2 lamps, 300 EUR", "Claim 884: 5 lamps, 450 EUR"),
    ("Claim 881 is not paid", "Claim 884 is paid"),
    ("PX-881 has 4 lamps", "PX-884 has 6 lamps"),
    ("Ferry on 3 May at 10:00", "Ferry on 9 June at 14:00"),
    ("Has a viewing on 3 May", "Has a viewing on 9 June"),
    ("Demo with Dr. Roth on Monday", "Demo with Dr. Roth on Friday"),
]


@every("cosine", [0.46, 0.7, 0.85, 0.9, 0.94])
@every(("one", "other"), ROSTER)
def test_entries_of_a_roster_are_never_linked(one: str, other: str, cosine: float) -> None:
    for fact, said in ((one, other), (other, one)):
        verdict = decide(note(said), [known(fact, cosine)], DEFAULT)
        assert (verdict.action, verdict.conflicts) == (ADD, ())


@every(
    ("fact", "said"),
    [
        ("The price of the Alpha is 20 EUR", "The price of the Alpha is 30 EUR"),
        ("We sell the Alpha", "We no longer sell the Alpha"),
        ("The lead is Anna Roth", "The lead is Ben Ode now"),
        ("The team has 4 designers", "The team has 6 designers now"),
        ("The quote is valid for 30 days", "The quote is valid for 2 months"),
        ("Two lamps are broken", "Four lamps are broken"),
        ("Pays 40 EUR a seat for 12 seats", "Pays 50 EUR a seat for 20 seats"),
    ],
)
def test_a_new_value_of_one_entry_is_asked_about_or_ends_it(fact: str, said: str) -> None:
    verdict = decide(note(said), [known(fact, 0.7)], DEFAULT)
    assert verdict.conflicts or verdict.targets


@every(
    ("fact", "said"),
    [
        ("The lease ends 2026-12-31", "The lease ends 2027-12-31"),
        ("The lease ends 31.12.2026", "The lease ends 30.06.2027"),
        ("The trial runs until 12/31/2026", "The trial runs until 01/31/2027"),
        ("The quote is good until 03/04/2026", "The quote is good until 05/04/2026"),
        ("The next demo is on 3 May", "The next demo is on 9 June"),
    ],
)
def test_two_dates_of_one_thing_are_asked_about(fact: str, said: str) -> None:
    for cosine in (0.98, 0.9):
        before = known(fact, cosine)
        verdict = decide(note(said), [before], DEFAULT)
        assert (verdict.action, verdict.conflicts) == (ADD, (before,))


@every(
    ("one", "other"),
    [
        ("Agreed to calls about offers", "Withdrew consent to calls about offers"),
        ("Gave consent to surveys", "Has withdrawn his consent to surveys"),
    ],
)
def test_a_withdrawal_ends_the_consent_and_a_new_consent_is_asked_about(
    one: str, other: str
) -> None:
    before = known(one, 0.7)
    verdict = decide(note(other), [before], DEFAULT)
    assert (verdict.action, verdict.targets) == (Action.UPDATE, (before,))
    withdrawn = known(other, 0.7)
    verdict = decide(note(one), [withdrawn], DEFAULT)
    assert (verdict.action, verdict.conflicts) == (ADD, (withdrawn,))


def test_a_withdrawal_ends_no_consent_to_something_else_and_nothing_that_is_no_consent() -> None:
    for fact, said in (
        ("Agreed to photos at the fair", "I withdraw permission to use my voice"),
        ("May share my profile with hotels", "I object to sharing my address"),
        ("Reads the digest on the train", "Opted out of the digest"),
    ):
        assert decide(note(said), [known(fact, 0.7)], DEFAULT).action is ADD


@every(
    ("fact", "said"),
    [
        ("Agreed to calls about offers", "Withdrew consent to surveys"),
        ("Opted in to text messages", "Opted out of the digest"),
    ],
)
def test_a_withdrawal_leaves_another_consent_alone(fact: str, said: str) -> None:
    verdict = decide(note(said), [known(fact, 0.7)], DEFAULT)
    assert (verdict.action, verdict.conflicts) == (ADD, ())


@every("said", ["Moved her office from Leeds to York.", "Switched the parcels from Leeds to York."])
def test_the_move_of_a_thing_ends_nothing_of_the_contacts(said: str) -> None:
    fact = known("Lives in Leeds", slot=read_slot("Leeds"))
    verdict = decide(note(said), [fact], DEFAULT)
    assert (verdict.action, verdict.targets) == (ADD, ())
    assert decide(note("Moved from Leeds to York."), [fact], DEFAULT).targets == (fact,)


def test_since_when_a_value_holds_ends_with_it() -> None:
    fact = known("Works at Acme since May 2019", slot=read_slot("Acme", "employer"))
    texts = ("Works at Globex now", "Works at Globex since 2024")
    for said in texts:
        new = note(said, slot=read_slot("Globex", "employer"), slot_read_from=said)
        assert decide(new, [fact], DEFAULT).targets == (fact,)


# Attributes that the caller gave


def given(said: str, slot: tuple[str, str], fact: str, known_as: tuple[str, str]) -> bool:
    """Whether the two are in dispute, each filed by its caller."""
    old = known(fact, slot=read_slot(known_as[1], known_as[0]))
    made_up = replace(read_slot(slot[1], slot[0]), is_known=False)
    return bool(decide(note(said, slot=made_up), [old], DEFAULT).conflicts)


@every(
    ("said", "slot", "fact", "known_as"),
    [
        (
            "Pallets have to come before 8, since the lift is busy after that",
            ("pallet_time", "before 8"),
            "Wants three pallets a month, on Mondays",
            ("pallet_days", "Mondays"),
        ),
        (
            "Ines at Kellow Print signs the orders from now on",
            ("order_signer", "Ines"),
            "Kellow Print moved; from May on parcels go to Dock 9",
            ("parcel_address", "Dock 9"),
        ),
        (
            "A jar of cashews came as a free gift, in spite of the nut ban; Ines complained",
            ("complaint", "cashews as a gift"),
            "Firm rule: nothing with nuts in it, not in jars and not as a free gift",
            ("banned_food", "nuts"),
        ),
    ],
)
def test_what_the_caller_filed_under_two_attributes_holds_both(
    said: str, slot: tuple[str, str], fact: str, known_as: tuple[str, str]
) -> None:
    assert not given(said, slot, fact, known_as)
    assert given(said, ("", ""), fact, known_as)


@every(
    ("said", "slot", "fact", "known_as"),
    [
        ("Has no dog", ("animals", "none"), "Has a dog", ("pet", "dog")),
        (
            "The pallets come daily now",
            ("rhythm", "daily"),
            "Wants three pallets a month",
            ("pallet_days", "three a month"),
        ),
        (
            "Goes to five plays a year",
            ("plays", "five"),
            "Goes to two plays a year, in Leeds",
            ("plays_seen", "two"),
        ),
    ],
)
def test_words_of_one_matter_outweigh_two_attributes(
    said: str, slot: tuple[str, str], fact: str, known_as: tuple[str, str]
) -> None:
    assert given(said, slot, fact, known_as)


@every(
    ("fact", "said"),
    [
        (
            "In 2011 the yard became a part of Harnes, then Lund was sold",
            "In 2011 Lund became a part of the yard, then Harnes was sold",
        ),
        ("Moved to Oslo, then back to Bergen", "Moved to Bergen, then back to Oslo"),
    ],
)
def test_what_only_changed_places_is_no_new_answer(fact: str, said: str) -> None:
    assert not decide(note(said), [known(fact, 0.99)], DEFAULT).targets


@every(
    ("fact", "said"),
    [
        ("Ships by sea", "Ships by air these days"),
        ("She travels by coach", "Travels by night train now"),
        ("I come to the yard by tram", "I come to the yard by ferry from now on"),
    ],
)
def test_another_way_of_doing_one_thing_ends_the_way_before(fact: str, said: str) -> None:
    [target] = decide(note(said), [known(fact)], DEFAULT).targets
    assert target.text == fact


@every(
    ("fact", "said"),
    [
        ("Can be reached by telex", "Can be reached by pager now"),
        ("Is paid by the hour", "Is paid by the union now"),
        ("Ships spices by sea", "Ships by air these days"),
        ("Sent the oak by barge", "Sent the oak by lorry again"),
        ("Ships by sea", "Ships by air"),
        ("Ships by sea", "Also ships by air now"),
        ("Ships by sea", "Ships by air as well now"),
        ("Goes to the depot by tram", "Goes to the choir by ferry now"),
        ("I travel by tram", "She travels by ferry now"),
        ("Travels by night train", "Travels by train again"),
    ],
)
def test_what_may_be_done_in_two_ways_ends_neither(fact: str, said: str) -> None:
    assert not decide(note(said), [known(fact)], DEFAULT).targets

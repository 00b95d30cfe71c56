"""A profile shows no value of which a live fact says that it is over, and keeps the others."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from reconciler.config_files import load_attribute_book
from reconciler.domain.recalling.recalled import current_values
from reconciler.domain.records.facts import Fact
from reconciler.domain.records.kinds import SourceKind
from tests.ended_values import HELD, OVER
from tests.tables import every

BOOK = load_attribute_book(None)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def fact(
    text: str,
    attribute: str = "",
    value: str | None = None,
    subject: str | None = None,
    day: int = 0,
) -> Fact:
    said_at = NOON + timedelta(days=day)
    return Fact(
        fact_id=text,
        text=text,
        slot=BOOK.slot(subject=subject, attribute=attribute, value=value) if attribute else None,
        trust=SourceKind.USER_EXPLICIT,
        observations=1,
        recorded_at=said_at,
        valid_from=said_at,
        last_confirmed_at=said_at,
    )


def values(*facts: Fact) -> list[str]:
    return [each.value for each in current_values(facts, {}, BOOK)]


def test_the_end_of_one_of_several_values_leaves_the_others() -> None:
    court = fact("Manages Sorrel Court.", "managed_building", "Sorrel Court")
    sold = "Merrow Place has been sold, and she no longer manages it; everything there is to stop."
    place = fact(sold, "managed_building", "Merrow Place", day=1)
    assert values(court, place) == ["Sorrel Court"]


@every(
    ("held", "attribute", "fuller", "shorter", "said"),
    [
        ("Lives in {}", "city", "Bangalore, India", "Bangalore", "No longer lives in {}"),
        ("Works at {}", "employer", "Nordlys Energy AS", "Nordlys", "No longer works at {}"),
        (
            "Manages {}",
            "managed_building",
            "Merrow Place, Leeds",
            "Merrow Place",
            "Sold {}, and no longer manages it",
        ),
        ("Goes {}", "hobby", "sailing on the lake", "sailing", "Has given up {}"),
    ],
)
def test_the_end_of_a_value_in_fewer_words_takes_the_fuller_one(
    held: str, attribute: str, fuller: str, shorter: str, said: str
) -> None:
    known = fact(held.format(fuller), attribute, fuller)
    assert values(known, fact(said.format(shorter), attribute, shorter, day=1)) == []


@every(("text", "attribute", "value"), OVER)
def test_a_fact_whose_words_end_its_own_value_holds_none(
    text: str, attribute: str, value: str
) -> None:
    assert values(fact(text, attribute, value)) == []


@every(
    ("text", "attribute", "value"),
    [
        ("No calls after 6 pm.", "call_time", "after 6 pm"),
        ("No longer takes calls after 9:00.", "latest_call", "9:00"),
        ("No calls on Sundays.", "call_day", "Sundays"),
        ("Does not manage Sorrel House.", "building", "Sorrel House"),
    ],
)
def test_a_denial_of_the_whole_value_holds_none(text: str, attribute: str, value: str) -> None:
    assert values(fact(text, attribute, value)) == []


def test_two_that_are_not_to_be_mixed_up_are_two_values() -> None:
    house, court = "Sorrel House", "Sorrel Court"
    facts = [
        fact(f"Manages {this}, not to be mixed up with {that}.", "manages", this, day=day)
        for day, (this, that) in enumerate([(house, court), (court, house)])
    ]
    assert set(values(*facts)) == {house, court}


@every(("text", "attribute", "value"), HELD)
def test_an_end_of_something_else_leaves_the_value(text: str, attribute: str, value: str) -> None:
    assert values(fact(text, attribute, value)) == [value]


@every(("text", "attribute", "value"), OVER)
def test_another_fact_of_the_same_value_holds_it_no_longer(
    text: str, attribute: str, value: str
) -> None:
    noun = attribute.replace("_", " ")
    known = fact(f"The {noun} is {value}.", attribute, value)
    assert values(known, fact(text, attribute, value, day=1)) == []
    # Said before it, the end is older than the value.
    assert values(known, fact(text, attribute, value, day=-1)) == [value]


@every(
    ("known", "said"),
    [
        (("Drives a Volvo.", "car", "Volvo"), "Sold the Volvo."),
        (("Drives a Volvo.", "car", "Volvo"), "The Volvo has been sold."),
        (("Follows the keto diet.", "diet", "keto"), "The keto diet is over."),
        (("Has a dog called Bello.", "pet", "Bello"), "The dog Bello has died."),
        (("Is on the Premium plan.", "plan", "Premium"), "The Premium subscription is over."),
        (("Uses Salesforce.", "crm_system", "Salesforce"), "Salesforce was replaced."),
    ],
)
def test_an_end_without_a_slot_takes_the_value_that_it_names(
    known: tuple[str, str, str], said: str
) -> None:
    assert values(fact(*known), fact(said, day=1)) == []


NUTS = ("Allergic to nuts", "allergy", "nuts")


@every(
    "said",
    [
        "Has never been tested for a nut allergy.",
        "Is not sure that she is allergic to nuts.",
        "Has not outgrown the nut allergy.",
        "Does not know whether she is allergic to nuts.",
        "Never forgets that she is allergic to nuts.",
        "No longer takes pills for the nut allergy.",
        "May no longer be allergic to nuts.",
        "Nobody said that she is allergic to nuts.",
        "Cannot eat nuts again with that allergy.",
    ],
)
def test_an_allergy_stays_unless_it_is_plainly_denied(said: str) -> None:
    assert values(fact(*NUTS), fact(said, day=1)) == ["nuts"]
    assert set(values(fact(*NUTS), fact(said, "allergy", "nuts", day=1))) == {"nuts"}


@every(
    "said",
    [
        "Is not allergic to nuts.",
        "No longer has a nut allergy.",
        "Has outgrown the nut allergy.",
        "Has no nut allergy any more, said the lab.",
        "Never had a nut allergy.",
        "Is now no longer allergic to nuts.",
    ],
)
def test_an_allergy_that_is_plainly_denied_is_none(said: str) -> None:
    assert values(fact(*NUTS), fact(said, day=1)) == []


@every(
    "said",
    [
        "Allergic to peanuts",
        "Allergic to peanuts only",
        "Allergic to peanuts, not to other nuts.",
        "Only her son is allergic to it.",
    ],
)
def test_a_narrow_value_beside_a_wide_one_leaves_it(said: str) -> None:
    narrow = fact(said, "allergy", "peanuts", day=1)
    assert set(values(fact(*NUTS), narrow)) == {"nuts", "peanuts"}


WORKS = ("Works at Siemens.", "employer", "Siemens")
MARRIED = ("Married to Jo.", "spouse", "Jo")
VEGETARIAN = ("Vegetarian.", "diet", "vegetarian")
BUDGET = ("Budget is 40k", "budget", "40k")
EMAIL = ("Prefers email", "preferred_channel", "email")


@every(
    ("known", "said"),
    [
        *((WORKS, said) for said in ("Quit his job yesterday.", "I resigned.", "Was laid off.")),
        *((MARRIED, said) for said in ("Got divorced.", "She is divorced now.", "I'm divorced.")),
        (("Is married.", "marital_status", "married"), "Got divorced."),
        *((VEGETARIAN, said) for said in ("Eats meat again.", "She eats everything now.")),
        *((BUDGET, said) for said in ("The budget is cancelled.", "The budget has been scrapped.")),
        *((EMAIL, said) for said in ("Does not want emails any more.", "No longer wants email.")),
    ],
)
def test_an_end_that_does_not_name_the_value_takes_it(
    known: tuple[str, str, str], said: str
) -> None:
    assert values(fact(*known), fact(said, day=1)) == []
    assert values(fact(*known), fact(said, day=-1)) == [known[2]]


@every(
    ("known", "said"),
    [
        # An end of something near leaves the value.
        *(
            (WORKS, said)
            for said in (
                "Her husband quit his job.",
                "Has not quit her job.",
                "Has never left Siemens.",
                "Left Siemens' works council.",
                "Wants to quit his job.",
                "Resigned from the board of the club.",
                "Quit his job yesterday?",
                "Says that Jo quit her job.",
            )
        ),
        *((MARRIED, said) for said in ("Her sister got divorced.", "Is not divorced.")),
        (("Keeps kosher.", "diet", "kosher"), "Eats meat again."),
        *((VEGETARIAN, said) for said in ("Her son eats meat again.", "Does not eat meat.")),
        *(
            (BUDGET, said)
            for said in (
                "The travel budget is cancelled.",
                "The budget meeting is cancelled.",
                "The budget for the move is cancelled.",
                "The budget is not cancelled.",
            )
        ),
        *((EMAIL, said) for said in ("Does not want emails on Sundays.", "Wants no other emails.")),
        (("Lives in Oslo.", "city", "Oslo"), "Does not like Oslo any more."),
        # An end of something of the value leaves it.
        (("Works at Orbis.", "employer", "Orbis"), "The contract with Orbis has ended."),
        (("Has deliveries on Tuesday.", "delivery_day", "Tuesday"), "Tuesday's call was dropped."),
        (("Drives a Volvo.", "car", "Volvo"), "Her sister has sold the Volvo."),
        (("Drives a Volvo.", "car", "Volvo"), "Would drive it until the Volvo is sold."),
    ],
)
def test_an_end_of_something_near_or_of_a_part_leaves_the_value(
    known: tuple[str, str, str], said: str
) -> None:
    assert values(fact(*known), fact(said, day=1)) == [known[2]]


def test_an_end_filed_under_a_name_that_was_made_up_ends_the_value_under_another() -> None:
    known = fact("Wants a ground-floor flat.", "floor_preference", "ground floor")
    said = fact("A ground-floor flat is no longer needed.", "flat_need", "ground floor", day=1)
    assert values(known, said) == []


def test_what_has_ended_for_one_of_two_stays_for_the_other() -> None:
    said = "The Silver plan for Hill House has ended."
    here = fact("Hill House is on the Silver plan.", "plan", "Silver", "hill house")
    there = fact("Mill House is on the Silver plan.", "plan", "Silver", "mill house")
    assert values(here, there, fact(said, day=1)) == ["Silver"]
    assert values(here, there, fact(said, "plan", "Silver", "hill house", day=1)) == ["Silver"]


def test_a_limit_is_a_value_until_its_dispute_is_settled() -> None:
    known = fact("Is allergic to nuts.", "allergy", "nuts")
    said = fact("Not allergic to nuts, said the lab.", day=1)
    disputes = {known.fact_id: [said], said.fact_id: [known]}
    [value] = current_values([known, said], disputes, BOOK)
    assert (value.value, value.is_disputed, value.holds_until_settled) == ("nuts", True, True)
    assert values(known, said) == []


def test_no_limit_holds_a_value_that_is_only_disputed() -> None:
    home, work = fact("Lives in Goa.", "city", "Goa"), fact("Works in Pune.", "office", "Pune")
    disputes = {home.fact_id: [work], work.fact_id: [home]}
    found = current_values([home, work], disputes, BOOK)
    assert [(each.is_disputed, each.holds_until_settled) for each in found] == [(True, False)] * 2


def test_a_ban_is_a_value_and_no_denial() -> None:
    assert values(fact("No sesame in any delivery.", "banned_ingredient", "sesame")) == ["sesame"]


OF_BOB = ("Bob prefers Teams calls.", "preferred_channel", "Teams", "bob")


def outdated(*facts: Fact) -> dict[str, bool]:
    return {each.value: each.may_be_outdated for each in current_values(facts, {}, BOOK)}


@every(
    "said", ["Bob has left the company.", "Her colleague Bob has left.", "Bob retired in April."]
)
def test_what_a_colleague_who_left_preferred_may_be_outdated(said: str) -> None:
    assert outdated(fact(*OF_BOB), fact(said, day=1)) == {"Teams": True}
    assert outdated(fact(*OF_BOB), fact(said, day=-1)) == {"Teams": False}


@every("said", ["Bob has left the keys.", "Bob's car has died.", "Alice has left the company."])
def test_what_a_colleague_who_is_there_prefers_is_not_outdated(said: str) -> None:
    assert outdated(fact(*OF_BOB), fact(said, day=1)) == {"Teams": False}


def test_who_left_the_contacts_employer_has_left_and_the_contact_has_not() -> None:
    said = fact("Bob has left Siemens.", day=1)
    assert outdated(fact(*WORKS), fact(*OF_BOB), said) == {"Siemens": False, "Teams": True}

"""Topics and refused patterns: the matcher's rules, then what config/policy.toml makes of them."""

from __future__ import annotations

import json
import re
import time
import timeit
import tomllib
from functools import lru_cache
from importlib.resources import files

import pytest

from reconciler.errors import ConfigurationError
from reconciler.reading.cues.topics import Topics, TopicTerms
from reconciler.resources import resource_path
from tests.tables import every, grouped

POLICY = tomllib.loads((resource_path("config") / "policy.toml").read_text(encoding="utf-8"))
TOPICS = Topics(
    {
        name: TopicTerms(
            tuple(topic["terms"]),
            tuple(topic["except"]),
            tuple(topic.get("places", ())),
        )
        for name, topic in POLICY["topics"].items()
    }
)
REFUSED = [(domain, rule["name"]) for rule in POLICY["refuse"] for domain in rule["domains"]]

ORDINARY = """
Lives in Pune
Budget is 40,000 EUR
Invoice 1042 is unpaid
Works at Acme since 2021
Works as a nurse
Works at a bank
Works in the hospital as a porter
Owns a day surgery
The day surgery at Alder Quay takes deliveries on Tuesdays
Their day surgery has twelve beds
The Linz site is a day surgery
The clinic has two sites: the day surgery at Alder Quay and the outreach rooms on Fennick Road
Deliveries to the day surgery go to the back door
Standard delivery has been a bit slow for the day surgery
Standard delivery has been a bit slow for the Alder Quay day surgery
The courier left the parcels at the Linz day surgery
Invoices for the day surgery need a number
Parcels are left in the hospital by the night shift
The day surgery site is open until six
Finds Standard delivery a bit slow for the surgery
The parcel weighs 82 kg
Is a lawyer
Is a prison officer
Is a therapist in private practice
Is divorced
The contract renewal is due in May
Pays quarterly
Bills quarterly in arrears
Wants to pay in instalments
Net payment terms are 30 days
Credit limit raised to 50,000
Owes us 3,000 EUR for invoice 7
Allergic to peanuts
Is severely allergic to shellfish and nuts
Has a food allergy
I am allergic to mangoes
Allergic to cats
Is vegetarian
Is lactose intolerant
Runs a health food shop
Recovered from the flu
Went to a doctor's appointment at 3
Goes to the gym
Yoga class on Mondays
Is on maternity leave
Wants wheelchair access at the venue
Diagnosed the router fault with us on the phone
The symptoms started after the upgrade
The account is disabled
SSO was disabled last week
Wants to reduce technical debt
Works in debt collection
Cache eviction is too slow
Interested in the cancer research partnership
Sells insulin pumps to hospitals
Collects depression-era glassware
Account health score is 80
Revenue was 4 million last year
Runs payroll for 300 people
The NDA must be signed by legal
Legal review of the contract takes two weeks
Was charged twice for the order
Is charged with leading the rollout
Said it with conviction
Is on probation until June in the new role
The API is undocumented
Plays tennis, booked the court for Friday
Needs a visa for the trip to China
Pays by Visa card
Threatened to cancel the contract
Trial ends on Friday
""".strip().splitlines()


@lru_cache
def pattern(domain: str, name: str) -> re.Pattern[str]:
    rules = (rule for rule in POLICY["refuse"] if domain in rule["domains"])
    return re.compile(next(rule["pattern"] for rule in rules if rule["name"] == name))


def found(text: str, *words: str, exceptions: tuple[str, ...] = ()) -> str | None:
    return Topics({"it": TopicTerms(words, exceptions)}).find(text).get("it")


# ---- The matcher ----


@every(
    ("text", "term", "expected"),
    [
        # A term is found in any case.
        ("is hiv positive", "HIV", "HIV"),
        # A term is a whole word.
        ("Talks to the debtor", "debt", None),
        # A trailing asterisk is any ending.
        ("Was diagnosed in May", "diagnos*", "diagnos*"),
        # A lone asterisk is one word.
        ("Earns £40,000 a year", "earns * a year", "earns * a year"),
        ("Earns far too much a year", "earns * a year", None),
        # A space is also a hyphen or a line break.
        ("self-harm", "self harm", "self harm"),
        ("self\n harm", "self-harm", "self-harm"),
        # A curly apostrophe is a straight one.
        ("Has Crohn’s disease", "crohn's", "crohn's"),
    ],
)
def test_terms_are_found_as_they_are_written(text: str, term: str, expected: str | None) -> None:
    assert found(text, term) == expected


def test_a_lone_asterisk_does_not_reach_over_a_comma() -> None:
    assert found("Sells insurance, diabetic", "diabet*", exceptions=("sells * *",)) is not None


def test_a_term_inside_an_exception_does_not_count() -> None:
    assert found("Allergic to nuts", "allerg*", exceptions=("allerg* to nut*",)) is None


def test_a_second_mention_outside_of_the_exception_counts() -> None:
    said = "Allergic to nuts; other allergies too"
    assert found(said, "allerg*", exceptions=("allerg* to nut*",)) == "allerg*"


def test_a_term_that_reaches_beyond_the_exception_counts() -> None:
    term = "heart attack victim"
    assert found("Is a heart attack victim", term, exceptions=("heart attack",)) == term


def test_the_longer_of_two_terms_is_named() -> None:
    assert found("A debt collector called", "debt", "debt collector*") == "debt collector*"


def test_every_topic_of_a_text_is_found_in_order() -> None:
    words = {"money": "debt", "law": "sued", "none": "cat"}
    topics = Topics({name: TopicTerms((word,)) for name, word in words.items()})
    assert list(topics.find("Sued over a debt").items()) == [("money", "debt"), ("law", "sued")]


def test_no_terms_find_nothing() -> None:
    assert found("anything") is None


@every("term", ["", " ", "*", "* *", "a*b", "**", "-"])
def test_a_term_that_says_nothing_is_refused(term: str) -> None:
    with pytest.raises(ConfigurationError, match="is not a term"):
        TopicTerms((term,))


# ---- The topics of config/policy.toml ----


@every(
    ("text", "topic"),
    grouped(
        {
            "health": [
                # A disclosure about health is found.
                "Was diagnosed with lymphoma in May",
                "Takes medication for her heart",
                "Has been in therapy since the accident",
                "Had knee surgery last week",
                "Is seven months pregnant",
                "Her son is disabled",
                "He has a disability",
                "Is HIV positive",
                "His wife has breast cancer",
                "Suffers from depression",
                "Is diabetic",
                "Is on sick leave until June",
                "He is hard of hearing.",
                "She is not well.",
                "He is in pain.",
                "Is recovering from a stroke",
                "Is a recovering alcoholic",
                "Has Crohn's disease",
                "Is undergoing IVF",
                "Struggles with anxiety",
                "Has high blood pressure",
                "Allergic to penicillin",
                "Allergic to peanuts and penicillin",
                "Attempted suicide years ago",
                "HbA1c was 8.2",
                "Her cholesterol is 240 mg/dL",
                "His LDL is 160",
                "She weighs 82 kg",
                "Her BMI is 31",
                "Goes in for day surgery on Friday",
                "Deliver flowers to Tom Baker in the psychiatric hospital",
                "Parcels go to Priya in the cancer hospital",
                "Invoice Mr Patel for the abortion clinic",
                "Invoices for the chemotherapy clinic go to Anna Schmidt",
                "Parcels for the contact go to the HIV clinic on Tuesdays",
                "The customer orders nothing until discharge in the day surgery",
                "Delivery for Tom Baker in the day surgery",
                "Priya orders leave for the day surgery",
                "The procedure is a day surgery",
                "Goes to the day surgery on Friday",
                "Wants her delivery moved for the day surgery on Friday",
                "The delivery has to come before the day surgery",
                "Needs parcels on Monday, is at the day surgery on Friday",
                "Delivery of the crutches is for the knee surgery",
                "Had a day surgery at the Linz site",
                "Her operation at the Linz clinic is a day surgery",
            ],
            "finance": [
                # A disclosure about money is found.
                "Her salary is 85,000 EUR",
                "Earns 120k a year",
                "Is deep in debt",
                "Has a credit score of 580",
                "Filed for bankruptcy",
                "Two months in mortgage arrears",
                "Is behind on her mortgage",
                "Has a net worth of 4 million",
                "Is on unemployment benefits",
                "His house was repossessed",
                "Is struggling financially",
            ],
            "legal": [
                # A disclosure about the law is found.
                "Filed a lawsuit against his landlord",
                "Is being sued by a former partner",
                "Was arrested last night",
                "Was convicted of fraud",
                "Divorce proceedings started in May",
                "Is going through a divorce",
                "Has a restraining order against her ex",
                "Her immigration status is uncertain",
                "Spent two years in prison",
                "Is fighting for custody of her children",
                "His visa has expired",
            ],
        }
    ),
)
def test_a_disclosure_is_found(text: str, topic: str) -> None:
    assert topic in TOPICS.find(text)


ALDER = "Alder Quay day surgery"


@every(
    ("text", "name"),
    [
        ("Deliveries to Alder Quay day surgery come on Thursdays", ALDER),
        ("Is with Fennick Day Surgery", "Fennick Day Surgery"),
        ("The Marlow Cancer Clinic pays late", "marlow cancer clinic"),
    ],
)
def test_the_name_of_a_place_discloses_nothing(text: str, name: str) -> None:
    assert "health" in TOPICS.find(text)
    assert TOPICS.find(text, [name]) == {}


@every(
    ("text", "name"),
    [
        ("Her day surgery is on Monday", "day surgery"),
        ("Her day surgery is on Monday", "her day surgery"),
        ("Anna's day surgery is on Monday", "Anna's day surgery"),
        ("Has cancer, and is at Alder Quay day surgery", ALDER),
        ("Had surgery at Alder Quay day surgery", ALDER),
        ("Type 2 Diabetes was found", "Type 2 Diabetes"),
        ("Had day surgery in May", "* day surgery"),
    ],
)
def test_no_name_hides_what_is_said_of_a_person(text: str, name: str) -> None:
    assert "health" in TOPICS.find(text, [name])


DISCLOSED = {
    "religion": """
        Was raised Catholic and still attends mass
        I'm a Baptist
        He keeps the sabbath, so no calls on Saturdays
        She converted to Islam before the wedding
        They keep Ramadan
        My family is Hindu
        He is an atheist
        She's agnostic
        He is a member of the Methodist church
        Sings in the choir at her church
        Goes to synagogue on Saturdays
        She wears a hijab
        He fasts during Ramadan
        We celebrate Diwali at home
        They are devout Christians, very religious
        I pray five times a day
        She leads a Bible study group
        He lost his faith
    """,
    "ethnicity": """
        They are Kurdish
        She is of Nigerian descent
        He's half Japanese
        I'm Black
        Her mother is Cherokee
        My parents are Kurds
        He is of Korean origin
        She is mixed race
        They belong to a Roma community
        I'm Latina
        He is proud of his Punjabi heritage
        As a Black woman she asks for other pictures
        She's the daughter of immigrants
    """,
    "politics": """
        He votes Labour
        I'm a Republican
        She joined the Green Party last year
        He is a party member of the SPD
        They campaigned for the Conservatives
        I voted for Brexit
        She's a socialist
        He ran for Congress twice
        She supports the Socialist Party
        His political views are far left
        I'm a registered Democrat
        She is a Trump supporter
        He canvasses every election
    """,
    "orientation": """
        He is gay
        She's a lesbian
        I'm bi
        My son is trans
        She came out to her parents
        He's non-binary and uses they/them
        I am attracted to women
        She is openly gay at work
        His transition took two years
        She marches in the pride parade
    """,
    "union": """
        She's a member of the nurses' union
        He is a shop steward
        I belong to a trade union
        He sits on the works council
        I joined the teamsters
        She pays union dues
        He was on the picket line
        I'm a member of IG Metall
    """,
    "legal": """
        He has a criminal record
        She served time for robbery
        I was convicted of theft
        He is on parole
        He spent six months in prison
        She got a DUI
        My brother was arrested
        He has previous convictions
        He was charged with arson
        She has to wear an ankle tag
    """,
}

LOOKS_ALIKE = """
    Runs the marathon religiously
    Follows the style guide religiously
    The agency is on Church Street
    They restore cathedrals and mosques
    Supplies the Catholic hospital in Leeds
    Orders Quaker oats for the canteen
    The app is agnostic to the database
    Wants a database-agnostic API
    Has catholic tastes in music
    Is a believer in remote work
    Lost her faith in the forecast
    Buys from a kosher bakery
    Parks at the synagogue car park
    Sells amish furniture
    Christian Baker is the buyer
    Angela Church signs the orders
    Lives in Germany
    Works in Mexico
    Speaks Kurdish and Arabic
    Is a Dutch citizen
    The office is in Nairobi
    Sells ethnic food
    Is half done with the migration
    Is half asleep before nine
    Holds a minority stake
    Drives a Jeep Cherokee
    Manages a world heritage site
    Prefers the black model
    Their van is white
    Lost her race bike on the train
    Dislikes the politics of the office
    Stays out of office politics
    The party is on Friday
    Third party cookies are blocked
    Makes a conservative estimate
    Is a conservative investor
    Prefers the left side of the screen
    The greens in the logo are too dark
    Plays left wing for the works team
    Votes on the budget on Monday
    Needs labour for the harvest
    Wants a bi-weekly call
    The invoice is bi-monthly
    Flies trans-Atlantic every month
    Is transitioning to the new plan
    The report came out to be wrong
    Works on Gay Street
    Wants same-day delivery
    Banks with the credit union
    Is a member of the credit union
    A union of two sets
    Uses a union type
    Pays through Western Union
    Sells to the European Union
    Plays rugby union
    Is a criminal lawyer
    Works as a criminal defence attorney
    Criminally underpriced
    Spoke with conviction
    Wants to arrest the decline
    Keeps a record of calls
    Works as a prison officer
    Sentenced her team to read the manual
    The charge on the card was wrong
"""


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


@every(
    ("topic", "text"), [(topic, text) for topic in DISCLOSED for text in lines(DISCLOSED[topic])]
)
def test_what_somebody_believes_is_or_did_is_found(topic: str, text: str) -> None:
    assert topic in TOPICS.find(text)


@every("text", lines(LOOKS_ALIKE))
def test_what_only_sounds_like_a_disclosure_is_about_no_topic(text: str) -> None:
    assert TOPICS.find(text) == {}


@every("text", ORDINARY)
def test_an_ordinary_note_is_about_no_topic(text: str) -> None:
    assert TOPICS.find(text) == {}


def test_of_the_demo_only_the_diagnosis_needs_consent() -> None:
    lines = (files("reconciler.entrypoints") / "demo_notes.jsonl").read_text(encoding="utf-8")
    texts = [json.loads(line)["text"] for line in lines.splitlines()]
    assert [text for text in texts if TOPICS.find(text)] == ["Has been diagnosed with asthma."]


def test_all_topics_are_looked_for_within_half_a_millisecond() -> None:
    text = ("Priya moved to Berlin in March and wishes for a callback in the morning; " * 3)[:200]
    seconds = timeit.repeat(
        lambda: TOPICS.find(text), timer=time.process_time, repeat=10, number=20
    )
    assert min(seconds) / 20 < 0.0005


@every("piece", ["-", "earns a ", "earns,", "lost a ", "sells a ", "allergic to "])
def test_a_text_made_to_be_slow_is_not(piece: str) -> None:
    TOPICS.find("warm")
    began = time.process_time()
    TOPICS.find((piece * 2000)[:2000])
    assert time.process_time() - began < 0.5


# ---- What the domains of config/policy.toml never keep ----

KEPT_OUT = {
    ("general", "raw log"): [
        "2025-03-01 10:00:01 host app ERROR connection refused",
        "Nov 22 04:45:01 web1 sshd[212]: accepted",
        "Traceback (most recent call last):\n  in main",
        "Broke again:\n    at com.acme.Shop.buy(Shop.java:12)",
    ],
    ("general", "raw tool output"): [
        '{"id": 7, "name": "Ana"}',
        'The lookup gave {"status": "ok"}',
        '<?xml version="1.0"?><a/>',
    ],
    ("general", "unverified claim about two parts"): [
        "BC547 works as a drop-in for 2N2222.",
        "The LM317 is pin-compatible with the LM338",
        "2N3904 and BC547 are equivalent to the 2N2222",
        "An IRF540 works as a replacement for the IRFZ44N",
    ],
    ("support", "raw chat transcript"): [
        "Customer: hi\nAgent: hello\nCustomer: where is it?",
        "Agent 1: hi Customer: hello Agent 1: bye",
    ],
    ("support", "raw log"): ["2025-03-01T10:00:01Z shop WARN retry"],
    ("support", "raw tool output"): ['{"ticket": 7}'],
    ("travel", "live price"): [
        "Flights to Rome cost 120 EUR right now",
        "The room is now $90 a night",
        "Today's fare to Oslo is €80",
        "LH 440 to Houston costs 912 euros right now.",
    ],
    ("real_estate", "raw tool output"): ['{"price": 420000, "rooms": 4}', "<!doctype html>"],
    ("electronics", "unverified claim about a part"): [
        "This part is valid for 5 V",
        "The LM317 is a drop-in replacement",
        "The connector should be suitable",
        "BC547 works as a drop-in for 2N2222.",
        "The LM317 can replace the LM338.",
    ],
    ("coding", "secret of an environment file"): [
        "PAYMENT_SECRET_KEY=abc",
        "export DB_PASSWORD = hunter2",
        "DATABASE_URL=postgres://x",
    ],
    ("coding", "raw source code"): [
        "def double(x):\n    return x * 2\n",
        "int a = 1;\nint b = 2;\n",
        "```python\nprint('hello world')\n```",
    ],
    ("medical", "identified patient"): [
        "Patient name is Ana Silva",
        "Patient Ana Silva came in",
        "The patient, a teacher, was born in 1980",
    ],
    ("ops", "raw log"): ["2025-03-01 10:00:01 host app ERROR connection refused"],
    ("ops", "raw tool output"): ['{"level": "error"}'],
    ("ops", "status of the moment"): ["The deploy is failing.", "Service is down right now"],
    ("coding", "status of the moment"): ["The build is red.", "CI is still broken"],
    ("coding", "speculative root cause"): ["Looks like a memory leak in the cache."],
    ("ops", "speculative root cause"): [
        "I think the root cause is the proxy",
        "Probably caused by the upgrade",
        "The root cause might be the cache",
        "Suspected root cause: a full disk",
        "Sounds like a race in the worker",
    ],
}

KEPT = {
    ("general", "raw log"): ["2025-05-01 10:00 call with Ana", "Was born on Nov 22"],
    ("general", "raw tool output"): ['She said "yes": fine', "Uses {braces} in templates"],
    ("general", "unverified claim about two parts"): [
        "Invoice INV-2043 replaces INV-2040.",
        "Order A1042 is a replacement for A1037",
        "Uses the LM317 in the power stage",
        "Wants a drop-in replacement for the 2N2222",
        "Has a degree equivalent to a BSc from 2014",
    ],
    ("support", "raw chat transcript"): ["Agent: Maria", "Ticket 123 resolved by rollback"],
    ("support", "raw log"): ["Ticket 123 resolved by rollback at 02:31"],
    ("support", "raw tool output"): ["The ticket {7} is closed"],
    ("ops", "raw tool output"): ["Runs {region} clusters"],
    ("ops", "status of the moment"): [
        "The database is down every Sunday from two to three.",
        "Team Payments is online from nine to five.",
    ],
    ("coding", "status of the moment"): ["The main branch is protected.", "The tests are in Go."],
    ("coding", "speculative root cause"): ["The new editor looks like the old one."],
    ("travel", "live price"): [
        "Hotel budget is 150 EUR a night",
        "Now budget is 200 EUR for hotels",
        "Prefers aisle seats on flights",
    ],
    ("real_estate", "raw tool output"): ["Wants 4 rooms for 420,000 euros at most"],
    ("electronics", "unverified claim about a part"): [
        "Prefers parts from two vendors",
        "Uses the LM317 in the power stage",
        "Works with the LM317 and would like a sample",
    ],
    ("coding", "secret of an environment file"): [
        "Cluster name = prod-1",
        "Uses MAX_RETRIES=3",
        "The API key is rotated monthly",
    ],
    ("coding", "raw source code"): [
        "Indents with tabs; never spaces",
        "Return early from functions.\nUse black for formatting.\n",
    ],
    ("medical", "identified patient"): [
        "The patient portal is in English",
        "Patient Care Team meets on Mondays",
    ],
    ("ops", "raw log"): ["Logs are kept for 30 days", "Meets at 10:00:00 sharp"],
    ("ops", "speculative root cause"): [
        "The root cause was a full disk",
        "Incident 7 was caused by an expired certificate",
        "Team Payments owns the ledger",
    ],
}


def cases(table: dict[tuple[str, str], list[str]]) -> list[tuple[str, str, str]]:
    return [(*rule, text) for rule, texts in table.items() for text in texts]


@every(("domain", "name", "text"), cases(KEPT_OUT))
def test_a_domain_refuses_what_it_never_keeps(domain: str, name: str, text: str) -> None:
    assert pattern(domain, name).search(text)


@every(("domain", "name", "text"), cases(KEPT))
def test_a_domain_leaves_what_only_looks_alike(domain: str, name: str, text: str) -> None:
    assert not pattern(domain, name).search(text)


@every(("domain", "name"), REFUSED)
def test_a_refusal_has_examples_and_leaves_ordinary_notes(domain: str, name: str) -> None:
    assert (domain, name) in KEPT_OUT
    assert [text for text in ORDINARY if pattern(domain, name).search(text)] == []


@every(("domain", "name"), REFUSED)
def test_a_pattern_is_not_slow_on_a_text_made_for_it(domain: str, name: str) -> None:
    pieces = ["\n", '{"', "agent:", "price now $5 ", "part is ", "A_", "if a;\n", "cause might "]
    began = time.process_time()
    for piece in pieces:
        pattern(domain, name).search((piece * 2000)[:2000])
    assert time.process_time() - began < 0.5

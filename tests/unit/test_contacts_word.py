"""An extractor's claim is the contact's word if the contact's own words carry it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from reconciler.bootstrap.chosen_models import build_judge
from reconciler.config_files import load_attribute_book
from reconciler.domain.records.candidates import Candidate, Evidence
from reconciler.domain.records.kinds import Disposal, GateReason, SourceKind
from reconciler.domain.records.notes import Note, Scope
from reconciler.reading.kinds import Category, RecallSemantics
from reconciler.settings import load_settings
from tests.tables import every

SCOPE = Scope("acme", "crm", "alice")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
BOOK = load_attribute_book(None)
JUDGE = build_judge(load_settings())
WORK = {"claim": "Works at Brightwave.", "attribute": "employer", "value": "Brightwave"}


def told(text: str, *spans: str, source: SourceKind = SourceKind.USER_EXPLICIT) -> Evidence:
    return Evidence(
        episode_id=f"turn-{text[:50]}",
        session_id="chat",
        scope=SCOPE,
        text=text,
        said_at=NOW,
        spans=spans or (text,),
        source_kind=source,
    )


def candidate(
    *evidence: Evidence, claim: str, attribute: str = "", value: str = "", **given: Any
) -> Candidate:
    slot = BOOK.slot(attribute=attribute, value=value) if attribute else None
    note = Note(scope=SCOPE, text=claim, said_at=NOW, source_kind=SourceKind.EXTRACTOR, slot=slot)
    usual = {"confidence": 0.9, "proposed_by": "an extractor"}
    return Candidate(note=note, evidence=evidence, **usual | given)


def is_contacts(proposed: Candidate) -> bool:
    judged = JUDGE(proposed)
    counts_as = judged.candidate.note.source_kind is SourceKind.USER_EXPLICIT
    assert counts_as == judged.assessment.is_contacts_word
    return counts_as


@every(
    ("text", "claim", "attribute", "value"),
    [
        ("I work at Brightwave now.", "Works at Brightwave.", "employer", "Brightwave"),
        ("Hi there! I work at Brightwave.", "Employer: Brightwave", "employer", "Brightwave"),
        ("I left Nordlys, I work at Brightwave.", "Works at Brightwave", "employer", "Brightwave"),
        ("My city is Pune", "Lives in Pune.", "city", "Pune"),
        ("My time zone is CET.", "The contact's time zone is CET.", "", ""),
        ("I prefer e-mail over phone calls.", "Prefers email over phone.", "", ""),
        ("I have three children.", "The contact has three children.", "", ""),
        ("I don't eat meat.", "Does not eat meat.", "", ""),
        ("I no longer work at Globex.", "No longer works at Globex.", "", ""),
    ],
)
def test_the_contacts_own_literal_words_are_the_contacts_word(
    text: str, claim: str, attribute: str, value: str
) -> None:
    assert is_contacts(candidate(told(text), claim=claim, attribute=attribute, value=value))


@every(
    ("text", "span"),
    [
        ("If all goes well, I work at Brightwave by May.", "I work at Brightwave"),
        ("I guess I work at Brightwave.", "I work at Brightwave"),
        ("Perhaps I work at Brightwave soon.", "I work at Brightwave"),
        ("Do you think I work at Brightwave?", "I work at Brightwave"),
        ("I no longer work at Brightwave.", "work at Brightwave"),
        ("I don't work at Brightwave.", "work at Brightwave"),
        ("My wife says: I work at Brightwave.", "I work at Globex"),
        ("I met people of Nordlys.", "I met people of Nordlys."),
    ],
)
def test_words_that_do_not_carry_the_claim_stay_the_extractors(text: str, span: str) -> None:
    assert not is_contacts(candidate(told(text, span), **WORK))


@every(
    ("text", "claim"),
    [
        ("I work at Brightwave.", "Works at Brightwave, account 4411 0099."),
        ("I work at Brightwave.", "Works at Brightwave for Victor Lustig."),
        ("I work at Brightwave.", "Wife works at Brightwave."),
        ("I work at Brightwave.", "Does not work at Brightwave."),
        ("My wife works at Brightwave.", "Works at Brightwave."),
    ],
)
def test_a_claim_that_says_more_or_otherwise_stays_the_extractors(text: str, claim: str) -> None:
    assert not is_contacts(candidate(told(text), **WORK | {"claim": claim}))


@every(
    ("text", "claim", "expected"),
    [
        # A claim in other words is carried if it adds nothing that code can see.
        ("Just message me in the app, only the app.", "Wants messages in the app only.", True),
        ("We have a whippet, Tofu.", "Has a whippet called Tofu.", True),
        ("I read your reports.", "Enjoys long walks.", False),
        ("We can go up to 1,450 now.", "Can pay up to 1,500.", False),
        ("Ich habe 3 Katzen.", "Der Kontakt hat 3 Katzen.", True),
        ("Ich habe 3 Katzen.", "Der Kontakt hat 5 Katzen.", False),
        ("Ich habe 3 Katzen.", "Der Kontakt arbeitet bei Brandl.", False),
        # A denial or another person is told apart in other languages.
        ("Ich bin kein Raucher.", "Der Kontakt ist Raucher.", False),
        ("Ich bin Raucher.", "Der Kontakt ist Raucher.", True),
        ("Je ne fume pas.", "Le contact fume.", False),
        ("Ya no trabajo en Nordlys.", "El contacto trabaja en Nordlys.", False),
        ("Meine Schwester arbeitet bei Nordlys.", "Der Kontakt arbeitet bei Nordlys.", False),
        ("Ich arbeite bei Nordlys.", "Der Kontakt arbeitet bei Nordlys.", True),
        ("Ich bin Busfahrer", "Der Kontakt ist Busfahrer.", True),
        # A withdrawal is carried by one in another form.
        (
            "I withdraw my permission, do not pass my number to Ann.",
            "Withdrew permission to pass the number to Ann.",
            True,
        ),
        ("I take back my consent to the photos.", "Took back consent to the photos.", True),
        ("I opt out of the digest, do not mail it.", "Opted out of the digest.", True),
        ("I opt out of the photos.", "The contact withdraws consent to the photos.", True),
        (
            "I revoke my approval of the photos.",
            "Revoked the approval of the contact's photos.",
            True,
        ),
        ("I withdraw my consent to the photos.", "Withdrew consent to the digest.", False),
        ("I never withdrew my consent to the photos.", "Withdrew consent to the photos.", False),
    ],
)
def test_a_claim_in_other_words_is_carried_if_it_adds_nothing(
    text: str, claim: str, expected: bool
) -> None:
    assert is_contacts(candidate(told(text), claim=claim)) is expected


@every(("first", "expected"), [(None, False), (datetime(2026, 4, 18, tzinfo=UTC), True)])
def test_a_day_that_the_extractor_read_from_the_words_is_carried(
    first: datetime | None, expected: bool
) -> None:
    said = told("On Saturday we move to Birkenweg.")
    moving = candidate(said, claim="From 18 April 2026 lives in Birkenweg.")
    assert is_contacts(replace(moving, note=replace(moving.note, valid_from=first))) is expected


@every(
    ("text", "claim", "before", "expected"),
    [
        ("She is 74.", "The contact's mother is 74.", "My mother moves in.", True),
        ("She is 74.", "The contact's mother is 74.", "My aunt moves in.", False),
        ("Yes, please.", "Wants a call on Tuesday.", "", False),
        ("Thanks.", "Enjoys long walks.", "My sister enjoys long walks.", False),
        ("It's 500.", "The budget is 700.", "Hers was 700.", False),
        ("Up to 1,300, not a cent more.", "Pays up to 1,300 and not a cent more.", "", True),
        ("A call is best, I don't read mail.", "Likes calls and doesn't read mail.", "", True),
        ("A call is best.", "Likes calls and doesn't read mail.", "", False),
        ("Only call me on weekdays.", "Wants to be called on weekdays.", "", False),
        ("Mail me, except for invoices.", "Wants invoices by mail.", "", False),
        ("Don't call me before nine.", "Wants to be called before nine.", "", False),
        ("No calls please.", "Wants calls.", "", False),
        ("My brother is here, he owns a van.", "The contact owns a van.", "", False),
        ("Theo. He may change my bookings.", "Theo may change the contact's bookings.", "", True),
        ("I fly from DEN and not CMH anymore.", "Flies from DEN and no longer CMH.", "", True),
    ],
)
def test_a_claim_adds_nothing_to_what_the_words_and_the_talk_before_say(
    text: str, claim: str, before: str, expected: bool
) -> None:
    said = (before,) if before else ()
    assert is_contacts(candidate(told(text), claim=claim, said_before=said)) is expected


def test_a_value_that_was_not_said_is_not_the_contacts() -> None:
    seat = {"claim": "Likes window seats.", "attribute": "seat_preference", "value": "aisle"}
    assert not is_contacts(candidate(told("I like window seats."), **seat))


BUYING = "I have nine jars from Tarn, and I'm thinking of buying more."


@every(
    ("text", "claim", "expected"),
    [
        (BUYING, "The contact has nine jars from Tarn.", True),
        (BUYING, "The contact has nine jars from Tarn and is thinking of buying more.", True),
        (BUYING, "The contact buys more jars from Tarn.", False),
        (BUYING, "The contact has nine jars from Tarn and buys more.", False),
        ("I have nine jars and a lid, I think.", "The contact has nine jars.", False),
        ("I think I moved to Pune and I have nine jars.", "The contact has nine jars.", False),
        ("I have nine jars and probably three lids.", "The contact has nine jars.", True),
        ("I have nine jars and probably three lids.", "The contact has three lids.", False),
    ],
)
def test_a_hedge_in_a_later_clause_leaves_the_clause_before_it_certain(
    text: str, claim: str, expected: bool
) -> None:
    said = candidate(told(text), claim=claim)
    assert is_contacts(said) is expected
    assert JUDGE(said).candidate.note.is_hedged is not expected


@every(
    ("claim", "expected"),
    [
        ("As of 1 January 2026 the contact has ten medals.", True),
        ("As of January 2026 the contact has ten medals.", True),
        ("As of 3 March 2025 the contact has ten medals.", False),
        ("The contact has ten medals until 1 January 2026.", False),
    ],
)
def test_the_day_of_the_words_is_no_number_that_the_contact_did_not_say(
    claim: str, expected: bool
) -> None:
    assert is_contacts(candidate(told("I have ten medals now."), claim=claim)) is expected


@every(
    ("value", "expected"),
    [("two menus for lunch", True), ("three menus for lunch", False), ("a terrace", False)],
)
def test_a_value_in_another_order_is_carried_if_all_of_its_words_were_said(
    value: str, expected: bool
) -> None:
    claim = {"claim": "The contact raised the limit for lunch to two menus.", "attribute": "limit"}
    said = told("As for lunch, I raised the limit to two menus.")
    assert is_contacts(candidate(said, **claim, value=value)) is expected


@every(
    "changed",
    [
        {"confidence": None},
        {"is_literal": False},
        {"evidence": (told("I work at Brightwave", source=SourceKind.TOOL_OUTPUT),)},
        {"evidence": (told("I work at Brightwave", source=SourceKind.MODEL_GUESS),)},
        {"evidence": (replace(told("I work at Brightwave"), spans=()),)},
        {"evidence": ()},
        {"evidence": (told("I work at Brightwave"), replace(told("So be it."), spans=()))},
        {
            "evidence": (
                told("I work at Brightwave"),
                told("Works at Brightwave, says the page", source=SourceKind.TOOL_OUTPUT),
            )
        },
    ],
)
def test_one_thing_that_is_not_the_contacts_own_makes_it_the_extractors(
    changed: dict[str, Any],
) -> None:
    proposed = candidate(told("I work at Brightwave"), **WORK)
    assert is_contacts(proposed)
    assert not is_contacts(replace(proposed, **changed))


@every("confidence", [0.0, 0.5, 1.0])
def test_it_is_judged_by_the_floors_of_the_contacts_word_at_any_confidence(
    confidence: float,
) -> None:
    wish = candidate(told("I prefer tea."), claim="Prefers tea.", confidence=confidence)
    judged = JUDGE(replace(wish, note=replace(wish.note, category=Category.PREFERENCE)))
    assert judged.assessment.disposal is Disposal.ADMIT
    assert judged.assessment.parts[0].name == "word of user_explicit"
    assert (judged.is_own_word, judged.is_reconciled) == (False, False)  # it is only proposed


def test_the_assessment_says_whose_word_it_is_and_why() -> None:
    found = JUDGE(candidate(told("I work at Brightwave"), **WORK)).assessment.findings[0]
    assert str(found).startswith("source: admit: the contact's own literal words, checked")


@every(("text", "expected"), [("Perhaps fine with phone.", True), ("Fine with phone.", False)])
def test_a_hedge_makes_a_note_a_guess(text: str, expected: bool) -> None:
    said = candidate(told(text), claim="Fine with phone.")
    assert JUDGE(said).candidate.note.is_hedged is expected


CUT = """
    I'm not a plumber. | a plumber | Is a plumber.
    I have never worked at Brightwave, believe me. | worked at Brightwave | Worked at Brightwave.
    I have neither a boat nor a car. | a boat | Has a boat.
    I no longer play chess. | play chess | Plays chess.
    I've quit smoking. | smoking | Smokes.
    There's no way I own a yacht. | I own a yacht | Owns a yacht.
    Perhaps I'm colour-blind. | I'm colour-blind | Is colour-blind.
    I could be the treasurer, they still vote. | be the treasurer | Is the treasurer.
    I doubt I have a fever. | I have a fever | Has a fever.
    It's possible that I own a share. | I own a share | Owns a share.
    Do you think I own a share? | I own a share | Owns a share.
    Am I a gold member? | a gold member | Is a gold member.
    Who says that I live in Oslo? | I live in Oslo | Lives in Oslo.
    I wish I had a garden. | I had a garden | Has a garden.
    If only I spoke Greek. | I spoke Greek | Spoke Greek.
    I'd love to have a dog. | have a dog | Has a dog.
    My dream is to own a vineyard. | own a vineyard | Owns a vineyard.
    Suppose I had a son, what would it cost? | I had a son | Has a son.
    If I get the flat, I'll need a sofa. | I get the flat | Gets the flat.
    The clerk wrote that I have a son. | I have a son | Has a son.
    My neighbour claims she has a boat. | has a boat | Has a boat.
    I was a smoker until May. | a smoker | Is a smoker.
    We had a cat before the move. | a cat | Has a cat.
    I used to work at Brightwave. | work at Brightwave | Works at Brightwave.
    Ich bin nicht mehr Trainer im Verein. | Trainer im Verein | Is a coach.
    Ya no vivo en Oslo. | vivo en Oslo | Lives in Oslo.
    Yeah right, I enjoy your hotline. | I enjoy your hotline | Enjoys the hotline.
    Oh, sure. I adore your forms. | I adore your forms | Adores the forms.
    As if! I own a yacht. | I own a yacht | Owns a yacht.
    I own a yacht. Just kidding. | I own a yacht | Owns a yacht.
    I adore your forms, lucky me. | I adore your forms | Adores the forms.
    You may think I own a yacht. | I own a yacht | Owns a yacht.
    You may have heard of my yacht. | my yacht | Has a yacht.
    I may sell the yacht. | sell the yacht | Sells the yacht.
"""
WHOLE = """
    I'm a plumber, not a painter. | a plumber | Is a plumber.
    Yes, I still play chess. | play chess | Plays chess.
    Not only do I own a yacht, I sail it. | I own a yacht | Owns a yacht.
    I can't eat nuts. | can't eat nuts | Cannot eat nuts.
    My boss is in Rome and I'm in Oslo. | I'm in Oslo | Is in Oslo.
    I used to rent, but now I own a flat. | I own a flat | Owns a flat.
    I live in Oslo, do you deliver there? | I live in Oslo | Lives in Oslo.
    I'm left-handed and I play chess. | I'm left-handed | Is left-handed.
    I'd love to have a dog. | I'd love to have a dog. | Would love to have a dog.
    I was born in Oslo. | born in Oslo | Was born in Oslo.
    I moved to Oslo in May. | I moved to Oslo | Lives in Oslo.
    Ich habe übrigens zwei Katzen. | zwei Katzen | Has two cats.
    You may ring me after six. | You may ring me after six | Allows to ring after six.
    You may pass my number to the printer. | my number to the printer | Number goes to the printer.
    If it rains, you may leave it there. | you may leave it there | Allows to leave it there.
    Great, thanks. I own a yacht. | I own a yacht | Owns a yacht.
    I own a yacht. Really lovely. | I own a yacht | Owns a yacht.
"""


def cut(table: str) -> list[list[str]]:
    return [[part.strip() for part in line.split("|")] for line in table.strip().splitlines()]


@every(("text", "span", "claim"), cut(CUT))
def test_a_citation_cut_out_of_a_sentence_that_does_not_say_it_is_held_without_a_question(
    text: str, span: str, claim: str
) -> None:
    found = JUDGE(candidate(told(f"Good morning. {text}", span), claim=claim)).assessment
    assert (found.disposal, found.reason) == (Disposal.CONFIRM, GateReason.NOT_SAID_PLAINLY)
    assert found.question is None


@every(("text", "span", "claim"), cut(WHOLE))
def test_a_citation_of_a_sentence_that_says_it_is_not_held_for_that(
    text: str, span: str, claim: str
) -> None:
    found = JUDGE(candidate(told(f"Good morning. {text}", span), claim=claim)).assessment
    assert found.reason is not GateReason.NOT_SAID_PLAINLY


def test_one_plain_citation_is_enough() -> None:
    doubtful, plain = told("Perhaps I own a yacht."), told("I own a yacht.")
    found = JUDGE(candidate(doubtful, plain, claim="Owns a yacht.")).assessment
    assert found.disposal is Disposal.ADMIT


def test_introduced_words_are_held_without_a_question_before_consent_is_asked() -> None:
    said = candidate(told("I have asthma."), claim="Has asthma.", is_introduced=True)
    found = JUDGE(said).assessment
    assert (found.reason, found.question) == (GateReason.NOT_SAID_PLAINLY, None)
    assert JUDGE(replace(said, confirmed_by=("contact",))).assessment.disposal is Disposal.ADMIT


@every(
    "text",
    [
        "I withdraw my consent, do not share my profile with hotels.",
        "I object to my number being passed on.",
        "I want to opt out of profiling.",
        "Please stop texting me about offers.",
        "Take me off the list.",
        "Unsubscribe me from the digest.",
        "I no longer agree to the photos of my operation.",
        "Ich widerrufe meine Einwilligung.",
    ],
)
def test_a_withdrawal_is_admitted_at_once_whoever_reads_it(text: str) -> None:
    said = told(text, source=SourceKind.USER_EXPLICIT)
    found = JUDGE(candidate(said, claim=text, confidence=0.9)).assessment
    assert (found.disposal, found.is_hedged) == (Disposal.ADMIT, False)
    assert found.recall_semantics is RecallSemantics.NEGATIVE


@every(
    ("text", "expected"),
    [
        ("Withdrew the consent to photos.", RecallSemantics.NEGATIVE),
        ("Opted out of the digest.", RecallSemantics.NEGATIVE),
        ("No longer agrees to photos.", RecallSemantics.NEGATIVE),
        ("You may not share this leaflet.", RecallSemantics.DEFAULT),
        ("From now on, no refunds.", RecallSemantics.DEFAULT),
        ("Never ring the tenant.", RecallSemantics.DEFAULT),
    ],
)
def test_a_document_tells_of_a_withdrawal_that_binds_and_gives_no_orders(
    text: str, expected: RecallSemantics
) -> None:
    document = SourceKind.APPROVED_DOC
    note = Note(scope=SCOPE, text=text, said_at=NOW, source_kind=document)
    said = Candidate(note=note, evidence=(told(text, source=document),), proposed_by="a system")
    assert JUDGE(said).assessment.recall_semantics is expected


def test_a_tools_withdrawal_and_an_introduced_one_are_held() -> None:
    text = "I object to my number being passed on."
    tools = candidate(told(text, source=SourceKind.TOOL_OUTPUT), claim=text)
    introduced = candidate(told(text), claim=text, is_introduced=True)
    for held in (tools, introduced):
        assert JUDGE(held).assessment.disposal is Disposal.CONFIRM

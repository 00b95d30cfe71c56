"""Cleaning: where sensitive data is looked for, what stands in its place, what is never missed.

The finder is a fake: it sees what follows ``mail=``, ``card=`` and the other marks, and only there.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import astuple, replace
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any

import pytest
from hypothesis import assume, given, settings, strategies as st

from reconciler.domain.gate.cleaning import Cleaned, clean, ids_of
from reconciler.domain.gate.policy import GatePolicy, Handling
from reconciler.domain.records.candidates import Candidate, Evidence
from reconciler.domain.records.notes import TEXT_LENGTH_MAX, Note, Scope, Slot
from reconciler.reading.sensitive_data import (
    SensitiveKind,
    SensitiveSpan,
    is_redaction_of,
    keyed_token,
    redact,
)
from reconciler.resources import resource_path
from tests.tables import every

EMAIL, PHONE, ADDRESS = SensitiveKind.EMAIL, SensitiveKind.PHONE, SensitiveKind.STREET_ADDRESS
CARD, SECRET = SensitiveKind.CREDIT_CARD, SensitiveKind.SECRET
NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)
SCOPE = Scope("acme", "crm", "ann")
SHIPPED = tomllib.loads((resource_path("config") / "policy.toml").read_text(encoding="utf-8"))
MARKS = {"mail": EMAIL, "phone": PHONE, "home": ADDRESS, "card": CARD, "key": SECRET}
SEEN = re.compile(rf"({'|'.join(MARKS)})=([\w@.]+)")
token_of = partial(keyed_token, b"a key")


def find(text: str) -> list[SensitiveSpan]:
    """What is marked, and only where it is: without its mark a number says nothing."""
    return [
        SensitiveSpan(found.start(2), found.end(2), MARKS[found[1]])
        for found in SEEN.finditer(text)
    ]


@cache
def policy(handling: Handling = "redact", **handlings: Handling) -> GatePolicy:
    """The shipped policy with one handling for all kinds, and others for some."""
    kinds = dict.fromkeys(map(str, SensitiveKind), handling) | handlings
    return GatePolicy.from_mapping(SHIPPED | {"sensitive_data": kinds})


def episode(text: str = "Said so.", number: int = 0, **changes: Any) -> Evidence:
    usual = {"episode_id": f"episode#{number}", "session_id": "session", "scope": SCOPE}
    return Evidence(**usual | {"text": text, "said_at": NOW} | changes)


def candidate(
    text: str = "Said so.", evidence: tuple[Evidence, ...] = (), **note: Any
) -> Candidate:
    note_ = Note(**{"scope": SCOPE, "text": text, "said_at": NOW} | note)
    return Candidate(note=note_, evidence=evidence, proposed_by="agent:crm")


def slot(value: str | None, attribute: str | None = "city", **changes: Any) -> Slot:
    key = None if value is None else value.casefold()
    usual = {"subject": "contact", "attribute": attribute, "value": value, "value_key": key}
    return Slot(**usual | {"is_single_valued": True} | changes)


def cleaned(proposed: Candidate, rules: GatePolicy | None = None) -> Cleaned:
    return clean(proposed, find, token_of, rules or policy())


def strings(value: object) -> Iterator[str]:
    """Every string within a candidate, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | tuple | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from strings(each)


def holds(found: Cleaned, value: str) -> bool:
    return any(value in each for each in strings(astuple(found.candidate)))


# Where it is looked for

PLACES = {
    "text": candidate("Pays by card=4111"),
    "source reference": candidate(source_reference="ticket of card=4111"),
    "contact name": candidate(contact_name="card=4111"),
    "topic": candidate(topic="card=4111"),
    "tag": candidate(tags=("harmless", "card=4111")),
    "slot value": candidate(slot=slot("card=4111")),
    "slot subject": candidate(slot=slot("Pune", subject="card=4111")),
    "evidence": candidate(evidence=(episode("Pays by card=4111"),)),
    "second evidence": candidate(evidence=(episode(), episode("card=4111", 1))),
    "span": candidate(evidence=(episode("Pays by card=4111", spans=("card=4111",)),)),
    "reference of evidence": candidate(evidence=(episode(source_reference="card=4111"),)),
}
TOKEN = token_of(CARD, "4111")


@every("proposed", PLACES.values())
def test_a_value_is_taken_out_wherever_it_stands(proposed: Candidate) -> None:
    found = cleaned(proposed)
    assert not holds(found, "4111")
    assert found.redacted == {CARD}


@every("place", ["text", "source reference", "contact name", "topic", "tag", "evidence", "span"])
def test_a_keyed_hash_stands_in_its_place(place: str) -> None:
    assert holds(cleaned(PLACES[place]), TOKEN)


def test_what_stands_around_a_value_stays() -> None:
    found = cleaned(candidate("Pays by card=4111, then phone=5550 rings."))
    expected = f"Pays by card={TOKEN}, then phone={token_of(PHONE, '5550')} rings."
    assert found.candidate.note.text == expected


def test_a_candidate_without_sensitive_data_stays_as_it_is() -> None:
    proposed = candidate("Lives in Pune", (episode(),), slot=slot("Pune"), tags=("home",))
    assert cleaned(proposed) == Cleaned(candidate=proposed)


def test_a_candidate_in_which_nothing_is_found_is_not_made_again() -> None:
    proposed = candidate("Lives in Pune", (episode(),), tags=("home",))
    assert cleaned(proposed).candidate is proposed


def test_what_was_said_of_a_slot_goes_also_where_nothing_is_found() -> None:
    proposed = candidate("Lives in Pune", slot=slot("Pune", said_subject="Priya"))
    kept = cleaned(proposed).candidate.note.slot
    assert kept is not None
    assert kept.said_subject is None


def test_a_candidate_without_evidence_or_slot_is_cleaned_too() -> None:
    assert cleaned(candidate()).candidate == candidate()


def test_who_said_it_and_when_stays_as_it_is() -> None:
    before = candidate("card=4111", (episode("card=4111"),))
    after = cleaned(before).candidate
    assert after.proposed_by == before.proposed_by
    assert (after.note.scope, after.note.said_at) == (SCOPE, NOW)
    assert [each.episode_id for each in after.evidence] == ["episode#0"]


# What becomes of it


@every(
    ("handling", "stays", "named"),
    [
        ("redact", False, "redacted"),
        ("refuse", False, "refused"),
        ("slot", False, "redacted"),
        ("keep", True, "kept"),
    ],
)
def test_in_prose_a_value_stays_only_where_the_policy_keeps_it(
    handling: Handling, stays: bool, named: str
) -> None:
    found = cleaned(candidate("Write to mail=a@b.com"), policy(handling))
    assert holds(found, "a@b.com") is stays
    assert {name for name in ("redacted", "kept", "refused") if getattr(found, name)} == {named}


@every(
    ("handling", "stays", "named"),
    [
        ("redact", False, "redacted"),
        ("refuse", False, "refused"),
        ("slot", True, "kept"),
        ("keep", True, "kept"),
    ],
)
def test_in_its_slot_a_value_stays_also_where_it_is_kept_for_slots(
    handling: Handling, stays: bool, named: str
) -> None:
    found = cleaned(candidate(slot=slot("mail=a@b.com", "email")), policy(handling))
    assert holds(found, "a@b.com") is stays
    assert {name for name in ("redacted", "kept", "refused") if getattr(found, name)} == {named}


def test_a_kept_value_is_marked_as_personal() -> None:
    found = cleaned(candidate(slot=slot("mail=a@b.com", "email")), policy("slot"))
    assert found.candidate.note.slot == slot("mail=a@b.com", "email", is_personal=True)


def test_a_redacted_value_and_its_key_are_the_same_hash() -> None:
    found = cleaned(candidate(slot=slot("Rose Lane 1", "address"))).candidate.note.slot
    token = token_of(ADDRESS, "Rose Lane 1")
    assert found == slot(token, "address", value_key=token)


def test_a_harmless_value_is_no_personal_data() -> None:
    assert cleaned(candidate(slot=slot("Pune"))).candidate.note.slot == slot("Pune")


@every(
    ("attribute", "kind"),
    [
        ("email", EMAIL),
        ("work_email", EMAIL),
        ("other_email", EMAIL),
        ("phone", PHONE),
        ("mobile_phone", PHONE),
        ("work_phone", PHONE),
        ("other_phone", PHONE),
        ("address", ADDRESS),
        ("billing_address", ADDRESS),
        ("shipping_address", ADDRESS),
    ],
)
def test_an_attribute_tells_what_its_value_is_where_the_value_does_not(
    attribute: str, kind: SensitiveKind
) -> None:
    found = cleaned(candidate(slot=slot("The old mill", attribute)))
    assert found.redacted == {kind}
    assert not holds(found, "The old mill")


@every(("value", "is_known"), [("Mill", True), ("Sty", False)])
def test_a_slots_own_value_is_taken_out_of_the_text_from_four_characters_on(
    value: str, is_known: bool
) -> None:
    proposed = candidate(f"Post goes to {value}.", slot=slot(value, "address"))
    assert (value not in cleaned(proposed).candidate.note.text) is is_known


def test_a_slots_own_value_is_taken_out_of_the_evidence_as_well() -> None:
    evidence = episode("To The old mill, as ever: The old mill.", spans=("To The old mill",))
    proposed = candidate("Post", (evidence,), slot=slot("The old mill", "address"))
    assert "mill" not in "".join(strings(astuple(cleaned(proposed).candidate.evidence[0])))


def test_a_slots_own_value_that_the_finder_sees_as_well_is_replaced_once() -> None:
    proposed = candidate("Write to mail=a@b.com now", slot=slot("mail=a@b.com", "email"))
    expected = f"Write to mail={token_of(EMAIL, 'a@b.com')} now"
    assert cleaned(proposed).candidate.note.text == expected


@every("value", [None, "Pune"])
def test_without_a_value_or_an_attribute_a_slot_stays_as_it_is(value: str | None) -> None:
    given_ = slot(value, "email" if value is None else None)
    assert cleaned(candidate(slot=given_)).candidate.note.slot == given_


def test_of_several_kinds_each_is_handled_by_its_own_rule() -> None:
    rules = policy(email="keep", credit_card="refuse")
    found = cleaned(candidate("mail=a@b.com phone=5550 card=4111"), rules)
    assert (found.kept, found.redacted, found.refused) == ({EMAIL}, {PHONE}, {CARD})
    assert not holds(found, "4111")


def test_a_domain_may_handle_a_kind_its_own_way() -> None:
    mapping = SHIPPED | {"default_domain": "support"}
    found = cleaned(candidate("Pays by card=4111"), GatePolicy.from_mapping(mapping))
    assert found.refused == {CARD}


def test_with_the_check_off_nothing_is_looked_for() -> None:
    off = SHIPPED | {"checks": SHIPPED["checks"] | {"sensitive_data": "off"}}
    proposed = candidate("card=4111", (episode("card=4111", spans=("key=hush",)),))
    expected = Cleaned(candidate=proposed, missing_spans=1)
    assert cleaned(proposed, GatePolicy.from_mapping(off)) == expected


@every("attribute", ["email", "phone", "address"])
def test_a_secret_is_refused_also_as_the_value_of_a_slot_that_is_kept(attribute: str) -> None:
    found = cleaned(candidate(slot=slot("key=hush", attribute)), policy("slot", secret="refuse"))
    assert found.refused == {SECRET}


def test_a_kept_kind_does_not_save_another_that_stands_behind_it() -> None:
    value = slot("mail=a@b.com card=4111", "login")
    found = cleaned(candidate(slot=value), policy("redact", email="slot"))
    assert not holds(found, "4111")


def test_a_slot_that_does_not_ask_for_a_kind_does_not_keep_it() -> None:
    found = cleaned(candidate(slot=slot("mail=a@b.com", "nickname")), policy("slot"))
    assert not holds(found, "a@b.com")


# What one text says about another


def test_a_value_known_from_the_evidence_is_taken_out_of_the_text() -> None:
    found = cleaned(candidate("It is 4111.", (episode("Pays by card=4111"),)))
    assert found.candidate.note.text == f"It is {TOKEN}."


def test_a_span_that_cuts_a_value_off_its_context_loses_it_all_the_same() -> None:
    found = cleaned(candidate(evidence=(episode("Pays by card=4111", spans=("4111",)),)))
    assert found.candidate.evidence[0].spans == (TOKEN,)


def test_a_cleaned_span_still_stands_in_its_cleaned_episode() -> None:
    evidence = episode("Pays by card=4111 on Fridays", spans=("4111 on Fridays", "card=4111"))
    after = cleaned(candidate(evidence=(evidence,))).candidate.evidence[0]
    assert all(span in after.text for span in after.spans)


@every("later", [{"tags": ("4111",)}, {"contact_name": "4111"}, {"source_reference": "4111"}])
def test_a_value_known_from_the_text_is_taken_out_of_what_comes_with_it(
    later: dict[str, Any],
) -> None:
    assert not holds(cleaned(candidate("Pays by card=4111", **later)), "4111")


@every(("value", "is_known"), [("4111", True), ("411", False)])
def test_a_value_is_taken_out_of_other_texts_from_four_characters_on(
    value: str, is_known: bool
) -> None:
    found = cleaned(candidate(f"It is {value}.", (episode(f"Pays by card={value}"),)))
    assert (value not in found.candidate.note.text) is is_known


EARLIER = {
    "first evidence": candidate(evidence=(episode("4111"), episode("card=4111", 1))),
    "evidence": candidate("Pays by card=4111", (episode("4111 it is"),)),
    "text": candidate("It is 4111", source_reference="card=4111"),
    "slot": candidate("Pays by card=4111", slot=slot("4111", "number")),
}


@pytest.mark.parametrize("proposed", EARLIER.values(), ids=EARLIER)
def test_a_value_is_taken_out_also_where_it_stands_before_the_text_that_gives_it_away(
    proposed: Candidate,
) -> None:
    assert not holds(cleaned(proposed), "4111")


# Spans that were never said


@every(
    ("spans", "missing"),
    [
        ((), 0),
        (("Pune",), 0),
        (("Pune", "Lives in"), 0),
        (("pune",), 1),
        (("Goa",), 1),
        (("Goa", "Pune", "Rome"), 2),
    ],
)
def test_spans_that_do_not_stand_in_their_episode_are_counted(
    spans: tuple[str, ...], missing: int
) -> None:
    proposed = candidate(evidence=(episode("Lives in Pune", spans=spans),))
    assert cleaned(proposed).missing_spans == missing


def test_a_span_must_stand_in_its_own_episode() -> None:
    proposed = candidate(evidence=(episode("Pune"), episode("Goa", 1, spans=("Pune",))))
    assert cleaned(proposed).missing_spans == 1


def test_a_span_with_sensitive_data_is_not_missing() -> None:
    proposed = candidate(evidence=(episode("Pays by card=4111", spans=("card=4111",)),))
    assert cleaned(proposed).missing_spans == 0


# Tokens


@every(
    ("kind", "one", "other"),
    [
        (PHONE, "+44 20 7946 0018", "+442079460018"),
        (PHONE, "(020) 7946-0018", "020 7946 0018"),
        (CARD, "4111 1111 1111 1111", "4111-1111-1111-1111"),
        (EMAIL, "Ann@Mail.example", "ann@mail.example"),
        (ADDRESS, "1 Rose Lane", "1  ROSE  LANE."),
        (ADDRESS, "Café 1", "Cafe\u0301 1"),
    ],
)
def test_a_value_written_twice_has_one_token(kind: SensitiveKind, one: str, other: str) -> None:
    assert token_of(kind, one) == token_of(kind, other)


@every(
    ("one", "other"),
    [
        (token_of(PHONE, "5550"), token_of(PHONE, "5551")),
        (token_of(PHONE, "5550"), token_of(CARD, "5550")),
        (token_of(PHONE, "5550"), keyed_token(b"another key", PHONE, "5550")),
        (token_of(SECRET, "!?"), token_of(SECRET, "?!")),
    ],
)
def test_another_value_kind_or_key_makes_another_token(one: str, other: str) -> None:
    assert one != other


def test_a_token_names_its_kind_and_nothing_of_its_value() -> None:
    assert re.fullmatch(r"\[phone:[0-9a-f]{12}\]", token_of(PHONE, "+44 20 7946 0018"))


def test_equal_values_stay_recognisable_within_a_candidate() -> None:
    after = cleaned(candidate("mail=a@b.com", (episode("mail=A@B.com"),))).candidate
    assert after.note.text == after.evidence[0].text


@every(
    ("said", "kept"),
    [
        ("Her mail: mailto:ines@muehle.example", "Her mail: ines@muehle.example"),
        ("Call <TEL:+44-20-7946-0512>", "Call <+44-20-7946-0512>"),
        ("Tel: +44 20 7946 0512", "Tel: +44 20 7946 0512"),
        ("Hotel:+44 20 7946 0512", "Hotel:+44 20 7946 0512"),
        ("https://a.example/?to=mailto:ines", "https://a.example/?to=mailto:ines"),
    ],
)
def test_the_scheme_before_an_address_goes_even_where_the_address_stays(
    said: str, kept: str
) -> None:
    proposed = candidate(said, (episode(said, spans=(said[4:],)),))
    after = cleaned(proposed, policy("keep")).candidate
    assert after.note.text == after.evidence[0].text == kept
    assert after.evidence[0].spans == (kept[4:],)


def test_redaction_replaces_each_span_and_keeps_the_rest() -> None:
    spans = [SensitiveSpan(6, 8, PHONE), SensitiveSpan(0, 2, EMAIL)]
    assert redact("ab cd ef", spans, lambda kind, value: f"<{kind} {value}>") == (
        "<email ab> cd <phone ef>"
    )


# All of it

value_texts = st.text("56789xyz@.", min_size=4, max_size=9).filter(lambda text: text.strip(".@"))
words = st.sampled_from(["Lives in Pune", "calls", "on Fridays"])
marked = st.builds("{}={}".format, st.sampled_from(sorted(MARKS)), value_texts)
texts = st.lists(words | marked, min_size=1, max_size=4).map(" ".join)


@st.composite
def candidates(draw: st.DrawFn) -> Candidate:
    """Candidates with sensitive data anywhere, each with its mark."""
    said = draw(st.lists(texts, min_size=1, max_size=3))
    evidence = tuple(episode(text, number, spans=(text,)) for number, text in enumerate(said))
    about = draw(st.none() | st.builds(slot, marked, st.sampled_from(["email", "phone", "city"])))
    # By its attribute a city is no phone number, whatever it looks like.
    assume(about is None or about.attribute != "city" or "phone=" not in str(about.value))
    return candidate(
        draw(texts),
        evidence,
        slot=about,
        tags=tuple(draw(st.lists(texts, max_size=2))),
        contact_name=draw(st.none() | texts),
        source_reference=draw(st.none() | texts),
    )


@settings(max_examples=40)
@given(candidates())
def test_no_value_that_is_redacted_is_left_anywhere(proposed: Candidate) -> None:
    found = {each[2] for text in strings(astuple(proposed)) for each in SEEN.finditer(text)}
    after = strings(astuple(cleaned(proposed).candidate))
    left = [re.sub(r"[0-9a-f]{12}\b", "", text) for text in after]  # a hash may hold any digits
    assert not [value for value in found if len(value) >= 4 and any(value in text for text in left)]


@settings(max_examples=40)
@given(candidates())
def test_cleaning_twice_changes_nothing_more(proposed: Candidate) -> None:
    once = replace(cleaned(proposed).candidate, note=replace(proposed.note, slot=None))
    once = cleaned(once).candidate
    assert cleaned(once).candidate == once


def test_a_token_is_not_taken_for_another_value_when_it_is_cleaned_again() -> None:
    def find_numbers(text: str) -> list[SensitiveSpan]:
        return [SensitiveSpan(*each.span(), CARD) for each in re.finditer(r"\w*\d{2}\w*", text)]

    once = clean(candidate("Pays by 4111"), find_numbers, token_of, policy()).candidate
    assert clean(once, find_numbers, token_of, policy()).candidate == once


@settings(max_examples=40)
@given(candidates())
def test_what_was_found_in_prose_is_accounted_for(proposed: Candidate) -> None:
    proposed = replace(proposed, note=replace(proposed.note, slot=None))
    after = cleaned(proposed, policy("redact", email="keep", credit_card="refuse"))
    kinds = {MARKS[each[1]] for text in strings(astuple(proposed)) for each in SEEN.finditer(text)}
    assert kinds <= after.kept | after.redacted | after.refused


def test_the_longest_note_can_be_cleaned() -> None:
    text = "card=4111".rjust(TEXT_LENGTH_MAX, "x")
    assert not holds(cleaned(candidate(text)), "4111")


def test_every_id_of_a_candidate_and_of_its_evidence_is_told() -> None:
    evidence = (episode(number=1), episode(number=2))
    told = list(ids_of(replace(candidate(), evidence=evidence)))
    assert {("episode_id", each.episode_id) for each in evidence} < set(told)
    assert ("contact_id", candidate().note.scope.contact_id) in told


ONE, OTHER = token_of(PHONE, "5550"), token_of(PHONE, "7771")


@every(
    ("text", "redacted", "expected"),
    [
        ("Call 5550 or 7771", f"Call {ONE} or {OTHER}", True),
        (f"Call {ONE} or 7771", f"Call {ONE} or {OTHER}", True),
        ("5550", "[secret]", True),
        (f"Call {OTHER}", f"Call {ONE}", False),
        ("Mail 5550", f"Call {ONE}", False),
        ("Call 5550 today", f"Call {ONE} tomorrow", False),
        ("Call 5550", f"Call {ONE} or {OTHER}", False),
        ("Call 5550", "Call 7771", False),
        ("Write first", "[call] first", False),
        ("Call me", f"Call {ONE}ll me", False),
    ],
)
def test_a_redaction_of_a_text_is_that_text_but_for_its_values(
    text: str, redacted: str, expected: bool
) -> None:
    assert is_redaction_of(text, redacted) is expected

from __future__ import annotations

from reconciler.bootstrap.chosen_models import build_sensitive_data_finder as finder
from reconciler.reading.named_secrets.folding import FoldedText
from reconciler.reading.sensitive_data import SensitiveKind as K, SensitiveSpan, merge_spans, redact
from tests.tables import every


def found(text: str) -> list[tuple[K, str]]:
    return [(span.kind, text[span.start : span.end]) for span in finder().find(text)]


FOUND = [
    (
        "Write to ada.lovelace+crm@mail.example.co.uk, please.",
        K.EMAIL,
        "ada.lovelace+crm@mail.example.co.uk",
    ),
    ("Her address for mail: ada (at) example (dot) com", K.EMAIL, "ada (at) example (dot) com"),
    ("Pays by UPI, ada.l@oksbi", K.EMAIL, "ada.l@oksbi"),
    ("Mobile: +91 98765 43210.", K.PHONE, "+91 98765 43210"),
    ("Her mobile is 9876543210", K.PHONE, "9876543210"),
    ("Call (415) 555-0132 after five", K.PHONE, "(415) 555-0132"),
    ("Reach him on 9472 7916?", K.PHONE, "9472 7916"),
    ("Free of charge (1-800-555-0199)", K.PHONE, "1-800-555-0199"),
    ("Office 020 7946 0018", K.PHONE, "020 7946 0018"),
    ("+1 212-555-0187 ext. 12", K.PHONE, "+1 212-555-0187 ext. 12"),
    ("Signs at 221B Baker Street.", K.STREET_ADDRESS, "221B Baker Street"),
    ("Ship to 350 5th Avenue, New York.", K.STREET_ADDRESS, "350 5th Avenue, New York"),
    ("Flat 3, 22 Elm Road, Leeds LS1 4AP", K.STREET_ADDRESS, "Flat 3, 22 Elm Road, Leeds LS1 4AP"),
    ("Sitz: Lindenstraße 7", K.STREET_ADDRESS, "Lindenstraße 7"),
    ("Visits Rue de la Paix 5", K.STREET_ADDRESS, "Rue de la Paix 5"),
    ("10 rue de la Paix, s'il vous plaît", K.STREET_ADDRESS, "10 rue de la Paix"),
    ("Post goes to P.O. Box 1234", K.STREET_ADDRESS, "P.O. Box 1234"),
    ("Pays with 4111 1111 1111 1111", K.CREDIT_CARD, "4111 1111 1111 1111"),
    ("amex 378282246310005", K.CREDIT_CARD, "378282246310005"),
    ("Transfer to GB82 WEST 1234 5698 7654 32", K.IBAN, "GB82 WEST 1234 5698 7654 32"),
    ("IBAN: GB82 WEST 1234 5698 7654 33", K.BANK_ACCOUNT, "GB82 WEST 1234 5698 7654 33"),
    ("account number 123456789", K.BANK_ACCOUNT, "123456789"),
    ("Sort code 20-00-00", K.BANK_ACCOUNT, "20-00-00"),
    ("219-09-9998", K.NATIONAL_ID, "219-09-9998"),
    ("Her SSN is 987-65-4321", K.NATIONAL_ID, "987-65-4321"),
    ("ssn: 900 12 3456", K.NATIONAL_ID, "900 12 3456"),
    ("AB123456C", K.NATIONAL_ID, "AB123456C"),
    ("Aadhaar 2345 6789 0124", K.NATIONAL_ID, "2345 6789 0124"),
    ("RSSMRA85T10A562S", K.NATIONAL_ID, "RSSMRA85T10A562S"),
    ("PAN ABCPK1234L", K.TAX_ID, "ABCPK1234L"),
    ("Tax ID 12-3456789", K.TAX_ID, "12-3456789"),
    ("passport number X1234567", K.PASSPORT, "X1234567"),
    ("driving licence no. D123-4567", K.DRIVING_LICENCE, "D123-4567"),
    ("MRN 12345678", K.MEDICAL_RECORD, "12345678"),
    ("NHS number 943 476 5919", K.MEDICAL_RECORD, "943 476 5919"),
    ("Their server is 10.0.0.17", K.IP_ADDRESS, "10.0.0.17"),
    ("reachable at 2001:db8::8a2e:370", K.IP_ADDRESS, "2001:db8::8a2e:370"),
    ("The password is swordfish", K.SECRET, "swordfish"),
    ("Password: hunter2", K.SECRET, "hunter2"),
    ("Password for the portal is Blue42Sky", K.SECRET, "Blue42Sky"),
    ("The password is 'sunny day'", K.SECRET, "sunny day"),
    ("Alarm PIN is 4821.", K.SECRET, "4821"),
    ("Door code: 9911", K.SECRET, "9911"),
    ("API key: abc123def456", K.SECRET, "abc123def456"),
    ("AKIA" + "Q5WBTZ3KHM2PXR7N", K.SECRET, "AKIA" + "Q5WBTZ3KHM2PXR7N"),
    ("ghp_" + "a1" * 18, K.SECRET, "ghp_" + "a1" * 18),
    ("sk-ant-api03-" + "b2" * 20, K.SECRET, "sk-ant-api03-" + "b2" * 20),
    ("sk-proj-" + "c3" * 20, K.SECRET, "sk-proj-" + "c3" * 20),
    ("sk_live_" + "d4" * 12, K.SECRET, "sk_live_" + "d4" * 12),
    ("xoxb-" + "12345678901-" * 2 + "a" * 24, K.SECRET, "xoxb-" + "12345678901-" * 2 + "a" * 24),
    ("postgres://bob:s3cr3t@db/crm", K.SECRET, "s3cr3t"),
]
HARMLESS = [
    "Invoice 1042 is unpaid",
    "Budget 1,200,000 approved",
    "budget of 40 000 000 EUR",
    "order 1234567890",
    "order 20240518-001",
    "Signed on 2024-05-18 at 10:30:15",
    "18/05/2024",
    "Lives in Pune since 2019",
    "The office on 5th floor",
    "5 minutes from the main street",
    "2 hours drive, 3 days on the road",
    "In 2008 Wall Street crashed",
    "We must address 5 Jira tickets",
    "Asked via Slack 3 times",
    "Runs version 1.2.3.4",
    "v2.10.0",
    "4111 1111 1111 1112",
    "IMEI 490154203237518",
    "tracking 9400110200881234567890",
    "Call about order 1234567",
    "Wants to reach 100 000 customers",
    "Grew 3.5% to 4 200 000 units",
    "SKU 123-456-7890",
    "Meeting ID 845 1234 5678",
    "passport expires in 2030",
    "account 2024 review",
    "VAT of 120000 is due",
    "savings: 120000 per year",
    "The password is wrong",
    "Asked for a password reset.",
    "forgot the password yesterday",
    "Passwords are hashed, the policy wants 12-character ones",
    "prefers passwordless login since 2024",
    "The PIN code is 560001",
    "The key account is Acme; the API key expired",
    "secret santa is on 12 December",
    "a ratio of 3.1415926535",
    "the flags 00101110 and 01101001",
    "Met at Pier 39, Fisherman's Wharf",
    "",
]


@every(("text", "kind", "value"), FOUND)
def test_what_must_not_be_stored_is_found(text: str, kind: K, value: str) -> None:
    assert found(text) == [(kind, value)]


@every("text", HARMLESS)
def test_what_notes_are_full_of_is_left_alone(text: str) -> None:
    assert found(text) == []


@every(
    ("text", "kind"),
    [
        ("ａｄａ＠ｅｘａｍｐｌｅ．ｃｏｍ", K.EMAIL),
        ("ada\u200b@exam\u00adple.com", K.EMAIL),
        ("４１１１ １１１１ １１１１ １１１１", K.CREDIT_CARD),
        ("4111\u200b1111\u20601111\ufeff1111", K.CREDIT_CARD),
        ("4111\u20111111\u20131111\u22121111", K.CREDIT_CARD),
        ("+٤٤ ٢٠ ٧٩٤٦ ٠٠١٨", K.PHONE),
        ("+44\u00a020\u202f7946\u00a00018", K.PHONE),
    ],
)
def test_look_alikes_and_invisible_characters_hide_nothing(text: str, kind: K) -> None:
    assert found(text) == [(kind, text)]


def test_a_span_refers_to_the_text_as_given() -> None:
    text = "½ day, Zoë: ada\u200b@example.com!"
    assert found(text) == [(K.EMAIL, "ada\u200b@example.com")]


def test_a_folded_text_of_plain_characters_is_the_text_itself() -> None:
    assert FoldedText.of("plain") == FoldedText("plain", None)


def test_overlapping_spans_become_one_of_the_gravest_kind() -> None:
    spans = [SensitiveSpan(0, 9, K.PHONE), SensitiveSpan(5, 12, K.NATIONAL_ID)]
    assert merge_spans(spans) == [SensitiveSpan(0, 12, K.NATIONAL_ID)]


def test_a_secret_comes_before_every_other_kind() -> None:
    others = [kind for kind in K if kind is not K.SECRET]
    spans = [SensitiveSpan(0, 4, K.SECRET), *(SensitiveSpan(1, 4, kind) for kind in others)]
    assert merge_spans(spans) == [SensitiveSpan(0, 4, K.SECRET)]


def test_spans_that_only_touch_stay_apart() -> None:
    spans = [SensitiveSpan(0, 4, K.EMAIL), SensitiveSpan(4, 8, K.PHONE)]
    assert merge_spans(spans) == spans


def test_a_card_number_said_to_be_a_pin_is_hidden_whole() -> None:
    assert found("PIN is 4111 1111 1111 1111") == [(K.SECRET, "4111 1111 1111 1111")]


@every("text", ["Not answering at %s", "She was not answering at %s today."])
def test_a_short_number_at_which_nobody_answers_is_a_phone_number(text: str) -> None:
    assert found(text % "781 5991") == [(K.PHONE, "781 5991")]
    assert found(text % "20 10 2024") == []


def test_a_social_security_number_is_no_phone_number() -> None:
    assert found("Call me, my SSN: 219-09-9998") == [(K.NATIONAL_ID, "219-09-9998")]


def test_several_kinds_in_one_note_are_found_in_order() -> None:
    text = "ada@example.com, +44 20 7946 0018, password: Blue42!"
    assert [kind for kind, _ in found(text)] == [K.EMAIL, K.PHONE, K.SECRET]


def test_a_private_key_is_hidden_to_its_last_line() -> None:
    text = "Key:\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nthanks"
    assert redact(text, finder().find(text), lambda *_: "X") == "Key:\nX\nthanks"


def test_a_signed_token_is_hidden_with_its_signature() -> None:
    token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.c2lnbmF0dXJlLXBhcnQ"
    assert found(f"uses {token} daily") == [(K.SECRET, token)]


def test_redacting_puts_a_token_in_the_place_of_each_span() -> None:
    text = "ada@example.com pays"
    assert redact(text, finder().find(text), lambda kind, _: f"[{kind}]") == "[email] pays"


@every("piece", ["1", "12 Abc ", "a@", "://a:", "0 ", "Ab ", "account number "])
def test_a_long_hostile_text_is_read_in_reasonable_time(piece: str) -> None:
    import time

    text = (piece * 2000)[:2000]
    finder().find("warm 1 up")
    started = time.process_time()
    finder().find(text)
    assert time.process_time() - started < 2.0

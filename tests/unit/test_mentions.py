from __future__ import annotations

from datetime import UTC, datetime

from reconciler.domain.recalling.procedures import found_in, longest_words, needles
from reconciler.domain.records.facts import Fact, FoundIn
from reconciler.domain.records.kinds import SourceKind
from reconciler.domain.records.notes import Slot
from tests.tables import every, grouped

NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)


def fact(text: str, subject: str | None = None, value: str | None = None) -> Fact:
    return Fact(
        fact_id="fact",
        text=text,
        slot=subject
        and Slot(subject=subject, attribute="employer", value=value, is_single_valued=True),
        trust=SourceKind.USER_EXPLICIT,
        observations=1,
        recorded_at=NOW,
        valid_from=NOW,
        last_confirmed_at=NOW,
    )


@every(
    ("name", "text", "expected"),
    grouped(
        {
            FoundIn.TEXT: [
                # A name is found however it is written.
                ("ACME", "Works at Acme."),
                ("ACME", "Acme's invoices are late"),
                ("Acme Corp.", "The ACME contract ends in May"),
                ("ACME", "Acme, Inc. is a customer"),
                ("O'Brien", "Ask O’Brien first"),
                ("Zoë", "Her daughter ZOË plays chess"),
                ("San Francisco", "Flies to San Francisco on Monday"),
                ("C++", "Writes C++"),
                ("李", "Her manager is 李"),
            ],
            None: [
                # Part of a word or a likeness is no mention.
                ("ACME", "Her dog is called Rex"),
                ("Ann", "Anna called on an annual basis"),
                ("San Francisco", "San Jose and Francisco"),
                ("C++", "Writes C"),
                ("ACME", "acmeology"),
            ],
        }
    ),
)
def test_a_name_is_found_however_it_is_written_and_not_in_part(
    text: str, name: str, expected: FoundIn | None
) -> None:
    assert found_in(fact(text), needles(name)) is expected


def test_whom_a_fact_is_about_counts_before_its_value_and_that_before_its_words() -> None:
    about = fact("Acme pays acme late", subject="acme", value="Acme")
    assert found_in(about, needles("ACME")) is FoundIn.SUBJECT
    valued = fact("Works at Acme", subject="contact", value="Acme")
    assert found_in(valued, needles("ACME")) is FoundIn.VALUE


def test_a_name_of_signs_alone_is_none() -> None:
    assert needles("…!") == ()


@every(
    ("name", "expected"),
    [
        ("O'Brien's Ltd", ("brien", "o")),
        ("Ito Limited", ("ito",)),
        ("company-17", ("company", "17")),
        ("acct_0013", ("acct", "0013")),
        ("The Acme Trading House", ("trading", "house")),
        ("Ltd", ("ltd",)),
        ("…", ()),
    ],
)
def test_a_graph_is_asked_for_the_longest_words_without_a_legal_form(
    name: str, expected: tuple[str, ...]
) -> None:
    assert longest_words(name) == expected

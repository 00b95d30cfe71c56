"""From when and until when a note says that it is true, and what must not be read."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest

from reconciler import Action, Memory
from reconciler.errors import InvalidNoteError
from reconciler.reading.values.ends import SaidTimes, end_of_today, said_times
from tests.tables import every

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)

PLAIN = [
    ("The offer is valid until 30 November.", "2026-12-01"),
    ("The offer is valid until 30 November 2027.", "2027-12-01"),
    ("Valid until November 30th, 2027", "2027-12-01"),
    ("Her discount code is good till the 1st of May.", "2026-05-02"),
    ("The office is closed through 31 March.", "2026-04-01"),
    ("She's in Oslo until 14 February.", "2027-02-15"),
    ("Until 20 April she is on leave.", "2026-04-21"),
    ("The price applies until 2026-06-30.", "2026-07-01"),
    ("Is away until 9 March.", "2026-03-10"),
    ("Works from Lyon until 2 Sept.", "2026-09-03"),
    ("The offer is valid until 1 March 2026.", "2026-03-02"),
    ("The price applies until 2025-06-30.", "2025-07-01"),
    ("Is still travelling until 30 November.", "2026-12-01"),
    ("The parking permit is valid until 30 November.", "2026-12-01"),
    ("She's fully booked until 30 November.", "2026-12-01"),
    ("Is on part-time leave until 30 November.", "2026-12-01"),
    ("Das Angebot gilt bis 14. Februar.", "2027-02-15"),
    ("Sie ist bis zum 14. April 2026 im Urlaub.", "2026-04-15"),
    ("No deliveries until 14 April.", "2026-04-15"),
    ("Abroad until May 2027.", "2027-06-01"),
    ("The gym card runs out on 3 July 2026.", "2026-07-04"),
    ("The visa expires 3/14/2027.", "2027-03-15"),
    ("Her membership ends on the 9th of March 2027.", "2027-03-10"),
    ("Rents the van until the end of February 2028.", "2028-03-01"),
    ("On night shift until the end of next week.", "2026-03-23"),
    ("Reachable by mail until Friday.", "2026-03-14"),
    ("Works half days until Monday.", "2026-03-17"),
    ("The room is ours until tomorrow.", "2026-03-11"),
    ("Das Abo läuft am 3. Juli 2026 ab.", "2026-07-04"),
    ("Ist bis 5.6. krank.", "2026-06-06"),
    ("Der Gutschein gilt bis Ende Mai.", "2026-06-01"),
    ("El visado caduca el 4 de mayo de 2026.", "2026-05-05"),
    ("Está de baja hasta el 3/4/2026.", "2026-04-04"),
    ("La tessera scade il 7 giugno 2026.", "2026-06-08"),
    ("È in ferie fino al 31.8.2026.", "2026-09-01"),
    ("De kaart is geldig t/m 12 juni 2026.", "2026-06-13"),
    ("O voucher vale até 2 de outubro de 2026.", "2026-10-03"),
    ("Son stage se termine le 30 juin 2026.", "2026-07-01"),
    ("L'offre est valable jusqu'au 30 novembre.", "2026-12-01"),
    ("Elle est absente jusqu'au 1er mai 2026.", "2026-05-02"),
    ("Is in Porto for a fair until 14 April and home again then.", "2026-04-15"),
    ("On loan to the Ghent office until 2 September and then back at the old desk.", "2026-09-03"),
    ("Is away until 9 March and by phone only.", "2026-03-10"),
]

LENGTHS = [
    ("I am in London for a week.", "2026-03-17"),
    ("Is in London for ten days.", "2026-03-20"),
    ("I'm staying in Rome for 3 nights.", "2026-03-13"),
    ("She is currently in New York for two weeks.", "2026-03-24"),
    ("My sister is in the Alps for a fortnight.", "2026-03-24"),
    ("Is in Madrid for the next two weeks.", "2026-03-24"),
    ("I'm in Nairobi for two weeks on a project.", "2026-03-24"),
    ("I'm in Leeds this week.", "2026-03-16"),
    ("I'm at my mother's in Leeds this week.", "2026-03-16"),
]
"""A length of time that begins with the note, in a place."""

NO_ENDS = [
    "For ten years I have lived in Oslo.",
    "I lived in Leeds for ten years.",
    "I have worked at Acme for six months.",
    "She has been vegan for three weeks.",
    "Has used the Pro plan for two years now.",
    "I've been out of the office for a week and I am back today.",
    "He trained as a nurse for three years.",
    "The contract runs for two years.",
    "The warranty is good for five years.",
    "Wants a subscription for twelve months.",
    "I need a car for two weeks.",
    "The trial lasts fourteen days.",
    "The invoice is payable within 30 days.",
    "I am moving to Porto in two weeks.",
    "I was in London for a week.",
    "I go to Spain for two weeks every August.",
    "He is in Paris for a week each month.",
    "I am always in London for a week in May.",
    "I have been waiting for ten days.",
    "For the last ten days the app has crashed.",
    "For the past six months I have worked from home.",
    "My flight is ten hours long.",
    "Please keep the quote open for ten days.",
    "I would like to rent the flat for a year.",
    "The medicine has to be taken for ten days.",
    "Since two years I live in Bern.",
    "My lease is for three years.",
    "She's been living in Berlin for two weeks.",
    "She has paid the rent for the next three months.",
    "We bought supplies for the next month.",
    "I will be in Berlin for two weeks.",
    "I was told to rest for the next ten days.",
    "He needs a car for the next two weeks.",
    "I am in Berlin for two years.",
    "I am in therapy for six months.",
    "Our stock is enough for ten days.",
    "I am married for three weeks.",
    "She is in Rome for a week and then in Milan.",
    "I am on the waiting list for three weeks now.",
    "If I am in London for a week, call me.",
    "I am in London for at least a week.",
    "We are staying in a hotel for the next few days.",
    "I am in London for the next few days.",
    "For the next ten days I can be reached at my mother's.",
    "The rent is lower for the next two years.",
    "I'm in Vienna on Mondays for a night.",
    "I am in Vienna Mondays for a night.",
    "I am in the office on Tuesdays for a day.",
    "I'm at the gym daily for a day.",
    "I am in Rome yearly for a week.",
    "I'm in Leeds for two weeks on a Monday.",
    "I'm in Leeds as of this week.",
    "I'm in my new flat this week.",
    "I'm at the gym daily this week.",
    "I'm in Rome this week and then in Oslo.",
    "I am in Rome at Easter for a week.",
    "I'm in Rome in May for a week.",
    "I prefer shipping for the next day.",
    "Is responsible for the next day deliveries",
    "I order groceries for the next week on Saturdays.",
    "Pays for the next year in advance",
    "Renews for the next year",
    "I am at Siemens for a week.",
    "I am on keto for a week.",
    "I am in therapy for a week.",
    "I'm in charge of Rome for a week.",
    "I am in Graz for a month.",
]

RANGES = [
    ("Is away from 1 April until 14 April.", "2026-04-01", "2026-04-15"),
    ("Runs the stand from 1 to 5 December.", "2026-12-01", "2026-12-06"),
    ("On holiday: 3-9 May 2027.", "2027-05-03", "2027-05-10"),
    ("Between 28 December and 6 January the shop is closed.", "2026-12-28", "2027-01-07"),
    ("Is posted to Oslo from April 2027 to June 2027.", "2027-04-01", "2027-07-01"),
    ("Is on leave from 2 to 20 March.", None, "2026-03-21"),
    ("Ist vom 3. bis zum 14. Mai auf Kur.", "2026-05-03", "2026-05-15"),
    ("Está fuera del 4 al 15 de mayo.", "2026-05-04", "2026-05-16"),
    ("Elle est absente du 2 au 20 août.", "2026-08-02", "2026-08-21"),
    ("È in trasferta dal 10 al 21 maggio.", "2026-05-10", "2026-05-22"),
    ("Van 7 tot en met 18 juni is zij weg.", "2026-06-07", "2026-06-19"),
    ("Está de férias de 5 a 16 de julho.", "2026-07-05", "2026-07-17"),
]

STARTS = [
    ("Moves to Turin next month.", "2026-04-01"),
    ("Is joining Globex on 1 July.", "2026-07-01"),
    ("Will take the calls next week.", "2026-03-16"),
    ("From 1 August Dan is the contact for repairs.", "2026-08-01"),
    ("As of 1 January 2027, orders go to Ghent.", "2027-01-01"),
    ("Starting Monday she works part time.", "2026-03-16"),
    ("Ab dem 1. Juli ist Frau Seel zuständig.", "2026-07-01"),
    ("Sie zieht nächsten Monat nach Köln.", "2026-04-01"),
    ("A partir del lunes trabaja en Bilbao.", "2026-03-16"),
    ("À compter du 1er juin, il dirige l'agence.", "2026-06-01"),
    ("Dal mese prossimo lavora a Torino.", "2026-04-01"),
    ("Vanaf 1 september is zij hoofd inkoop.", "2026-09-01"),
    ("A partir de 1 de maio ele atende o Porto.", "2026-05-01"),
]

NEITHER = [
    "Was born on 5 December 1980.",
    "The invoice of 3 May is unpaid.",
    "Her birthday is on 5 December.",
    "The call moves from 3 June to 10 June.",
    "The trip was moved from 3 June to 10 June.",
    "Quoted the figures from 30 June.",
    "Met her at the fair on 21 April.",
    "Works from Monday to Friday.",
    "Is open from 9 to 18.",
    "Their season goes from November to February.",
    "The budget year starts in July.",
    "Will change jobs soon.",
    "The meeting on 5 April moves to Room 4.",
    "Her flight leaves on Friday.",
    "The letter from 3 February is lost.",
    "Is there from Monday on and then in Rome.",
    "Is valid until 3/4/2027.",
    "Die Rechnung vom 3. Mai ist offen.",
    "La factura del 12 de abril sigue sin pagar.",
    "La réunion du 6 octobre est en salle B.",
    "Vivo sola desde enero.",
    "Le contrat a été signé le 8 avril 2026.",
    "De factuur van 11 juni is dubbel.",
    "O pedido de 4 de abril chegou.",
]

NOT_PLAIN = [
    "The shop does not open until 14 April.",
    "The shop isn't open until 14 April.",
    "Is not available until 14 April.",
    "Worked at Globex until 14 April.",
    "Was in Oslo until 14 February.",
    "Has been on leave until 5 March.",
    "The offer was valid until 30 November.",
    "Is in Oslo until 14 April and in Rome after that.",
    "Is in Oslo until 14 April, then in Rome.",
    "Is in Oslo until 14 April and lives in Pune.",
    "Is in Oslo until 14 April and loves fish.",
    "Is in Oslo until 14 April and they are twins.",
    "Is in Oslo until 14 April and wanted a quote.",
    "Is in Oslo until 14 April and back home on 20 April.",
    "Likes fish and is in Oslo until 14 April.",
    "Is in Oslo until 14 April. Lives in Pune.",
    "Has until 14 April to pay the invoice.",
    "Wants an offer until 14 April.",
    "The invoice is due until 14 April.",
    "The contract is with Globex until they merge on 14 April.",
    "If it rains she is here until 14 April.",
    "Is allergic to nuts - on leave until 30 November.",
    "Is allergic to nuts – on leave until 30 November.",
    "Is allergic to nuts—on leave until 30 November.",
    "Is hardly ever home until 30 November.",
    "He's barely well until 30 November.",
    "Is a diabetic travelling until 30 November.",
    "Is a nurse employed at Acme until 30 November.",
    "Is the man she dated until 30 November.",
    "Is a friend of the man she met until 30 November.",
    "Is born in Pune where they stay until 30 November.",
    "Is a doctor since her studies lasted until 30 November.",
    "Is allergic to penicillin with leave until 30 November.",
    "The offer is valid until 9999-12-31.",
    "Is away until further notice.",
    "Is away until 31 February.",
    "Is open until 8 in the evening.",
    "Sie ist erst bis 14. April zu erreichen.",
    "Sie ist nicht bis 14. April da.",
    "Sie war bis 14. April im Urlaub.",
    "Elle n'est pas absente jusqu'au 14 avril.",
    "Lives in Pune.",
]


def midnight(day: str | None) -> datetime | None:
    return None if day is None else datetime.fromisoformat(day).replace(tzinfo=UTC)


@every(("text", "day"), PLAIN + LENGTHS)
def test_a_plain_last_day_is_read_and_counts_whole(text: str, day: str) -> None:
    assert said_times(text, NOON) == SaidTimes(ends_at=midnight(day))


@every(("text", "first", "after"), RANGES)
def test_a_range_has_a_first_and_a_last_day(text: str, first: str | None, after: str) -> None:
    assert said_times(text, NOON) == SaidTimes(begins_at=midnight(first), ends_at=midnight(after))


@every(("text", "day"), STARTS)
def test_what_is_announced_begins_on_its_day(text: str, day: str) -> None:
    assert said_times(text, NOON) == SaidTimes(begins_at=midnight(day))


@every("text", NOT_PLAIN + NEITHER + NO_ENDS)
def test_what_is_no_plain_end_or_start_is_not_read(text: str) -> None:
    assert said_times(text, NOON) == SaidTimes()


@every(
    ("said_at", "text", "ends_at"),
    [
        ("2026-03-31T20:30:00-08:00", "Is away until 31 March.", "2026-04-01T00:00:00-08:00"),
        ("2026-04-01T04:30:00+00:00", "Is away until 31 March.", "2026-04-01T00:00:00-12:00"),
        ("2026-04-01T12:30:00+00:00", "Is away until 31 March.", "2027-04-01T00:00:00+00:00"),
        ("2026-03-31T23:30:00-05:00", "Is away until tomorrow.", "2026-04-02T00:00:00-05:00"),
        (
            "2026-04-01T06:00:00+09:00",
            "Off until the end of the month.",
            "2026-05-01T00:00:00+09:00",
        ),
    ],
)
def test_a_day_is_one_of_the_zone_in_which_it_was_said(
    said_at: str, text: str, ends_at: str
) -> None:
    told = said_times(text, datetime.fromisoformat(said_at))
    assert told.ends_at == datetime.fromisoformat(ends_at)


def test_the_first_and_the_last_day_of_all_are_read() -> None:
    first, last = (datetime.combine(day, NOON.timetz()) for day in (date.min, date.max))
    early = said_times("Is in Oslo until 5 December.", first.replace(hour=0))
    assert early.ends_at == datetime(1, 12, 6, tzinfo=UTC)
    assert said_times("Is in Oslo until 5 December.", last) == SaidTimes()
    assert end_of_today("Only for today, use the gate.", last) is None


def test_29_february_without_a_year_has_an_end_in_a_leap_year_only() -> None:
    assert said_times("Is away until 29 February.", NOON) == SaidTimes()
    leap = datetime(2028, 1, 5, tzinfo=UTC)
    assert said_times("Is away until 29 February.", leap).ends_at == midnight("2028-03-01")


def test_what_is_announced_holds_from_its_day_on(tmp_path: Path) -> None:
    now = [NOON]
    with Memory.open(embedded_path=tmp_path / "memory.lbug", clock=lambda: now[0]) as memory:
        contact = memory.contact("crm", "lena")
        contact.note("Lives in Oslo.", attribute="city", value="Oslo")
        contact.note("Moves to Turin next month.", attribute="city", value="Turin")
        contact.note("Her lease starts on 1 May.", attribute="lease_start", value="1 May")
        [oslo] = contact.value("city")
        assert oslo.value == "Oslo"
        assert contact.value("lease_start")  # the day is the value, and no start of it
        now[0] = datetime(2026, 4, 1, 1, tzinfo=UTC)
        assert [city.value for city in contact.value("city")] == ["Turin"]


def test_a_note_said_in_another_zone_ends_with_its_own_day(tmp_path: Path) -> None:
    at = datetime(2026, 3, 8, 20, tzinfo=timezone(timedelta(hours=-8)))
    with Memory.open(embedded_path=tmp_path / "memory.lbug", clock=lambda: NOON) as memory:
        contact = memory.contact("crm", "lena")
        contact.note("Is in Oslo until tomorrow.", said_at=at)
        [hit] = contact.recall()
        assert hit.fact.valid_to == datetime(2026, 3, 10, 8, tzinfo=UTC)


def test_a_retried_note_about_tomorrow_is_the_same_note(tmp_path: Path) -> None:
    now = [NOON]
    with Memory.open(embedded_path=tmp_path / "memory.lbug", clock=lambda: now[0]) as memory:
        contact = memory.contact("crm", "lena")
        first = contact.note("Moves to Turin tomorrow.", idempotency_key="call-1")
        now[0] += timedelta(days=1)
        again = contact.note("Moves to Turin tomorrow.", idempotency_key="call-1")
        assert again.replayed
        assert again.fact_id == first.fact_id


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """Each test has a contact of its own."""
    path = tmp_path_factory.mktemp("memory") / "memory.lbug"
    with Memory.open(embedded_path=path, clock=lambda: NOON) as made:
        yield made


@every(
    ("said", "begins", "ends", "is_live"),
    [
        ("Remember that the offer is valid until 31 May 2026.", "03-01", "06-01", True),
        ("Remember that my badge is valid until 5 March 2026.", "03-01", "03-06", False),
        ("Remember that I work in Turin from 4 to 8 May 2026.", "05-04", "05-09", True),
        ("Remember that I am in Turin for two weeks.", "03-01", "03-16", True),
        ("Remember that I am in Turin for the next six days.", "03-01", "03-08", False),
    ],
)
def test_a_session_is_read_for_starts_and_ends_too(
    memory: Memory, said: str, begins: str, ends: str, *, is_live: bool
) -> None:
    contact = memory.contact("crm", ends)
    turn = {"role": "user", "content": said, "timestamp": "2026-03-01T00:00:00Z"}
    contact.submit_session("chat", [turn])
    memory.drain()
    [fact] = [fact for chain in contact.history() for fact in chain.facts]
    assert fact.valid_from == midnight(f"2026-{begins}")
    assert fact.valid_to == midnight(f"2026-{ends}")
    assert fact.is_live is is_live


def test_a_note_ends_on_the_day_that_it_says(tmp_path: Path) -> None:
    now = [NOON]
    with Memory.open(embedded_path=tmp_path / "memory.lbug", clock=lambda: now[0]) as memory:
        contact = memory.contact("crm", "lena")
        contact.note("Her discount code is valid until 30 November.")
        contact.note(
            "The office is closed until 30 June.", valid_to=datetime(2026, 5, 1, tzinfo=UTC)
        )

        def known() -> list[str]:
            return sorted(hit.fact.text for hit in contact.recall())

        code, office = known()
        now[0] = datetime(2026, 5, 2, tzinfo=UTC)
        assert known() == [code]  # what the caller says goes before what the words say
        now[0] = datetime(2026, 11, 30, 23, tzinfo=UTC)
        assert known() == [code]
        now[0] = datetime(2026, 12, 1, tzinfo=UTC)
        assert known() == []
        assert office.startswith("The office")


def test_a_stay_ends_and_the_home_still_holds(tmp_path: Path) -> None:
    now = [NOON]
    with Memory.open(embedded_path=tmp_path / "memory.lbug", clock=lambda: now[0]) as memory:
        contact = memory.contact("crm", "lena")
        contact.note("I live in Leeds.")
        contact.note("I sang in a choir for ten years.")
        contact.note("I am in London for a week.")
        assert len(contact.recall()) == 3
        now[0] += timedelta(days=8)
        texts = {hit.fact.text for hit in contact.recall()}
        assert texts == {"I live in Leeds.", "I sang in a choir for ten years."}


def test_what_the_words_say_is_over_is_refused_or_kept_as_history(memory: Memory) -> None:
    contact = memory.contact("crm", "mia")
    with pytest.raises(
        InvalidNoteError, match="ended on 2026-03-02; do not send it, or give a valid"
    ):
        contact.note("The offer is valid until 1 March 2026.")
    contact.note(
        "The offer is valid until 1 March 2026.", valid_from=datetime(2026, 2, 1, tzinfo=UTC)
    )
    contact.note("Her code is valid until 5 March.", said_at=datetime(2026, 3, 1, tzinfo=UTC))
    assert list(contact.recall()) == []
    kept = [fact.valid_to for chain in contact.history() for fact in chain.facts]
    assert sorted(at.day for at in kept if at) == [2, 6]


@every(
    ("text", "end"),
    [
        (None, "2026-12-01"),
        ("Is diabetic.", None),
        ("Is in hospital until 24 December.", "2026-12-25"),
        ("Was in hospital until 1 March.", None),
    ],
)
def test_a_yes_in_other_words_has_the_end_that_they_name(
    memory: Memory, text: str | None, end: str | None
) -> None:
    contact = memory.contact("crm", str(text))
    held = contact.note("Is in hospital until 30 November.", source_kind="tool_output")
    assert held.action is Action.HOLD
    contact.confirm(held.decision_id, "contact", text=text)
    [hit] = contact.recall()
    assert hit.fact.valid_to == (end and datetime.fromisoformat(end).replace(tzinfo=UTC))


def test_an_amendment_ends_on_the_day_that_it_says(memory: Memory) -> None:
    contact = memory.contact("crm", "noa")
    office = contact.note("Is at the office.")
    contact.amend(
        "Is on leave until 30 November.", fact_id=office.fact_id, by="dana", reason="Told."
    )
    [hit] = contact.recall()
    assert hit.fact.valid_to == datetime(2026, 12, 1, tzinfo=UTC)
